/** Comparing two sides: choosing them, what the comparison says, its rows, uploaded reports; and the cycles of a trace. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServer, startBrowser, newPage, visit, put, get, ask, sameTime, column, settled, eventually, addressed, clipboard, axeFaults } from '../support.mjs';

const HEAD = 'cycle,pid,hostname,beta_pct,function_name,metric_name,device,func_type,mu_pct,sigma_pct,duration,interpolation_status,'
    + 'anchor_name,anchor_dur_us,cycle_start_ts,instances_count,simple_name';
const LONG = 'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)';

/**
 * A perf-data table of six cycles.
 * @param {number[]} durations of the cycles in microseconds
 * @param {{name: string, metric: string, device?: string, beta: number[], mu: number[]}[]} functions beta and mu of each cycle
 * @param {number} [pid]
 */
function perfData(durations, functions, pid = 4711) {
    const lines = durations.flatMap((us, cycle) => functions.map(({ name, metric, device = 'GPU 0', beta, mu }) => {
        const text = name.includes(',') ? `"${name}"` : name;
        const time = ((beta[cycle] * us) / 100).toFixed(4);
        return [cycle + 1, pid, 'node7', beta[cycle].toFixed(4), text, metric, device, 'gpu_compute', mu[cycle].toFixed(4), '1.0000', time, ' ', 'Engine.step',
            us.toFixed(4), (1e9 + 2e6 * cycle).toFixed(4), 3, text].join(',');
    }));
    return `${HEAD}\n${lines.join('\n')}\n`;
}

const steady = { name: 'steady_kernel', metric: 'gpu_usage', beta: [5, 5.1, 4.9, 5.2, 4.8, 5], mu: [50, 51, 49, 50, 52, 48] };
const grown = (by) => ({ name: LONG, metric: 'gpu_usage', beta: [10, 10.2, 9.8, 10.1, 9.9, 10].map((beta) => beta * by), mu: [40, 41, 39, 40, 42, 38] });
const grownMemory = (by) => ({ ...grown(by), metric: 'gpu_mem_used', mu: [70, 70.5, 69.5, 70, 71, 69].map((mu) => mu + by) });
const lone = (name) => ({ name, metric: 'gpu_usage', device: 'GPU 1', beta: [2, 2.1, 1.9, 2, 2.2, 1.8], mu: [20, 21, 19, 20, 22, 18] });

const NORMAL = perfData([1000, 1010, 990, 1005, 995, 1000], [grown(1), grownMemory(1), steady, lone('only_before')]);
const SLOW = perfData([1300, 1310, 1290, 1305, 1295, 1300], [grown(2), grownMemory(2), steady, lone('only_after')]);
const OTHER = perfData([1000, 1010, 990, 1005, 995, 1000], [grown(1), steady], 99);
const TWO = NORMAL + perfData([1000, 1011, 991, 1006, 996, 1001], [grown(1), grownMemory(1), steady], 4712).slice(HEAD.length + 1);

