/** Memory: the figures of the API in large figures, the curve and both tables; a window narrows them, by drag, by fields and by keys. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, fixture, put, get, ask, sameTime, settled, addressed, eventually, putText } from './support.mjs';
import { trainingTrace } from './training_trace.mjs';

const { server, page } = await stage();
const upload = (name, text) => putText(server.url, 'memory', `${name}.1700000000000.pt.trace.json`, text);
const traces = {
    two: await upload('two', trainingTrace()),
    plain: await upload('plain', trainingTrace({ totals: false })),
    bare: await upload('bare', trainingTrace({ memory: false })),
    counted: await upload('counted', JSON.stringify({ traceEvents: [
        { ph: 'X', cat: 'cpu_op', name: 'aten::mm', pid: 1, tid: 1, ts: 1000, dur: 100 },
        ...[2048, 4096, 1024].map((KB, at) => ({ ph: 'C', name: 'APP/HBM', pid: 2, tid: 0, ts: 1000 + 30 * at, args: { KB } })),
        { ph: 'C', name: 'HBM/Read', pid: 2, tid: 0, ts: 1000, args: { 'Read(MB/s)': 9 } },
    ] })),
    gpu: await put(server.url, 'gpu', fixture('cuda_training')),
};

const open = (trace, query = '') => visit(page, server.url, `#/traces/${trace.id}/memory${query}`);
const memory = (trace, query = '?limit=0') => get(server.url, `traces/${trace.id}/memory${query}`);
const events = (trace, query = '?limit=0') => get(server.url, `traces/${trace.id}/memory/events${query}`);
const plain = (text) => text?.replaceAll('\u00a0', ' ').trim();
const answer = (index) => page.locator('.answer').nth(index);
const tables = () => page.locator('.row-table');
const names = (index) => tables().nth(index).locator('.row-toggle').evaluateAll((list) => list.map((item) => item.getAttribute('data-tip')));
const count = (index) => tables().nth(index).locator('.data-table').getAttribute('aria-rowcount');
const cells = (index, head) => tables().nth(index).locator('.data-table').evaluate((table, label) => {
    const at = [...table.querySelectorAll('thead th')].findIndex((th) => th.textContent.trim().startsWith(label));
    return [...table.querySelectorAll('tbody tr')].filter((tr) => !tr.matches('.spacer, .detail')).map((tr) => tr.children[at]?.textContent.trim());
}, head);
const lines = (title) => page.locator(`.section:has(> h2:has-text("${title}")) tbody tr`).evaluateAll((list) => list.map((tr) => [...tr.children].map((cell) => cell.textContent.trim())));
const field = (label) => page.locator(`.window-field[placeholder="${label}"]`);
const MIB = 2 ** 20;

/** Where a moment stands on the page. @param {number} ns */
const spot = (ns) => page.locator('.memory-chart canvas').evaluate((node, value) => {
    const { scales, chartArea } = globalThis.Chart.getChart(node);
    const box = node.getBoundingClientRect();
    return { x: box.left + scales.x.getPixelForValue(value), y: box.top + (chartArea.top + chartArea.bottom) / 2 };
}, ns / 1e6);
/** The lines as drawn, in the units of the axes. */
const drawn = () => page.locator('.memory-chart canvas').evaluate((node) => {
    const chart = globalThis.Chart.getChart(node);
    return chart.data.datasets.map(({ label, data }, index) => ({ label, data: data.map(({ x, y }) => [x, y]), shown: chart.isDatasetVisible(index) }));
});

/** Both tables show what the API says of this window. @param {any} trace @param {string} query */
const tablesShow = (trace, query) => eventually(async () => {
    const [operators, blocks] = [await memory(trace, query), await events(trace, query)];
    assert.equal(await count(0), String(operators.total + 1));
    assert.equal(await count(1), String(blocks.total + 1));
    assert.deepEqual(await names(0), operators.rows.map(({ name }) => name));
    assert.deepEqual(await names(1), blocks.rows.map(({ name }) => name));
    return { operators, blocks };
});

/** "GPU0" of the interface is "GPU 0" on the page. */
const named = (device) => device.replace(/(\d)/, ' $1');

