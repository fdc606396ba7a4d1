/** The distributed view: its answers, charts, collectives and devices; workers that do not agree; one worker; very many. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startServer, startBrowser, newPage, visit, fixture, put, get, sameTime, column, settled, eventually, addressed } from './support.mjs';

const FILES = ['node0_0.1700000000000.pt.trace.json.gz', 'node0_1.1700000000000.pt.trace.json.gz'];

let server;
let chrome;
let page;
let folder;
let data;
const traces = {};

/** Uploads a trace that was changed. @param {string} run @param {string} name @param {any} trace */
async function upload(run, name, trace) {
    const file = path.join(folder, name);
    await writeFile(file, JSON.stringify(trace));
    return put(server.url, run, file);
}

/** @param {string} file */
const content = async (file) => JSON.parse(gunzipSync(await readFile(fixture('nccl_two_workers', file))).toString('utf8'));

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'kinetoscope-distributed-'));
    server = await startServer();
    chrome = await startBrowser();
    page = await newPage(chrome.browser);
    traces.first = await put(server.url, 'nccl/two', fixture('nccl_two_workers', FILES[0]));
    traces.second = await put(server.url, 'nccl/two', fixture('nccl_two_workers', FILES[1]));
    await put(server.url, 'alone', fixture('nccl_two_workers', FILES[0]));
    traces.plain = await put(server.url, 'plain', fixture('cuda_training'));
    const short = await content(FILES[1]);
    // Without its last collective: the operator and its kernel.
    for (const kind of [/^nccl:/, /^ncclKernel/]) {
        const collectives = short.traceEvents.filter(({ name, ph }) => ph === 'X' && kind.test(name));
        const last = collectives.reduce((late, event) => (event.ts > late.ts ? event : late));
        short.traceEvents = short.traceEvents.filter((event) => event !== last);
    }
    await put(server.url, 'uneven', fixture('nccl_two_workers', FILES[0]));
    await upload('uneven', 'node0_1.1700000000000.pt.trace.json', short);
    data = await get(server.url, 'runs/nccl%2Ftwo/distributed');
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
});

const HOME = '#/runs/nccl%2Ftwo/distributed';
const open = (hash) => visit(page, server.url, hash);
const hash = () => page.evaluate(() => location.hash);
const answer = (label) => page.locator('.answer').filter({ has: page.locator('dt', { hasText: label }) }).innerText();
const shown = (label, check) => eventually(async () => check((await answer(label)).replaceAll('\u00a0', ' ')));
const sum = (list, field) => list.reduce((total, row) => total + row[field], 0);

/** The first percentage of a text is this share. @param {string} text @param {number} share */
const sameShare = (text, share) => {
    const [, number] = /([\d.]+)\s*%/.exec(text) ?? [];
    assert.ok(number && Math.abs(Number(number) - 100 * share) <= 0.051, `${text}: ${100 * share} %`);
};

test('reached from the run and from a trace of it, and leads back to a worker', async () => {
    await open('#/runs/nccl%2Ftwo');
    await page.click('.view-tools a:has-text("Distributed")');
    await addressed(page, HOME);
    await page.waitForSelector('.distributed-answers');
    await open(`#/traces/${traces.second.id}/overview`);
    await page.click('#views a:has-text("Distributed")');
    await addressed(page, `${HOME}?span=1`);
    await eventually(async () => assert.equal(await page.getAttribute('#views a:has-text("Distributed")', 'aria-current'), 'page'));
    await page.click('[data-picker="worker"]');
    await page.fill('[data-picker="worker"]', traces.second.worker);
    await page.press('[data-picker="worker"]', 'Enter');
    await addressed(page, `#/traces/${traces.second.id}/`);
    await open(`#/traces/${traces.plain.id}/overview`);
    await eventually(async () => assert.equal(await page.locator('#views a:has-text("Distributed")').count(), 0));
});

test('the answers are those of the figures: hidden, exposed, waiting, last to arrive', async () => {
    await open(HOME);
    const { rows } = data.overlap;
    const communication = sum(rows, 'overlap_ns') + sum(rows, 'communication_ns');
    await shown('Communication overlap', (text) => sameShare(text, sum(rows, 'overlap_ns') / communication));
    await shown('Exposed communication', (text) => sameTime(text, sum(rows, 'communication_ns') / rows.length, 'exposed of a worker and step'));
    const wait = sum(data.wait.rows, 'wait_ns');
    await shown('Waiting', (text) => sameShare(text, wait / (wait + sum(data.wait.rows, 'transfer_ns'))));
    const of = (worker) => sum(data.wait.rows.filter((row) => row.worker === worker), 'wait_ns') / data.overlap.steps.length;
    const [a, b] = data.workers.map(({ worker }) => worker);
    await shown('Slowest rank', (text) => {
        assert.ok(text.includes(of(a) < of(b) ? a : b), text);
        sameTime(text, Math.abs(of(a) - of(b)), 'what the other waits longer');
    });
    await shown('Workers', (text) => assert.match(text, /the same collectives/));
});

