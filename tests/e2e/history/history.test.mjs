/** History: where the gate's link leads; points, changes, filters, charts beside each other, and what is chosen by pointer and keyboard. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { startServer, startBrowser, newPage, visit, ask, get, addressed, eventually, settled, axeFaults } from '../support.mjs';

const LEVELS_US = [1000, 1010, 1005, 1002, 1008, 1004, 2000, 2010, 2005, 2003, 2001, 2007];
const CHANGE = 6;
const KERNEL = 'void gemm<float, 4>(int)';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const name = (number) => `main-${String(number).padStart(2, '0')}`;

let server;
let chrome;
let page;
/** @type {any[]} */
let rows;

/** Three steps with a kernel each. @param {number} stepUs */
function trace(stepUs) {
    const events = [0, 1, 2].flatMap((step) => {
        const at = 1000 + step * stepUs;
        const link = { correlation: step + 1 };
        return [
            { ph: 'X', cat: 'user_annotation', name: `ProfilerStep#${step}`, pid: 1, tid: 1, ts: at, dur: stepUs },
            { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: at + 5, dur: 1, args: link },
            { ph: 'X', cat: 'kernel', name: KERNEL, pid: 0, tid: 7, ts: at + 20, dur: 50, args: { ...link, stream: 7, device: 0 } },
        ];
    });
    return JSON.stringify({ deviceProperties: [{ id: 0, name: 'H100' }], traceEvents: events });
}

/** @param {string} run @param {number} stepUs @param {string[]} tags */
async function upload(run, stepUs, tags) {
    const sent = await ask(`${server.url}api/v1/runs/${run}/traces/w.pt.trace.json`, { method: 'PUT', body: trace(stepUs) });
    assert.ok(sent.ok, sent.text);
    const tagged = await ask(`${server.url}api/v1/runs/${run}`, { method: 'PATCH', headers: JSON_TYPE, body: JSON.stringify({ tags }) });
    assert.ok(tagged.ok, tagged.text);
}

before(async () => {
    server = await startServer();
    chrome = await startBrowser();
    page = await newPage(chrome.browser);
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
});

const text = (selector) => page.textContent(selector);
const canvas = () => page.locator('.history-chart canvas').first();
const value = () => canvas().getAttribute('aria-valuetext');
/** The cells of a plain table. @param {string} caption */
const table = (caption) => page.getByRole('region', { name: caption }).evaluate((box) => [...box.querySelectorAll('tbody tr')].map((line) => [...line.children].map((cell) => cell.textContent)));

test('without runs it says how to upload one with tags', async () => {
    await visit(page, server.url, '#/history');
    const said = await text('.empty');
    assert.match(said ?? '', /No history yet/);
    assert.ok(said?.includes(`curl -O ${server.url}kinetoscope.py`), said ?? '');
    assert.match(said ?? '', /--tag branch=main/);
    assert.deepEqual(await axeFaults(page), []);
});

test('the rail leads to it, and it says where the metric changed', async () => {
    for (const [number, level] of LEVELS_US.entries()) await upload(name(number), level, ['branch=main', `commit=c0ffee${number}`, `commit_time=${1700000000 + 86400 * number}`]);
    await upload('other', 500, ['branch=other']);
    ({ rows } = await get(server.url, 'history?tag=branch%3Dmain'));
    await visit(page, server.url, '#/');
    await page.getByRole('link', { name: 'History' }).click();
    await addressed(page, '#/history');
    await visit(page, server.url, '#/history?tag=branch%3Dmain');
    const { changes } = await get(server.url, 'history/changes?tag=branch%3Dmain');
    assert.deepEqual(changes.map(({ index }) => index), [CHANGE], 'one change is planted');
    const percent = `+${(changes[0].change * 100).toFixed(1)}%`;
    assert.ok((await text('.history-verdict'))?.startsWith(`Worse, ${percent} since ${name(CHANGE)}`), await text('.history-verdict') ?? '');
    const [line] = await table('Changes, newest first');
    assert.deepEqual([line[0], line[2], line[6]], [name(CHANGE), 'Worse', percent]);
    assert.equal(await page.getByRole('link', { name: `What changed from ${name(CHANGE - 1)} to ${name(CHANGE)}` }).getAttribute('href'),
        `#/diff?base=${rows[CHANGE - 1].trace}&candidate=${rows[CHANGE].trace}`);
});