test('large figures: the peak, what is held at the end, the largest block, what was reserved', async () => {
    const data = await memory(traces.two);
    const device = data.devices.find((item) => item.device === data.device);
    await open(traces.two);
    await eventually(async () => assert.match(plain(await answer(0).textContent()), new RegExp(`^Peak on ${named(data.device)}`)));
    assert.equal(await answer(0).locator('.answer-figure').textContent(), `${(device.peak_bytes / MIB).toFixed(1)}MiB`);
    sameTime(await answer(0).locator('.answer-note').textContent(), device.peak_ns, 'the time of the peak');
    assert.equal(await answer(1).locator('.answer-figure').textContent(), `${(device.allocated_end_bytes / MIB).toFixed(1)}MiB`);
    assert.match(plain(await answer(1).textContent()), new RegExp(`in ${data.unreleased.count} block allocated here`));
    const [largest] = (await events(traces.two)).rows;
    assert.equal(await answer(2).locator('.answer-figure').textContent(), `${(largest.size_bytes / MIB).toFixed(1)}MiB`);
    assert.equal(await answer(2).locator('.answer-name').textContent(), largest.name);
    assert.equal(await answer(3).locator('.answer-figure').textContent(), `${(device.reserved_peak_bytes / MIB).toFixed(1)}MiB`);
});

test('a device is chosen with its peak in sight, and all of the page is of it', async () => {
    const data = await memory(traces.two);
    await open(traces.two);
    const choice = page.locator('.view-head .segmented label');
    assert.deepEqual((await choice.allTextContents()).map((text) => plain(text).split(',')[0]), data.devices.map(({ device }) => named(device)));
    await choice.filter({ hasText: 'GPU 1' }).click();
    await addressed(page, 'device=GPU1');
    const of = await memory(traces.two, '?limit=0&device=GPU1');
    await eventually(async () => assert.match(plain(await answer(0).textContent()), /^Peak on GPU 1/));
    await tablesShow(traces.two, '?limit=0&device=GPU1');
    await eventually(async () => {
        const curve = (await get(server.url, `traces/${traces.two.id}/memory/curve`)).devices.find(({ device }) => device === 'GPU1');
        assert.deepEqual((await drawn())[0].data.slice(0, -1), curve.points.map(([time, allocated]) => [time / 1e6, allocated / MIB]));
    });
    assert.equal(of.unreleased.count, 0);
    await eventually(async () => assert.match(await page.textContent('.pair') ?? '', /Every block allocated in the recording was released/));
    // The host reserves nothing: its curve has one line.
    await choice.filter({ hasText: 'CPU' }).click();
    await addressed(page, 'device=CPU');
    await eventually(async () => assert.deepEqual((await drawn()).map(({ label }) => label), ['Allocated', 'Peak']));
});

test('the curve has the records, holds on to the end, and its lines go by their keys', async () => {
    const { devices } = await get(server.url, `traces/${traces.two.id}/memory/curve`);
    const curve = devices.find(({ device }) => device === 'GPU0');
    await open(traces.two);
    await eventually(async () => {
        const [allocated, peak, reserved] = await drawn();
        const end = traces.two.duration_ns / 1e6;
        assert.deepEqual(allocated.data, [...curve.points.map(([time, value]) => [time / 1e6, value / MIB]), [end, curve.points.at(-1)[1] / MIB]]);
        assert.deepEqual(reserved.data.map(([, value]) => value), [...curve.points, curve.points.at(-1)].map(([, , value]) => value / MIB));
        assert.deepEqual(peak.data, [[curve.peak[0] / 1e6, curve.peak[1] / MIB]]);
    });
    await page.click('[data-line="reserved"]');
    await addressed(page, 'hide=reserved');
    await eventually(async () => {
        assert.deepEqual((await drawn()).map(({ shown }) => shown), [true, true, false]);
        assert.equal(await page.getAttribute('[data-line="reserved"]', 'aria-pressed'), 'false');
    });
    await page.click('[data-line="reserved"]');
    await eventually(async () => assert.deepEqual((await drawn()).map(({ shown }) => shown), [true, true, true]));
    await page.click('.panel button:has-text("As a table")');
    await eventually(async () => assert.deepEqual(await page.locator('.panel-table tbody tr').evaluateAll((list) => list.map((tr) => tr.children[1].textContent)),
        curve.points.map(([, value]) => (value / MIB).toFixed(3))));
});