test('a step can be chosen, and parts taken off; the address has both', async () => {
    await open(HOME);
    const step = data.overlap.steps[1];
    await page.selectOption('[data-filter="step"]', step);
    await addressed(page, `step=${step}`);
    const rows = data.overlap.rows.filter((row) => row.step === step);
    await shown('Exposed communication', (text) => sameTime(text, sum(rows, 'communication_ns') / rows.length, 'exposed in the step'));
    await page.click('[data-part="other"]');
    await addressed(page, 'hide=other');
    await eventually(async () => assert.equal(await page.getAttribute('[data-part="other"]', 'aria-pressed'), 'false'));
    await page.goBack();
    await addressed(page, HOME);
    await shown('Exposed communication', (text) => sameTime(text, sum(data.overlap.rows, 'communication_ns') / data.overlap.rows.length, 'exposed of the mean'));
});

test('the charts have tables and answer to the keyboard', async () => {
    await open(HOME);
    await page.click('.panel:has(h2:text("Transfer and waiting")) button:has-text("As a table")');
    await eventually(async () => {
        const lines = await page.$$eval('.panel-table tbody tr', (list) => list.map((line) => [...line.children].map((cell) => cell.textContent)));
        assert.deepEqual(lines.map(([worker]) => worker), data.workers.map(({ worker }) => worker));
        for (const [worker, transfer] of lines) {
            const unit = await page.textContent('.panel-table thead th:nth-child(2)');
            sameTime(`${transfer} ${unit?.split(' ').pop()}`, sum(data.wait.rows.filter((row) => row.worker === worker), 'transfer_ns') / data.overlap.steps.length, 'transfer');
        }
    });
    const chart = page.locator('.worker-canvas').first();
    await chart.focus();
    await page.keyboard.press('ArrowRight');
    await eventually(async () => assert.ok((await chart.getAttribute('aria-valuetext'))?.startsWith(data.workers[0].worker)));
    await page.keyboard.press('End');
    await eventually(async () => assert.ok((await chart.getAttribute('aria-valuetext'))?.startsWith(data.workers[1].worker)));
    await page.keyboard.press('Enter');
    await addressed(page, `#/traces/${data.workers[1].trace}/overview`);
});

test('collectives of all workers together, of one, or each by each', async () => {
    await open(HOME);
    const names = [...new Set(data.operations.map(({ name }) => name))];
    const calls = (rows) => Object.fromEntries(names.map((name) => [name, String(sum(rows.filter((row) => row.name === name), 'calls'))]));
    const table = () => Promise.all([column(page, 'Operation'), column(page, 'Calls')]);
    await eventually(async () => {
        const [shownNames, shownCalls] = await table();
        assert.deepEqual(Object.fromEntries(shownNames.map((name, at) => [name, shownCalls[at]])), calls(data.operations));
    });
    const box = page.locator('.operations-worker input');
    await box.click();
    await box.fill(data.workers[1].worker);
    await box.press('Enter');
    await addressed(page, `worker=${data.workers[1].worker}`);
    await eventually(async () => {
        const [shownNames, shownCalls] = await table();
        assert.deepEqual(Object.fromEntries(shownNames.map((name, at) => [name, shownCalls[at]])), calls(data.operations.filter(({ worker }) => worker === data.workers[1].worker)));
        assert.equal(await box.evaluate((node) => node === document.activeElement), true);
    });
    await box.click();
    await box.fill('each');
    await box.press('Enter');
    await addressed(page, 'worker=-each');
    await eventually(async () => assert.equal((await column(page, 'Worker')).length, data.operations.length));
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('.operations button:has-text("CSV")')]);
    const text = await readFile(await download.path(), 'utf8');
    assert.equal(text.trim().split('\r\n').length, data.operations.length + 1);
    assert.match(text, /^name,worker,calls,/);
});

test('nodes, processes and devices', async () => {
    await open(HOME);
    await eventually(async () => {
        const text = await page.textContent('.device-map') ?? '';
        for (const { worker } of data.workers) assert.ok(text.includes(worker), worker);
        for (const { name } of data.devices) assert.ok(text.includes(name), name);
    });
    await page.click(`.device-map a:has-text("${data.workers[0].worker}")`);
    await addressed(page, `#/traces/${data.workers[0].trace}/overview`);
});

test('what counts as a collective is said', async () => {
    await open(HOME);
    await eventually(async () => assert.match(await page.getAttribute('h1', 'data-tip') ?? '', /ncclDevKernel_/));
});

