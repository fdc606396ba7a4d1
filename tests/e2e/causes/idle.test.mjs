/** Idle: the sentence and its figures equal the API, ways into the timeline, queue, critical path; the address holds all. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, putText, get, addressed, eventually, axeFaults, sameTime } from '../support.mjs';
import { thin } from '../../../static/js/views/idle/thin.js';

const span = (cat, name, tid, ts, dur, args = {}) => ({ ph: 'X', cat, name, pid: 1, tid, ts, dur, args });
const launch = (ts, dur, correlation) => span('cuda_runtime', 'cudaLaunchKernel', 1, ts, dur, { correlation });
const kernel = (name, stream, ts, dur, correlation) => span('kernel', name, stream, ts, dur, { correlation, device: 0, stream });
const host = [
    span('user_annotation', 'ProfilerStep#1', 1, 900, 1000),
    span('user_annotation', 'ProfilerStep#2', 1, 1900, 600),
    span('cpu_op', 'aten::item', 1, 1300, 500),
    span('cuda_runtime', 'cudaStreamSynchronize', 1, 1400, 300),
    span('cpu_op', 'aten::mm', 1, 1850, 110),
    span('cpu_op', 'aten::add', 1, 2200, 190),
];
const trace = (events) => JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: 'GPU', numSms: 100 }], traceEvents: [...host, ...events] });
const device = [launch(1050, 30, 1), kernel('gemm', 7, 1100, 100, 1), launch(1900, 50, 2), kernel('softmax', 7, 2000, 100, 2), launch(2010, 20, 3), kernel('copy', 8, 2100, 50, 3)];

/** The host waits right behind the first work, for what was launched before. */
const waits = [kernel('gemm', 7, 1000, 10, 1), span('cuda_runtime', 'cudaMemcpy', 1, 1012, 900, { correlation: 9 }), launch(1920, 20, 2), kernel('gemm', 7, 1950, 2000, 2)];

const { server, page } = await stage();
const upload = async (run, text) => (await putText(server.url, run, `${run}.1700000000000.pt.trace.json`, text)).id;
const id = await upload('idle', trace(device));
const hostOnly = await upload('host', trace([]));
const early = await upload('early', JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: 'GPU' }], traceEvents: waits }));

const open = (query = '', of = id) => visit(page, server.url, `#/traces/${of}/idle${query}`);
const plain = (text) => text?.replaceAll('\u00a0', ' ').trim();
const lead = async (within = '.view') => plain(await page.locator(`${within} .idle-verdict .lead >> nth=0`).textContent()) ?? '';

test('the first sentence says what it costs and where the host was; the table has the API’s figures', async () => {
    const { devices: [whole], streams } = await get(server.url, `traces/${id}/idle`);
    await open();
    const text = await lead();
    sameTime(text, whole.idle_ns, 'idle');
    const [most] = [...whole.host].sort((a, b) => b.idle_ns - a.idle_ns);
    assert.equal(most.host, 'synchronisation');
    sameTime(/, ([^,]*) a step\./.exec(text)?.[1] ?? '', whole.idle_ns / 2, 'of a step');
    assert.match(text, new RegExp(`In ${(100 * most.ratio).toFixed(1)}% of that time the host waited .* mostly in cudaStreamSynchronize\\.$`));
    await page.click('.panel:has-text("Why devices waited") >> text=As a table');
    assert.deepEqual(await page.locator('.panel-table td:first-child >> visible=true').allTextContents(), ['Device 0', ...streams.map(({ stream }) => `Device 0, stream ${stream}`)]);
    assert.deepEqual(await axeFaults(page), []);
});

test('a wait at the start of the recording is told as such, and a path says what would shorten it', async () => {
    await open('', early);
    await eventually(async () => assert.match(plain(await page.textContent('.view .idle-verdict')) ?? '', /one wait at the start of the recording/));
    await eventually(async () => assert.match(await lead('#critical-path'), /mostly device computing .*Only faster or fewer kernels help/));
    await open();
    await eventually(async () => assert.match(plain(await page.textContent('.view .idle-verdict')) ?? '', /Remove what waits/));
});

test('the longest gap opens the timeline with its range selected, and the overview leads here', async () => {
    const { longest: { rows } } = await get(server.url, `traces/${id}/idle`);
    const gap = rows.find(({ stream }) => stream === 7);
    await visit(page, server.url, `#/traces/${id}/overview`);
    await page.click('text=Why it waited');
    await addressed(page, `traces/${id}/idle`);
    await page.click('text=Show the longest gap of stream 7');
    await addressed(page, `sel=${gap.start_ns}-${gap.start_ns + gap.duration_ns}`);
});

