/**
 * What the browser tests share: a server, a browser, pages that remember every console error.
 *
 * The tests know no clock: after an action `settled` waits until the page says that it shows what its address asks for,
 * and whatever an action changes is looked at through `eventually`. The limits below only end what hangs.
 *
 *   KINETOSCOPE_URL           a running server with an empty catalogue; or
 *   KINETOSCOPE_BIN           the program, started here on a free port with data of its own
 *   KINETOSCOPE_ROOT          the source tree, for tests/fixtures (default: above this file)
 *   KINETOSCOPE_NODE_MODULES  where playwright-core and axe-core are, if not above this file
 *   KINETOSCOPE_CHROMIUM      the browser (default /usr/bin/chromium)
 *   KINETOSCOPE_THROTTLE      makes the page's processor so many times slower, to see that no test hangs on speed
 */
import { execFileSync, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { after } from 'node:test';
import assert from 'node:assert/strict';

const modules = process.env.KINETOSCOPE_NODE_MODULES;
const require = createRequire(modules ? path.join(modules, 'from-here.js') : import.meta.url);
const { chromium } = require('playwright-core');
const axeSource = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

const root = process.env.KINETOSCOPE_ROOT ?? fileURLToPath(new URL('../..', import.meta.url));
const THROTTLE = Number(process.env.KINETOSCOPE_THROTTLE ?? 1);
const START_MS = 120000;
const ACTION_MS = 30000;
const EVENTUALLY_MS = 30000;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'];

/**
 * @param {{data?: string, options?: string[]}} [own] a data directory, which stays, and options: with either never the server that runs already
 * @returns {Promise<{url: string, stop: () => Promise<void>}>} url ends with a slash
 */
export async function startServer(own = {}) {
    if (process.env.KINETOSCOPE_URL && !own.data && !own.options) return { url: process.env.KINETOSCOPE_URL.replace(/\/*$/, '/'), stop: async () => {} };
    const program = process.env.KINETOSCOPE_BIN;
    assert.ok(program, 'set KINETOSCOPE_URL or KINETOSCOPE_BIN');
    const data = own.data ?? await mkdtemp(path.join(tmpdir(), 'kinetoscope-e2e-'));
    const child = spawn(program, ['serve', '--listen', '127.0.0.1:0', '--data-dir', data, '--log-level', 'warn', ...(own.options ?? [])], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const url = await new Promise((resolve, reject) => {
        let text = '';
        child.stdout.on('data', (chunk) => {
            text += chunk;
            const found = /https?:\/\/[^\s/]+(?:\/[^\s]*)?/.exec(text);
            if (found && text.includes('\n')) resolve(found[0]);
        });
        child.once('exit', (code) => reject(new Error(`the server ended with code ${code}: ${text}`)));
        child.once('error', reject);
    });
    return {
        url: String(url).replace(/\/*$/, '/'),
        async stop() {
            child.kill('SIGTERM');
            await ended;
            if (!own.data) await rm(data, { recursive: true, force: true });
        },
    };
}

export async function startBrowser() {
    const profile = await mkdtemp(path.join(tmpdir(), 'kinetoscope-chromium-'));
    const browser = await chromium.launch({
        executablePath: process.env.KINETOSCOPE_CHROMIUM ?? '/usr/bin/chromium', headless: true, args: FLAGS, timeout: START_MS,
        env: { ...process.env, HOME: profile },
    });
    return {
        browser,
        async stop() {
            await browser.close();
            await rm(profile, { recursive: true, force: true });
        },
    };
}

/**
 * A page of its own context; what it complained about is in `page.complaints`.
 * @param {import('playwright-core').Browser} browser
 * @param {{width?: number, height?: number, theme?: 'light' | 'dark'}} [look]
 */
export async function newPage(browser, { width = 1280, height = 800, theme = 'light' } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    page.setDefaultTimeout(ACTION_MS);
    page.setDefaultNavigationTimeout(START_MS);
    if (THROTTLE > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: THROTTLE });
    /** @type {string[]} */
    const complaints = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    return Object.assign(page, { complaints, leave: () => context.close() });
}

/** A server, a browser and a page for the tests of one file, with whose last one they end. */
export async function stage() {
    const server = await startServer();
    after(() => server.stop());
    const chrome = await startBrowser();
    after(() => chrome.stop());
    return { server, chrome, page: await newPage(chrome.browser) };
}

let visits = 0;

/** Loads the whole page anew, until all is there: another query, as another hash alone would keep it. @param {import('playwright-core').Page} page @param {string} url @param {string} hash */
export async function visit(page, url, hash) {
    visits += 1;
    await page.goto(`${url}?${visits}${hash}`);
    await settled(page);
}

/** Where a trace file of tests/fixtures is. @param {string} name @param {string} [file] */
export function fixture(name, file = 'worker0.1700000000000.pt.trace.json.gz') {
    return path.join(root, 'tests/fixtures', name, file);
}

/** What tests/fixtures/recordings.py makes. @param {string} value in Python @param {string} [first] what runs before */
export function recording(value, first = '') {
    const script = `import sys\nsys.path.insert(0, sys.argv[1])\nimport recordings\n${first}\nsys.stdout.buffer.write(${value})`;
    return execFileSync('python3', ['-c', script, path.join(root, 'tests/fixtures')], { maxBuffer: Infinity });
}

/**
 * Asks the server outside of the page, over a connection of its own: one that is kept may be closed by the server at
 * the moment when it is used again.
 * @param {string} url @param {{method?: string, body?: string | Uint8Array, headers?: Record<string, string>}} [options]
 * @returns {Promise<{status: number, ok: boolean, headers: Record<string, any>, text: string}>}
 */
export function ask(url, { method = 'GET', body, headers = {} } = {}) {
    return new Promise((resolve, reject) => {
        const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
        const asked = request(url, { method, agent: false, headers: { ...length, ...headers } }, (answer) => {
            const { statusCode: status = 0, headers: sent } = answer;
            const chunks = [];
            answer.on('data', (chunk) => chunks.push(chunk));
            answer.on('error', reject);
            answer.on('end', () => resolve({ status, ok: status >= 200 && status < 300, headers: sent, text: Buffer.concat(chunks).toString('utf8') }));
        });
        asked.on('error', reject);
        asked.end(body);
    });
}

/** Uploads a file as curl would. @param {string} url @param {string} run @param {string} name @param {string | Uint8Array} body @returns {Promise<any>} the trace */
export async function putText(url, run, name, body) {
    const answer = await ask(`${url}api/v1/runs/${encodeURIComponent(run)}/traces/${encodeURIComponent(name)}`, { method: 'PUT', body });
    assert.ok(answer.ok, `upload of ${name}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
}

/** The same of a fixture. @param {string} url @param {string} run @param {string} file @returns {Promise<any>} the trace */
export const put = async (url, run, file) => putText(url, run, path.basename(file), await readFile(file));

/** @param {string} url @param {string} what below /api/v1 @returns {Promise<any>} */
export async function get(url, what) {
    const answer = await ask(`${url}api/v1/${what}`);
    assert.ok(answer.ok, `${what}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
}

/**
 * Repeats a check that an action's effect will make hold; its last failure is the test's.
 * @template T
 * @param {() => T | Promise<T>} check
 * @returns {Promise<T>}
 */
export async function eventually(check) {
    const end = Date.now() + EVENTUALLY_MS;
    for (;;) {
        try {
            return await check();
        } catch (error) {
            if (Date.now() > end) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

/** Waits for a hash that holds this text, then until the page shows it. @param {import('playwright-core').Page} page @param {string} part */
export async function addressed(page, part) {
    await page.waitForFunction((text) => location.hash.includes(text), part);
    await settled(page);
}

/** What stands on the clipboard. @param {import('playwright-core').Page} page */
export const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

/** The rules that axe finds broken, serious and critical ones only. @param {import('playwright-core').Page} page */
export async function axeFaults(page) {
    if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axeSource);
    // @ts-ignore: axe is the page's by now
    const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    return result.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} (${node.failureSummary.slice(0, 200)})`).join(' | ')}`);
}

const UNITS = { ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9 };

/**
 * The printed time is the real one, up to its last printed digit.
 * @param {string} text "177.6 ms"
 * @param {number} realNs
 * @param {string} what
 */
export function sameTime(text, realNs, what) {
    const [, number, unit] = /([\d.,]+)\s*(ns|µs|ms|s)/.exec(text) ?? [];
    assert.ok(number, `${what}: a time in "${text}"`);
    const plain = number.replaceAll(',', '');
    const lastDigit = UNITS[unit] / 10 ** (plain.split('.')[1]?.length ?? 0);
    assert.ok(Math.abs(Number(plain) * UNITS[unit] - realNs) <= 0.51 * lastDigit, `${what}: shown ${text}, the API says ${realNs} ns`);
}

/** The texts of a column of the long table. @param {import('playwright-core').Page} page @param {string} head */
export async function column(page, head) {
    return page.evaluate((label) => {
        const table = document.querySelector('.data-table');
        const heads = [...table.querySelectorAll('thead th')].map((th) => th.textContent.trim());
        const at = heads.findIndex((text) => text.startsWith(label));
        return [...table.querySelectorAll('tbody tr')].filter((tr) => !tr.matches('.spacer, .detail')).map((tr) => tr.children[at]?.textContent.trim());
    }, head);
}

/** Waits until the page shows what its address asks for. @param {import('playwright-core').Page} page */
export async function settled(page) {
    await page.waitForFunction(() => document.documentElement.dataset.shown === (location.hash || '#/')
        && !document.querySelector('.busy, .loading'));
}
