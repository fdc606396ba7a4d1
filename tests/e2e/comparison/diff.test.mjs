/** The diff of two traces: choosing them, by name, by call tree. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startServer, startBrowser, newPage, visit, fixture, put, get, sameTime, column, eventually, addressed, axeFaults } from '../support.mjs';

let server;
let chrome;
let page;
let folder;
let data;
let pair;
const traces = {};

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'kinetoscope-diff-'));
    server = await startServer();
    chrome = await startBrowser();
    page = await newPage(chrome.browser);
    traces.before = await put(server.url, 'before', fixture('cuda_training'));
    // The same, but one operator has another name, and kernels of Tensor Cores take half of their time.
    const trace = JSON.parse(gunzipSync(await readFile(fixture('cuda_training'))).toString('utf8'));
    for (const event of trace.traceEvents) {
        if (event.name === 'aten::relu_') event.name = 'aten::gelu_';
        if (event.cat === 'kernel' && /gemm/.test(event.name)) event.dur /= 2;
    }
    const file = path.join(folder, 'worker0.1700000000000.pt.trace.json');
    await writeFile(file, JSON.stringify(trace));
    traces.after = await put(server.url, 'after', file);
    const perf = path.join(folder, 'perf_data.csv');
    await writeFile(perf, 'cycle,pid,hostname,beta_pct,function_name,metric_name,device,func_type,mu_pct,sigma_pct,duration,interpolation_status,anchor_name,anchor_dur_us,cycle_start_ts,instances_count,simple_name\n'
        + '1,1,h,5,f,gpu_usage,GPU 0,gpu_compute,1,1,5, ,step,100,1000,1,f\n');
    traces.table = await put(server.url, 'table', perf);
    data = await get(server.url, `diff?base=${traces.before.id}&candidate=${traces.after.id}&limit=0`);
    pair = `base=${traces.before.id}&candidate=${traces.after.id}`;
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
});

const open = (hash) => visit(page, server.url, hash);
const side = (name) => page.locator(`.diff-side:has-text("${name}")`);
const picker = (scope, label) => scope.locator('.picker').filter({ has: page.locator('.picker-label', { hasText: new RegExp(`^${label}`) }) }).locator('input');
const answer = async (label) => (await page.locator('.answer').filter({ has: page.locator('dt', { hasText: label }) }).innerText()).replaceAll('\u00a0', ' ').replaceAll('−', '-');
const names = () => column(page, 'Operator').then((list) => list.map((text) => text?.trim()));

/** @param {import('playwright-core').Locator} box @param {string} text */
async function pick(box, text) {
    await box.click();
    await box.fill(text);
    await box.press('Enter');
}

test('a trace is the base, the candidate is chosen, sides are swapped', async () => {
    await open(`#/traces/${traces.before.id}/overview`);
    await page.click('#views a:has-text("What changed")');
    await addressed(page, `#/diff?base=${traces.before.id}`);
    await eventually(async () => assert.equal(await picker(side('Base'), 'Run').inputValue(), 'before'));
    await eventually(async () => assert.match(await page.textContent('.lead') ?? '', /Choose a candidate/));
    await picker(side('Candidate'), 'Run').click();
    await eventually(async () => assert.match(await page.textContent('.picker-list:not([hidden]) li:has-text("table")') ?? '', /no operators/));
    await page.keyboard.press('Escape');
    await pick(picker(side('Candidate'), 'Run'), 'after');
    await addressed(page, `candidate=${traces.after.id}`);
    await page.waitForSelector('.diff-answers');
    await page.click('.swap');
    await addressed(page, `#/diff?base=${traces.after.id}&candidate=${traces.before.id}`);
    await eventually(async () => assert.equal(await picker(side('Base'), 'Run').inputValue(), 'after'));
});