test('launches: the latest first, the queue of a chosen stream', async () => {
    const { rows } = await get(server.url, `traces/${id}/launches?sort=launch_delay_ns&order=desc`);
    await open();
    const table = page.locator('#launches .data-table');
    await eventually(async () => assert.deepEqual(await table.locator('.row-toggle').evaluateAll((list) => list.map((row) => row.getAttribute('data-tip'))), rows.map((row) => row.kernel)));
    await page.selectOption('#launches select', '0:8');
    await addressed(page, 'series=0%3A8');
    await page.click('#launches >> text=As a table');
    await eventually(async () => assert.deepEqual(await page.locator('#launches .panel-table td:last-child').allTextContents(), ['1', '0']));
});

test('critical path: the first step, the whole trace, no such annotation', async () => {
    const [step, whole] = await Promise.all(['?ends=own&annotation=ProfilerStep%23', '?ends=own'].map((query) => get(server.url, `traces/${id}/critical-path${query}`)));
    assert.notEqual(step.length_ns, whole.length_ns);
    await open();
    sameTime(await lead('#critical-path'), step.length_ns, 'of the step');
    const [best] = [...step.what_if.names].sort((a, b) => b.saved_at_most_ns - a.saved_at_most_ns);
    assert.equal(await page.locator('#critical-path .plain-table a >> nth=0').getAttribute('data-tip'), best.name);
    await page.click('#critical-path >> text=Whole trace');
    await addressed(page, 'window=trace');
    await eventually(async () => sameTime(await lead('#critical-path'), whole.length_ns, 'of the trace'));
    await page.fill('#critical-path input >> nth=0', 'nothing');
    await page.press('#critical-path input >> nth=0', 'Enter');
    await addressed(page, 'annotation=nothing');
    await eventually(async () => assert.match(await page.textContent('#critical-path [role=alert]') ?? '', /no such instance/));
});

test('the last step can be left out; launches alone can make the edges; a name can take another time', async () => {
    const [kept, dropped] = await Promise.all(['keep', 'drop'].map((last) => get(server.url, `traces/${id}/idle?last_step=${last}`)));
    assert.notEqual(kept.devices[0].idle_ns, dropped.devices[0].idle_ns);
    await open();
    await page.selectOption('.view-head select', 'drop');
    await addressed(page, 'last=drop');
    const first = async () => plain(await page.locator('.view .lead >> nth=0').textContent()) ?? '';
    await eventually(async () => sameTime(await first(), dropped.devices[0].idle_ns, 'without the last step'));
    await open('?last=drop&window=trace');
    sameTime(await first(), dropped.devices[0].idle_ns, 'from the address');
    await page.selectOption('#critical-path select >> nth=0', 'delays');
    await addressed(page, 'edges=delays');
    await page.fill('#critical-path .idle-name', 'aten::item');
    await page.press('#critical-path .idle-name', 'Enter');
    await addressed(page, 'scale=aten%253A%253Aitem%3A0.5');
    const { what_if: whatif } = await get(server.url, `traces/${id}/critical-path?ends=own&launch_edges=delays&scale=aten%253A%253Aitem:0.5`);
    assert.ok(whatif.saved_ns > 0);
    await eventually(async () => sameTime(plain(await page.textContent('#critical-path [role=status].lead')) ?? '', whatif.length_ns, 'with half of aten::item'));
});

test('the path stands out in the timeline until it is put away', async () => {
    await open('?window=trace');
    await page.click('text=Show the path in the timeline');
    await addressed(page, 'path=all%3A%3A');
    const { events, length_ns: length } = await get(server.url, `traces/${id}/critical-path?ends=own&limit=1`);
    await eventually(async () => {
        const text = plain(await page.textContent('.tl-tools')) ?? '';
        assert.match(text, new RegExp(`${events.total} events`));
        sameTime(/Path of ([^,]*),/.exec(text)?.[1] ?? '', length, 'of the path');
    });
    await page.click('[aria-label="Do not show the critical path"]');
    await eventually(async () => assert.equal(await page.getByText('Critical path', { exact: true }).isVisible(), true));
    await page.click('text="Critical path"');
    await addressed(page, 'path=all%3A%3A');
});

test('a trace of the host alone has no such view, and says why', async () => {
    await open('', hostOnly);
    assert.match(await page.textContent('.empty') ?? '', /No device work/);
    await visit(page, server.url, `#/traces/${hostOnly}/overview`);
    assert.equal(await page.locator('#views a:has-text("Idle")').count(), 0);
});

test('a long queue is thinned to its longest in each stretch, its end kept', () => {
    const series = Array.from({ length: 5000 }, (_, index) => ({ ts_ns: 10 * index, length: index % 100 === 50 ? 9 : index % 2, event: index }));
    const points = thin(series);
    assert.ok(points.length < 1700, `${points.length}`);
    assert.equal(Math.max(...points.map(({ length }) => length)), 9);
    assert.deepEqual(points[points.length - 1], { ts_ns: 49990, length: 1 });
});