const REPORT = `# Strict Performance Comparison: lab/slow_clock (PID: 31)

## 1. High-Level Performance Summary

| Metric              | normal   | abnormal   | Δ (abnormal - normal)   | Change (%)   |
|:--------------------|:---------|:-----------|:------------------------|:-------------|
| Total Cycles        | 3        | 2          | -1                      | -            |
| Avg Cycle Time (us) | 1,000.00 | 1,250.00   | 250.00                  | +25.00%      |

## 2. Cycle Duration Distribution Comparison

|   Time Rank |   normal Time (us) | abnormal Time (us)   | Δ (us)   | Δ (%)   |
|------------:|-------------------:|:---------------------|:---------|:--------|
|           1 |           1,010.00 | 1300.0               | 290.00   | +28.71% |
|           2 |           1,000.00 | 1200.0               | 200.00   | +20.00% |
|           3 |             990.00 | -                    | -        | -       |

## 3. In-depth Core Metric Comparison

### Overview

The primary performance difference between \`normal\` and \`abnormal\` appears to be driven by changes in **\`slow_kernel\`**. The analysis indicates a notable increase in its contribution to total cycle time.

### Key Findings:
- **\`slow_kernel\` on device \`GPU 3\`:**
  - Its contribution to total cycle time (β) **increased** from **4.00%** to **9.00%** (+5.00 ppt), which is statistically significant (p-value: 0.002).
  - This change in cycle time contribution correlates with changes in the following resource metrics (μ):
    - **\`gpu_frequency\`**: decreased from 1,500.00 to 900.00.

**Recommendation:** Focus investigation on the functions listed above, starting with the one with the highest **Suspicion Score**.
### Detailed comparison table
This table aggregates the performance of each (function, metric, device) triplet across both runs, sorted by **Suspicion Score** in descending order.

| Function Name   | Metric Name   | Device   |   Suspicion Score |   β_normal(%) |   β_abnormal(%) |   Δβ(%) |   Z-Score(β) |   p-value(β) |   U-test p(β) | μ_normal   | μ_abnormal   |   Δμ |   Z-Score(μ) |   Z-Score(log_μ) |   p-value(μ) |   U-test p(μ) |
|:----------------|:--------------|:---------|------------------:|--------------:|----------------:|--------:|-------------:|-------------:|--------------:|:-----------|:-------------|-----:|-------------:|-----------------:|-------------:|--------------:|
| slow_kernel     | gpu_frequency | GPU 3    |           88.1    |          4    |            9    |    5    |         12.4 |        0.002 |         0.2   | 1,500.00   | 900.00       | -600 |        -5.2  |            -5.22 |        0.001 |           0.2 |
| calm_kernel     | gpu_usage     | GPU 3    |            0.004  |          2    |            2.01 |    0.01 |         0.4  |        0.7   |         0.8   | 10.00      | 10.00        |    0 |         0    |             0    |      nan     |           1   |

## 5. Legend
`;
const NO_CYCLES = JSON.stringify({ schemaVersion: 1, traceEvents: [
    { ph: 'X', cat: 'cpu_op', name: 'aten::add', pid: 1, tid: 1, ts: 1000, dur: 5 },
    { ph: 'X', cat: 'cpu_op', name: 'aten::mul', pid: 1, tid: 1, ts: 1010, dur: 5 }] });

let server;
let chrome;
let page;
let folder;
const traces = {};

/** @param {string} run @param {string} name @param {string} text */
async function upload(run, name, text) {
    const file = path.join(folder, name);
    await writeFile(file, text);
    return put(server.url, run, file);
}

/** @param {Record<string, any>} body */
async function compare(body) {
    const answer = await ask(`${server.url}api/v1/comparisons`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    assert.equal(answer.status, 201, answer.text);
    return JSON.parse(answer.text);
}

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'kinetoscope-compare-'));
    server = await startServer();
    chrome = await startBrowser();
    page = await newPage(chrome.browser);
    traces.normal = await upload('normal', 'normal_perf_data.csv', NORMAL);
    traces.slow = await upload('slow', 'slow_perf_data.csv', SLOW);
    traces.other = await upload('other process', 'other_perf_data.csv', OTHER);
    traces.two = await upload('two processes', 'two_perf_data.csv', TWO);
    traces.spanA = await upload('spans', 'worker0.1700000000000.csv', NORMAL);
    traces.spanB = await upload('spans', 'worker0.1700000060000.csv', SLOW);
    traces.none = await upload('no cycles', 'worker0.1700000000000.pt.trace.json', NO_CYCLES);
    traces.report = await upload('report', 'comparison.md', REPORT);
    await upload('untitled', 'comparison.csv', 'Function Name,Metric Name,Device,Suspicion Score,Δβ(%),p-value(β)\nf,gpu_usage,GPU 0,2.5,1.5,0.01\n');
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
});

const open = (hash) => visit(page, server.url, hash);
const hash = () => page.evaluate(() => location.hash);
const side = (name) => page.locator(`.compare-side:has-text("${name}")`);
const box = (scope, label) => scope.locator('.picker').filter({ has: page.locator('.picker-label', { hasText: new RegExp(`^${label}`) }) }).locator('input');
const spanName = ({ worker, span }) => `${worker}, span ${span}`;
const number = (text) => Number(text.replaceAll(',', '').replace('−', '-').replace('+', ''));

