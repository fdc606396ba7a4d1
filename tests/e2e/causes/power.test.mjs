/** Energy: the sentence and tables of a made recording, equal to figures worked out by hand; none without counters. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, eventually, axeFaults, putText } from '../support.mjs';

const span = (cat, name, pid, tid, ts, dur, args = {}) => ({ ph: 'X', cat, name, pid, tid, ts, dur, args });
const sample = (ts, watts) => ({ ph: 'C', name: '', pid: '0', ts, args: { power: watts, sclk: 1500 } });
/** 100 W for 100 us, then 300 W for 100: 40 mJ [CAU-7f]. The kernel has 100 W x 50 us alone, half of 100 W x 50 us, and 300 W x 50 us: 22.5 mJ. */
const WORK = [
    span('user_annotation', 'ProfilerStep#1', 9, 9, 0, 60), span('user_annotation', 'ProfilerStep#2', 9, 9, 60, 190),
    span('kernel', 'gemm', 0, 7, 0, 150, { device: 0, stream: 7, correlation: 1 }), span('gpu_memcpy', 'Memcpy HtoD', 0, 8, 50, 50, { device: 0, stream: 8, correlation: 2 }),
];
const COUNTERS = [sample(0, 100), sample(100, 300), sample(200, 50)];

const { server, page } = await stage();
const ids = {};
for (const [run, traceEvents] of Object.entries({ sampled: [...WORK, ...COUNTERS], bare: WORK, single: [...WORK, COUNTERS[0]] })) {
    ids[run] = (await putText(server.url, run, `${run}.1700000000000.pt.trace.json`, JSON.stringify({ schemaVersion: 1, traceEvents }))).id;
}

const panel = () => page.locator('.view-efficiency section', { has: page.locator('h2', { hasText: 'Energy' }) });
const plain = (text) => text?.replaceAll('\u00a0', ' ').replace(/\s+/g, ' ').trim() ?? '';

test('the sentence and the tables say what was worked out by hand', async () => {
    await visit(page, server.url, `#/traces/${ids.sampled}/efficiency`);
    await eventually(async () => assert.equal(plain(await panel().locator('.lead').textContent()),
        '40 mJ in 200.0 µs of samples, 200 W on average; the largest part in gemm (56.3%), 37.5% while no work ran. A step takes 20 mJ.'));
    const rows = await panel().locator('table').evaluateAll((tables) => tables.map((table) => [...table.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent ?? '').slice(0, 3))));
    assert.deepEqual(rows.map((table) => table.map((cells) => cells.map(plain))), [
        [['0', '40 mJ', '100.0%']],
        [['gemm', '22.5 mJ', '56.3%'], ['idle', '15 mJ', '37.5%'], ['memcpy', '2.50 mJ', '6.3%']],
        [['ProfilerStep#1', '6 mJ', '15.0%'], ['ProfilerStep#2', '34 mJ', '85.0%']],
    ]);
    assert.deepEqual(await axeFaults(page), []);
});

test('without counters there is no panel; one sample is no energy, and says so', async () => {
    await visit(page, server.url, `#/traces/${ids.single}/efficiency`);
    await eventually(async () => assert.match(plain(await panel().textContent()), /none with two samples of power/));
    await visit(page, server.url, `#/traces/${ids.bare}/efficiency`);
    await eventually(async () => assert.match(plain(await page.locator('.view-efficiency').textContent()), /./));
    await page.waitForLoadState('networkidle');
    assert.equal(await page.locator('.view-efficiency h2:visible', { hasText: 'Energy' }).count(), 0);
});