test('the link of the gate shows the metric it failed on', async () => {
    const answer = await ask(`${server.url}api/v1/gate`, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ candidate: { run: 'other' }, tag: 'branch=main', fail_if: [`kernel:${KERNEL}>5%`] }) });
    const { url } = JSON.parse(answer.text).rows[0];
    await visit(page, server.url, url.slice(url.indexOf('#')));
    assert.match(await text('.history-charts h2') ?? '', /kernel, per step/);
    assert.match(await text('.history-verdict') ?? '', /^No change in 12.points: 50\.00.µs/);
});

test('points are a table too', async () => {
    await visit(page, server.url, '#/history?tag=branch%3Dmain');
    await page.getByRole('button', { name: 'As a table' }).click();
    const lines = await table('Step time in order of time');
    assert.deepEqual(lines.map(([run]) => run), LEVELS_US.map((_, number) => name(number)));
    assert.match(lines[0][2], /^commit=c0ffee0, branch=main$/);
    assert.match(lines[CHANGE][3], /worse: 1\.\d+.ms to 2\.\d+.ms/);
});

test('the keyboard walks, chooses two points to compare, and opens a trace', async () => {
    await visit(page, server.url, '#/history?tag=branch%3Dmain');
    await canvas().focus();
    await page.keyboard.press('Home');
    assert.match(await value() ?? '', new RegExp(`^Point 1 of 12: ${name(0)}, 1\\.00.ms, .*commit=c0ffee0`));
    await page.keyboard.press('End');
    await page.keyboard.press('Space');
    await addressed(page, `points=${rows[11].trace}`);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Space');
    const bar = page.getByRole('group', { name: 'Chosen points' });
    // The older is the base, whichever was chosen first.
    await eventually(async () => assert.equal(await bar.getByRole('link', { name: 'What changed' }).getAttribute('href'), `#/diff?base=${rows[1].trace}&candidate=${rows[11].trace}`));
    const address = await page.evaluate(() => location.hash);
    await visit(page, server.url, address);
    assert.equal(await bar.getByRole('link', { name: 'What changed' }).count(), 1, 'the address holds what is chosen');
    await bar.getByRole('button', { name: `Let go of ${name(1)}` }).click();
    await settled(page);
    assert.equal(await bar.getByRole('link', { name: 'What changed' }).count(), 0);
    await canvas().focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await addressed(page, `#/traces/${rows[11].trace}/overview`);
});

test('the pointer chooses the nearest point', async () => {
    await visit(page, server.url, '#/history?tag=branch%3Dmain');
    const box = await canvas().boundingBox();
    await page.mouse.click(box.x + box.width - 20, box.y + box.height / 2);
    await addressed(page, `points=${rows[11].trace}`);
    await page.mouse.click(box.x + box.width - 20, box.y + box.height / 2);
    await eventually(async () => assert.ok(!(await page.evaluate(() => location.hash)).includes('points=')));
});