test('idle causes and efficiency of both stand there by step, with words for what is missing', async () => {
    const { rows, missing, per } = await get(server.url, `diff/causes?${pair}`);
    await open(`#/diff?${pair}`);
    const part = page.locator('section:has(> .section-head h2:text-matches("^Idle time and efficiency"))');
    await part.waitFor();
    const text = (await part.textContent())?.replaceAll('\u00a0', ' ') ?? '';
    assert.equal(text.includes('a step'), per === 'step');
    assert.equal(await part.locator('tbody tr:not(.whole)').count(), rows.filter(({ base, candidate }) => base !== 0 || candidate !== 0).length);
    assert.equal((text.match(/is not compared: of the/g) ?? []).length, missing.length);
    assert.match(text, rows.some(({ part: of }) => of === 'idle') ? /The devices wait/ : /Idle time is not compared/);
});

test('yesterday against today: tick, tick, and one more click', async () => {
    await open('#/');
    const boxes = page.locator('.run-table input[type="checkbox"]:not([disabled])');
    assert.ok((await boxes.count()) >= 2);
    assert.ok(await page.locator('.view-tools button:has-text("Tick two")').isDisabled());
    await boxes.nth(0).click();
    await boxes.nth(1).click();
    await page.click('.view-tools button:has-text("What changed")');
    await page.waitForSelector('.diff-answers');
    assert.match(await page.evaluate(() => location.hash), /^#\/diff\?base=\d+&candidate=\d+$/);
    assert.match(await page.textContent('.environment'), /(Same environment|Different|Not comparable)/);
    assert.match(await page.textContent('.changed'), /The (step|trace) takes/);
    assert.ok((await page.locator('.waterfall tbody tr').count()) > 2);
    await open(`${await page.evaluate(() => location.hash)}&mode=chance`);
    await page.waitForSelector('h2:has-text("step time"), h2:has-text("Not enough data to test")');
});

test('every door to comparing leads here, and on to cycles', async () => {
    await open(`#/traces/${traces.before.id}/overview`);
    await page.click('#compare');
    await addressed(page, `#/diff?base=${traces.before.id}`);
    await page.click('.view-tools a:has-text("Compare cycles")');
    await addressed(page, `#/compare?base=${traces.before.id}`);
    await page.click('.view-tools a:has-text("What changed")');
    await addressed(page, '#/diff');
    if (traces.before.views.includes('cycles')) {
        await open(`#/traces/${traces.before.id}/cycles`);
        await page.click('.view-tools a:has-text("Compare with")');
        await addressed(page, `#/diff?base=${traces.before.id}`);
    }
    await open('#/');
    await page.click('#compare');
    await addressed(page, '#/diff');
});

test('beside “Compare” where both traces have operators', async () => {
    await open(`#/compare?base=${traces.before.id}&candidate=${traces.after.id}`);
    await page.click('.compare-form .actions a');
    await addressed(page, `#/diff?${pair}`);
    await open(`#/compare?base=${traces.before.id}&candidate=${traces.table.id}`);
    await eventually(async () => assert.equal(await page.locator('.compare-form .actions a').isVisible(), false));
});

test('what came, what went, and how long the steps are', async () => {
    await open(`#/diff?${pair}`);
    const steps = await Promise.all([traces.before, traces.after].map(async ({ id }) => (await get(server.url, `traces/${id}/overview`)).average_step_ns));
    await eventually(async () => {
        const text = await answer('Average step');
        const [, change] = /([-+]?[\d.]+)\s*%/.exec(text.replaceAll('\n', '')) ?? [];
        assert.ok(Math.abs(Number(change) - (100 * (steps[1] - steps[0])) / steps[0]) <= 0.051, text);
        const kernels = await answer('time in kernels');
        sameTime(/from ([\d.,]+ \S+)/.exec(kernels)?.[1] ?? '', data.sums.kernels.base_total_ns, 'time in kernels of the base');
        assert.match(await answer('Added and removed'), new RegExp(`${data.sums.operators.names} operators: ${data.sums.operators.added} added, ${data.sums.operators.removed} removed`));
    });
});

test('the largest changes as bars, and every operator as a table', async () => {
    await open(`#/diff?${pair}`);
    const ranked = [...data.operators].sort((a, b) => Math.abs(b.delta_device_self_ns) - Math.abs(a.delta_device_self_ns));
    await eventually(async () => {
        const bars = await page.$$eval('.diff-bars tbody tr', (list) => list.map((line) => ({ name: line.querySelector('button')?.dataset.tip, text: line.children[2].textContent, less: Boolean(line.querySelector('.less')) })));
        assert.equal(bars[0].name, ranked[0].name);
        for (const bar of bars) {
            const row = data.operators.find(({ name }) => name === bar.name);
            sameTime((bar.text ?? '').replace('−', ''), Math.abs(row.delta_device_self_ns), bar.name ?? '');
            assert.equal(bar.less, row.delta_device_self_ns < 0, bar.name);
        }
        assert.equal((await names())[0], ranked[0].name);
    });
    await page.selectOption('[data-filter="only"]', 'added');
    await addressed(page, 'only=added');
    await eventually(async () => assert.deepEqual(await names(), data.operators.filter(({ presence }) => presence === 'added').map(({ name }) => name)));
    await page.selectOption('[data-filter="only"]', 'removed');
    await eventually(async () => assert.deepEqual(await names(), ['aten::relu_']));
    // A bar leads to its row, even one that the filter hides.
    await page.click('.diff-bars button >> nth=0');
    await addressed(page, 'row=');
    await eventually(async () => {
        assert.match(await page.textContent('.detail .full-name') ?? '', new RegExp(ranked[0].name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
        assert.equal(await page.locator('.row-toggle[aria-expanded="true"]').count(), 1);
    });
    await page.click('.detail a:has-text("In the candidate")');
    await addressed(page, `#/traces/${traces.after.id}/operators?q=`);
});

test('another time of the operators changes bars, columns and the address', async () => {
    await open(`#/diff?${pair}`);
    await page.check('input[value="host"]', { force: true });
    await addressed(page, 'time=host');
    const ranked = [...data.operators].sort((a, b) => Math.abs(b.delta_host_ns) - Math.abs(a.delta_host_ns));
    await eventually(async () => assert.equal(await page.getAttribute('.diff-bars button >> nth=0', 'data-tip'), ranked[0].name));
    await eventually(async () => assert.equal(await page.isChecked('input[value="host"]'), true));
});

test('kernels: sorted, searched, as a file', async () => {
    await open(`#/diff?${pair}&mode=kernels`);
    await eventually(async () => {
        const unit = (await page.textContent('[data-sort="base_total_ns"] .unit'))?.trim();
        const [first] = [...data.kernels].sort((a, b) => Math.abs(b.delta_ns) - Math.abs(a.delta_ns));
        sameTime(`${(await column(page, 'Base'))[0]} ${unit}`, first.base_total_ns, first.name);
    });
    await page.click('[data-sort="candidate_total_ns"]');
    await addressed(page, 'sort=candidate_total_ns');
    await eventually(async () => assert.equal(await page.getAttribute('th:has([data-sort="candidate_total_ns"])', 'aria-sort'), 'descending'));
    await page.fill('.row-table .search', 'gemm');
    await addressed(page, 'q=gemm');
    const wanted = data.kernels.filter(({ name }) => name.includes('gemm'));
    await eventually(async () => assert.equal((await column(page, 'Kernel')).length, wanted.length));
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('.row-table button:has-text("CSV")')]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    assert.equal(lines.length, wanted.length + 1);
    assert.match(lines[0], /^name,presence,base_total_ns,candidate_total_ns,delta_ns,/);
});

test('the call tree is gone down by click and key, and the address leads back', async () => {
    await open(`#/diff?${pair}`);
    await page.check('input[value="tree"]', { force: true });
    await addressed(page, 'mode=tree');
    const root = await get(server.url, `diff/tree?${pair}&path=0`);
    const delta = ({ base, candidate }) => Math.abs(candidate.total_ns - base.total_ns);
    const ranked = [...root.children].sort((a, b) => delta(b) - delta(a));
    await eventually(async () => assert.equal(await page.locator('.tree-level tbody tr').count(), root.children.length));
    await eventually(async () => {
        const line = await page.$$eval('.tree-level tbody tr:first-child td', (list) => list.map((cell) => cell.textContent ?? ''));
        sameTime(line[1], ranked[0].base.total_ns, 'base');
        sameTime(line[2], ranked[0].candidate.total_ns, 'candidate');
    });
    // Several steps lie in a row: each row names its own.
    const step = ranked[0].base.first_step ?? ranked[0].candidate.first_step;
    if (root.base.first_step !== root.base.last_step) assert.ok((await page.textContent('.tree-level tbody tr:first-child th'))?.includes(step), step);
    const parent = root.children.find(({ children }) => children > 0);
    assert.ok(parent, 'a node with nodes below it');
    const below = await get(server.url, `diff/tree?${pair}&path=${parent.path}`);
    await page.focus(`[data-path="${parent.path}"]`);
    await page.keyboard.press('Enter');
    await addressed(page, `path=${parent.path}`);
    await eventually(async () => {
        assert.equal(await page.locator('.tree-level tbody tr').count(), below.children.length);
        assert.equal(await page.locator('.crumbs li').count(), 2);
        // The keyboard goes on from the first child.
        assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-path')), await page.getAttribute('.tree-child >> nth=0', 'data-path'));
    });
    const operators = new Set([...below.base.operators, ...below.candidate.operators].map(({ name }) => name));
    await eventually(async () => assert.equal(await page.textContent('.tree-operators .table-count'), `${operators.size}\u00a0operators`));
    await page.reload();
    await addressed(page, `path=${parent.path}`);
    await eventually(async () => assert.equal(await page.locator('.tree-level tbody tr').count(), below.children.length));
    const largest = Math.max(...below.children.map(delta));
    await eventually(async () => {
        const first = await page.getAttribute('.tree-child >> nth=0', 'data-path');
        assert.equal(delta(below.children.find(({ path: at }) => at === first)), largest);
    });
    await page.check('input[value="place"]', { force: true });
    await addressed(page, 'by=place');
    await eventually(async () => assert.equal(await page.getAttribute('.tree-child >> nth=0', 'data-path'), below.children[0].path));
    const matched = ({ base, candidate }) => ![base.name, candidate.name].some((name) => ['CompositeNodes', 'Blank'].includes(name));
    const between = below.children.find((child) => !matched(child));
    if (between) assert.match(await page.textContent(`[data-path="${between.path}"]`), below.children.some(matched) ? /^(Between|Before|After) .* node/ : /nodes?/);
    await page.click('.crumbs button');
    await eventually(async () => assert.equal(await page.locator('.tree-level tbody tr').count(), root.children.length));
});

test('a trace that cannot be laid beside another says so', async () => {
    await open(`#/diff?base=${traces.before.id}&candidate=${traces.table.id}`);
    await eventually(async () => assert.match(await page.textContent('.failure') ?? '', /no operators/));
    await open(`#/diff?base=${traces.before.id}&candidate=999999`);
    await eventually(async () => assert.match(await page.textContent('.diff-side .table-note') ?? '', /999999/));
    await open(`#/diff?${pair}&mode=tree&path=0-99-7`);
    await eventually(async () => assert.match(await page.textContent('.failure') ?? '', /0-99/));
});

test('axe finds nothing serious in any mode, opened rows included', async () => {
    for (const mode of ['operators', 'kernels', 'tree']) {
        await open(`#/diff?${pair}&mode=${mode}`);
        await page.click('.row-toggle >> nth=0');
        await page.waitForSelector('.detail .full-name');
        await eventually(async () => assert.deepEqual(await axeFaults(page), []));
    }
});

test('nothing was complained about', () => {
    // What is not there is asked for on purpose.
    assert.deepEqual(page.complaints.filter((text) => !/status of 404/.test(text)), []);
});