test('a drag over the curve narrows both tables; the window is in the URL and can be taken back', async () => {
    const all = { operators: await memory(traces.two), blocks: await events(traces.two) };
    await open(traces.two);
    await tablesShow(traces.two, '?limit=0');
    const [from, to] = [await spot(120e3), await spot(225e3)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move((from.x + to.x) / 2, from.y);
    await page.mouse.move(to.x, to.y);
    await page.mouse.up();
    await addressed(page, 'start=');
    const params = new URLSearchParams((await page.evaluate(() => location.hash)).split('?')[1]);
    const [start, end] = [Number(params.get('start')), Number(params.get('end'))];
    const pixel = 6e6 / (await spot(6e6)).x;
    assert.ok(Math.abs(start - 120e3) < 2 * pixel && Math.abs(end - 225e3) < 2 * pixel, `${start} to ${end} ns`);
    const query = `?limit=0&start_ns=${start}&end_ns=${end}`;
    const narrowed = await tablesShow(traces.two, query);
    assert.ok(narrowed.blocks.total < all.blocks.total, 'fewer blocks in the window');
    await eventually(async () => {
        assert.equal(Number(await field('Start').inputValue()) * 1e6, start);
        assert.equal(Number(await field('End').inputValue()) * 1e6, end);
    });
    // The same address narrows in the same way.
    const saved = await page.evaluate(() => location.hash);
    await visit(page, server.url, saved);
    await tablesShow(traces.two, query);
    await page.click('button:has-text("Whole recording")');
    await page.waitForFunction(() => !location.hash.includes('start'));
    await settled(page);
    await tablesShow(traces.two, '?limit=0');
});

test('zoomed, the axis is the window; a drag goes closer, and the whole recording is one key away', async () => {
    const axis = () => page.locator('.memory-chart canvas').evaluate((node) => {
        const { min, max } = globalThis.Chart.getChart(node).scales.x;
        return [Math.round(min * 1e6), Math.round(max * 1e6)];
    });
    await open(traces.two, '?start=100000&end=400000');
    await eventually(async () => assert.deepEqual(await axis(), [0, traces.two.duration_ns]));
    await page.click('.window-fields button:has-text("Zoom")');
    await addressed(page, 'zoom=1');
    await eventually(async () => assert.deepEqual(await axis(), [100000, 400000]));
    const [from, to] = [await spot(150e3), await spot(300e3)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y);
    await page.mouse.up();
    await page.waitForFunction(() => !location.hash.includes('end=400000'));
    await settled(page);
    await eventually(async () => {
        const params = new URLSearchParams((await page.evaluate(() => location.hash)).split('?')[1]);
        assert.deepEqual(await axis(), [Number(params.get('start')), Number(params.get('end'))]);
        assert.ok(Math.abs(Number(params.get('start')) - 150e3) < 2000 && Math.abs(Number(params.get('end')) - 300e3) < 2000, params.toString());
    });
    await page.click('button:has-text("Whole recording")');
    await page.waitForFunction(() => !/zoom|start|end/.test(location.hash.split('?')[1] ?? ''));
    await eventually(async () => assert.deepEqual(await axis(), [0, traces.two.duration_ns]));
});

test('the window by keyboard: two fields, or the records of the curve', async () => {
    await open(traces.two);
    await field('Start').fill('0.14');
    await field('Start').press('Enter');
    await addressed(page, 'start=140000');
    await field('End').fill('0.22');
    await field('End').press('Enter');
    await addressed(page, 'end=220000');
    await tablesShow(traces.two, '?limit=0&start_ns=140000&end_ns=220000');
    const { points } = (await get(server.url, `traces/${traces.two.id}/memory/curve`)).devices.find(({ device }) => device === 'GPU0');
    const canvas = page.locator('.memory-chart canvas');
    await canvas.focus();
    await page.keyboard.press('0');
    await page.waitForFunction(() => !location.hash.includes('start'));
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await eventually(async () => assert.match(plain(await canvas.getAttribute('aria-valuetext')), /^Record 2 of 5, at 150\.0 µs: allocated 12\.0 MiB, reserved 20\.0 MiB/));
    await page.keyboard.press('[');
    await addressed(page, `start=${points[1][0]}`);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press(']');
    await addressed(page, `end=${points[2][0]}`);
    await tablesShow(traces.two, `?limit=0&start_ns=${points[1][0]}&end_ns=${points[2][0]}`);
});

test('tables: sort and search of their own, one unit in a column, CSV of what is shown', async () => {
    await open(traces.gpu);
    const operators = await memory(traces.gpu);
    assert.ok(operators.rows.some(({ size_bytes: size }) => size >= MIB), 'sizes of mebibytes');
    await eventually(async () => {
        // An operator of the backward pass gives back more than it takes.
        const mib = (size) => (size / MIB).toFixed(3).replace('-', '−');
        assert.deepEqual(await cells(0, 'Increase'), operators.rows.map(({ size_bytes: size }) => mib(size)));
        assert.deepEqual(await cells(0, 'Self allocated'), operators.rows.map(({ self_allocated_bytes: size }) => mib(size)));
    });
    await tables().nth(1).locator('[data-sort="duration_ns"]').click();
    await addressed(page, 'block-sort=duration_ns&block-order=desc');
    const longest = await events(traces.gpu, '?limit=0&sort=duration_ns&order=desc');
    await eventually(async () => assert.deepEqual(await names(1), longest.rows.map(({ name }) => name)));
    assert.deepEqual(await names(0), operators.rows.map(({ name }) => name), 'the other table is as it was');
    await tables().nth(1).locator('.search').fill('softmax');
    await addressed(page, 'block-q=softmax');
    const found = await events(traces.gpu, '?limit=0&q=softmax&sort=duration_ns&order=desc');
    await eventually(async () => assert.equal(await count(1), String(found.total + 1)));
    const csv = async (index) => (await ask(await tables().nth(index).locator('a:has-text("CSV")').getAttribute('href'))).text.trim().split('\r\n');
    assert.equal((await csv(1)).length, found.total + 1);
    assert.equal((await csv(0)).length, operators.total + 1);
});

test('the blocks of the peak and those never released lead to the table, and a block to its life', async () => {
    const data = await memory(traces.two);
    await open(traces.two);
    await eventually(async () => {
        assert.deepEqual((await lines('Largest at the peak')).map(([name, size]) => [name, Number(size)]), data.at_peak.map(({ name, size_bytes: size }) => [name, size / MIB]));
        assert.deepEqual((await lines('Never released')).map(([name, size]) => [name, Number(size)]), data.unreleased.rows.map(({ name, size_bytes: size }) => [name, size / MIB]));
    });
    const [, block] = data.at_peak;
    await page.locator('.section:has(> h2:has-text("Largest at the peak")) button').nth(1).click();
    await addressed(page, `block-q=${encodeURIComponent(block.name)}`);
    await eventually(async () => assert.ok((await names(1)).every((name) => name === block.name)));
    const row = tables().nth(1).locator('.row-toggle').nth(1);
    await row.focus();
    await page.keyboard.press('Enter');
    await eventually(async () => assert.match(plain(await page.locator('.detail').textContent()), new RegExp(block.address)));
    await page.click('.detail button:has-text("Window of its lifetime")');
    await addressed(page, `start=${block.allocated_ns}`);
    await addressed(page, `end=${block.released_ns}`);
});

test('an operator leads to its times', async () => {
    await open(traces.gpu);
    const [{ name }] = (await memory(traces.gpu)).rows;
    await tables().nth(0).locator('.row-toggle').first().click();
    await page.click('.detail a:has-text("Its times")');
    await addressed(page, `operators?q=${encodeURIComponent(name)}`);
});

test('what was not recorded says what to record', async () => {
    await open(traces.bare);
    await eventually(async () => assert.equal(await page.textContent('.empty code'), 'profile_memory=True'));
    await visit(page, server.url, `#/traces/${traces.bare.id}/overview`);
    await eventually(async () => {
        assert.equal(await page.locator('#views a:has-text("Memory")').count(), 0);
        assert.match(await page.textContent('.missing') ?? '', /profile_memory=True/);
    });
    await open(traces.plain);
    await eventually(async () => {
        assert.match(plain(await page.textContent('.memory-curve') ?? ''), /does not record totals: the curve is what was allocated since the recording began/);
        assert.equal(await count(0), String((await memory(traces.plain)).total + 1));
        assert.ok(await tables().nth(1).isHidden(), 'no table of blocks without addresses');
    });
    await page.click('#views a:has-text("Memory")');
});

test('a trace without records shows the memory counters of its profiler', async () => {
    await visit(page, server.url, `#/traces/${traces.counted.id}/overview`);
    await page.click('.missing a:has-text("Memory counters")');
    assert.equal(await page.locator('#views a:has-text("Memory")').count(), 1, 'and the rail leads there');
    await addressed(page, '/memory');
    await eventually(async () => assert.deepEqual(await page.locator('.side-key .side-name').allTextContents(), ['APP/HBM']));
    await page.click('button:has-text("As a table")');
    await eventually(async () => assert.deepEqual((await page.locator('.plain-table tbody td').allTextContents()).map(plain), ['APP/HBM', '3', '2.0 MiB', '1.0 MiB', '4.0 MiB']));
});

test('a memory timeline is drawn when its view is opened from another', async () => {
    const { id } = await putText(server.url, 'timeline', 'm.raw', JSON.stringify([[-1, 1, 1024, 7], [1000, 1, 4096, 0], [2000, 1, 8192, 0], [3000, 3, 4096, 0]]));
    await visit(page, server.url, `#/traces/${traces.two.id}/memory`);
    await page.waitForSelector('.memory-chart canvas[data-drawn]');
    // The charts' library is at hand: the canvas must stand in the page when it is drawn.
    await page.evaluate((hash) => { location.hash = hash; }, `#/traces/${id}/memory`);
    await eventually(async () => assert.match(await page.textContent('.view') ?? '', /Memory counters over time/));
    await page.waitForSelector('.memory-chart canvas[data-drawn]');
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