/** Types into a picker and takes what it finds. @param {import('playwright-core').Locator} box @param {string} text */
async function pick(box, text) {
    await box.click();
    await box.fill(text);
    await box.press('Enter');
}

test('two sides are chosen, swapped and compared', async () => {
    await open(`#/traces/${traces.normal.id}/cycles`);
    await page.click('#compare');
    await addressed(page, `#/compare?base=${traces.normal.id}`);
    await pick(box(side('Candidate'), 'Run'), 'slow');
    await addressed(page, `candidate=${traces.slow.id}`);
    await page.click('[aria-label="Swap sides"]');
    await addressed(page, `base=${traces.slow.id}`);
    assert.ok((await hash()).includes(`candidate=${traces.normal.id}`));
    await page.click('[aria-label="Swap sides"]');
    await addressed(page, `base=${traces.normal.id}`);
    await page.fill('#compare-base_label', 'before');
    await page.fill('#compare-candidate_label', 'after');
    await page.fill('#compare-title', 'what the clock did');
    await page.click('.compare-form button[type="submit"]');
    await addressed(page, '#/comparisons/');
    const data = await get(server.url, `comparisons/${(await hash()).split('/')[2]}`);
    assert.deepEqual(data.summary.labels, ['before', 'after']);
    assert.deepEqual(data.traces, { base: [traces.normal.id], candidate: [traces.slow.id] });
    assert.equal(await page.textContent('h1'), 'what the clock did');
    assert.match(await page.textContent('.verdict'), /Is after different from before\?Yes, its cycles are 30\.0% longer/);
});

test('what cannot be compared cannot be chosen, and says why', async () => {
    await open('#/compare');
    const run = box(side('Base'), 'Run');
    await run.click();
    await run.fill('no cycles');
    const option = page.locator('[role="option"]:has-text("no cycles")');
    assert.equal(await option.getAttribute('aria-disabled'), 'true');
    assert.match(await option.textContent(), /prof\.step\(\)/);
    await run.press('Enter');
    await option.dispatchEvent('click');
    assert.equal(await run.getAttribute('aria-expanded'), 'true');
    await run.press('Escape');
    assert.equal(await hash(), '#/compare');
});

test('a whole run, several traces of it, one of them', async () => {
    await open('#/compare');
    await pick(box(side('Base'), 'Run'), 'spans');
    await addressed(page, 'base=run%3Aspans');
    await pick(box(side('Base'), 'Trace'), spanName(traces.spanA));
    await addressed(page, `base=${traces.spanA.id}`);
    await pick(box(side('Base'), 'And another trace'), spanName(traces.spanB));
    await addressed(page, `base=${traces.spanA.id}%2C${traces.spanB.id}`);
    assert.equal(await page.locator('.side-chips li').count(), 2);
    await pick(box(side('Candidate'), 'Run'), 'normal');
    await addressed(page, `candidate=${traces.normal.id}`);
    await page.click('.compare-form button[type="submit"]');
    await addressed(page, '#/comparisons/');
    const data = await get(server.url, `comparisons/${(await hash()).split('/')[2]}`);
    assert.deepEqual(data.traces, { base: [traces.spanA.id, traces.spanB.id], candidate: [traces.normal.id] });
    assert.equal(await page.locator('.answer >> nth=0').locator('a').count(), 2);
});

test('a run with two spans leads to comparing them', async () => {
    await open('#/runs/spans');
    await page.click('a:has-text("Compare two")');
    await addressed(page, `base=${traces.spanA.id}&candidate=${traces.spanB.id}`);
    assert.equal(await box(side('Candidate'), 'Trace').inputValue(), spanName(traces.spanB));
});

