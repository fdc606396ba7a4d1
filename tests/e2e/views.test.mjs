/** Each view shows the figures of the API. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, fixture, put, get, sameTime, column, settled, addressed, eventually, clipboard } from './support.mjs';

const { server, page } = await stage();
const traces = {
    gpu: await put(server.url, 'gpu', fixture('cuda_training')),
    mlu: await put(server.url, 'mlu', fixture('mlu', 'MLU_0.1700000000000.pt.trace.json.gz')),
    cpu: await put(server.url, 'cpu', fixture('cpu_only', 'worker0.1700000000000.pt.trace.json')),
    cut: await put(server.url, 'cut', fixture('repair_cut')),
    late: await put(server.url, 'late', fixture('late_rank', 'late0.1700000000000.pt.trace.json.gz')),
};

const open = async (id, view) => {
    await visit(page, server.url, `#/traces/${id}/${view}`);
    await page.waitForSelector('.view h1');
};
const names = () => page.$$eval('.view > .row-table .row-toggle', (list) => list.map((item) => item.getAttribute('data-tip')));
/** The first rows of the table are the API's. @param {{name: string}[]} rows */
const sameNames = (rows) => eventually(async () => {
    const shown = await names();
    assert.ok(shown.length > 0);
    assert.deepEqual(shown, rows.slice(0, shown.length).map(({ name }) => name));
});
const rowCount = (total) => eventually(async () => assert.equal(await page.getAttribute('.data-table', 'aria-rowcount'), String(total + 1)));

for (const kind of ['gpu', 'mlu', 'cpu']) {
    test(`overview of ${kind}`, async () => {
        const { id } = traces[kind];
        const data = await get(server.url, `traces/${id}/overview`);
        await open(id, 'overview');
        const answer = (index) => page.locator('.answer').nth(index);
        sameTime(await answer(0).locator('.answer-figure').textContent(), data.average_step_ns, 'average step');
        if (data.idle === null) assert.match(await answer(1).textContent(), /No device recorded/);
        else {
            assert.match(await answer(1).textContent(), new RegExp(`^${data.device_type} idle`));
            assert.equal(await answer(1).locator('.answer-figure').textContent(), `${(100 * data.idle.share).toFixed(1)}%`);
        }
        if (data.top_operator) assert.equal(await answer(2).locator('a').getAttribute('data-tip'), data.top_operator.name);
        if (data.top_kernel) assert.equal(await answer(3).locator('a').getAttribute('data-tip'), data.top_kernel.name);
        const rows = await page.$$eval('.breakdown .ranking-list tbody tr', (list) => list.map((tr) => [...tr.children].map((cell) => cell.textContent.trim())));
        assert.deepEqual(rows.map(([label]) => label), data.roles.map(({ label }) => label));
        rows.forEach(([label, value], index) => sameTime(value, data.roles[index].mean_ns, label));
        await page.waitForSelector('.step-chart canvas[data-drawn]');
        await page.waitForSelector('.breakdown .ring canvas[data-drawn]');
    });
}

test('the evidence of each recommendation is a view that is there', async () => {
    const shown = new Set();
    for (const { id } of [traces.gpu, traces.late]) {
        await open(id, 'overview');
        const links = await page.$$eval('.advice a:text-is("Evidence")', (list) => list.map((link) => link.getAttribute('href')));
        const { recommendations } = await get(server.url, `traces/${id}/overview`);
        assert.equal(links.length, recommendations.filter(({ evidence }) => evidence).length);
        for (const link of links) {
            await visit(page, server.url, link);
            assert.notEqual(await page.textContent('.view h1'), 'Page not found', link);
            shown.add(link.split('/').pop().split('?')[0]);
        }
    }
    assert.ok(shown.has('idle'), 'of an idle device too');
});

test('the step chart has a table; colours hide parts, names and steps lead on', async () => {
    const data = await get(server.url, `traces/${traces.gpu.id}/overview`);
    await open(traces.gpu.id, 'overview');
    await page.click('button:has-text("As a table")');
    await eventually(async () => assert.equal(await page.locator('.step-chart-table tbody tr').count(), data.step_rows.length));
    await page.click('.breakdown .swatch-button >> nth=0');
    await addressed(page, `hide=${data.roles[0].role}`);
    await eventually(async () => assert.equal(await page.getAttribute('.breakdown .swatch-button >> nth=0', 'aria-pressed'), 'false'));
    await page.click('.breakdown a[data-name="Kernel"]');
    await addressed(page, `#/traces/${traces.gpu.id}/kernels`);
    await open(traces.gpu.id, 'overview');
    const [first] = data.step_rows;
    const row = page.locator('.row-table a.row-toggle').first();
    const window = new URLSearchParams((await row.getAttribute('href')).split('?')[1]);
    assert.ok(Number(window.get('start')) < first.start_ns && Number(window.get('end')) > first.start_ns + first.duration_ns);
    await row.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await addressed(page, `#/traces/${traces.gpu.id}/timeline?start=${window.get('start')}`);
});

