/** Memory snapshots: blocks over time in a window that the address keeps, who holds memory, and what another snapshot holds. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, newPage, visit, recording, putText, get, eventually, addressed, settled, axeFaults } from '../support.mjs';

/** Many small blocks beside a large one. */
const MANY = `
import pickle
value = recordings.snapshot_value()
trace = value['device_traces'][0]
for at in range(9000):
    for action in ('alloc', 'free_requested'):
        trace.append({'action': action, 'addr': 0x100000 + 64 * (at % 100), 'size': 64, 'stream': 7, 'time_us': 2000 + at, 'frames': recordings.TRAIN})
`;
const { server, chrome, page } = await stage();
const traces = {
    one: await putText(server.url, 'snapshots', 'one.pickle', recording('recordings.snapshot()')),
    two: await putText(server.url, 'snapshots', 'two.pickle', recording('recordings.snapshot(peak_bytes=8192)')),
    many: await putText(server.url, 'snapshots', 'many.pickle', recording('pickle.dumps(value, protocol=4)', MANY)),
};

const canvas = (on = page) => on.locator('.snapshot-blocks');
const span = async () => (await canvas().getAttribute('data-span')).split('-').map(Number);
const said = async () => (await page.textContent('.section:has(.snapshot-blocks) .strip-line')).replaceAll('\u00a0', ' ');
const lives = (trace, query = '') => get(server.url, `traces/${trace.id}/memory-snapshot/lives${query}`);
const table = () => page.locator('.row-table');
const lines = () => table().locator('tbody tr:has(.row-toggle)').evaluateAll((list) => list.map((line) => [...line.cells].map((cell) => cell.textContent.trim())));

/** Whether something is drawn at a place of the canvas, 0..1 from the left and the top. */
const drawnAt = (x, y) => canvas().evaluate((node, [across, down]) => node.getContext('2d').getImageData(across * (node.width - 1), down * (node.height - 1), 1, 1).data[3] > 0, [x, y]);

test('a block is drawn where the interface says, and told under the pointer', async () => {
    await visit(page, server.url, `#/traces/${traces.one.id}/snapshot`);
    const all = await lives(traces.one);
    assert.deepEqual(await span(), [0, all.events, 0, all.top_bytes]);
    const largest = all.bytes.indexOf(Math.max(...all.bytes));
    const [x, y] = [(all.first[largest] + all.end[largest]) / 2 / all.events, 1 - (all.low[largest] + all.bytes[largest] / 2) / all.top_bytes];
    await eventually(async () => assert.ok(await drawnAt(x, y)));
    assert.ok(!await drawnAt(x / 20, y), 'nothing before it was taken');
    const box = await canvas().boundingBox();
    await canvas().hover({ position: { x: x * box.width, y: y * box.height } });
    await eventually(async () => assert.match(await said(), /train\.py:20 forward.*4\.0 KiB · event 1 to event 3/));
    assert.deepEqual(await axeFaults(page), []);
});

test('keys zoom, move and walk; the window stands in the address, which gives it back', async () => {
    await canvas().focus();
    await page.keyboard.press('+');
    await addressed(page, 'blocks=');
    const zoomed = await span();
    const all = await lives(traces.one);
    assert.ok(zoomed[1] - zoomed[0] < all.events && zoomed[3] - zoomed[2] < all.top_bytes, zoomed.join());
    await page.keyboard.press('ArrowUp');
    await eventually(async () => assert.ok((await span())[2] > zoomed[2]));
    await settled(page);
    const moved = await span();
    await addressed(page, `blocks=${moved.join('-')}`);
    await visit(page, server.url, await page.evaluate(() => location.hash));
    assert.deepEqual(await span(), moved);
    await canvas().focus();
    await page.keyboard.press('n');
    await eventually(async () => assert.match(await said(), /forward|before the recording/));
    await page.keyboard.press('0');
    await page.waitForFunction(() => !location.hash.includes('blocks='));
    await settled(page);
    assert.deepEqual(await span(), [0, all.events, 0, all.top_bytes]);
});

