/** Every choice is in the URL, the way back works, and all of it by keyboard. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { startServer, startBrowser, newPage, visit, fixture, put, get, column, settled } from './support.mjs';

let server;
let chrome;
let page;
let gpu;
before(async () => {
    server = await startServer();
    chrome = await startBrowser();
    page = await newPage(chrome.browser);
    gpu = await put(server.url, 'gpu', fixture('cuda_training'));
    await put(server.url, 'spans', fixture('two_spans'));
    await put(server.url, 'spans', fixture('two_spans', 'worker0.1700000060000.pt.trace.json.gz'));
    await put(server.url, 'cpu', fixture('cpu_only', 'worker0.1700000000000.pt.trace.json'));
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
});

const open = async (hash) => {
    await visit(page, server.url, hash);
    await page.waitForSelector('.view h1');
    await page.waitForFunction(() => !document.querySelector('.loading'));
};
const hash = () => page.evaluate(() => location.hash);

test('search, plain and as a pattern', async () => {
    await open(`#/traces/${gpu.id}/operators`);
    await settled(page);
    const all = await get(server.url, `traces/${gpu.id}/operators?limit=0`);
    const word = all.rows[0].name.slice(-6);
    await page.keyboard.press('/');
    await page.keyboard.type(word);
    await page.waitForFunction((text) => location.hash.includes(`q=${encodeURIComponent(text)}`), word);
    await settled(page);
    const plain = await get(server.url, `traces/${gpu.id}/operators?q=${encodeURIComponent(word)}`);
    assert.equal(await page.getAttribute('.data-table', 'aria-rowcount'), String(plain.total + 1));
    await page.fill('.search', '/^aten::[a-m]/');
    await page.waitForFunction(() => location.hash.includes('%5Eaten'));
    await settled(page);
    const pattern = await get(server.url, `traces/${gpu.id}/operators?q=${encodeURIComponent('/^aten::[a-m]/')}`);
    assert.equal(await page.getAttribute('.data-table', 'aria-rowcount'), String(pattern.total + 1));
    await page.fill('.search', 'no such operator');
    await page.waitForSelector('.table-empty');
    assert.match(await page.textContent('.table-empty'), /no such operator/);
    await page.press('.search', 'Escape');
    await page.waitForFunction(() => !location.hash.includes('q='));
});

test('sort, group, top-N and columns come back from the URL', async () => {
    await open(`#/traces/${gpu.id}/operators`);
    await settled(page);
    await page.click('[data-sort="calls"]');
    await page.waitForFunction(() => location.hash.includes('sort=calls&order=desc'));
    await settled(page);
    const calls = (await column(page, 'Calls')).map((text) => Number(text.replaceAll(',', '')));
    assert.deepEqual(calls, [...calls].sort((a, b) => b - a));
    assert.equal(await page.getAttribute('th:has([data-sort="calls"])', 'aria-sort'), 'descending');
    await page.click('[data-sort="calls"]');
    await page.waitForFunction(() => location.hash.includes('order=asc'));
    await page.fill('#top-n', '3');
    await page.press('#top-n', 'Enter');
    await page.waitForFunction(() => location.hash.includes('n=3'));
    assert.equal(await page.locator('.ranking-list >> nth=0').locator('tbody tr').count(), 4);
    await page.click('.menu-root > button');
    await page.check('.menu-item:has-text("Host max") input');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => [...document.querySelectorAll('.data-table th')].some((th) => th.textContent.startsWith('Host max')));
    const saved = await hash();
    await open('#/');
    await open(saved);
    await settled(page);
    assert.equal(await page.inputValue('#top-n'), '3');
    assert.equal(await page.getAttribute('th:has([data-sort="calls"])', 'aria-sort'), 'ascending');
    assert.equal((await column(page, 'Host max')).length > 0, true);
    const csv = await page.getAttribute('a:has-text("CSV")', 'href');
    const rows = (await (await fetch(csv)).text()).trim().split('\r\n');
    const total = (await get(server.url, `traces/${gpu.id}/operators`)).total;
    assert.equal(rows.length, total + 1);
});

test('back and forward', async () => {
    await open('#/');
    await page.click('.run-name:has-text("gpu")');
    await page.waitForSelector('a:has-text("Open overview")');
    await page.click('a:has-text("Open overview")');
    await page.waitForSelector('.answers');
    await page.click('#views a:has-text("Operators")');
    await settled(page);
    await page.click('label:has-text("Name and input shape")');
    await page.waitForFunction(() => location.hash.includes('group=name_shape'));
    await settled(page);
    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes('group='));
    await settled(page);
    assert.ok(await page.isChecked('input[value="name"]'));
    await page.goBack();
    await page.waitForSelector('.answers');
    await page.goForward();
    await page.waitForSelector('.pie-board');
    await page.goForward();
    await page.waitForFunction(() => location.hash.includes('group=name_shape'));
    assert.ok(await page.isChecked('input[value="name_shape"]'));
});

test('pickers: type, arrows, Enter, Escape', async () => {
    const run = await get(server.url, 'runs/spans');
    await open(`#/traces/${run.trace_list[0].id}/operators`);
    const span = page.getByRole('combobox', { name: 'Span' });
    await span.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Escape');
    assert.equal(await span.getAttribute('aria-expanded'), 'false');
    assert.equal(await span.inputValue(), '1');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction((id) => location.hash === `#/traces/${id}/operators`, run.trace_list[1].id);
    await page.waitForFunction(() => document.querySelector('[data-picker="span"]')?.value === '2');
    const runs = page.getByRole('combobox', { name: 'Run' });
    await runs.click();
    await page.keyboard.type('gp');
    assert.equal(await page.locator('.picker-list:visible li').count(), 1);
    await page.keyboard.press('Enter');
    await page.waitForFunction((id) => location.hash === `#/traces/${id}/operators`, gpu.id);
});

test('rows by keyboard: arrows move, Enter opens, links lead on', async () => {
    await open(`#/traces/${gpu.id}/operators`);
    await settled(page);
    await page.focus('.row-toggle[tabindex="0"]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-row')), '2');
    await page.keyboard.press('Enter');
    assert.equal(await page.getAttribute('[data-row="2"]', 'aria-expanded'), 'true');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Copy name');
    await page.focus('[data-row="2"]');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.getAttribute('[data-row="2"]', 'aria-expanded'), 'false');
    await page.keyboard.press('End');
    const { total } = await get(server.url, `traces/${gpu.id}/operators`);
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-row')), String(total - 1));
});

test('the skip link, a visible focus, and the link to copy', async () => {
    await open(`#/traces/${gpu.id}/overview`);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'skip');
    const box = await page.locator('#skip').boundingBox();
    assert.ok(box && box.y >= 0, 'the skip link shows when focused');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'content');
    await page.focus('#copy-link');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
    await page.keyboard.press('Tab');
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle);
    assert.notEqual(outline, 'none');
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
