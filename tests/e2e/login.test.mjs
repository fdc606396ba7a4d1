/** Logging in: the page that asks for a token, with and without scripts, by keyboard, in both themes; who is logged in, and out again. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startServer, startBrowser, newPage, fixture, ask, settled, eventually, axeFaults } from './support.mjs';

const run = promisify(execFile);
// A server with data of its own: its tokens would lock the other tests out.
const skip = process.env.KINETOSCOPE_BIN ? false : 'needs KINETOSCOPE_BIN';
let server;
let chrome;
let data;
let viewer;
let root;

const add = async (...words) => (await run(process.env.KINETOSCOPE_BIN, ['token', 'add', ...words, '--data-dir', data])).stdout.trim();

before(async () => {
    if (skip) return;
    data = await mkdtemp(path.join(tmpdir(), 'kinetoscope-login-'));
    root = await add('root', '--role', 'admin');
    viewer = await add('ann <b>', '--role', 'viewer', '--project', 'ours');
    server = await startServer({ data });
    chrome = await startBrowser();
    const file = fixture('cpu_only', 'worker0.1700000000000.pt.trace.json');
    for (const [name, project] of [['open', ''], ['ours', 'ours'], ['theirs', 'theirs']]) {
        const answer = await ask(`${server.url}api/v1/runs/${name}/traces/w.pt.trace.json?project=${project}`,
            { method: 'PUT', body: await readFile(file), headers: { Authorization: `Bearer ${root}` } });
        assert.equal(answer.status, 201, answer.text);
    }
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
    if (data) await rm(data, { recursive: true, force: true });
});

/** @param {import('playwright-core').Page} page */
const atLogin = (page) => page.waitForURL((url) => url.pathname === '/login');
const runNames = (page) => page.$$eval('.run-name', (links) => links.map((link) => link.textContent));

test('a link that needs a token leads through the log-in page and back to itself', { skip }, async () => {
    const page = await newPage(chrome.browser);
    await page.goto(`${server.url}#/runs/ours`);
    await atLogin(page);
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.id), 'token'));
    await page.keyboard.type('nonsense');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.login-message');
    await page.fill('#token', viewer);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === '/' && url.hash === '#/runs/ours');
    await settled(page);
    assert.equal(await page.textContent('h1'), 'ours');
    await page.leave();
});

test('the page says who is logged in, shows what he may read, and lets him out', { skip }, async () => {
    const page = await newPage(chrome.browser);
    await page.goto(server.url);
    await atLogin(page);
    await page.fill('#token', viewer);
    await page.click('button[type=submit]');
    await page.waitForURL((url) => url.pathname === '/');
    await settled(page);
    await eventually(async () => assert.equal(await page.textContent('.session-name'), 'ann <b>'));
    assert.deepEqual((await runNames(page)).sort(), ['open', 'ours']);
    assert.match(await page.textContent('.run-table thead'), /Project/);
    assert.deepEqual(await axeFaults(page), []);
    await page.click('#session button');
    await atLogin(page);
    await page.goto(server.url);
    await atLogin(page);
    await page.leave();
});

test('a session that ends while the page is open leads to the log-in page', { skip }, async () => {
    const token = await add('short', '--role', 'viewer');
    const page = await newPage(chrome.browser);
    await page.goto(server.url);
    await atLogin(page);
    // The server may take a moment to see a token that was made beside it.
    await eventually(async () => {
        await page.fill('#token', token);
        await page.click('button[type=submit]');
        await page.waitForURL((url) => url.pathname === '/', { timeout: 2000 });
    });
    await settled(page);
    await run(process.env.KINETOSCOPE_BIN, ['token', 'revoke', 'short', '--data-dir', data]);
    await eventually(async () => {
        await page.evaluate(() => { location.hash = location.hash === '#/comparisons' ? '#/' : '#/comparisons'; });
        await page.waitForURL((url) => url.pathname === '/login', { timeout: 1000 });
    });
    assert.match(page.url(), /next=.*%23/);
    await page.leave();
});

test('without scripts', { skip }, async () => {
    const context = await chrome.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${server.url}api/v1/runs`, { waitUntil: 'load' });
    assert.match(page.url(), /\/login\?next=\/api\/v1\/runs$/);
    await page.fill('#token', viewer);
    await page.click('button[type=submit]');
    await page.waitForURL((url) => url.pathname === '/api/v1/runs');
    await context.close();
});

for (const theme of ['light', 'dark']) {
    test(`the log-in page, ${theme}: no fault for axe, no inline script or style, nothing beside the screen`, { skip }, async () => {
        const page = await newPage(chrome.browser, { theme, width: 400 });
        await page.goto(`${server.url}login`);
        await page.fill('#token', 'nonsense');
        await page.click('button[type=submit]');
        await page.waitForSelector('.login-message');
        assert.deepEqual(await axeFaults(page), []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 400);
        assert.deepEqual(page.complaints.filter((text) => !text.includes('401')), []);
        const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.equal(background, theme === 'dark' ? 'rgb(20, 23, 22)' : 'rgb(252, 252, 251)');
        await page.leave();
    });
}
