/** What the page asks for: how much, how often, in how many turns; and a table too long to be in the page at once. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { stage, newPage, visit, fixture, put, get, ask, settled, addressed, eventually, axeFaults, putText } from './support.mjs';
import { largeTrace } from './training_trace.mjs';
import { watchLoad } from './loads.mjs';

const FIRST_VIEW_BYTES = 250e3;
/** The page, what it names, what early.js asks for. */
const TURNS = 3;
const ROWS = 5000;

const { server, chrome, page } = await stage();
const trace = await put(server.url, 'gpu', fixture('cuda_training'));
const large = await putText(server.url, 'large', 'large.pt.trace.json.gz', gzipSync(JSON.stringify(largeTrace(ROWS))));

const pathOf = (url) => new URL(url).pathname + new URL(url).search;
/** Loads an address in a browser that knows nothing yet, then again. */
async function loads(hash) {
    const fresh = await newPage(chrome.browser);
    const first = await watchLoad(fresh);
    await fresh.goto(server.url + hash);
    await settled(fresh);
    const again = await fresh.context().newPage();
    const second = await watchLoad(again);
    await again.goto(server.url + hash);
    await settled(again);
    assert.deepEqual(fresh.complaints, []);
    const of = (load) => ({ ...load, urls: load.urls.map(pathOf) });
    const result = { first: of(await first()), second: of(await second()) };
    await fresh.leave();
    return result;
}

const views = ['overview', 'timeline', 'operators', 'kernels', 'memory', 'modules', 'calls'];
/** @type {Record<string, string>} */
const PLACES = { catalogue: '', run: '#/runs/gpu', diff: '#/diff', compare: '#/compare' };
for (const view of [...Object.keys(PLACES), ...views]) {
    test(`the first view of ${view}: few bytes, few turns, nothing asked for twice`, async () => {
        const { first, second } = await loads(PLACES[view] ?? `#/traces/${trace.id}/${view}`);
        assert.ok(first.bytes < FIRST_VIEW_BYTES, `${first.bytes} bytes: ${first.urls.join(' ')}`);
        // A worker and what an answer leads to come later.
        if (['catalogue', 'operators', 'kernels'].includes(view)) assert.ok(first.depth <= TURNS, `${first.depth} turns: ${first.urls.join(' ')}`);
        assert.deepEqual(first.urls.filter((url, at) => first.urls.indexOf(url) !== at), []);
        assert.deepEqual(second.urls.filter((url) => !url.includes('/api/')), [new URL(server.url).pathname], 'only the page itself is asked for again');
    });
}

test('neither charts nor tables come with the list of runs', async () => {
    const { first } = await loads('');
    assert.ok(first.urls.some((url) => url.endsWith('/js/views/runs/runs.js')), first.urls.join(' '));
    assert.deepEqual(first.urls.filter((url) => /\/(vendor\/chart|js\/charts|js\/table|js\/rowtable|js\/columns|js\/source)\.js$/.test(url)), []);
});

test('what stands below its version is kept for good, what stands elsewhere is asked for again', async () => {
    const index = await ask(server.url);
    const [, base] = /<script type="module" src="\.\/(v\/\w+\/)js\/main\.js">/.exec(index.text) ?? [];
    assert.ok(base, index.text);
    const kept = async (what) => (await ask(server.url + what)).headers['cache-control'];
    assert.equal(await kept(''), 'no-cache');
    assert.match(await kept(`${base}js/main.js`), /max-age=\d{8}.*immutable/);
    assert.equal(await kept('js/main.js'), 'no-cache');
    // A page that was open while the server was replaced.
    assert.equal(await kept('v/000000000000/js/main.js'), 'no-cache');
    for (const none of [base, `${base}js/none.js`, 'v/', 'v//js/main.js/x', `${base}../js/main.js`]) assert.equal((await ask(server.url + none)).status, 404, none);
});

/** The place of the keyboard: which row of how many, and its name. */
const place = () => page.evaluate(() => {
    const button = document.activeElement;
    return { row: Number(button?.closest('tr')?.getAttribute('aria-rowindex')), of: Number(document.querySelector('.data-table')?.getAttribute('aria-rowcount')), name: button?.getAttribute('data-tip') };
});

