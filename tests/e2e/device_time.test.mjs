/** Device time, whose it is, steps of a serving engine, and a trace of another kind show the figures of the API. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, get, sameTime, settled, axeFaults, eventually, putText } from './support.mjs';

/** @param {string} cat @param {string} name @param {number} ts @param {number} dur @param {object} [args] @param {number | string} [tid] @param {number} [pid] */
const slice = (cat, name, ts, dur, args = {}, tid = 1, pid = 10) => ({ ph: 'X', cat, name, pid, tid, ts, dur, args });

/** A graph launch in each step of an engine: prefill, then two decodes. */
const serving = ['step[EXTEND bs=2 toks=64]', 'step[DECODE bs=2 toks=2]', 'step[DECODE bs=3 toks=3]'].flatMap((name, index) => {
    const start = 1000 * index;
    return [slice('user_annotation', name, start, 100), slice('cuda_runtime', 'cudaGraphLaunch', start + 10, 5, { correlation: index + 1 }),
        slice('kernel', 'ampere_sgemm_128x64', start + 300, 200, { correlation: index + 1, device: 0, stream: 7 }, 7, 0),
        slice('kernel', 'ncclDevKernel_AllReduce', start + 450, 100, { correlation: index + 1, device: 0, stream: 8 }, 8, 0)];
});
const other = [slice('mine', 'outer', 0, 100, {}, 'main'), slice('mine', 'inner', 10, 30, {}, 'main'), slice('mine', 'io', 0, 20, {}, 'disk')];

const { server, page } = await stage();
const traces = {};
for (const [name, traceEvents] of Object.entries({ serving, other })) traces[name] = await putText(server.url, name, `${name}.json`, JSON.stringify({ traceEvents }));

const open = async (id, view) => {
    await visit(page, server.url, `#/traces/${id}/${view}`);
    await page.waitForSelector('.view h1');
    await settled(page);
};
const rail = () => page.$$eval('#views a', (links) => links.map((link) => link.textContent.trim()));
const sound = async () => assert.deepEqual(await axeFaults(page), []);

test('the overview says over which window the device is busy, and with what', async () => {
    const { id } = traces.serving;
    const data = await get(server.url, `traces/${id}/device-time`);
    await open(id, 'overview');
    const figure = (index) => page.locator('.device-time .answer-figure').nth(index);
    assert.equal((await figure(0).textContent()).replace('%', ''), (100 * data.window.utilisation).toFixed(1));
    assert.equal((await figure(1).textContent()).replace('%', ''), (100 * data.steps.utilisation).toFixed(1));
    const { tensor_core: matrix } = await get(server.url, `traces/${id}/overview`);
    assert.ok(matrix, 'kernels ran');
    assert.equal((await figure(3).textContent()).replace('%', ''), (100 * matrix.used_share).toFixed(1));
    assert.deepEqual(await page.$$eval('.device-time .ranking-list th [data-name]', (list) => list.map((item) => item.dataset.name)), data.classes.map((row) => row.class));
    assert.match(await page.textContent('.device-time'), /Communication by library/);
    await eventually(async () => assert.ok(await page.locator('.device-time canvas').evaluate((node) => node.getContext('2d').getImageData(0, 0, node.width, node.height).data.some((value) => value > 0)), 'the doughnut is drawn'));
    // The steps' work runs after them: how idle the device is cannot be read from the host's steps.
    const idle = page.locator('.answers').first().locator('.answer').nth(1);
    assert.equal((await idle.locator('.answer-figure').textContent()).replace('%', ''), (100 * data.window.idle_ns / data.window.total_ns).toFixed(1));
    assert.match(await idle.textContent(), /The work runs later than the step on the host/);
    await sound();
});

test('an axis has room for the name of a step of a serving engine', async () => {
    const long = serving.map((item) => ({ ...item, name: item.name.replace(/^step.*/, 'execute_15360_context_15(sq15360sk15360sqsq15728640sqsk15728640)_generation_0(sq0sk0sqsq0sqsk0)') }));
    const { id } = await putText(server.url, 'serving', 'long.json', JSON.stringify({ traceEvents: long }));
    await open(id, 'overview');
    await page.waitForSelector('.step-chart canvas[data-drawn]');
    const [label] = await page.locator('.step-chart canvas').evaluate((canvas) => globalThis.Chart.getChart(canvas).data.labels);
    assert.equal(label, 'execute_15360_context_15_generation_0');
});

test('a class of work leads to its kernels, a chip takes the filter back', async () => {
    const { id } = traces.serving;
    const { rows } = await get(server.url, `traces/${id}/kernels?class=communication`);
    await open(id, 'overview');
    await page.click('.device-time .ranking-list a[data-name="communication"]');
    await eventually(async () => assert.match(page.url(), /kernels\?class=communication$/));
    await eventually(async () => assert.deepEqual(await page.$$eval('.row-toggle', (list) => list.map((item) => item.dataset.tip)), rows.map(({ name }) => name)));
    assert.match(await page.getAttribute('.tools-end a', 'href'), /class=communication/);
    await sound();
    await page.click('.filter-chips button');
    await eventually(async () => assert.equal(await page.locator('.row-toggle').count(), 2));
});

test('operators: whose the device time is', async () => {
    const { id } = traces.serving;
    const data = await get(server.url, `traces/${id}/device-time/operators`);
    assert.deepEqual(data.rows.map(({ kind }) => kind), ['graph_launch']);
    await open(id, 'operators');
    await eventually(async () => assert.match(await page.textContent('.owner-notes'), /cudaGraphLaunch: 6.kernels, 100\.0% of the device time/));
    await sound();
});

test('serving: phases apart, a chart, steps that can be chosen by phase', async () => {
    const { id } = traces.serving;
    const data = await get(server.url, `traces/${id}/engine-steps`);
    await open(id, 'serving');
    assert.ok((await rail()).includes('Serving'));
    assert.deepEqual(await page.$$eval('.phase-board tbody tr td:first-child', (cells) => cells.slice(0, 2).map((cell) => cell.textContent)), ['Prefill', 'Decode']);
    sameTime(await page.textContent('.ring-total >> nth=0'), data.phases[0].device_ns, 'device time of prefills');
    await page.check('.segmented input[value="decode"]');
    await eventually(async () => assert.match(await page.textContent('.table-count'), /^2.steps/));
    await page.check('.segmented input[value="tokens"]');
    await settled(page);
    assert.match(page.url(), /measure=tokens/);
    await sound();
});

test('a trace of another kind: duration, names, tracks, and the table of its slices', async () => {
    const { id } = traces.other;
    await open(id, 'overview');
    sameTime(await page.textContent('.answer-figure >> nth=0'), 100e3, 'duration');
    assert.deepEqual(await page.$$eval('.ranking-list th a', (list) => list.map((item) => item.dataset.name)), ['outer', 'inner', 'io']);
    assert.ok(!(await rail()).includes('Operators'));
    await open(id, 'slices?group=track');
    const data = await get(server.url, `traces/${id}/slices?group_by=track`);
    await eventually(async () => assert.deepEqual(await page.$$eval('.row-toggle', (list) => list.map((item) => item.dataset.tip)), data.rows.map(({ track }) => track)));
    await sound();
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
