/** Kernel tables: the figures of the API in large figures, charts and rows, each chart by keyboard and as a table, and all of it in the URL. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServer, startBrowser, newPage, visit, fixture, put, get, ask, sameTime, column, settled, addressed, eventually } from './support.mjs';
import { shortTable, ncuTable, nsysTrace, nsysSums, manyLaunches } from './kernel_tables.mjs';

let server;
let chrome;
let page;
let folder;
const traces = {};

const upload = async (run, name, text) => {
    const file = path.join(folder, name);
    await writeFile(file, text);
    return put(server.url, run, file);
};
before(async () => {
    server = await startServer();
    chrome = await startBrowser();
    page = await newPage(chrome.browser);
    folder = await mkdtemp(path.join(tmpdir(), 'kinetoscope-tables-'));
    traces.short = await upload('tables', 'train.txt', shortTable);
    traces.ncu = await upload('tables', 'infer.csv', ncuTable);
    traces.nsys = await upload('nsys', 'timeline.csv', nsysTrace);
    traces.sums = await upload('nsys', 'sums.csv', nsysSums);
    traces.many = await upload('many', 'many.txt', manyLaunches(25000));
    traces.gpu = await put(server.url, 'joined', fixture('cuda_training'));
    traces.joined = await upload('joined', 'kernels.txt', shortTable);
    traces.alone = await upload('alone', 'alone.txt', shortTable);
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
});

const open = (trace, query = '') => visit(page, server.url, `#/traces/${trace.id}/utilisation${query}`);
const use = (trace, query = '?limit=0') => get(server.url, `traces/${trace.id}/kernel-utilisation${query}`);
const percent = (share) => `${(100 * share).toFixed(1)}%`;
const plain = (text) => text?.replaceAll('\u00a0', ' ').trim();
const cells = (selector) => page.$$eval(`${selector} tbody tr`, (list) => list.map((tr) => [...tr.children].map((cell) => cell.textContent.replaceAll('\u00a0', ' ').trim())));
const panel = (title) => page.locator(`.panel:has(h2:has-text("${title}"))`);
const asTable = async (title) => {
    await panel(title).locator('button:has-text("As a table")').click();
    await settled(page);
};
const openRow = (name) => eventually(async () => {
    assert.equal(await page.getAttribute(`.row-toggle[data-tip="${name}"]`, 'aria-expanded'), 'true');
});

test('large figures: time, headroom, use, and the kernel with most to gain', async () => {
    const data = await use(traces.short);
    await open(traces.short);
    const answer = (index) => page.locator('.answer').nth(index);
    sameTime(await answer(0).locator('.answer-figure').textContent(), data.total_ns, 'time in kernels');
    assert.match(plain(await answer(0).textContent()), new RegExp(`${data.launches} launches of ${data.kernels} kernels`));
    sameTime(await answer(1).locator('.answer-figure').textContent(), data.headroom_ns, 'headroom');
    assert.equal(await answer(2).locator('.answer-figure').textContent(), percent(data.tensor).replace(' ', ''));
    assert.equal(await answer(3).locator('.answer-figure').textContent(), percent(data.dram).replace(' ', ''));
    const top = [...data.rows].sort((a, b) => b.headroom_ns - a.headroom_ns)[0];
    assert.equal(await answer(4).locator('button').getAttribute('data-tip'), top.full_name);
    await answer(4).locator('button').click();
    await openRow(top.name);
});

test('rows: order, search, columns of use, CSV of what is shown', async () => {
    const data = await use(traces.short);
    await open(traces.short);
    await eventually(async () => {
        assert.deepEqual(await page.$$eval('.data-table .row-toggle', (list) => list.map((item) => item.getAttribute('data-tip'))), data.rows.map(({ name }) => name));
        assert.deepEqual((await column(page, 'Tensor')).map(plain), data.rows.map(({ tensor }) => percent(tensor)));
        assert.deepEqual((await column(page, 'DRAM')).map(plain), data.rows.map(({ dram }) => percent(dram)));
    });
    await page.click('[data-sort="dram"]');
    await addressed(page, 'sort=dram&order=desc');
    await eventually(async () => assert.deepEqual((await column(page, 'DRAM')).map(plain), data.rows.map(({ dram }) => dram).sort((a, b) => b - a).map(percent)));
    await page.fill('.search', 'multi_tensor');
    await addressed(page, 'q=multi_tensor');
    await eventually(async () => assert.equal(await page.getAttribute('.data-table', 'aria-rowcount'), '2'));
    const csv = (await ask(await page.getAttribute('.row-table > .table-tools a:has-text("CSV")', 'href'))).text.trim().split('\r\n');
    assert.equal(csv.length, 2);
    assert.match(csv[1], /multi_tensor_apply_kernel/);
});

test('an opened row has the whole name, the class in words, other metrics and its launches', async () => {
    const data = await use(traces.ncu);
    const row = data.rows.find(({ metrics }) => metrics.length > 0);
    assert.ok(row, 'the table has another metric');
    const launches = await get(server.url, `traces/${traces.ncu.id}/kernel-utilisation/launches?name=${encodeURIComponent(row.name)}&sort=duration_ns&order=desc`);
    await open(traces.ncu);
    await page.click(`.row-toggle[data-tip="${row.name}"]`);
    await addressed(page, 'row=');
    await eventually(async () => {
        assert.equal(await page.textContent('.full-name code'), row.full_name);
        const metrics = await cells('.detail table:has(caption:text("Other metrics"))');
        assert.deepEqual(metrics.map(([name]) => name), row.metrics.map(({ metric }) => metric));
        const shown = await cells('.detail .launches table');
        assert.deepEqual(shown.map(([position, grid]) => [Number(position), grid]), launches.rows.map(({ position, grid }) => [position + 1, grid]));
    });
    // The same address opens the same row.
    await visit(page, server.url, await page.evaluate(() => location.hash));
    await openRow(row.name);
});

test('the scatter leads to rows, by keyboard and by pointer', async () => {
    const data = await use(traces.short);
    await open(traces.short);
    const canvas = page.locator('.use-scatter canvas');
    await page.waitForSelector('.use-scatter canvas[data-drawn]');
    await canvas.focus();
    await page.keyboard.press('ArrowRight');
    await eventually(async () => {
        const text = plain(await canvas.getAttribute('aria-valuetext'));
        assert.ok(text.startsWith(`${data.rows[0].name}: Tensor use ${percent(data.rows[0].tensor)}, DRAM use ${percent(data.rows[0].dram)}`), text);
    });
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await openRow(data.rows[1].name);
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-tip')), data.rows[1].name));
    await page.evaluate(() => window.scrollTo(0, 0));
    const spot = await canvas.evaluate((node) => {
        const { x, y } = globalThis.Chart.getChart(node).getDatasetMeta(0).data[0];
        const box = node.getBoundingClientRect();
        return { x: box.left + x, y: box.top + y };
    });
    await page.mouse.click(spot.x, spot.y);
    await openRow(data.rows[0].name);
    await eventually(async () => assert.equal(await page.getAttribute(`.row-toggle[data-tip="${data.rows[1].name}"]`, 'aria-expanded'), 'false'));
});

test('every chart has its figures as a table', async () => {
    const data = await use(traces.short);
    await open(traces.short);
    await asTable('Compute against DRAM');
    await eventually(async () => {
        const rows = await cells('.panel-table:visible table:has(caption:text("Kernels by compute"))');
        assert.deepEqual(rows.map(([, tensor, dram]) => [tensor, dram]), data.rows.map(({ tensor, dram }) => [percent(tensor), percent(dram)]));
    });
    await asTable('Latency of launches');
    await eventually(async () => {
        const rows = await cells('table:has(caption:text("Launches by latency"))');
        assert.equal(rows.reduce((sum, [, launches]) => sum + Number(launches), 0), data.launches);
    });
    await asTable('Launches in order');
    const launches = await get(server.url, `traces/${traces.short.id}/kernel-utilisation/launches?limit=0`);
    await eventually(async () => {
        assert.equal(await page.getAttribute('.launch-table .data-table', 'aria-rowcount'), String(data.launches + 1));
        const names = await page.$$eval('.launch-table tbody th', (list) => list.map((item) => item.getAttribute('data-tip')));
        assert.deepEqual(names, launches.rows.slice(0, names.length).map(({ name }) => name));
    });
    await page.click('.launch-table [data-sort="duration_ns"]');
    await settled(page);
    const longest = Math.max(...launches.rows.map(({ duration_ns: ns }) => ns));
    await eventually(async () => assert.equal(await page.getAttribute('.launch-table tbody th', 'data-tip'), launches.rows.find(({ duration_ns: ns }) => ns === longest).name));
});

test('time by class, beside the other tables of the run and those of another', async () => {
    const [short, ncu, alone] = [await use(traces.short), await use(traces.ncu), await use(traces.alone)];
    const share = (data, name) => percent(data.classes.find((item) => item.class === name).share);
    await open(traces.short);
    await eventually(async () => {
        const rows = await cells('.class-table');
        assert.deepEqual(rows.map(([name, low]) => [name, low]), [['train', share(short, 'both_low')], ['infer', share(ncu, 'both_low')]]);
        assert.equal(await page.locator('.use-bar').count(), 2);
    });
    await page.getByRole('combobox', { name: 'Beside it' }).click();
    await page.keyboard.type('alone');
    await page.keyboard.press('Enter');
    await addressed(page, 'with=');
    await eventually(async () => assert.deepEqual((await cells('.class-table')).map(([name, low]) => [name, low]).at(-1), ['alone / alone', share(alone, 'both_low')]));
    await page.click('button[aria-label="Remove infer"]');
    await settled(page);
    await eventually(async () => assert.deepEqual((await cells('.class-table')).map(([name]) => name), ['train', 'alone / alone']));
    await visit(page, server.url, await page.evaluate(() => location.hash));
    await eventually(async () => assert.deepEqual((await cells('.class-table')).map(([name]) => name), ['train', 'alone / alone']));
    await page.click('button[aria-label="Remove alone / alone"]');
    await addressed(page, 'with=none');
    await eventually(async () => assert.deepEqual((await cells('.use-classes .plain-table')).map(([label, , , part]) => [label, part]).find(([label]) => label === 'Latency-bound'), ['Latency-bound', share(short, 'both_low')]));
    await page.click('.use-classes label:has-text("Share")');
    await addressed(page, 'scale=share');
});

test('the strip: launches by keyboard and pointer, zoomed, coloured, in the URL', async () => {
    const { rows } = await get(server.url, `traces/${traces.short.id}/kernel-utilisation/launches?limit=0`);
    await open(traces.short);
    const strip = page.getByRole('slider', { name: 'Launches in order' });
    const says = (position) => eventually(async () => {
        const text = plain(await strip.getAttribute('aria-valuetext'));
        assert.ok(text.startsWith(`Launch ${position + 1} of ${rows.length}: ${rows[position].name}, `), text);
        assert.ok(text.includes(`Tensor ${percent(rows[position].tensor)}, DRAM ${percent(rows[position].dram)}`), text);
    });
    await strip.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await says(1);
    await addressed(page, 'launch=2');
    await page.keyboard.press('End');
    await says(rows.length - 1);
    await addressed(page, `launch=${rows.length}`);
    await page.keyboard.press('+');
    await addressed(page, 'win=');
    await page.keyboard.press('0');
    await page.waitForFunction(() => !location.hash.includes('win='));
    await page.keyboard.press('Enter');
    await openRow(rows.at(-1).name);
    await page.click('.panel label:has-text("DRAM")');
    await addressed(page, 'colour=dram');
    // The first launch begins at the left edge.
    await strip.scrollIntoViewIfNeeded();
    await strip.click({ position: { x: 1, y: 20 } });
    await says(0);
    const box = await strip.boundingBox();
    await page.mouse.move(box.x + 5, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 30, { steps: 4 });
    await page.mouse.up();
    await addressed(page, 'win=1-');
    await visit(page, server.url, await page.evaluate(() => location.hash));
    await says(0);
});

test('many launches come in parts, all of them', async () => {
    await open(traces.many);
    const data = await use(traces.many);
    const strip = page.getByRole('slider', { name: 'Launches in order' });
    await strip.focus();
    await page.keyboard.press('End');
    await eventually(async () => assert.match(plain(await strip.getAttribute('aria-valuetext')), /^Launch 25,000 of 25,000: /));
    await asTable('Latency of launches');
    await eventually(async () => {
        const rows = await cells('table:has(caption:text("Launches by latency"))');
        assert.equal(rows.reduce((sum, [, launches]) => sum + Number(launches.replaceAll(',', '')), 0), data.launches);
    });
    // Something is painted: the strip is no blank.
    const colours = await page.evaluate(() => {
        const canvas = document.querySelector('.strip-canvas');
        const pixels = canvas.getContext('2d').getImageData(0, 10, canvas.width, 1).data;
        return new Set(Array.from({ length: canvas.width }, (_, at) => pixels.slice(4 * at, 4 * at + 3).join())).size;
    });
    assert.ok(colours > 1, `${colours} colours`);
});

test('bad rows are listed with their lines', async () => {
    const data = await use(traces.short);
    assert.equal(data.bad_rows.length, 1);
    assert.match(data.bad_rows[0], /line 8/);
    await open(traces.short);
    await eventually(async () => assert.ok((await page.textContent('#bad-rows')).includes(data.bad_rows[0])));
});

test('a table of times only shows what it has and says what to record', async () => {
    const data = await use(traces.nsys);
    await open(traces.nsys);
    await eventually(async () => assert.match(await page.textContent('.command code'), /^ncu --csv --metrics .*tensor.*dram/));
    assert.equal(await page.locator('.use-scatter, .use-bars').count(), 0);
    sameTime(await page.locator('.answer-figure').first().textContent(), data.total_ns, 'time in kernels');
    await page.waitForSelector('.use-histogram canvas[data-drawn]');
    assert.deepEqual((await cells('table:has(caption:text("Copies and sets of memory"))')).map(([name]) => name), data.transfers.map(({ name }) => name));
    await open(traces.sums);
    await eventually(async () => assert.match(await page.textContent('main'), /cuda_gpu_trace/));
    assert.equal(await page.locator('.strip, .use-histogram').count(), 0);
    assert.equal(await page.getAttribute('.data-table', 'aria-rowcount'), String((await use(traces.sums)).kernels + 1));
});

test('use stands beside the time of a profiled trace, and what did not match is listed', async () => {
    const data = await get(server.url, `traces/${traces.gpu.id}/kernels`);
    assert.ok(data.utilisation.matched_kernels > 0 && data.utilisation.unmatched_kernels > 0);
    await visit(page, server.url, `#/traces/${traces.gpu.id}/kernels`);
    const { matched_kernels: known, unmatched_kernels: rest, unmatched, unmatched_in_table: alone } = data.utilisation;
    await eventually(async () => {
        assert.match(plain(await page.textContent('.match-line p')), new RegExp(`^Use is known of ${known} of ${known + rest} kernels, matched by name with kernels`));
        assert.deepEqual((await column(page, 'DRAM')).map(plain), data.rows.map(({ dram }) => (dram === null ? '–' : percent(dram))));
    });
    await page.click('.match-list summary >> nth=0');
    await eventually(async () => assert.deepEqual(await page.$$eval('.match-list[open] li', (list) => list.map((item) => item.textContent)), unmatched));
    await page.click('.match-list summary >> nth=1');
    await eventually(async () => assert.deepEqual(await page.$$eval('.match-list:last-child li', (list) => list.map((item) => item.textContent)), alone));
    const row = data.rows.find((item) => item.utilisation_match);
    await page.click(`.row-toggle[data-tip="${row.name}"]`);
    await eventually(async () => assert.match(plain(await page.textContent('.detail')), /Matched with the kernel table by name/));
    await page.click('.match-line a');
    await addressed(page, `#/traces/${traces.joined.id}/utilisation`);
});

test('a table opens at its utilisation, from the run, from an old link, and after an upload by page', async () => {
    await visit(page, server.url, '#/runs/alone');
    await eventually(async () => assert.match(await page.textContent('.run-table tbody'), /kernel table/));
    await page.click('a:has-text("Open utilisation")');
    await addressed(page, `#/traces/${traces.alone.id}/utilisation`);
    await visit(page, server.url, `#/traces/${traces.alone.id}/overview`);
    await addressed(page, `#/traces/${traces.alone.id}/utilisation`);
    const file = path.join(folder, 'by_page.txt');
    await writeFile(file, shortTable.replace('5632', '5633'));
    await page.setInputFiles('#file-input', file);
    await eventually(async () => assert.equal(await page.inputValue('#run-name'), 'by_page'));
    await page.keyboard.press('Enter');
    await page.click('.tray-item.done a');
    await page.waitForFunction(() => /utilisation/.test(location.hash) && /by_page/.test(document.querySelector('#path')?.textContent ?? ''));
    await settled(page);
    await eventually(async () => assert.equal(await page.textContent('h1'), 'Utilisation'));
});

test('leaving while launches are on their way leaves nothing behind', async () => {
    let release = () => {};
    const held = new Promise((resolve) => { release = resolve; });
    const hold = async (route) => {
        await held;
        await route.continue().catch(() => {});
    };
    await page.route('**/kernel-utilisation/launches?*', hold);
    await page.goto(`${server.url}?leaving#/traces/${traces.short.id}/utilisation`);
    await page.waitForSelector('.strip [role="status"]:has-text("Reading launches")');
    await page.click('#path a:has-text("Runs")');
    await page.waitForSelector('.run-table');
    release();
    await settled(page);
    await page.unroute('**/kernel-utilisation/launches?*', hold);
    assert.deepEqual(page.complaints, []);
});

test('a trace without a table says where utilisation comes from', async () => {
    await open(traces.gpu);
    await eventually(async () => assert.match(await page.textContent('main'), /Nsight Compute or Nsight Systems/));
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