test('the server’s reasons are shown, with what to do', async () => {
    await open(`#/compare?base=${traces.none.id}&candidate=${traces.slow.id}`);
    await page.click('.compare-form button[type="submit"]');
    await eventually(async () => assert.match(await page.textContent('.compare-problem'), /cycles/));
    await open(`#/compare?base=${traces.normal.id}&candidate=${traces.slow.id}&base_pid=12345`);
    await page.click('.compare-form button[type="submit"]');
    await eventually(async () => assert.match(await page.textContent('.compare-problem'), /Leave the process fields empty/));
    await open(`#/compare?base=${traces.normal.id}`);
    await page.click('.compare-form button[type="submit"]');
    await eventually(async () => assert.match(await page.textContent('.compare-problem'), /Candidate is not chosen/));
    await open('#/compare?base=999999');
    assert.match(await side('Base').textContent(), /999999/);
});

test('the comparison answers first, then shows what stands out', async () => {
    const { id } = await compare({ base: traces.normal.id, candidate: traces.slow.id, labels: ['normal', 'slow'] });
    const data = await get(server.url, `comparisons/${id}`);
    assert.equal(data.verdict, 'different');
    await open(`#/comparisons/${id}`);
    assert.equal(await page.textContent('.verdict-text'), data.summary.verdict_text);
    const figure = (index) => page.locator('.answer-figure').nth(index).textContent();
    sameTime(await figure(0), data.summary.base.mean_cycle_ns, 'mean cycle of the base');
    sameTime(await figure(1), data.summary.candidate.mean_cycle_ns, 'mean cycle of the candidate');
    assert.equal(await figure(2), '+30.00%');
    assert.match(await page.locator('.answer >> nth=0').textContent(), /mean of 6\scycles, process 4711 on node7/);
    assert.equal(await page.locator('.answer >> nth=3').locator('.function-name').getAttribute('data-tip'), LONG);
    assert.ok(data.findings.length > 0);
    assert.deepEqual(await page.$$eval('.finding .function-name', (list) => list.map((item) => item.getAttribute('data-tip'))), data.findings.map((item) => item.function));
    assert.match(await page.textContent('.finding >> nth=0'), /\+10\.00.*normal10\.00%slow20\.00%significant/);
    const sides = await page.$$eval('#appeared tbody tr', (list) => list.map((tr) => [...tr.children].map((cell) => cell.textContent)));
    assert.deepEqual(sides.map(([name, , where]) => [name, where]).sort(), [['only_after', 'only in slow'], ['only_before', 'only in normal']]);
    assert.equal(await page.getAttribute('a:has-text("Markdown")', 'href'), `${server.url}api/v1/comparisons/${id}?format=markdown`);
    assert.equal(await page.getAttribute('a:has-text("Export CSV")', 'href'), `${server.url}api/v1/comparisons/${id}?format=csv`);
    const report = await ask(await page.getAttribute('a:has-text("Markdown")', 'href'));
    assert.match(report.headers['content-disposition'], new RegExp(`comparison-${id}\\.md`));
    await page.click('.finding .function-name >> nth=0');
    await addressed(page, 'q=void');
    assert.deepEqual(new Set(await page.$$eval('.row-toggle', (list) => list.map((item) => item.getAttribute('data-tip')))), new Set([LONG]));
});

test('the cycle times: by length, in order of time, as a table', async () => {
    const { id } = await compare({ base: traces.normal.id, candidate: traces.slow.id });
    const data = await get(server.url, `comparisons/${id}`);
    await open(`#/comparisons/${id}`);
    await page.waitForSelector('.step-chart canvas[data-mode="rank"]');
    await page.click('.side-button:has-text("candidate")');
    await addressed(page, 'hide=candidate');
    assert.equal(await page.getAttribute('.side-button:has-text("candidate")', 'aria-pressed'), 'false');
    await page.click('.side-button:has-text("candidate")');
    await eventually(async () => assert.ok(!(await hash()).includes('hide=')));
    await page.click('label:has-text("In order of time")');
    await addressed(page, 'chart=time');
    await page.waitForSelector('.step-chart canvas[data-mode="time"]');
    await page.click('label:has-text("Table")');
    await addressed(page, 'chart=table');
    const rows = await page.$$eval('.step-chart-table tbody tr', (list) => list.map((tr) => [...tr.children].map((cell) => cell.textContent)));
    assert.equal(rows.length, data.cycles.length);
    rows.forEach(([, base, candidate], index) => {
        sameTime(`${base} µs`, data.cycles[index].base_ns, `base ${index}`);
        sameTime(`${candidate} µs`, data.cycles[index].candidate_ns, `candidate ${index}`);
    });
    await open(await hash());
    assert.ok(await page.locator('.step-chart-table').isVisible());
});