test('workers that do not hold the same collectives are told, with what could be matched', async () => {
    const uneven = await get(server.url, 'runs/uneven/distributed');
    assert.equal(uneven.agrees, false);
    await open('#/runs/uneven/distributed');
    await eventually(async () => {
        const text = await page.textContent('.verdict.warn') ?? '';
        for (const { worker, collectives } of uneven.workers) assert.ok(text.includes(`${worker} has ${collectives}`), text);
    });
    await shown('Workers', (text) => assert.match(text, /do not hold the same/));
    await eventually(async () => assert.ok((await page.textContent('.device-map thead') ?? '').includes('Matched')));
});

test('one worker: its overlap, and no word on waiting', async () => {
    await open('#/runs/alone/distributed');
    await shown('Waiting', (text) => assert.match(text, /One worker/));
    await shown('Slowest rank', (text) => assert.match(text, /One worker/));
    const alone = await get(server.url, 'runs/alone/distributed');
    const rows = alone.overlap.rows;
    await shown('Communication overlap', (text) => sameShare(text, sum(rows, 'overlap_ns') / (sum(rows, 'overlap_ns') + sum(rows, 'communication_ns'))));
});

test('a run without communication says what to record', async () => {
    await open('#/runs/plain/distributed');
    await eventually(async () => assert.match(await page.textContent('.empty') ?? '', /torch\.distributed/));
});

/** A thousand workers, of which number 700 computes longest and is waited for. */
function thousand() {
    const names = Array.from({ length: 1000 }, (_, rank) => ({ rank, worker: `node${Math.floor(rank / 8)}_${rank}` }));
    const late = (rank) => rank === 700;
    return {
        run: 'nccl/two', span: 1, spans: [1], rule: 'ours', agrees: true,
        workers: names.map(({ rank, worker }) => ({ worker, trace: traces.first.id, rank, node: `node${Math.floor(rank / 8)}`, process: String(rank), backend: 'nccl', collectives: 40, matched: 40, device_names: ['H100'] })),
        overlap: { steps: ['1'], rows: names.map(({ rank, worker }) => ({ worker, step: '1', computation_ns: late(rank) ? 9e6 : 6e6, overlap_ns: 2e6, communication_ns: late(rank) ? 1e6 : 4e6, other_ns: 1e6 })) },
        wait: { rows: names.map(({ rank, worker }) => ({ worker, step: '1', transfer_ns: 3e6, wait_ns: late(rank) ? 0 : 3e6 })) },
        operations: names.map(({ worker }) => ({ worker, name: 'all_reduce', calls: 40, size_bytes: 4e9, mean_size_bytes: 1e8, total_ns: 6e6, mean_ns: 150000, transfer_ns: 3e6, mean_transfer_ns: 75000 })),
        devices: names.map(({ rank, worker }) => ({ node: `node${Math.floor(rank / 8)}`, process: String(rank), worker, device: 0, name: 'H100', memory_bytes: 85e9, compute_capability: '9.0' })),
    };
}

test('a thousand workers share bars, which open; the last one is found', async () => {
    await page.route('**/api/v1/runs/*/distributed*', (route) => route.fulfill({ json: thousand() }));
    await open(HOME);
    await shown('Slowest rank', (text) => assert.match(text, /node87_700/));
    const chart = page.locator('.worker-canvas').first();
    await eventually(async () => assert.equal(await chart.getAttribute('data-bars'), '63'));
    await chart.focus();
    await page.keyboard.press('Home');
    await eventually(async () => assert.match(await chart.getAttribute('aria-valuetext') ?? '', /Mean of 16 workers/));
    await page.keyboard.press('Enter');
    await addressed(page, 'workers=1-16');
    await eventually(async () => assert.equal(await chart.getAttribute('data-bars'), '16'));
    await page.click('.sight button');
    await eventually(async () => assert.equal(await chart.getAttribute('data-bars'), '63'));
    await page.selectOption('[data-filter="by"]', 'last');
    await addressed(page, 'by=last');
    await chart.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await addressed(page, 'workers=1-16');
    await page.keyboard.press('Home');
    await eventually(async () => assert.match(await chart.getAttribute('aria-valuetext') ?? '', /node87_700/));
    await eventually(async () => assert.equal(await page.locator('.device-map tbody tr').count(), 100));
    await page.click('.device-map button');
    await eventually(async () => assert.equal(await page.locator('.device-map tbody tr').count(), 200));
    await page.unroute('**/api/v1/runs/*/distributed*');
    await open(HOME);
});

test('nothing was complained about', async () => {
    await settled(page);
    assert.match(await hash(), /distributed/);
    // The run without communication is asked for on purpose.
    assert.deepEqual(page.complaints.filter((text) => !/status of 404/.test(text)), []);
});
