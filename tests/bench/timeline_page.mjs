/**
 * Frames a second of the timeline while it pans: holds D, then A, on the canvas and looks at every frame. The processor
 * time of the page's thread a frame says the same where other programs run beside it: 16.7 ms are 60 frames a second.
 *
 *   node timeline_page.mjs URL [SECONDS] [WIDTH HEIGHT]      URL: http://127.0.0.1:8080/#/traces/1/timeline
 *
 * KINETOSCOPE_NODE_MODULES and KINETOSCOPE_CHROMIUM as in tests/e2e/support.mjs. Nothing fails here: the figures are printed.
 */
import { startBrowser, settled } from '../e2e/support.mjs';

const [url, seconds = '3', width = '1440', height = '900'] = process.argv.slice(2);
if (!url) {
    console.error('usage: timeline_page.mjs URL [SECONDS] [WIDTH HEIGHT]');
    process.exit(2);
}

/** @param {number[]} sorted @param {number} part */
const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];

/** Collects the times of all frames from now on. @param {import('playwright-core').Page} page */
const watch = (page) => page.evaluate(() => {
    const times = [];
    Reflect.set(window, 'frameTimes', times);
    const note = (time) => {
        times.push(time);
        window.requestAnimationFrame(note);
    };
    window.requestAnimationFrame(note);
});

const chrome = await startBrowser();
try {
    const context = await chrome.browser.newContext({ viewport: { width: Number(width), height: Number(height) }, reducedMotion: 'no-preference' });
    const page = await context.newPage();
    page.setDefaultTimeout(120000);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    const busy = async () => {
        const { metrics } = await devtools.send('Performance.getMetrics');
        return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN);
    };
    const began = Date.now();
    await page.goto(url);
    await settled(page);
    console.log(`first picture complete after ${Date.now() - began} ms`);
    await page.focus('.tl-canvas');
    // Pictures of several depths: all of the trace, a quarter, and so on.
    for (const [name, zooms] of [['whole', 0], ['a tenth', 7], ['a hundredth', 7], ['a thousandth', 7]]) {
        for (let press = 0; press < zooms; press += 1) await page.click('button[aria-label="Zoom in"]');
        await settled(page);
        await page.focus('.tl-canvas');
        const drawn = () => page.evaluate(() => Number(document.querySelector('.tl-scroll')?.getAttribute('data-frames')));
        const before = await drawn();
        const busyBefore = await busy();
        await watch(page);
        const half = (Number(seconds) * 1000) / 2;
        for (const key of ['d', 'a']) {
            await page.keyboard.down(key);
            await page.waitForTimeout(half);
            await page.keyboard.up(key);
        }
        const spentMs = await busy() - busyBefore;
        const times = await page.evaluate(() => Reflect.get(window, 'frameTimes'));
        const gaps = times.slice(1).map((time, at) => time - times[at]).sort((a, b) => a - b);
        const spent = (times[times.length - 1] - times[0]) / 1000;
        const painted = await drawn() - before;
        console.log(`${name}: ${(gaps.length / spent).toFixed(1)} frames/s, ${painted} painted in ${spent.toFixed(2)} s, ${(spentMs / painted).toFixed(1)} ms of the thread a frame; frame p50 ${quantile(gaps, 0.5).toFixed(1)} ms, p95 ${quantile(gaps, 0.95).toFixed(1)} ms, p99 ${quantile(gaps, 0.99).toFixed(1)} ms, longest ${gaps[gaps.length - 1].toFixed(1)} ms`);
        await settled(page);
    }
} finally {
    await chrome.stop();
}