test('the rows: order, filters, search, columns; and all of it from the address', async () => {
    const { id } = await compare({ base: traces.normal.id, candidate: traces.slow.id, labels: ['normal', 'slow'] });
    const data = await get(server.url, `comparisons/${id}`);
    await open(`#/comparisons/${id}`);
    const count = () => page.textContent('.table-count');
    assert.equal(await page.getAttribute('.data-table', 'aria-rowcount'), String(data.rows.length + 1));
    assert.deepEqual(await page.$$eval('.row-toggle', (list) => list.map((item) => item.getAttribute('data-tip'))), data.rows.map((row) => row.function));
    (await column(page, 'β slow')).forEach((text, index) => assert.ok(Math.abs(number(text) - data.rows[index].candidate_beta_pct) < 0.00501, text));
    await page.click('[data-sort="delta_beta"]');
    await addressed(page, 'sort=delta_beta&order=desc');
    const deltas = (await column(page, 'Δβ')).map(number);
    assert.deepEqual(deltas, [...deltas].sort((a, b) => b - a));
    await page.selectOption('[data-filter="metric"]', 'gpu_mem_used');
    await addressed(page, 'metric=gpu_mem_used');
    assert.match(await count(), new RegExp(`^1 of ${data.rows.length}\\srows$`));
    await page.selectOption('[data-filter="metric"]', '');
    await page.selectOption('[data-filter="device"]', 'GPU 1');
    await addressed(page, 'device=GPU+1');
    assert.deepEqual(await page.$$eval('.row-toggle', (list) => list.map((item) => item.getAttribute('data-tip')).sort()), ['only_after', 'only_before']);
    await page.selectOption('[data-filter="device"]', '');
    await page.selectOption('[data-filter="only"]', 'significant');
    await addressed(page, 'only=significant');
    const significant = await get(server.url, `comparisons/${id}?significant=1`);
    assert.ok(significant.total > 0 && significant.total < data.rows.length);
    assert.ok((await count()).startsWith(`${significant.total} of `));
    const csv = await ask(await page.locator('.tools-end a').getAttribute('href'));
    assert.equal(csv.text.trim().split('\n').length, significant.total + 1);
    await page.selectOption('[data-filter="only"]', '');
    await eventually(async () => assert.ok(!(await hash()).includes('only=')));
    await page.fill('.search', '/^only_/');
    await addressed(page, 'q=%2F%5Eonly_%2F');
    assert.ok((await count()).startsWith('2 of '));
    await page.fill('.search', '/(/');
    await eventually(async () => assert.match(await page.textContent('.table-note:not([hidden])'), /not a pattern/));
    await page.fill('.search', 'STEADY');
    await addressed(page, 'q=STEADY');
    await page.click('.menu-root > button');
    await page.check('.menu-item:has-text("U(μ)") input');
    await page.keyboard.press('Escape');
    await addressed(page, 'cols=');
    const saved = await hash();
    await open('#/');
    await open(saved);
    assert.equal(await page.getAttribute('th:has([data-sort="delta_beta"])', 'aria-sort'), 'descending');
    assert.equal((await column(page, 'U(μ)')).length, 1);
    assert.equal(await page.inputValue('.search'), 'STEADY');
});