test('the keyboard walks through a long table, to its end and back', async () => {
    await visit(page, server.url, `#/traces/${large.id}/operators?sort=name&order=asc`);
    const { total, rows: [first] } = await get(server.url, `traces/${large.id}/operators?sort=name&order=asc&limit=1`);
    assert.equal(total, ROWS);
    const { rows: [last] } = await get(server.url, `traces/${large.id}/operators?sort=name&order=asc&limit=1&offset=${total - 1}`);
    await page.locator('.data-table .row-toggle').first().focus();
    assert.deepEqual(await place(), { row: 2, of: total + 1, name: first.name });
    await page.keyboard.press('PageDown');
    const step = (await place()).row - 2;
    assert.ok(step >= 5, `a page is ${step} rows`);
    // Faster than rows can come: no press is lost.
    const presses = Math.ceil(total / step / 4);
    for (let press = 0; press < presses; press += 1) await page.keyboard.press('PageDown');
    await eventually(async () => assert.equal((await place()).row, 2 + step * (presses + 1)));
    await page.keyboard.press('ArrowUp');
    await eventually(async () => assert.equal((await place()).row, 1 + step * (presses + 1)));
    await page.keyboard.press('End');
    await eventually(async () => assert.deepEqual(await place(), { row: total + 1, of: total + 1, name: last.name }));
    await page.keyboard.press('ArrowDown');
    assert.equal((await place()).row, total + 1);
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await page.locator('.data-table tr.opened').getAttribute('aria-rowindex'), String(total + 1)));
    await settled(page);
    assert.deepEqual(await axeFaults(page), []);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Home');
    await eventually(async () => assert.deepEqual(await place(), { row: 2, of: total + 1, name: first.name }));
});

test('rows are there before a reading hand reaches them', async () => {
    await visit(page, server.url, `#/traces/${large.id}/operators?sort=name&order=asc`);
    const asked = [];
    page.on('request', (request) => /offset=\d/.test(request.url()) && asked.push(Number(/offset=(\d+)/.exec(request.url())[1])));
    await page.locator('.data-table .row-toggle').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.locator('.table-scroll').last().evaluate((box) => { box.scrollTop += 900; });
    await page.locator('.table-scroll').last().evaluate((box) => new Promise((resolve) => window.requestAnimationFrame(() => { box.scrollTop += 900; resolve(null); })));
    for (let turn = 0; turn < 5; turn += 1) await page.locator('.table-scroll').last().evaluate((box) => new Promise((resolve) => window.requestAnimationFrame(() => { box.scrollTop += 600; window.requestAnimationFrame(resolve); })));
    await eventually(() => assert.deepEqual(asked, [200]));
    const rows = await page.$$eval('.data-table tr[aria-rowindex]', (list) => list.map((tr) => Number(tr.getAttribute('aria-rowindex'))));
    assert.ok(Math.max(...rows) < 200, 'the second page is not in sight yet');
    page.removeAllListeners('request');
});

test('the search finds in all rows, the CSV has all of them', async () => {
    await visit(page, server.url, `#/traces/${large.id}/operators`);
    const wanted = `_operator_${ROWS - 1}`;
    await page.fill('input[type=search]', wanted);
    await addressed(page, wanted);
    await eventually(async () => assert.equal(await page.getAttribute('.data-table', 'aria-rowcount'), '2'));
    await page.fill('input[type=search]', '');
    await eventually(async () => assert.equal(await page.getAttribute('.data-table', 'aria-rowcount'), String(ROWS + 1)));
    const csv = await ask(await page.locator('.table-tools a[download]').evaluate((link) => link.href));
    assert.equal(csv.text.trimEnd().split('\n').length, ROWS + 1);
});

test('on paper: light, without the rail, the first rows of a long table and how many there are', async () => {
    const dark = await newPage(chrome.browser, { theme: 'dark' });
    await visit(dark, server.url, `#/traces/${large.id}/operators`);
    await dark.locator('.table-scroll').last().evaluate((box) => { box.scrollTop = 100000; });
    await settled(dark);
    const legend = () => dark.evaluate(() => document.querySelector('.ranking .swatch').style.getPropertyValue('--c'));
    const darkLegend = await legend();
    await dark.emulateMedia({ media: 'print' });
    await dark.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    const look = () => dark.evaluate(() => ({
        theme: document.documentElement.dataset.theme, rows: document.querySelectorAll('.data-table tr[aria-rowindex]').length,
        first: document.querySelector('.data-table tbody tr[aria-rowindex]')?.getAttribute('aria-rowindex'), rail: getComputedStyle(document.getElementById('rail')).display,
        cut: document.querySelector('.table-scroll')?.scrollHeight > document.querySelector('.table-scroll')?.clientHeight + 1,
    }));
    assert.deepEqual(await look(), { theme: 'light', rows: 201, first: '2', rail: 'none', cut: false });
    assert.notEqual(await legend(), darkLegend);
    assert.match(await dark.locator('.row-table').textContent(), /Rows 1 to 200 of 5,000/);
    await dark.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    await dark.emulateMedia({ media: 'screen' });
    await eventually(async () => assert.equal((await look()).theme, 'dark'));
    assert.ok((await look()).rows < 150);
    assert.equal(await legend(), darkLegend);
    assert.deepEqual(dark.complaints, []);
    await dark.leave();
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