test('Ctrl and the wheel zoom at the pointer, a drag moves', async () => {
    const box = await canvas().boundingBox();
    await page.mouse.move(box.x + box.width - 2, box.y + box.height - 2);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -400);
    await page.keyboard.up('Control');
    await addressed(page, 'blocks=');
    const all = await lives(traces.one);
    const [from, to, low, high] = await span();
    assert.ok(from > 0 && to === all.events && low < all.top_bytes / 50 && high < all.top_bytes, `the corner stays: ${[from, to, low, high]}`);
    await settled(page);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 40, { steps: 3 });
    await page.mouse.up();
    await eventually(async () => assert.equal((await span())[2], 0, 'nothing lies lower than the lowest byte'));
    await page.mouse.move(box.x + 20, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 20, box.y + box.height - 2, { steps: 3 });
    await page.mouse.up();
    await eventually(async () => assert.ok((await span())[2] > low));
});

test('what is too much to draw one by one is a shade, until the window is small enough', async () => {
    const all = await lives(traces.many, '?limit=8000');
    assert.ok(all.in_window > 8000 && all.shades.some((percent) => percent > 0), `${all.in_window} blocks`);
    await visit(page, server.url, `#/traces/${traces.many.id}/snapshot`);
    await eventually(async () => assert.match((await page.textContent('.section:has(.snapshot-blocks)')).replaceAll('\u00a0', ' '), /9,003 blocks of 9,003, 8,000 of them drawn one by one/));
    await visit(page, server.url, `#/traces/${traces.many.id}/snapshot?blocks=100-200-0-${all.top_bytes}`);
    const part = await lives(traces.many, `?limit=8000&first_event=100&end_event=200&high_bytes=${all.top_bytes}`);
    assert.ok(part.in_window < 100 && part.shades.length === 0);
    assert.ok(part.first.every((first, at) => first < 200 && part.end[at] >= 100));
    await eventually(async () => assert.doesNotMatch(await page.textContent('.section:has(.snapshot-blocks)'), /one by one/));
});

test('against another snapshot: by source line and by size, in the address', async () => {
    await visit(page, server.url, `#/traces/${traces.two.id}/snapshot`);
    await page.click('button:has-text("Compare with a snapshot")');
    await page.locator('dialog .picker').nth(1).locator('input').click();
    await page.click('dialog .picker-list li:has-text("one.pickle")');
    await addressed(page, `against=${traces.one.id}`);
    const { rows } = await get(server.url, `traces/${traces.two.id}/memory-snapshot/frames?baseline=${traces.one.id}&sort=delta_bytes&order=desc`);
    await eventually(async () => {
        const shown = await lines();
        assert.equal(shown.length, rows.length);
        assert.ok(shown[0].some((text) => text.includes('forward')), shown[0].join());
    });
    assert.deepEqual(rows.map(({ delta_bytes: change }) => change), [4096, 0]);
    assert.deepEqual((await page.locator('.section:not(.snapshot-segments) .plain-table thead th').allTextContents()).slice(3), ['Blocks there', 'Bytes there', 'Change']);
    await page.click('label:has-text("At the end")');
    await addressed(page, 'at=end');
    await page.click('button:has-text("This one alone")');
    await page.waitForFunction(() => !location.hash.includes('against='));
    await eventually(async () => assert.equal((await page.locator('.section:not(.snapshot-segments) .plain-table thead th').allTextContents()).length, 3));
});

test('the map of segments, in an order that is in the address', async () => {
    const rows = () => page.locator('.snapshot-segments tbody tr').allTextContents();
    const { segments } = await get(server.url, `traces/${traces.two.id}/memory-snapshot/segments?by=address`);
    await visit(page, server.url, `#/traces/${traces.two.id}/snapshot`);
    await page.click('.snapshot-segments label:has-text("By address")');
    await addressed(page, 'segments=address');
    await eventually(async () => assert.deepEqual((await rows()).map((text) => /^0x[0-9a-f]+/.exec(text)?.[0].length > 2), segments.map(() => true)));
    await eventually(async () => assert.ok((await rows())[0].startsWith(segments[0].address)));
    const painted = await page.locator('.snapshot-map').first().evaluate((canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, 1).data.some((byte) => byte > 0));
    assert.equal(painted, segments[0].allocated_bytes > 0);
});

for (const theme of ['light', 'dark']) {
    test(`400 pixels, ${theme}: nothing stands out at the side`, async () => {
        const narrow = await newPage(chrome.browser, { width: 400, theme });
        await visit(narrow, server.url, `#/traces/${traces.two.id}/snapshot?against=${traces.one.id}`);
        assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= globalThis.innerWidth));
        assert.deepEqual(await axeFaults(narrow), []);
        assert.deepEqual(narrow.complaints, []);
        await narrow.leave();
    });
}

test('nothing complained', () => assert.deepEqual(page.complaints, []));
