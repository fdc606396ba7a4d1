/** The lane "idle" of the timeline: gaps by cause, also in grayscale and of a million; the chosen one in words. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, get, addressed, eventually, axeFaults, sameTime, putText } from '../support.mjs';
import { columnsOf } from '../../../static/js/views/idle/lane_columns.js';

const span = (cat, name, tid, ts, dur, args = {}) => ({ ph: 'X', cat, name, pid: 1, tid, ts, dur, args });
const kernel = (ts, dur, correlation) => span('kernel', 'gemm', 7, ts, dur, { correlation, device: 0, stream: 7 });
/** Idle 20 between kernels, 400 for the host, 100 for something else. */
const EVENTS = [
    span('user_annotation', 'ProfilerStep#1', 1, 0, 1000),
    span('cuda_runtime', 'cudaLaunchKernel', 1, 10, 5, { correlation: 1 }), span('cuda_runtime', 'cudaLaunchKernel', 1, 20, 5, { correlation: 2 }),
    span('cpu_op', 'aten::item', 1, 150, 350), span('cuda_runtime', 'cudaLaunchKernel', 1, 560, 5, { correlation: 3 }), span('cuda_runtime', 'cudaLaunchKernel', 1, 570, 5, { correlation: 4 }),
    kernel(50, 50, 1), kernel(120, 60, 2), kernel(580, 100, 3), kernel(780, 100, 4),
];

const { server, page } = await stage();
const { id } = await putText(server.url, 'lane', 'lane.1700000000000.pt.trace.json',
    JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: 'GPU', numSms: 100 }], traceEvents: EVENTS }));

test('the overview’s idle tile opens the longest gap, with cause, host, cost and links', async () => {
    const { devices: [device] } = await get(server.url, `traces/${id}/idle/gaps`);
    const at = device.duration_ns.indexOf(Math.max(...device.duration_ns));
    const { gap } = await get(server.url, `traces/${id}/idle/gaps?limit=0&next_event=${device.next_event[at]}`);
    assert.equal(gap.host_name, 'aten::item');
    await visit(page, server.url, `#/traces/${id}/overview`);
    await page.click('text=When, in the timeline');
    await addressed(page, 'gap=longest');
    const panel = page.locator('#tl-panel-gap');
    await eventually(async () => {
        const text = (await panel.textContent())?.replaceAll('\u00a0', ' ') ?? '';
        sameTime(text, gap.duration_ns, 'idle for');
        assert.match(text, /Device 0 idle for .*: Host late/);
        assert.match(text, /the host was inside operators, longest in aten::item/);
        assert.match(text, /Of step 1/);
    });
    assert.match(await page.locator('.tl-idle-key').textContent() ?? '', /Host lateBetween kernelsOther/);
    assert.deepEqual(await axeFaults(page), []);
    await panel.locator('text=Previous gap').click();
    await eventually(async () => assert.match(await panel.textContent() ?? '', /Between kernels/));
    await addressed(page, `gap=${device.next_event[at - 1]}`);
    await panel.getByRole('button', { name: 'Work after', exact: true }).click();
    await addressed(page, `event=${device.next_event[at - 1]}`);
});

test('a click on the lane chooses the gap under it', async () => {
    const { devices: [device] } = await get(server.url, `traces/${id}/idle/gaps`);
    const last = device.duration_ns.length - 1;
    await visit(page, server.url, `#/traces/${id}/timeline`);
    const row = page.locator('.tl-head-track', { hasText: 'Device 0' });
    await row.waitFor();
    const [head, canvas] = [await row.boundingBox(), await page.locator('.tl-canvas').boundingBox()];
    const { start, end } = await page.locator('.tl-scroll').evaluate(({ dataset }) => ({ start: Number(dataset.startNs), end: Number(dataset.endNs) }));
    const middle = device.start_ns[last] + device.duration_ns[last] / 2;
    await page.mouse.click(canvas.x + ((middle - start) / (end - start)) * canvas.width, head.y + 8);
    await addressed(page, `gap=${device.next_event[last]}`);
    await eventually(async () => assert.match(await page.locator('#tl-panel-gap').textContent() ?? '', /: Other/));
});

test('without colour the causes are as far apart', async () => {
    for (const theme of ['light', 'dark']) {
        const lightness = await page.evaluate((name) => {
            document.documentElement.dataset.theme = name;
            return ['host-wait', 'kernel-wait', 'other'].map((cause) => {
                const colour = getComputedStyle(document.documentElement).getPropertyValue(`--idle-${cause}`).trim();
                const [r, g, b] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
                return 116 * Math.cbrt(0.2126 * r + 0.7152 * g + 0.0722 * b) - 16;
            });
        }, theme);
        const [low, middle, high] = [...lightness].sort((a, b) => a - b);
        assert.ok(middle - low >= 20 && high - middle >= 20, `${theme}: ${lightness.map(Math.round)}`);
    }
});

test('what a pixel cannot show is one item; all time is kept', () => {
    const COUNT = 1e6;
    const gaps = { device: 0, idle: 0, busy: 0, start: Float64Array.from({ length: COUNT }, (_, at) => at * 100), end: Float64Array.from({ length: COUNT }, (_, at) => at * 100 + (at % 3 === 0 ? 60 : 10)),
        cause: Uint8Array.from({ length: COUNT }, (_, at) => at % 3), event: Uint32Array.from({ length: COUNT }, (_, at) => at) };
    const whole = columnsOf(gaps, 16, [5, 6, 7]);
    assert.ok(whole.start.length <= COUNT * 100 / 2 ** 16 + 1);
    assert.equal(whole.count.reduce((sum, count) => sum + count, 0), COUNT);
    assert.ok(whole.label.every((label) => label === 5));
    const near = columnsOf(gaps, 3, [5, 6, 7]);
    assert.deepEqual([near.start.length, near.end[0], near.label[1], near.event[2]], [COUNT, 60, 6, 2]);
});
