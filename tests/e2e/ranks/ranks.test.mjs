/** A run of many ranks: the sentence of the run, one timeline for all ranks, collectives, clocks, pipeline. A clock of the fixture is 3 s ahead. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServer, startBrowser, newPage, visit, fixture, put, get, addressed, settled, eventually, axeFaults, sameTime, column } from '../support.mjs';

const RANKS = [0, 1, 2, 3];

/** One stage and two replicas, of which the second computes forward in 3 s instead of 1. */
function operations() {
    const rows = ['optype,dp_rank,stage,rank,step,start_ts,duration,seq_id,mc,gmc,mb_id'];
    for (const [dp, forward] of [[0, 1], [1, 3]]) {
        const end = forward + 2;
        for (const [type, start, duration] of [['forward-compute', 0, forward], ['backward-compute', forward, 2], ['gc', end, 0], ['layernorm-grads-all-reduce', end, 0],
            ['embedding-grads-all-reduce', end, 0], ['optimizer-clip-main-grad', end, 5 - end], ['optimizer', 5, 0.5]]) rows.push(`${type},${dp},0,${dp},7,${start},${duration},0,0,0,0`);
    }
    return `${rows.join('\n')}\n`;
}

let server;
let chrome;
let page;
let folder;
const traces = [];

before(async () => {
    server = await startServer();
    chrome = await startBrowser();
    page = await newPage(chrome.browser);
    folder = await mkdtemp(path.join(tmpdir(), 'kinetoscope-ranks-'));
    for (const rank of RANKS) traces.push(await put(server.url, 'late ranks', fixture('late_rank', `late${rank}.1700000000000.pt.trace.json.gz`)));
    await writeFile(path.join(folder, 'operations.csv'), operations());
    await put(server.url, 'job', path.join(folder, 'operations.csv'));
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
});

const RUN = '#/runs/late%20ranks';
const open = (hash) => visit(page, server.url, hash);
const text = async (selector) => (await page.locator(selector).innerText()).replaceAll('\u00a0', ' ');
const answer = (label) => text(`.answer:has(dt:text-is("${label}"))`);
const api = (what) => get(server.url, `runs/late%20ranks/${what}`);

test('the run says who is late, what it costs and why; a cell leads to its step', async () => {
    const { verdict } = await api('stragglers');
    assert.deepEqual([verdict.kind, verdict.rank, verdict.cause, verdict.steps], ['persistent', 1, 'compute', 12]);
    await open(RUN);
    assert.match(await text('.verdict'), /^Rank 1 makes the others wait in 12 of 12 steps, 0\.1[34] ms a step, by compute kernels/);
    assert.match(await page.textContent('.heat-rows'), /^Rank 0/);
    assert.match(await page.textContent('.heat-columns'), /^Step /);
    await page.focus('.heat-map');
    for (let row = 0; row < 2; row += 1) await page.keyboard.press(row === 0 ? 'Home' : 'PageDown');
    assert.match(await text('.rank-verdict .sight'), /^Rank 1, step 10: waits 0 ns, .* by compute$/);
    await page.keyboard.press('Enter');
    await addressed(page, `#/traces/${traces[1].id}/timeline?start=`);
});

