/** SQL: a statement in the address, its rows as the server has them, faults in words, the tables named. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, eventually, axeFaults, putText } from './support.mjs';

const trace = JSON.stringify({ schemaVersion: 1, traceEvents: [1, 2, 3].map((at) => (
    { ph: 'X', cat: 'cpu_op', name: at < 3 ? 'aten::<b>mm</b>' : 'aten::add', pid: 1, tid: 1, ts: 1000 * at, dur: 100 * at, args: { 'External id': at } })) });
const { server, page } = await stage();
const { id } = await putText(server.url, 'sql', 'w.1700000000000.pt.trace.json', trace);

const rows = () => page.$$eval('.sql-rows tbody tr', (lines) => lines.map((line) => [...line.cells].map((cell) => cell.textContent)));

test('a statement runs by key, stands in the address, and its rows are texts', async () => {
    await visit(page, server.url, `#/traces/${id}/sql`);
    assert.match(await page.textContent('.sql-tables'), /operators_by_shape/);
    await page.fill('textarea', 'SELECT name, calls, host_total_ns FROM operators ORDER BY name');
    await page.press('textarea', 'Control+Enter');
    await eventually(async () => assert.deepEqual(await rows(), [['aten::<b>mm</b>', '2', '300000'], ['aten::add', '1', '300000']]));
    assert.match(page.url(), /sql\?sql=SELECT/);
    const csv = await page.getAttribute('a[download]:text("CSV")', 'href');
    assert.match(await (await fetch(new URL(csv, server.url))).text(), /^name,calls,host_total_ns\r\n/);
    assert.deepEqual(await axeFaults(page), []);
});

test('a fault is told in words and the statement stays', async () => {
    await page.fill('textarea', 'SELECT colour FROM operators');
    await page.click('button:text("Run")');
    await page.waitForSelector('[role=alert]');
    assert.match(await page.textContent('[role=alert]'), /no such column: colour/);
    assert.equal(await page.inputValue('textarea'), 'SELECT colour FROM operators');
    await page.goBack();
    await eventually(async () => assert.equal((await rows()).length, 2));
});