test('dragging, the wheel, keys and buttons show a part of the series, which the address holds', async () => {
    const inSight = async (count) => eventually(async () => assert.equal(await canvas().getAttribute('aria-valuemax'), String(count)));
    const all = LEVELS_US.length;
    await visit(page, server.url, '#/history?tag=branch%3Dmain');
    const box = await canvas().boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + 120, { steps: 4 });
    await page.mouse.move(box.x + box.width - 4, box.y + 120, { steps: 4 });
    await page.mouse.up();
    await addressed(page, 'zoom=');
    const address = await page.evaluate(() => location.hash);
    assert.ok(!address.includes('points='), 'a drag chooses nothing');
    assert.ok(address.endsWith(`-${rows[all - 1].trace}`), address);
    const part = Number(await canvas().getAttribute('aria-valuemax'));
    assert.ok(part > 2 && part < 7, String(part));
    await visit(page, server.url, address);
    await inSight(part);
    await page.getByRole('button', { name: 'Fit all points' }).click();
    await inSight(all);
    await page.goBack();
    await inSight(part);
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await inSight(all);
    assert.equal(await page.getByRole('button', { name: 'Zoom out' }).getAttribute('aria-disabled'), 'true');
    await canvas().focus();
    await page.keyboard.press('End');
    await page.keyboard.press('+');
    await addressed(page, `zoom=${rows[6].trace}-${rows[11].trace}`);
    await inSight(6);
    assert.match(await value() ?? '', new RegExp(`^Point 12 of 12: ${name(11)}`), 'the keyboard stays at its point');
    await page.keyboard.press('Home');
    assert.match(await value() ?? '', new RegExp(`^Point 7 of 12: ${name(6)}`));
    await page.keyboard.press('0');
    await inSight(all);
    await page.mouse.move(box.x + box.width / 2, box.y + 100);
    await page.mouse.wheel(0, -100);
    await inSight(all);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await inSight(6);
    await visit(page, server.url, '#/history?tag=branch%3Dmain&zoom=1-999999');
    await inSight(all);
    assert.deepEqual(await axeFaults(page), []);
});

test('metrics beside each other, filters, and what has no points', async () => {
    await visit(page, server.url, '#/history?tag=branch%3Dmain');
    await page.getByRole('combobox', { name: 'Add a chart' }).fill('busy');
    await page.keyboard.press('Enter');
    await addressed(page, 'metric=step_time&metric=busy');
    assert.deepEqual(await page.locator('.history-charts h2').allTextContents(), ['Step time', 'Device busy']);
    assert.equal((await table('Changes, newest first')).length, 2);
    await page.getByRole('button', { name: 'Step time' }).click();
    await eventually(async () => assert.deepEqual(await page.locator('.history-charts h2').allTextContents(), ['Device busy']));
    await page.getByRole('button', { name: 'tag: branch=main' }).click();
    await eventually(async () => assert.equal(await canvas().getAttribute('aria-valuemax'), String(LEVELS_US.length + 1), 'the run of another branch is a point too'));
    assert.ok(!(await page.evaluate(() => location.hash)).includes('tag='));
    await page.getByRole('textbox', { name: 'Run' }).fill('/main-0[0-3]/');
    await page.keyboard.press('Enter');
    await addressed(page, 'run=');
    assert.match(await text('.history-verdict') ?? '', /^No change in 4.points/);
    await visit(page, server.url, '#/history?run=nowhere');
    await page.getByRole('button', { name: 'All runs' }).click();
    await eventually(async () => assert.equal(await page.locator('.history-chart').count(), 1));
    await visit(page, server.url, '#/history?metric=memory_peak');
    assert.match(await text('.history-charts') ?? '', /No trace of these runs has this metric/);
});

test('two values with traces without the metric between them carry no change', async () => {
    const unmeasured = trace(1000).replaceAll('ProfilerStep#', 'part ');
    for (const [number, body] of [trace(1000), unmeasured, unmeasured, trace(3000)].entries()) {
        const sent = await ask(`${server.url}api/v1/runs/sparse-${number}/traces/w.pt.trace.json`, { method: 'PUT', body });
        assert.ok(sent.ok, sent.text);
        const tagged = await ask(`${server.url}api/v1/runs/sparse-${number}`, { method: 'PATCH', headers: JSON_TYPE, body: JSON.stringify({ tags: [`commit_time=${1700000000 + number}`] }) });
        assert.ok(tagged.ok, tagged.text);
    }
    const { changes } = await get(server.url, 'history/changes?run=%2Fsparse-%2F&p=series');
    assert.deepEqual(changes.map(({ index }) => index), [3], 'the search fills the gap [HIST-2.1]');
    await visit(page, server.url, '#/history?run=%2Fsparse-%2F');
    assert.match(await text('.history-verdict') ?? '', /^No change in 2.points/);
});