test('a run of many traces lists a page of them by the rank that each tells, and brings the next', async () => {
    const many = 103;
    for (let rank = 0; rank < many; rank += 1) {
        // Names in the opposite order: the rank is what the file says.
        const file = path.join(folder, `worker${many - rank}.pt.trace.json`);
        await writeFile(file, JSON.stringify({ distributedInfo: { backend: 'nccl', rank, world_size: many }, traceEvents: [{ ph: 'X', cat: 'cpu_op', name: 'aten::add', pid: 1, tid: 1, ts: 1, dur: 1 }] }));
        await put(server.url, 'many', file);
    }
    await open('#/runs/many');
    const ranks = () => page.locator('.run-table .col-rank').allInnerTexts().then(([, ...list]) => list);
    assert.deepEqual(await ranks(), Array.from({ length: 100 }, (_, rank) => String(rank)));
    assert.match(await text('.view-run'), /100 of 103 traces, by rank/);
    await page.click('button:text("Show 3 more")');
    await eventually(async () => assert.deepEqual((await ranks()).slice(99), ['99', '100', '101', '102']));
    // A view of all ranks offers workers that the page of traces does not have.
    await open('#/runs/many/distributed');
    await page.click('[data-picker="worker"]');
    await page.fill('[data-picker="worker"]', 'worker2');
    await eventually(async () => assert.equal((await page.locator('.picker-list:visible li').allInnerTexts()).at(-1), 'worker2, rank 101'));
});

test('all ranks: late ones first, any unfolds on the same clock, range and search over all', async () => {
    const { rows, end_ns: end } = await api('timeline');
    await open(`${RUN}/ranks`);
    const names = () => page.$$eval('.tl-head-track > button .tl-head-name', (list) => list.map((node) => node.textContent));
    assert.match((await names())[0], /^Rank 1 ±0\sns$/);
    assert.equal((await names()).length, 4);
    await page.click('.tl-head >> nth=0 >> button');
    await addressed(page, 'open=1');
    await eventually(async () => assert.ok((await names()).length > 5, 'its own tracks'));
    // A slice of the unfolded rank stands where its folded line has it: its clock is 3 s ahead.
    assert.equal(rows[1].shift_ns, 0);
    const canvas = await page.locator('.tl-canvas').boundingBox();
    const x = canvas.x + canvas.width * ((0.005 + 110000 / end) / 1.01);
    const own = await page.locator('.tl-head:has-text("stream 7")').first().boundingBox();
    await page.mouse.click(x, own.y + 8);
    await addressed(page, 'tab=slice');
    assert.match(await text('.tl-detail:visible'), /ampere_sgemm_128x64_nn[\s\S]*240\.0 µs/);
    await page.fill('.tl-search input', 'allreduce');
    await addressed(page, 'q=allreduce');
    await page.click('[role="tab"]:has-text("Matches"), button:has-text("Matches")');
    await eventually(async () => assert.match(await text('.tl-detail:visible'), /12 collectives match/));
    await eventually(async () => assert.match(await text('.tl-detail:visible'), /48 events in 4 ranks/));
    await page.fill('.tl-search input', '/^all.*e$/');
    await eventually(async () => assert.match(await text('.tl-detail:visible'), /in collectives alone[\s\S]*12 collectives match/));
    // A folded rank is searched, too: a click unfolds it where its first match is.
    await page.fill('.tl-search input', 'sgemm');
    await eventually(async () => assert.match(await text('.tl-detail:visible'), /48 events in 4 ranks[\s\S]*Rank 3/));
    await page.click('.tl-detail:visible button:text("Rank 3")');
    await addressed(page, 'open=1.3');
    await eventually(async () => assert.ok((await names()).filter((name) => name.includes('stream 7')).length === 2, 'tracks of both'));
    await page.click('button:has-text("Fit")');
    await page.click('button:has-text("Select range")');
    await addressed(page, 'sel=');
    await eventually(async () => assert.match(await text('.tl-detail:visible .plain-table'), /Rank 1\s+2\.88 ms/));
    await page.selectOption('select[aria-label="Order of the ranks"]', 'rank');
    await addressed(page, 'by=rank');
    assert.match((await names())[0], /^Rank 0/);
    await page.click('button:has-text("Fit")');
});

