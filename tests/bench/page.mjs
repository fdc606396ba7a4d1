/**
 * What the page costs: bytes and requests of the first view, when it is painted and when it can be used, from an empty and
 * from a filled cache; and a table of 100 000 operators that is opened, scrolled from end to end, sorted and searched.
 *
 *   KINETOSCOPE_BIN=build/kinetoscope node page.mjs [--trace FILE] [--loads 5] [--rows 100000] [--only views|table]
 *
 * KINETOSCOPE_URL, _NODE_MODULES and _CHROMIUM as in tests/e2e/support.mjs. Without --trace the demonstration is shown.
 * Medians of several loads, beside the aims; nothing fails here, the figures are printed. Times mean something only where
 * nothing else runs: the processor time of the page's thread a frame says more where other programs do.
 */
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { ask, get, put, startBrowser, startServer, settled } from '../e2e/support.mjs';
import { largeTrace } from '../e2e/training_trace.mjs';
import { watchLoad } from '../e2e/loads.mjs';

const demo = fileURLToPath(new URL('../../deploy/demo/worker0.1700000000000.pt.trace.json.gz', import.meta.url));
const { values: options } = parseArgs({ options: { trace: { type: 'string', default: demo }, loads: { type: 'string', default: '5' },
    rows: { type: 'string', default: '100000' }, only: { type: 'string', default: '' } } });
const LOADS = Number(options.loads);
const VIEWPORT = { width: 1440, height: 900 };
const FRAME_MS = 1000 / 60;
/** A hand that is in a hurry: all rows in some ten seconds. */
const SCROLL_S = 12;
const AIM = { bytes: 250e3, paintMs: 500, shownMs: 1000 };

/** @param {number[]} list @param {number} part */
const quantile = (list, part) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(part * list.length))] ?? NaN;
const median = (/** @type {number[]} */ list) => quantile(list, 0.5);
const line = (/** @type {any[]} */ cells) => console.log(cells.map((cell, at) => (at === 0 ? String(cell).padEnd(34) : String(cell).padStart(11))).join(''));

/** Notes in the page when it shows all that its address asks for, and what kept its thread. @param {import('playwright-core').BrowserContext} context */
const watchShown = (context) => context.addInitScript(() => {
    const seen = { shown: [], long: [] };
    Reflect.set(window, 'seen', seen);
    new window.MutationObserver(() => document.documentElement?.dataset.shown && seen.shown.push(performance.now()))
        .observe(document, { attributes: true, attributeFilter: ['data-shown'], subtree: true });
    new window.PerformanceObserver((list) => seen.long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true });
});

/** Processor time that the page's thread has taken, in ms. @param {import('playwright-core').Page} page */
async function watchThread(page) {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    return async () => {
        const { metrics } = await devtools.send('Performance.getMetrics');
        return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN);
    };
}

/** One load in a tab of its own. @param {import('playwright-core').BrowserContext} context @param {string} address */
async function load(context, address) {
    const page = await context.newPage();
    const traffic = await watchLoad(page);
    const busy = await watchThread(page);
    await page.goto(address);
    await settled(page);
    const threadMs = await busy();
    const times = await page.evaluate(async () => {
        const paint = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
        while (paint() === undefined) await new Promise((resolve) => window.requestAnimationFrame(resolve));
        const { shown, long } = Reflect.get(window, 'seen');
        return { paintMs: paint(), shownMs: shown.at(-1), longMs: Math.max(0, ...long) };
    });
    const result = { ...times, threadMs, ...await traffic() };
    await page.close();
    return result;
}

/** @param {import('playwright-core').Browser} browser @param {string} url @param {string} name @param {string} hash */
async function measureView(browser, url, name, hash) {
    const cold = [];
    const warm = [];
    for (let turn = 0; turn < LOADS; turn += 1) {
        const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: 'no-preference' });
        await watchShown(context);
        cold.push(await load(context, url + hash));
        warm.push(await load(context, url + hash));
        await context.close();
    }
    for (const [kind, loads] of [['empty cache', cold], ['filled cache', warm]]) {
        const of = (/** @type {string} */ key) => median(loads.map((one) => one[key]));
        line([`${name}, ${kind}`, `${(of('bytes') / 1000).toFixed(1)} kB`, of('requests'), of('depth'), `${of('paintMs').toFixed(0)} ms`, `${of('shownMs').toFixed(0)} ms`, `${of('threadMs').toFixed(0)} ms`, `${of('longMs').toFixed(0)} ms`]);
    }
}

/** @param {import('playwright-core').Browser} browser @param {string} url */
async function measureViews(browser, url) {
    const { id } = await put(url, 'bench-page', options.trace);
    line(['view', 'on the wire', 'requests', 'in a chain', 'painted', 'shown', 'of thread', 'long task']);
    line(['aim', `${AIM.bytes / 1000} kB`, '', '', `${AIM.paintMs} ms`, `${AIM.shownMs} ms`, '', '']);
    // The first start of a browser and the first answer of a server are not the page's.
    const context = await browser.newContext();
    await watchShown(context);
    await load(context, url);
    await context.close();
    for (const [name, hash] of [['catalogue', '#/'], ...['overview', 'operators', 'timeline'].map((view) => [view, `#/traces/${id}/${view}`])]) await measureView(browser, url, name, hash);
}