test('a change is marked as known', async () => {
    await visit(page, server.url, '#/history?tag=branch%3Dmain');
    await page.getByRole('button', { name: /^Mark the change at/ }).click();
    await page.getByRole('textbox', { name: 'Why it is known' }).fill('TICKET-7 <b>');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.match((await table('Changes, newest first'))[0].join(' '), /Worse, known *TICKET-7 <b>/));
    assert.equal(await page.getByRole('button', { name: /^Mark the change at/ }).count(), 0);
});

test('notes stand where their kernel and their window are', async () => {
    const id = rows[3].trace;
    await visit(page, server.url, `#/traces/${id}/kernels`);
    await page.getByRole('button', { name: 'Pin a note to a kernel' }).click();
    await page.getByRole('textbox', { name: 'Kernel, its whole name' }).fill(KERNEL);
    await page.getByRole('textbox', { name: 'Note' }).fill('waits for the library');
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await eventually(async () => assert.match(await text('.pinned-note') ?? '', /gemm.*waits for the library.*the whole run/));
    assert.deepEqual(await axeFaults(page), []);
    await visit(page, server.url, `#/traces/${id}/timeline?sel=100000-400000`);
    await page.getByRole('button', { name: 'Pin a note to this window' }).click();
    await page.getByRole('textbox', { name: 'Note' }).fill('nothing runs here');
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await eventually(async () => assert.match(await text('.pinned-note') ?? '', /300.*long.*nothing runs here/));
    await visit(page, server.url, `#/traces/${id}/timeline`);
    await page.locator('.pinned-note a').click();
    await addressed(page, 'sel=100000-400000');
    await page.getByRole('button', { name: /Remove the note/ }).click();
    await eventually(async () => assert.equal(await page.locator('.pinned-note').count(), 0));
});

test('runs without the metric do not count in the mean', async () => {
    const empty = JSON.stringify({ traceEvents: [{ ph: 'X', cat: 'cpu_op', name: 'aten::add', pid: 1, tid: 1, ts: 1, dur: 2 }] });
    for (const [run, body] of [['gap-1', trace(1000)], ['gap-2', empty], ['gap-3', empty], ['gap-4', trace(3000)], ['gap-5', trace(1000)], ['gap-6', trace(3000)]]) {
        assert.ok((await ask(`${server.url}api/v1/runs/${run}/traces/w.pt.trace.json`, { method: 'PUT', body })).ok);
        assert.ok((await ask(`${server.url}api/v1/runs/${run}`, { method: 'PATCH', headers: JSON_TYPE, body: JSON.stringify({ tags: ['branch=gap'] }) })).ok);
    }
    await visit(page, server.url, '#/history?metric=step_time&tag=branch%3Dgap');
    await eventually(async () => assert.match(await text('.history-verdict') ?? '', /^No change in 4.points: 2\.00.ms on average over 4.points, ±.1\.15.ms/));
    for (const run of ['gap-1', 'gap-2', 'gap-3', 'gap-4', 'gap-5', 'gap-6']) assert.ok((await ask(`${server.url}api/v1/runs/${run}`, { method: 'DELETE' })).ok);
});

test('the newest run of a tag has an address', async () => {
    await visit(page, server.url, '#/newest?tag=branch%3Dmain&view=kernels');
    await addressed(page, '/kernels');
    await visit(page, server.url, '#/newest?tag=branch%3Dnone');
    assert.match(await text('.empty') ?? '', /No run matches/);
});