test('collectives: figures equal the API, a row lists its ranks, a sum leads to its rows', async () => {
    const { rows, summary, overlap } = await api('collectives?limit=0');
    await open(`${RUN}/collectives`);
    assert.match(await answer('Collectives'), /12\s+over 4 ranks, in 1 group/);
    sameTime(await answer('Transfer'), summary[0].transfer_ns, 'transfer');
    sameTime((await answer('Exposed')).split(':')[1], Math.max(...overlap.map(({ exposed_ns: ns }) => ns)), 'exposed');
    await page.locator('#instances .row-toggle').first().click();
    await eventually(async () => assert.match(await text('#instances .detail .plain-table'), /Rank 1[\s\S]*0 ns[\s\S]*Rank/));
    sameTime((await page.locator('#instances .detail .plain-table tbody tr').nth(3).locator('td').nth(3).innerText()), rows[0].skew_ns, 'the first rank waits the skew');
    const marked = `sel=${rows[0].start_ns}-${rows[0].start_ns + rows[0].skew_ns + rows[0].transfer_ns}`;
    await page.click('#instances .detail a:has-text("timeline of all ranks")');
    await addressed(page, marked);
    await eventually(async () => assert.match(await text('.tl-detail:visible .plain-table'), /Rank 3/));
    await open(`${RUN}/collectives`);
    await page.locator('.section:has(h2:text("By kind")) .row-toggle').click();
    await page.click('button:text("Show each")');
    await addressed(page, 'c-kind=all_reduce');
    await page.click('label:has-text("As recorded")');
    await addressed(page, 'clock=raw');
    assert.match(await text('.run-view'), /hold the difference of the clocks/);
});

test('clocks: 3 s are found, with their residual', async () => {
    const { rows } = await api('clock');
    assert.deepEqual(rows.map(({ offset_ns: ns }) => ns), [0, 3000000000, -45000, 7000]);
    await open(`${RUN}/clock`);
    assert.match(await text('.verdict'), /^The clocks of all 4 ranks are aligned/);
    assert.match(await answer('Largest offset'), /3\.00\s*s\s+Rank 1 is ahead/);
    assert.match(await answer('Largest residual'), /0\s*ns/);
    assert.deepEqual(await column(page, 'Confidence'), ['reference', 'high', 'high', 'high']);
});

test('pipeline: bubbles, slowdowns, one step as it was and without stragglers', async () => {
    await open('#/runs/job/pipeline');
    assert.match(await answer('Without stragglers'), /4\.50\s*s\s+a step instead of 5\.50 s: 1\.222 times/);
    assert.match(await text('.run-view .verdict-text'), /Most of it comes with forward-compute \(1\.222 times alone\)/);
    await page.focus('canvas');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    assert.match(await text('.section:has(canvas) > .sight'), /^Without stragglers, stage 0: optimizer 0, 500\.0 ms/);
    await page.selectOption('select[aria-label="Replica"]', '1');
    await addressed(page, 'replica=1');
    await page.focus('canvas');
    await page.keyboard.press('Home');
    assert.match(await text('.section:has(canvas) > .sight'), /^As it was, stage 0: forward-compute 0, 3\.00 s/);
    // A run without operations says so by itself: nothing is asked that the browser would log as missing.
    const before = page.complaints.length;
    await open(`${RUN}/pipeline`);
    assert.match(await text('.empty'), /operations\.csv/);
    assert.deepEqual(page.complaints.slice(before), []);
});

test('each page fits a phone and has no serious fault of access', async () => {
    for (const theme of ['light', 'dark']) {
        for (const width of [1280, 400]) {
            const narrow = await newPage(chrome.browser, { width, theme });
            for (const hash of [RUN, `${RUN}/ranks?open=1`, `${RUN}/collectives`, `${RUN}/clock`, '#/runs/job/pipeline']) {
                await visit(narrow, server.url, hash);
                await eventually(async () => assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `${hash} at ${width} px`));
                await eventually(async () => assert.deepEqual(await axeFaults(narrow), [], `${hash}, ${theme}, ${width}`));
            }
            assert.deepEqual(narrow.complaints, []);
            await narrow.leave();
        }
    }
    await settled(page);
    assert.deepEqual(page.complaints.filter((line) => !line.includes('404')), []);
});