test('health: what was repaired and where, what to record', async () => {
    const data = await get(server.url, `traces/${traces.cut.id}/overview`);
    assert.ok(data.health.warnings.length > 0);
    await open(traces.cut.id, 'overview');
    const text = (await page.textContent('#health')).replaceAll(',', '');
    for (const warning of data.health.warnings) {
        assert.ok(text.includes(warning.message.replaceAll(',', '')), warning.message);
        if (warning.first_offset !== null) assert.ok(text.includes(`byte ${warning.first_offset}`), `offset of ${warning.code}`);
    }
    for (const missing of data.health.missing) assert.ok(text.includes(missing.record.replaceAll(',', '')), missing.record);
    assert.match(await page.locator('.answer').nth(4).textContent(), /warning/);
});

for (const kind of ['gpu', 'mlu', 'cpu']) {
    test(`operators of ${kind}`, async () => {
        const { id } = traces[kind];
        const data = await get(server.url, `traces/${id}/operators`);
        await open(id, 'operators');
        await rowCount(data.total);
        await sameNames(data.rows);
        const calls = await column(page, 'Calls');
        assert.deepEqual(calls.map((text) => Number(text.replaceAll(',', ''))), data.rows.slice(0, calls.length).map((row) => row.calls));
        assert.equal(await page.locator('.ranking').count(), 1);
        sameTime(await page.textContent('.ranking-total'), data.has_device ? data.sums.device_self_ns : data.sums.host_self_ns, 'self time of all');
        if (data.has_device) {
            const word = traces[kind].device_type;
            assert.ok((await page.textContent('.data-table thead')).includes(`${word} self`), `columns say ${word}`);
        }
    });
}

test('an operator opens its call stacks', async () => {
    const { id } = traces.gpu;
    const data = await get(server.url, `traces/${id}/operators?limit=0`);
    const row = data.rows.find(({ has_call_stack: has }) => has);
    assert.ok(row, 'the fixture has call stacks');
    const stacks = await get(server.url, `traces/${id}/operators?group_by=name_stack&name=${encodeURIComponent(row.name)}`);
    await open(id, `operators?q=${encodeURIComponent(row.name)}`);
    await page.click(`.row-toggle[data-tip="${row.name}"]`);
    await page.waitForSelector('.stack-list > li');
    await settled(page);
    await eventually(async () => assert.equal(await page.locator('.stack-list > li').count(), stacks.total));
    assert.equal(await page.textContent('.full-name code'), row.name);
    await page.click('.full-name button');
    await eventually(async () => assert.equal(await clipboard(page), row.name));
});

for (const kind of ['gpu', 'mlu']) {
    test(`kernels of ${kind}`, async () => {
        const { id } = traces[kind];
        const data = await get(server.url, `traces/${id}/kernels`);
        await open(id, 'kernels');
        await sameNames(data.rows);
        sameTime(await page.textContent('.ranking-total >> nth=0'), data.sums.total_ns, 'kernel time');
        assert.equal(await page.locator('.ranking').count(), kind === 'mlu' ? 1 : 2);
        await page.click('.row-toggle >> nth=0');
        await page.waitForSelector('.launches .plain-table, .launches .quiet');
        await page.click('label:has-text("Launch and operator")');
        await addressed(page, 'group=launch');
        const launches = await get(server.url, `traces/${id}/kernels?group_by=launch`);
        await rowCount(launches.total);
        await eventually(async () => assert.deepEqual((await column(page, 'Operator')).map((text) => (text === '–' ? '' : text)), launches.rows.map((row) => row.operator ?? '')));
    });
}

test('a trace without kernels says what to record', async () => {
    await open(traces.cpu.id, 'kernels');
    await eventually(async () => {
        assert.match(await page.textContent('main'), /ProfilerActivity\.CUDA/);
        const views = await page.locator('#views a').allTextContents();
        assert.deepEqual(views.filter((view) => ['Overview', 'Operators', 'Kernels'].includes(view)), ['Overview', 'Operators', 'Kernels']);
    });
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