/** How long the page takes to show what an action asks for. @param {import('playwright-core').Page} page @param {() => Promise<any>} action */
async function until(page, action) {
    await page.evaluate(() => {
        Reflect.get(window, 'seen').shown.length = 0;
        // The action's own time, without the way of the order into the browser.
        for (const kind of ['click', 'input']) document.addEventListener(kind, () => Reflect.set(window, 'acted', performance.now()), { capture: true, once: true });
    });
    await action();
    await page.waitForFunction(() => Reflect.get(window, 'seen').shown.length > 0);
    await settled(page);
    return page.evaluate(() => Reflect.get(window, 'seen').shown.at(-1) - Reflect.get(window, 'acted'));
}

/** Every frame from now on: its time, and whether a row in sight was still without figures. @param {import('playwright-core').Page} page */
const watchFrames = (page) => page.evaluate(() => {
    const frames = { times: [], waiting: 0 };
    Reflect.set(window, 'frames', frames);
    const note = (/** @type {number} */ time) => {
        frames.times.push(time);
        if (document.querySelector('.data-table tr[data-waiting]')) frames.waiting += 1;
        window.requestAnimationFrame(note);
    };
    window.requestAnimationFrame(note);
});

/** @param {import('playwright-core').Page} page @param {import('playwright-core').CDPSession} devtools @param {() => Promise<number>} busy @param {string} name @param {number} seconds @param {number} pixels */
async function scroll(page, devtools, busy, name, seconds, pixels) {
    const box = await page.locator('.table-scroll').last().boundingBox();
    await page.evaluate(() => { document.querySelector('.table-scroll').scrollTop = 0; });
    await settled(page);
    const before = await busy();
    await watchFrames(page);
    await devtools.send('Input.synthesizeScrollGesture', { x: box.x + box.width / 2, y: box.y + box.height / 2, yDistance: -pixels, speed: Math.round(pixels / seconds), gestureSourceType: 'mouse', preventFling: true });
    const spent = await busy() - before;
    const { times, waiting } = await page.evaluate(() => Reflect.get(window, 'frames'));
    const [reached, end] = await page.evaluate(() => {
        const rows = [...document.querySelectorAll('.data-table tbody tr[aria-rowindex]')];
        return [Number(rows.at(-1)?.getAttribute('aria-rowindex')), Number(document.querySelector('.data-table')?.getAttribute('aria-rowcount'))];
    });
    const gaps = times.slice(1).map((time, at) => time - times[at]);
    const total = (times.at(-1) - times[0]) / 1000;
    const late = gaps.filter((gap) => gap > 1.5 * FRAME_MS).length;
    console.log(`${name}: ${(gaps.length / total).toFixed(1)} frames/s (aim 60) over ${total.toFixed(1)} s, to row ${reached} of ${end}; frame p50 ${median(gaps).toFixed(1)} ms, ` +
        `p95 ${quantile(gaps, 0.95).toFixed(1)} ms, p99 ${quantile(gaps, 0.99).toFixed(1)} ms, longest ${Math.max(...gaps).toFixed(1)} ms, ${late} late; ` +
        `${(spent / gaps.length).toFixed(1)} ms of the thread a frame; ${waiting} frames with rows on their way`);
}

/** @param {import('playwright-core').Browser} browser @param {string} url */
async function measureTable(browser, url) {
    const rows = Number(options.rows);
    const body = gzipSync(JSON.stringify(largeTrace(rows)));
    const sent = await ask(`${url}api/v1/runs/bench-page-large/traces/large.pt.trace.json.gz`, { method: 'PUT', body });
    if (!sent.ok) throw new Error(`upload: ${sent.status} ${sent.text}`);
    const { id } = JSON.parse(sent.text);
    const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: 'no-preference' });
    await watchShown(context);
    const first = await load(context, `${url}#/traces/${id}/operators`);
    console.log(`\n${rows} operators: painted after ${first.paintMs.toFixed(0)} ms, shown after ${first.shownMs.toFixed(0)} ms, longest task ${first.longMs.toFixed(0)} ms, ${(first.bytes / 1000).toFixed(0)} kB`);
    const page = await context.newPage();
    page.setDefaultTimeout(120000);
    const devtools = await context.newCDPSession(page);
    const busy = await watchThread(page);
    await page.goto(`${url}#/traces/${id}/operators`);
    await settled(page);
    const { total } = await get(url, `traces/${id}/operators?limit=1`);
    await page.locator('.table-scroll').last().scrollIntoViewIfNeeded();
    const height = await page.evaluate(() => document.querySelector('.table-scroll').scrollHeight);
    await scroll(page, devtools, busy, 'as one reads', 5, 5 * 2000);
    await scroll(page, devtools, busy, `all ${total} rows`, SCROLL_S, height);
    for (const head of ['Host total', 'Calls', 'Operator']) {
        const ms = [];
        for (let turn = 0; turn < LOADS; turn += 1) ms.push(await until(page, () => page.locator('.data-table thead button', { hasText: head }).first().click()));
        console.log(`sorted by ${head}: ${median(ms).toFixed(0)} ms`);
    }
    for (const text of ['conv', 'operator_099', '/_0.*7$/']) console.log(`search for ${text}: ${(await until(page, () => page.fill('input[type=search]', text))).toFixed(0)} ms, typing pause included`);
    await context.close();
}

const server = await startServer();
const chrome = await startBrowser();
try {
    if (options.only !== 'table') await measureViews(chrome.browser, server.url);
    if (options.only !== 'views') await measureTable(chrome.browser, server.url);
} finally {
    await chrome.stop();
    await server.stop();
}
