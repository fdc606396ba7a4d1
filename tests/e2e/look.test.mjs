/** Themes, widths and accessibility of each view, and the states that are no data. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { startServer, startBrowser, newPage, visit, fixture, put, axeFaults } from './support.mjs';

let server;
let chrome;
/** @type {Record<string, string>} */
const places = {};
before(async () => {
    server = await startServer();
    chrome = await startBrowser();
    const gpu = await put(server.url, 'gpu/training', fixture('cuda_training'));
    const mlu = await put(server.url, 'mlu', fixture('mlu', 'MLU_0.1700000000000.pt.trace.json.gz'));
    const cut = await put(server.url, 'cut', fixture('repair_cut'));
    Object.assign(places, {
        runs: '#/',
        run: '#/runs/gpu%2Ftraining',
        overview: `#/traces/${gpu.id}/overview`,
        'overview of a cut trace': `#/traces/${cut.id}/overview`,
        operators: `#/traces/${gpu.id}/operators`,
        'operators by shape': `#/traces/${gpu.id}/operators?group=name_shape`,
        kernels: `#/traces/${gpu.id}/kernels`,
        launches: `#/traces/${gpu.id}/kernels?group=launch`,
        'kernels of an MLU': `#/traces/${mlu.id}/kernels?group=launch`,
        'no such trace': '#/traces/999999/overview',
        'no such page': '#/nowhere/at/all',
    });
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
});

const show = async (page, hash) => {
    await visit(page, server.url, hash);
    await page.waitForSelector('.view h1, .failure, .empty');
    await page.waitForFunction(() => !document.querySelector('.loading, .busy'));
    await page.waitForTimeout(100);
};

for (const theme of ['light', 'dark']) {
    for (const width of [1280, 400]) {
        test(`${theme}, ${width} px: no sideways scroll, axe finds nothing serious`, async (t) => {
            const page = await newPage(chrome.browser, { width, theme });
            for (const [name, hash] of Object.entries(places)) {
                await t.test(name, async () => {
                    await show(page, hash);
                    const size = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
                    assert.ok(size[0] <= size[1], `${size[0]} px wide in ${size[1]}`);
                    if (width === 1280) {
                        const wide = await page.$$eval('.table-scroll, .scroll-x', (list) => list.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.getAttribute('aria-label')));
                        assert.deepEqual(wide, [], 'tables that scroll sideways');
                    }
                    if (await page.locator('.row-toggle').count()) await page.click('.row-toggle >> nth=0');
                    assert.deepEqual(await axeFaults(page), []);
                });
            }
            // The one missing trace is asked for on purpose.
            assert.deepEqual(page.complaints.filter((text) => !/status of 404/.test(text)), []);
            await page.leave();
        });
    }
}

test('the theme follows the system until it is chosen, and the choice is kept', async () => {
    const page = await newPage(chrome.browser, { theme: 'dark' });
    await show(page, places.overview);
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assert.equal(await theme(), 'dark');
    const dark = await ground();
    await page.click('[aria-label="Use the light theme"]');
    assert.equal(await theme(), 'light');
    assert.notEqual(await ground(), dark);
    await page.reload();
    await page.waitForSelector('.answers');
    assert.equal(await theme(), 'light');
    await page.leave();
});

test('on a phone the rail is a drawer', async () => {
    const page = await newPage(chrome.browser, { width: 400 });
    await show(page, places.overview);
    const link = page.locator('#views a:has-text("Operators")');
    assert.ok(!(await link.isVisible()));
    await page.click('.menu-button');
    await link.click();
    await page.waitForSelector('.pie-board');
    assert.ok(!(await link.isVisible()));
    await page.click('.menu-button');
    await page.keyboard.press('Escape');
    assert.equal(await page.getAttribute('.menu-button', 'aria-expanded'), 'false');
    await page.leave();
});

test('what is not there says so and leads on', async () => {
    const page = await newPage(chrome.browser);
    await show(page, places['no such trace']);
    assert.match(await page.textContent('.failure') ?? '', /999999/);
    await page.click('.failure a');
    await page.waitForSelector('.run-table');
    await page.fill('.search', 'nothing like this');
    await page.waitForSelector('.empty');
    assert.match(await page.textContent('.empty') ?? '', /nothing like this/);
    await page.leave();
});

test('a server that does not answer is said so, and asked again on demand', async () => {
    const page = await newPage(chrome.browser);
    let down = true;
    await page.route('**/api/v1/**', (route) => (down ? route.abort() : route.continue()));
    await page.goto(`${server.url}${places.overview}`);
    await page.waitForSelector('.failure');
    assert.match(await page.textContent('.failure') ?? '', /does not answer/);
    down = false;
    await page.click('.failure button');
    await page.waitForSelector('.answers');
    await page.leave();
});

test('while figures are on their way, their places are drawn', async () => {
    const page = await newPage(chrome.browser);
    await page.route('**/overview', async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 600));
        await route.continue();
    });
    await page.goto(`${server.url}${places.overview}`);
    await page.waitForSelector('.loading .skeleton-figures');
    await page.waitForSelector('.answers');
    assert.equal(await page.locator('.loading').count(), 0);
    await page.leave();
});