test('a row opens by keyboard: its name, β of each cycle, its other metrics', async () => {
    const { id } = await compare({ base: traces.normal.id, candidate: traces.slow.id, labels: ['normal', 'slow'] });
    await open(`#/comparisons/${id}?metric=gpu_usage`);
    await page.focus('.row-toggle[tabindex="0"]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowRight');
    await addressed(page, 'row=');
    await page.waitForSelector('.beta-chart canvas[data-drawn]');
    assert.equal(await page.textContent('.full-name code'), LONG);
    await page.click('.full-name button');
    await eventually(async () => assert.equal(await clipboard(page), LONG));
    await page.click('.beta-series button:has-text("As a table")');
    const rows = await page.$$eval('.beta-series tbody tr', (list) => list.map((tr) => [...tr.children].map((cell) => cell.textContent)));
    assert.deepEqual(rows, [['1', '10.00', '20.00'], ['2', '10.20', '20.40'], ['3', '9.80', '19.60'], ['4', '10.10', '20.20'], ['5', '9.90', '19.80'], ['6', '10.00', '20.00']]);
    assert.match(await page.textContent('.detail-box'), /Its other metrics.*gpu_mem_used/);
    const saved = await hash();
    await open('#/');
    await open(saved);
    await page.waitForSelector('.beta-chart canvas[data-drawn]');
    assert.equal(await page.getAttribute('.row-toggle >> nth=0', 'aria-expanded'), 'true');
    await page.click('.row-toggle >> nth=0');
    await eventually(async () => assert.ok(!(await hash()).includes('row=')));
});

test('a trace compared with itself: no significant difference, in so many words', async () => {
    const { id } = await compare({ base: traces.normal.id, candidate: traces.normal.id, labels: ['once', 'again'] });
    await open(`#/comparisons/${id}`);
    assert.equal(await page.textContent('.verdict-line'), 'No significant difference');
    assert.equal(await page.locator('.finding').count(), 0);
});

test('a group of pairs, the most suspicious first', async () => {
    const { id, pairs } = await compare({ base: traces.two.id, candidate: traces.other.id });
    assert.equal(pairs.length, 2);
    await open(`#/comparisons/${id}`);
    const pairBox = box(page, 'Pair');
    await pairBox.click();
    const options = await page.$$eval('.pair-picker [role="option"]', (list) => list.map((item) => item.textContent));
    assert.deepEqual(options.map((text) => /process (\d+)/.exec(text)[1]), pairs.map((pair) => String(pair.base_pid)));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await addressed(page, `#/comparisons/${pairs[1].id}`);
    assert.match(await page.textContent('.answer >> nth=0'), new RegExp(`process ${pairs[1].base_pid}`));
});

test('an uploaded report, without what it does not hold', async () => {
    const { comparison: id } = await get(server.url, `traces/${traces.report.id}`);
    const data = await get(server.url, `comparisons/${id}`);
    await open(`#/traces/${traces.report.id}/comparison`);
    assert.match(await page.textContent('h1'), /slow_clock/);
    assert.equal(await page.locator('#views a[aria-current]').textContent(), 'Comparison');
    assert.match(await page.textContent('.answers'), /mean of 3\scycles.*mean of 2\scycles.*\+25\.00%.*no test of the cycle time/);
    assert.equal(await page.getAttribute('.data-table', 'aria-rowcount'), String(data.rows.length + 1));
    assert.deepEqual(await page.$$eval('.row-toggle', (list) => list.map((item) => item.getAttribute('data-tip'))), ['slow_kernel', 'calm_kernel']);
    const heads = await page.$$eval('.data-table th .sort', (list) => list.map((item) => item.dataset.sort));
    assert.ok(heads.includes('p_beta') && !heads.includes('q_beta'), heads.join());
    assert.equal(await page.locator('label:has-text("In order of time")').count(), 0);
    await page.click('.row-toggle >> nth=1');
    await eventually(async () => assert.match(await page.textContent('.detail-box'), /holds means, not single cycles/));
    assert.match(await page.textContent('.detail-box'), /p of β \/ μ0\.700 \/ –/);
});

