/** Modules: the tree with the figures of the API, nested bars that zoom, both by keyboard, and all of it in the URL. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, get, ask, sameTime, column, settled, addressed, eventually, putText } from './support.mjs';
import { trainingTrace, lightningTrace } from './training_trace.mjs';

const { server, page } = await stage();
const upload = (name, text) => putText(server.url, name, `${name}.1700000000000.pt.trace.json`, text);
const traces = {
    model: await upload('model', trainingTrace()),
    bare: await upload('bare', trainingTrace({ modules: false })),
    lightning: await upload('lightning', lightningTrace()),
};
const { rows } = await get(server.url, `traces/${traces.model.id}/modules`);

const open = (trace, query = '') => visit(page, server.url, `#/traces/${trace.id}/modules${query}`);
const plain = (text) => text?.replaceAll('\u00a0', ' ').trim();
const at = (name) => rows.findIndex((row) => row.name === name);
const answer = (index) => page.locator('.answer').nth(index);
const names = () => page.$$eval('.tree-table .row-toggle', (list) => list.map((item) => item.getAttribute('data-tip')));
const shown = (list) => eventually(async () => assert.deepEqual(await names(), list));
const line = (name) => page.locator(`.tree-table tr:has(.row-toggle[data-tip="${name}"])`);
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-tip'));
const key = async (name) => {
    await page.keyboard.press(name);
    await settled(page);
};
const canvas = () => page.locator('.icicle');
const says = (text) => eventually(async () => assert.match(plain(await canvas().getAttribute('aria-valuetext')) ?? '', text));
const crumbs = (list) => eventually(async () => assert.deepEqual(await page.locator('.tree-path li').allTextContents(), list));
const deviceTotal = (name) => rows[at(name)].device_total_ns;

test('large figures: time in modules, and those that take most of it themselves', async () => {
    await open(traces.model);
    const tops = rows.filter(({ parent }) => parent === null);
    sameTime(await answer(0).locator('.answer-figure').textContent(), tops.reduce((sum, row) => sum + row.device_total_ns, 0), 'device time');
    const [most] = [...rows].sort((a, b) => b.device_self_ns - a.device_self_ns);
    sameTime(await answer(1).locator('.answer-figure').textContent(), most.device_self_ns, 'most device time');
    assert.equal(await answer(1).locator('button').textContent(), most.name);
    const [host] = [...rows].sort((a, b) => b.host_self_ns - a.host_self_ns);
    sameTime(await answer(2).locator('.answer-figure').textContent(), host.host_self_ns, 'most host time');
    assert.equal(await answer(3).locator('.answer-figure').textContent(), String(rows.length));
    // The name leads to its row.
    await answer(1).locator('button').click();
    await addressed(page, `at=${at(most.name)}`);
    await eventually(async () => assert.equal(await line(most.name).getAttribute('aria-selected'), 'true'));
});

test('the tree: figures of the API, levels, bars', async () => {
    await open(traces.model, '?open=all');
    await shown(rows.map(({ name }) => name));
    await eventually(async () => {
        assert.deepEqual(await column(page, 'Calls'), rows.map(({ occurrences }) => String(occurrences)));
        for (const [label, field] of [['GPU total', 'device_total_ns'], ['GPU self', 'device_self_ns'], ['Host total', 'host_total_ns'], ['Host self', 'host_self_ns']]) {
            assert.deepEqual((await column(page, label)).map((text) => Number(text) * 1000), rows.map((row) => row[field]), label);
        }
    });
    const levels = await page.$$eval('.tree-table tbody tr[aria-level]', (list) => list.map((tr) => Number(tr.getAttribute('aria-level'))));
    assert.deepEqual(levels, rows.map(({ depth }) => depth + 1));
    const bars = await page.$$eval('.tree-table .barred', (list) => list.map((cell) => cell.style.getPropertyValue('--w')));
    assert.equal(bars.length, 4 * rows.length);
    assert.equal(bars[0], '100%');
    const csv = (await ask(await page.getAttribute('a:has-text("CSV")', 'href'))).text.trim().split('\r\n');
    assert.equal(csv.length, rows.length + 1);
});

test('the tree by keyboard: the right arrow unfolds, the left one folds and goes up; the URL keeps it', async () => {
    await open(traces.model, '?open=none');
    await shown(['Model_0']);
    await page.focus('.row-toggle[tabindex="0"]');
    await key('ArrowRight');
    await shown(['Model_0', 'Encoder_0', 'Head_0']);
    assert.equal(await line('Model_0').getAttribute('aria-expanded'), 'true');
    await key('ArrowRight');
    await eventually(async () => assert.equal(await focused(), 'Encoder_0'));
    await key('ArrowRight');
    await shown(['Model_0', 'Encoder_0', 'EncoderLayer_0', 'EncoderLayer_1', 'Head_0']);
    await addressed(page, `open=${at('Model_0')}.${at('Encoder_0')}`);
    const saved = await page.evaluate(() => location.hash);
    await key('ArrowDown');
    await key('ArrowLeft');
    await eventually(async () => assert.equal(await focused(), 'Encoder_0'));
    await key('ArrowLeft');
    await shown(['Model_0', 'Encoder_0', 'Head_0']);
    await eventually(async () => assert.equal(await focused(), 'Encoder_0'));
    // A leaf has nothing to unfold.
    await key('End');
    await eventually(async () => assert.equal(await focused(), 'Head_0'));
    assert.equal(await line('Head_0').getAttribute('aria-expanded'), null);
    await visit(page, server.url, saved);
    await shown(['Model_0', 'Encoder_0', 'EncoderLayer_0', 'EncoderLayer_1', 'Head_0']);
    await page.getByRole('button', { name: 'Unfold all', exact: true }).click();
    await shown(rows.map(({ name }) => name));
    await page.getByRole('button', { name: 'Fold all', exact: true }).click();
    await shown(['Model_0']);
    await page.click('.twist');
    await shown(['Model_0', 'Encoder_0', 'Head_0']);
});

test('an opened module: figures for a call, its part of what it is in, the ways on; it stays open when rows move', async () => {
    await open(traces.model, `?open=${at('Model_0')}.${at('Encoder_0')}`);
    await page.focus('.row-toggle[data-tip="EncoderLayer_1"]');
    await page.click('.row-toggle[data-tip="EncoderLayer_1"]');
    const share = (100 * deviceTotal('EncoderLayer_1')) / deviceTotal('Encoder_0');
    await eventually(async () => {
        const text = plain(await page.textContent('.detail'));
        assert.match(text, /Model_0 \/ Encoder_0 \/ EncoderLayer_1/);
        assert.match(text, new RegExp(`Of Encoder_0 on the GPU${share.toFixed(1)}%`));
    });
    await page.locator('.row-toggle[data-tip="EncoderLayer_0"] .twist').click();
    await shown(['Model_0', 'Encoder_0', 'EncoderLayer_0', 'Linear_0', 'Linear_1', 'EncoderLayer_1', 'Head_0']);
    await eventually(async () => {
        assert.equal(await page.getAttribute('.row-toggle[data-tip="EncoderLayer_1"]', 'aria-expanded'), 'true');
        assert.equal(await page.evaluate(() => document.querySelector('.detail')?.previousElementSibling?.querySelector('.row-toggle')?.getAttribute('data-tip')), 'EncoderLayer_1');
    });
    await page.click('.detail button:has-text("Zoom the chart")');
    await crumbs(['All modules', 'Model_0', 'Encoder_0', 'EncoderLayer_1']);
    await page.click('.detail a:has-text("Show in call tree")');
    await addressed(page, 'calls?q=EncoderLayer_1');
});

test('nested bars: a click zooms, crumbs lead back, the width is of device or host', async () => {
    await open(traces.model);
    await crumbs([]);
    const box = await canvas().boundingBox();
    // The second level begins with the encoder.
    await page.mouse.click(box.x + 20, box.y + 26 + 13);
    await addressed(page, `zoom=${at('Encoder_0')}`);
    await crumbs(['All modules', 'Model_0', 'Encoder_0']);
    const second = deviceTotal('EncoderLayer_0') / deviceTotal('Encoder_0');
    const zoomed = await canvas().boundingBox();
    await page.mouse.move(zoomed.x + (second + 0.02) * zoomed.width, zoomed.y + 26 + 13);
    await eventually(async () => assert.match(plain(await page.textContent('.strip-line')), /^EncoderLayer_1GPU 430\.0 µs · self 0 ns · 65\.2% of Encoder_0 · 1 call/));
    await page.click('label:has-text("Host")');
    await addressed(page, 'by=host');
    await page.mouse.move(zoomed.x + 0.55 * zoomed.width, zoomed.y + 26 + 13);
    await eventually(async () => assert.match(plain(await page.textContent('.strip-line')), /^EncoderLayer_1host 90\.00 µs/));
    // The bars are what the address says.
    await visit(page, server.url, await page.evaluate(() => location.hash));
    await crumbs(['All modules', 'Model_0', 'Encoder_0']);
    assert.ok(await page.isChecked('input[value="host"]'));
    await page.click('.tree-path button:has-text("Model_0")');
    await crumbs(['All modules', 'Model_0']);
    await page.click('.tree-path button:has-text("All modules")');
    await crumbs([]);
});

test('nested bars by keyboard: arrows walk, Enter zooms in, Escape out; the tree follows', async () => {
    await open(traces.model, '?open=none');
    await canvas().focus();
    await key('ArrowDown');
    await says(/^Model_0: GPU 710\.0 µs/);
    await key('ArrowDown');
    await says(/^Model_0, in it Encoder_0: GPU 660\.0 µs, self 0 ns, 93\.0% of all, 1 call/);
    await shown(['Model_0', 'Encoder_0', 'Head_0']);
    await eventually(async () => assert.equal(await line('Encoder_0').getAttribute('aria-selected'), 'true'));
    await key('ArrowRight');
    await says(/in it Head_0:/);
    await key('ArrowLeft');
    await key('Enter');
    await crumbs(['All modules', 'Model_0', 'Encoder_0']);
    await key('ArrowDown');
    await key('End');
    await says(/in it EncoderLayer_1: GPU 430\.0 µs/);
    await key('ArrowUp');
    await says(/in it Encoder_0:/);
    await key('Escape');
    await crumbs(['All modules', 'Model_0']);
    await key('Escape');
    await crumbs([]);
    await eventually(async () => assert.ok(await canvas().evaluate((node) => node === document.activeElement)));
});

test('search goes from match to match and unfolds what hides one', async () => {
    await open(traces.model, '?open=none');
    await page.fill('.search', 'linear_');
    await addressed(page, 'q=linear_');
    const found = rows.filter(({ name }) => name.startsWith('Linear_')).map(({ name }) => name);
    const count = (text) => eventually(async () => assert.equal(plain(await page.textContent('.tree-search .table-count')), text));
    await count(`${found.length} matches`);
    await eventually(async () => assert.deepEqual(await page.$$eval('tr.marked .row-toggle', (list) => list.map((item) => item.getAttribute('data-tip'))), found));
    await page.press('.search', 'Enter');
    await addressed(page, `at=${at(found[0])}`);
    await count(`1 of ${found.length} matches`);
    await page.click('button:has-text("Next")');
    await count(`2 of ${found.length} matches`);
    await page.click('button:has-text("Previous")');
    await page.click('button:has-text("Previous")');
    await count(`${found.length} of ${found.length} matches`);
    await page.fill('.search', '/^(/');
    await eventually(async () => assert.match(await page.textContent('.table-note') ?? '', /not a pattern/));
});

test('Lightning’s modules are shown where a trace has them', async () => {
    const data = await get(server.url, `traces/${traces.lightning.id}/modules`);
    assert.equal(data.kind, 'lightning');
    await open(traces.lightning);
    await eventually(async () => assert.equal(await page.textContent('h1'), 'Lightning modules'));
    await shown(data.rows.map(({ name }) => name));
    assert.equal(await page.locator('#views a:has-text("Modules")').count(), 1);
});

test('a trace without module calls says what to record', async () => {
    await open(traces.bare);
    await eventually(async () => assert.equal(await page.textContent('.empty code'), 'with_stack=True, with_modules=True'));
    await visit(page, server.url, `#/traces/${traces.bare.id}/overview`);
    await eventually(async () => assert.equal(await page.locator('#views a:has-text("Modules")').count(), 0));
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