test('the interface, the log of webhooks and the servers are pages', async () => {
    await visit(page, server.url, '#/');
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await addressed(page, '#/webhooks');
    await page.getByRole('link', { name: 'API', exact: true }).click();
    await addressed(page, '#/api');
    const { paths } = await get(server.url, 'openapi.json');
    const routes = Object.values(paths).reduce((sum, methods) => sum + Object.keys(methods).filter((name) => name !== 'parameters').length, 0);
    await eventually(async () => assert.equal(await page.locator('.api-operation').count(), routes));
    await page.getByRole('searchbox', { name: 'Search the interface' }).fill('/history/changes');
    await addressed(page, 'q=');
    await eventually(async () => assert.equal(await page.locator('.api-operation').count(), 2));
    await page.locator('.api-operation summary').first().click();
    assert.match(await text('.api-operation[open]') ?? '', /min_magnitude.*number.*curl/s);
    assert.deepEqual(await axeFaults(page), []);
    await visit(page, server.url, '#/webhooks');
    assert.match(await text('.empty') ?? '', /Nothing was told yet/);
    await page.getByRole('link', { name: 'Nodes', exact: true }).click();
    await addressed(page, '#/nodes');
    await eventually(async () => assert.match(await text('.plain-table tbody') ?? '', /answers here.*serving/s));
});

test('trace health writes the call that records what is missing', async () => {
    await visit(page, server.url, `#/traces/${rows[0].trace}/overview`);
    const call = await text('.profiler-call') ?? '';
    for (const option of ['record_shapes=True', 'with_stack=True', 'profile_memory=True']) assert.ok(call.includes(`    ${option},`), call);
    assert.equal(call.match(/with_stack=True/g)?.length, 1);
});

test('a trace is handed to Perfetto only after the user has read where to', async () => {
    // A page at another origin that speaks as Perfetto's does.
    const perfetto = createServer((_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<script>
        addEventListener('message', ({ data, source, origin }) => {
            if (data === 'PING') source.postMessage('PONG', origin);
            else if (data.perfetto) document.title = data.perfetto.fileName + ' ' + data.perfetto.buffer.byteLength;
        });</script>`));
    await new Promise((resolve) => perfetto.listen(0, '127.0.0.1', () => resolve(null)));
    const url = `http://127.0.0.1:${perfetto.address().port}`;
    const other = await startServer({ options: ['--perfetto-url', url] });
    const sent = await ask(`${other.url}api/v1/runs/r/traces/w.pt.trace.json`, { method: 'PUT', body: trace(1000) });
    assert.ok(sent.ok, sent.text);
    const opener = await newPage(chrome.browser);
    await visit(opener, other.url, '#/traces/1/timeline');
    await opener.getByRole('button', { name: 'Open in Perfetto' }).click();
    assert.match(await opener.textContent('dialog') ?? '', new RegExp(`is handed to ${url}`));
    assert.equal(opener.context().pages().length, 1, 'nothing is open yet');
    const [opened] = await Promise.all([opener.context().waitForEvent('page'), opener.getByRole('button', { name: /^Open 127/ }).click()]);
    await eventually(async () => assert.match(await opened.title(), /^w\.pt\.trace\.json [1-9]\d+$/));
    await opened.close();
    await opener.leave();
    await other.stop();
    perfetto.close();
});

test('both themes, narrow and wide', async () => {
    for (const theme of /** @type {const} */ (['light', 'dark'])) {
        for (const width of [400, 1280]) {
            const other = await newPage(chrome.browser, { width, theme });
            await visit(other, server.url, `#/history?metric=step_time&metric=busy&points=${rows[1].trace},${rows[11].trace}`);
            assert.ok(await other.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `${width} px scrolls sideways`);
            assert.deepEqual(await axeFaults(other), [], `${theme}, ${width} px`);
            assert.deepEqual(other.complaints, []);
            await other.leave();
        }
    }
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