test('the list: newest first, search, delete', async () => {
    await compare({ base: traces.normal.id, candidate: traces.slow.id, title: 'to be deleted' });
    const all = await get(server.url, 'comparisons');
    await open('#/comparisons');
    const titles = () => page.$$eval('.run-name', (list) => list.map((item) => item.textContent));
    assert.deepEqual(await titles(), all.comparisons.map((item) => item.title || `Comparison ${item.id}`));
    assert.equal((await titles())[0], 'to be deleted');
    await page.fill('.search', 'slow_clock');
    await addressed(page, 'q=slow_clock');
    await eventually(async () => assert.equal((await titles()).length, 1));
    assert.match(await page.textContent('tbody'), /uploaded report/);
    await page.fill('.search', 'to be deleted');
    await addressed(page, 'q=to+be+deleted');
    await page.click('[aria-label="Delete to be deleted"]');
    await page.click('dialog .button.danger');
    await page.waitForSelector('.empty');
    assert.equal((await get(server.url, 'comparisons?q=to+be+deleted')).total, 0);
});

test('the cycles of a trace', async () => {
    const data = await get(server.url, `traces/${traces.normal.id}/cycles`);
    assert.equal(data.cycles.length, 6);
    await open(`#/traces/${traces.normal.id}/cycles`);
    assert.match(await page.textContent('.answers'), /Mean cycle1\.00ms.*Cycles6.*Engine\.step/);
    await page.waitForSelector('.step-chart canvas[data-drawn]');
    assert.deepEqual(await page.$$eval('.row-toggle', (list) => list.map((item) => item.getAttribute('data-tip'))), [LONG, 'steady_kernel', 'only_before']);
    assert.deepEqual((await column(page, 'β %')).map(number), [10, 5, 2]);
    await page.click('.row-toggle >> nth=0');
    await eventually(async () => assert.match(await page.textContent('.detail-box'), /gpu_mem_used71\.00.*gpu_usage40\.00/));
    await page.click('label:has-text("Functions and metrics")');
    await addressed(page, 'group=metric');
    assert.deepEqual((await column(page, 'Metric')).slice(0, 2).sort(), ['gpu_mem_used', 'gpu_usage']);
    assert.match(await page.getAttribute('.tools-end a', 'href'), /cycles\?format=csv$/);
    await page.click('a:has-text("Compare with")');
    await addressed(page, `#/compare?base=${traces.normal.id}`);
    await open(`#/traces/${traces.none.id}/cycles`);
    assert.match(await page.textContent('main'), /prof\.step\(\)/);
});

for (const theme of ['light', 'dark']) {
    for (const width of [1280, 400]) {
        test(`${theme}, ${width} px: no sideways scroll, axe finds nothing serious`, async (t) => {
            const { id } = await compare({ base: traces.two.id, candidate: traces.slow.id });
            const look = await newPage(chrome.browser, { width, theme });
            const places = {
                'a comparison': `#/comparisons/${id}`, 'cycle times as a table': `#/comparisons/${id}?chart=table`,
                'an uploaded report': `#/traces/${traces.report.id}/comparison`, 'the list': '#/comparisons',
                'choosing sides': `#/compare?base=${traces.spanA.id},${traces.spanB.id}&candidate=run:slow`, cycles: `#/traces/${traces.two.id}/cycles`,
            };
            for (const [name, place] of Object.entries(places)) {
                await t.test(name, async () => {
                    await visit(look, server.url, place);
                    if (await look.locator('.row-toggle').count()) await look.click('.row-toggle >> nth=0');
                    await settled(look);
                    const size = await look.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
                    assert.ok(size[0] <= size[1], `${size[0]} px wide in ${size[1]}`);
                    if (width === 1280) {
                        const wide = await look.$$eval('.table-scroll, .scroll-x', (list) => list.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.getAttribute('aria-label')));
                        assert.deepEqual(wide, [], 'tables that scroll sideways');
                    }
                    assert.deepEqual(await axeFaults(look), []);
                });
            }
            assert.deepEqual(look.complaints, []);
            await look.leave();
        });
    }
}

test('nothing complained but about what was asked for in vain', () => {
    assert.deepEqual(page.complaints.filter((text) => !/status of (400|404|422)/.test(text)), []);
});
