/** Themes, widths and accessibility of each view, and the states that are no data. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServer, startBrowser, newPage, visit, fixture, put, axeFaults, settled, eventually } from './support.mjs';
import { shortTable, ncuTable, nsysTrace, nsysSums } from './kernel_tables.mjs';
import { trainingTrace, lightningTrace } from './training_trace.mjs';

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
    const folder = await mkdtemp(path.join(tmpdir(), 'kinetoscope-tables-'));
    const table = async (run, name, text) => {
        await writeFile(path.join(folder, name), text);
        return put(server.url, run, path.join(folder, name));
    };
    const [rank0, rank1] = await Promise.all(['node0_0', 'node0_1'].map((worker) => put(server.url, 'two workers', fixture('nccl_two_workers', `${worker}.1700000000000.pt.trace.json.gz`))));
    const short = await table('gpu/training', 'kernels.txt', shortTable);
    const long = await table('gpu/training', 'long.csv', ncuTable);
    const nsys = await table('nsys', 'timeline.csv', nsysTrace);
    const sums = await table('nsys', 'sums.csv', nsysSums);
    const model = await table('model', 'model.1700000000000.pt.trace.json', trainingTrace());
    const old = await table('model', 'old.1700000000000.pt.trace.json', trainingTrace({ totals: false, modules: false }));
    const lightning = await table('model', 'lightning.1700000000000.pt.trace.json', lightningTrace());
    await rm(folder, { recursive: true, force: true });
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
        utilisation: `#/traces/${short.id}/utilisation`,
        'utilisation by metric': `#/traces/${long.id}/utilisation?x=sm&colour=dram&win=1-2&launch=2&scale=share`,
        'utilisation of times only': `#/traces/${nsys.id}/utilisation`,
        'utilisation of sums only': `#/traces/${sums.id}/utilisation`,
        memory: `#/traces/${gpu.id}/memory`,
        'memory of a window': `#/traces/${model.id}/memory?device=GPU0&start=140000&end=220000&hide=reserved&block-q=linear`,
        'memory without totals': `#/traces/${old.id}/memory`,
        'no memory': `#/traces/${lightning.id}/memory`,
        timeline: `#/traces/${gpu.id}/timeline`,
        'timeline of an event': `#/traces/${gpu.id}/timeline?event=40`,
        'timeline searched': `#/traces/${gpu.id}/timeline?q=${encodeURIComponent('aten::mm')}`,
        'timeline of a range': `#/traces/${gpu.id}/timeline?sel=1000000-9000000&tab=range`,
        modules: `#/traces/${gpu.id}/modules`,
        'modules, zoomed': `#/traces/${model.id}/modules?zoom=1&at=2&q=linear&open=all`,
        'modules of Lightning': `#/traces/${lightning.id}/modules?by=host`,
        'no modules': `#/traces/${old.id}/modules`,
        idle: `#/traces/${gpu.id}/idle`,
        'idle, the whole trace': `#/traces/${gpu.id}/idle?window=trace`,
        'no device': `#/traces/${old.id}/idle`,
        slices: `#/traces/${gpu.id}/slices?group=track`,
        'call tree': `#/traces/${gpu.id}/calls`,
        'a call': `#/traces/${gpu.id}/calls?node=12`,
        'a call of the data loader': `#/traces/${gpu.id}/calls?node=3`,
        'calls searched': `#/traces/${model.id}/calls?q=${encodeURIComponent('aten::linear')}`,
        'no calls': `#/traces/${short.id}/calls`,
        'run of two workers': '#/runs/two%20workers',
        distributed: '#/runs/two%20workers/distributed',
        'distributed, one step': '#/runs/two%20workers/distributed?step=5&by=last&worker=-each',
        'not distributed': '#/runs/mlu/distributed',
        'diff of operators': `#/diff?base=${rank0.id}&candidate=${rank1.id}&time=host`,
        'diff of kernels': `#/diff?base=${gpu.id}&candidate=${rank1.id}&mode=kernels`,
        'diff by call tree': `#/diff?base=${gpu.id}&candidate=${rank1.id}&mode=tree`,
        'diff to be chosen': '#/diff',
        'no utilisation': `#/traces/${mlu.id}/utilisation`,
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
};

for (const theme of ['light', 'dark']) {
    for (const width of [1280, 400]) {
        test(`${theme}, ${width} px: no sideways scroll, axe finds nothing serious`, async (t) => {
            const page = await newPage(chrome.browser, { width, theme });
            for (const [name, hash] of Object.entries(places)) {
                await t.test(name, async () => {
                    await show(page, hash);
                    await eventually(async () => {
                        const size = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
                        assert.ok(size[0] <= size[1], `${size[0]} px wide in ${size[1]}`);
                        if (width < 1280) return;
                        const wide = await page.$$eval('.table-scroll, .scroll-x', (list) => list.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.getAttribute('aria-label')));
                        assert.deepEqual(wide, [], 'tables that scroll sideways');
                    });
                    if (await page.locator('button.row-toggle').count()) {
                        await page.click('button.row-toggle >> nth=0');
                        await page.waitForSelector('button.row-toggle[aria-expanded="true"]');
                        await settled(page);
                    }
                    await eventually(async () => assert.deepEqual(await axeFaults(page), []));
                    // What is one key away is looked at too.
                    const keys = await page.locator('.panel button:has-text("As a table")').all();
                    for (const key of keys) await key.click();
                    const more = await page.$$eval('details', (list) => list.filter((node) => { node.open = true; return true; }).length);
                    if (keys.length + more === 0) return;
                    await settled(page);
                    await eventually(async () => assert.deepEqual(await axeFaults(page), []));
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
    const theme = (wanted) => eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), wanted));
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await theme('dark');
    const dark = await ground();
    await page.click('[aria-label="Use the light theme"]');
    await theme('light');
    await eventually(async () => assert.notEqual(await ground(), dark));
    await page.reload();
    await settled(page);
    await theme('light');
    await page.leave();
});

test('on a phone the rail is a drawer', async () => {
    const page = await newPage(chrome.browser, { width: 400 });
    await show(page, places.overview);
    const link = page.locator('#views a:has-text("Operators")');
    const open = (wanted) => eventually(async () => {
        assert.equal(await link.isVisible(), wanted);
        assert.equal(await page.getAttribute('.menu-button', 'aria-expanded'), String(wanted));
    });
    await open(false);
    await page.click('.menu-button');
    await open(true);
    await link.click();
    await page.waitForSelector('.pie-board');
    await settled(page);
    await open(false);
    await page.click('.menu-button');
    await open(true);
    await page.keyboard.press('Escape');
    await open(false);
    await page.leave();
});

test('what is not there says so and leads on', async () => {
    const page = await newPage(chrome.browser);
    await show(page, places['no such trace']);
    await eventually(async () => assert.match(await page.textContent('.failure') ?? '', /999999/));
    await page.click('.failure a');
    await page.waitForSelector('.run-table');
    await page.fill('.search', 'nothing like this');
    await eventually(async () => assert.match(await page.textContent('.empty') ?? '', /nothing like this/));
    await page.leave();
});

test('a server that does not answer is said so, and asked again on demand', async () => {
    const page = await newPage(chrome.browser);
    let down = true;
    await page.route('**/api/v1/**', (route) => (down ? route.abort() : route.continue()));
    await page.goto(`${server.url}${places.overview}`);
    await page.waitForSelector('.failure');
    await eventually(async () => assert.match(await page.textContent('.failure') ?? '', /does not answer/));
    down = false;
    await page.click('.failure button');
    await page.waitForSelector('.answers');
    await page.leave();
});

test('while figures are on their way, their places are drawn', async () => {
    const page = await newPage(chrome.browser);
    let release = () => {};
    const held = new Promise((resolve) => { release = resolve; });
    await page.route('**/overview', async (route) => {
        await held;
        await route.continue();
    });
    await page.goto(`${server.url}${places.overview}`);
    await page.waitForSelector('.loading .skeleton-figures');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.shown), undefined);
    release();
    await page.waitForSelector('.answers');
    await settled(page);
    assert.equal(await page.locator('.loading').count(), 0);
    await page.leave();
});
