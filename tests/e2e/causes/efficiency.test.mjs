/** Efficiency: sentence, answers and table equal the API; the roofline by keyboard, as a table, of several traces; unknown devices. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, putText, get, addressed, eventually, axeFaults, sameTime } from '../support.mjs';
import { siParts } from '../../../static/js/lib/fmt.js';

const span = (cat, name, tid, ts, dur, args = {}) => ({ ph: 'X', cat, name, pid: 1, tid, ts, dur, args });
const half = (count) => Array.from({ length: count }, () => 'c10::Half');
const work = (name, op, at, dur, correlation, dims, types = half(dims.length)) => [
    span('cpu_op', op, 1, at, 50, { 'Input Dims': dims, 'Input type': types, 'Concrete Inputs': dims.map(() => '') }),
    span('cuda_runtime', 'cudaLaunchKernel', 1, at + 10, 5, { correlation }),
    span('kernel', name, 7, at + 100, dur, { correlation, device: 0, stream: 7 }),
];
const events = [
    span('user_annotation', 'ProfilerStep#1', 1, 0, 2000),
    ...work('gemm', 'aten::mm', 100, 400, 1, [[4096, 4096], [4096, 4096]]),
    ...work('gemm', 'aten::mm', 700, 40, 2, [[512, 512], [512, 512]]),
    ...work('elementwise', 'aten::add', 900, 200, 3, [[4096, 4096], [4096, 4096], []], ['c10::Half', 'c10::Half', 'Scalar']),
    ...work('triton_poi_fused', 'my::op', 1300, 100, 4, [[64]]),
];
const trace = (device, list) => JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: device }], traceEvents: list });

const { server, page } = await stage();
const upload = async (run, device, list) => (await putText(server.url, run, `${run}.1700000000000.pt.trace.json`, trace(device, list))).id;
const ids = {
    h100: await upload('h100', 'NVIDIA H100 80GB HBM3', events),
    a100: await upload('a100', 'NVIDIA A100-SXM4-80GB', events),
    fast: await upload('fast', 'NVIDIA H100 80GB HBM3', work('gemm', 'aten::mm', 100, 10, 1, [[4096, 4096], [4096, 4096]])),
    unknown: await upload('unknown', 'Some Device', events),
    bare: await upload('bare', 'NVIDIA H100 80GB HBM3', events.filter(({ cat }) => cat === 'cpu_op' || cat === 'user_annotation')),
};

const open = (query = '', of = 'h100') => visit(page, server.url, `#/traces/${ids[of]}/efficiency${query}`);
const plain = (text) => text?.replaceAll('\u00a0', ' ').trim() ?? '';
const lead = async () => plain(await page.textContent('.view-efficiency .lead'));
const names = () => page.locator('.view-efficiency .data-table .row-toggle').allTextContents();

test('the sentence says what the peaks would save and where; the answers are the API’s', async () => {
    const { rows, totals, modelled_time_ns: modelled } = await get(server.url, `traces/${ids.h100}/efficiency`);
    await open();
    const known = rows.filter(({ roofline_ns: ns }) => ns !== null);
    const text = await lead();
    sameTime(text, known.reduce((sum, row) => sum + row.headroom_ns, 0), 'what could be saved');
    const [best] = [...known].sort((a, b) => b.headroom_ns - a.headroom_ns);
    assert.match(text, new RegExp(`H100 80GB HBM3\\. Largest opportunity: ${best.name}`));
    const answers = (await page.locator('.view-efficiency .answer-figure').allTextContents()).map(plain);
    assert.equal(answers[0], `${(100 * modelled / totals.time_ns).toFixed(1)}%`);
    assert.equal(answers[2], `${(100 * totals.mfu).toFixed(1)}%`);
    assert.match(plain(await page.textContent('.view-efficiency')), /Source: NVIDIA H100 datasheet/);
    assert.deepEqual((await names()).map(plain), rows.map(({ name }) => name));
    assert.deepEqual(await axeFaults(page), []);
});

test('the keyboard walks through the roofline and opens a row; its table has the same points', async () => {
    const { rows } = await get(server.url, `traces/${ids.h100}/efficiency?group_by=shape`);
    await open('?group=shape');
    const chart = page.locator('.use-scatter canvas[data-drawn]');
    await chart.focus();
    await page.keyboard.press('ArrowRight');
    assert.match(plain(await chart.getAttribute('aria-valuetext')), /^aten::mm: .* FLOP a byte, .*FLOP\/s, 400\.0 µs$/);
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    const last = rows.findIndex(({ mean_ns: ns }) => ns === 40000);
    await addressed(page, `open=${last + 1}`);
    await eventually(async () => assert.match(plain(await page.textContent('.view-efficiency .detail-row, .view-efficiency .row-detail, .view-efficiency .full-name')), /aten::mm/));
    assert.match(plain(await page.textContent('.view-efficiency')), /Dimensions \[\[512,512\],\[512,512\]\]/);
    await page.click('.panel:has-text("Roofline") >> text=As a table');
    assert.equal(await page.locator('.panel-table tbody tr').count(), 3);
});

test('traces beside each other share the roofline; groups by module and step', async () => {
    await open(`?with=${ids.a100}`);
    await page.waitForSelector('.use-scatter canvas[data-drawn]');
    await eventually(async () => assert.equal(await page.locator('.view-efficiency .panel .time-key > span').count(), 2));
    await page.click('text=This trace alone');
    await addressed(page, `traces/${ids.h100}/efficiency`);
    await eventually(async () => assert.equal(await page.getByText('This trace alone').isVisible(), false));
    await page.getByLabel('Module', { exact: true }).check();
    await addressed(page, 'group=module');
    await eventually(async () => assert.deepEqual((await names()).map(plain), ['Outside of modules']));
    await page.getByLabel('Step', { exact: true }).check();
    await eventually(async () => assert.deepEqual((await names()).map(plain), ['Step 1']));
});

test('an unknown device has FLOPs, no roofline, and a way to name its peaks', async () => {
    await open('', 'unknown');
    assert.match(await lead(), /peaks of this device are not known.*--devices FILE/);
    await page.waitForSelector('.use-scatter canvas[data-drawn]');
    await open('', 'bare');
    assert.match(plain(await page.textContent('.empty')), /No operator launched device work/);
});

test('more than the device can do is a contradiction in words, not a figure', async () => {
    await open('', 'fast');
    assert.match(await lead(), /^These figures contradict each other: 1 operator computed faster than the H100 80GB HBM3 can\. aten::mm did .*FLOP\/s; the peak of matrix units is .*FLOP\/s in fp16\. Either the peak is wrong .* or the inputs were recorded in another type/);
    const answers = (await page.locator('.view-efficiency .answer-figure').allTextContents()).map(plain);
    assert.equal(answers[2], 'Impossible');
    assert.match(plain(await page.textContent('.view-efficiency .data-table')), /above 100%/);
    assert.deepEqual(await axeFaults(page), []);
});

test('rates read in three digits with their prefix', () => {
    const printed = [[0, 'B'], [989.4e12, 'FLOP/s'], [67e12, 'FLOP/s'], [1978.9e12, 'FLOP/s'], [3.35e12, 'B/s'], [12, 'B'], [0.0123, 'B'], [1000, 'B']].map(([value, unit]) => siParts(value, unit).join(' '));
    assert.deepEqual(printed, ['0 B', '989 TFLOP/s', '67 TFLOP/s', '1.98 PFLOP/s', '3.35 TB/s', '12 B', '12.3 mB', '1 kB']);
});
