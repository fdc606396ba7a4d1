/** The timeline: what the API has is on the lanes, moves by pointer and keys, is chosen, searched and measured; all of it in the URL. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServer, startBrowser, newPage, visit, put, get, ask, axeFaults, sameTime, settled, addressed, eventually } from './support.mjs';
import { trainingTrace } from './training_trace.mjs';
import { shortTable } from './kernel_tables.mjs';

let server;
let chrome;
let page;
let folder;
const traces = {};
/** @type {any} */
let tracks;

const LANE = 18;
/** A second on the host, a hundredth of it on the device. */
const lateWork = [[0, 1000000, 'cpu_op', 1, 1], [900000, 4000, 'kernel', 0, 7], [905000, 5000, 'kernel', 0, 7]]
    .map(([ts, dur, cat, pid, tid]) => ({ ph: 'X', name: `${cat} ${ts}`, cat, ts, dur, pid, tid, args: cat === 'kernel' ? { device: 0, stream: 7 } : {} }));

/** Ten milliseconds of work in a recording of thirty. */
const marked = [...[[0, 10000, 'cpu_op', 1, 1], [2000, 4000, 'kernel', 0, 7], [0, 30000, 'Trace', 'Spans', 'PyTorch Profiler']]
    .map(([ts, dur, cat, pid, tid]) => ({ ph: 'X', name: `${cat} ${ts}`, cat, ts, dur, pid, tid, args: cat === 'kernel' ? { device: 0, stream: 7 } : {} })),
{ ph: 'i', s: 'g', name: 'Record Window End', pid: '', tid: '', ts: 30000 }];

before(async () => {
    server = await startServer();
    chrome = await startBrowser();
    page = await newPage(chrome.browser);
    folder = await mkdtemp(path.join(tmpdir(), 'kinetoscope-timeline-'));
    const upload = async (run, name, text) => {
        const file = path.join(folder, name);
        await writeFile(file, text);
        return put(server.url, run, file);
    };
    traces.model = await upload('model', 'a.1700000000000.pt.trace.json', trainingTrace());
    traces.other = await upload('model', 'b.1700000000000.pt.trace.json', trainingTrace({ memory: false }));
    traces.late = await upload('late', 'a.pt.trace.json', JSON.stringify(lateWork));
    traces.marked = await upload('marked', 'a.pt.trace.json', JSON.stringify(marked));
    traces.table = await upload('model', 'kernels.txt', shortTable);
    tracks = await get(server.url, `traces/${traces.model.id}/timeline/tracks`);
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
});

const open = (query = '', trace = traces.model) => visit(page, server.url, `#/traces/${trace.id}/timeline${query}`);
const plain = (text) => text?.replaceAll('\u00a0', ' ').trim();
/** What the picture says of itself. @returns {Promise<{start: number, end: number, event: string | undefined, panel: string}>} */
const picture = () => page.$eval('.tl-scroll', ({ dataset }) => ({ start: Number(dataset.startNs), end: Number(dataset.endNs), event: dataset.selectedEvent, panel: dataset.panel }));
const sight = async () => {
    await settled(page);
    return picture();
};
const head = (key) => page.locator(`.tl-fold[data-key="${key}"]`);
const param = (name) => page.evaluate((key) => new URLSearchParams(location.hash.split('?')[1]).get(key), name);
const event = (number, trace = traces.model) => get(server.url, `traces/${trace.id}/events/${number}`);
const key = async (name) => {
    await page.keyboard.press(name);
    await settled(page);
};
const focus = () => page.focus('.tl-canvas');
const says = (text) => eventually(async () => assert.match(plain(await page.textContent('#live')) ?? '', text));
const chosen = (number) => eventually(async () => assert.equal((await picture()).event, number === null ? undefined : String(number)));
const title = (text) => eventually(async () => assert.equal(await page.locator('.tl-body:not([hidden]) .tl-name').textContent(), text));
/** Every slice of a lane, by time. */
const lane = async (track, number) => {
    const answer = await get(server.url, `traces/${traces.model.id}/timeline?tracks=${track}&width_px=16384`);
    const [{ start_ns: start, dur_ns: dur, lane: lanes, event: events, label }] = answer.tracks;
    return start.map((ns, at) => ({ start: ns, dur: dur[at], lane: lanes[at], event: events[at], name: answer.labels[label[at]].name })).filter((item) => item.lane === number);
};
const named = async (name, place = 0) => (await get(server.url, `traces/${traces.model.id}/search?q=${encodeURIComponent(name)}`)).hits.filter((hit) => hit.name === name)[place];
const near = (a, b, by, what) => assert.ok(Math.abs(a - b) <= by, `${what}: ${a}, not ${b}`);

/** Where a time of a track's lane is on the page. */
async function point(trackKey, number, ns) {
    const { start, end } = await sight();
    const canvas = await page.locator('.tl-canvas').boundingBox();
    const row = await head(trackKey).boundingBox();
    return { x: canvas.x + ((ns - start) / (end - start)) * canvas.width, y: row.y + number * LANE + LANE / 2, canvas };
}

/** @param {{x: number, y: number}} from @param {{x: number, y: number}} to */
async function drag(from, to) {
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2);
    await page.mouse.move(to.x, to.y);
    await page.mouse.up();
    await settled(page);
}

test('the rail leads there; every process and track of the API has its lanes, all of the time is in sight', async () => {
    await visit(page, server.url, `#/traces/${traces.model.id}/overview`);
    await page.click('#views a:has-text("Timeline")');
    await addressed(page, '/timeline');
    const { start, end } = await sight();
    assert.ok(start <= tracks.start_ns && end >= tracks.end_ns, `${start} to ${end}`);
    const names = await page.$$eval('.tl-head-name', (list) => list.map((item) => item.textContent));
    // Devices stand first.
    const inOrder = [...tracks.tracks.filter(({ process }) => process === 'GPU 0'), ...tracks.tracks.filter(({ process }) => process !== 'GPU 0')];
    const expected = inOrder.flatMap((track, at, all) => [...(all[at - 1]?.process === track.process ? [] : [track.process]), track.label]);
    assert.deepEqual(names, expected.slice(0, names.length));
    assert.ok(names.length >= Math.min(6, expected.length));
    assert.equal(await head('t0').getAttribute('aria-label'), `${tracks.tracks[0].label}, ${tracks.tracks[0].lanes} lanes`);
    // What is not to be seen is not asked for anew: the picture rests.
    const frames = () => page.getAttribute('.tl-scroll', 'data-frames');
    const drawn = await frames();
    await page.evaluate(() => new Promise((resolve) => { window.requestAnimationFrame(() => window.requestAnimationFrame(resolve)); }));
    assert.equal(await frames(), drawn);
});

test('the wheel zooms at the pointer, Shift and wheel move, a drag moves; the address follows', async () => {
    await open();
    const whole = await sight();
    const canvas = await page.locator('.tl-canvas').boundingBox();
    const [x, y] = [canvas.x + canvas.width / 4, canvas.y + 200];
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -200);
    await eventually(async () => assert.ok((await picture()).end - (await picture()).start < whole.end - whole.start));
    const zoomed = await sight();
    near(zoomed.start + (zoomed.end - zoomed.start) / 4, whole.start + (whole.end - whole.start) / 4, 2, 'what is under the pointer stays there');
    await page.keyboard.down('Shift');
    await page.mouse.wheel(0, 100);
    await page.keyboard.up('Shift');
    await eventually(async () => assert.ok((await picture()).start > zoomed.start));
    const later = await sight();
    near(later.end - later.start, zoomed.end - zoomed.start, 2, 'the span');
    await drag({ x, y }, { x: x + 100, y });
    const moved = await sight();
    near(later.start - moved.start, ((later.end - later.start) * 100) / canvas.width, 3, 'a drag of 100 pixels');
    await eventually(async () => assert.deepEqual([await param('start'), await param('end')], [String(moved.start), String(moved.end)]));
    await page.click('button[aria-label="Fit the whole trace"]');
    await eventually(async () => assert.deepEqual([await param('start'), await param('end')], [null, null]));
    assert.deepEqual([(await sight()).start, (await sight()).end], [whole.start, whole.end]);
});

test('where device work is a small part of the time, one opens on it; Fit shows all and says so', async () => {
    await open('', traces.late);
    const opened = await sight();
    near(opened.start, 899950000, 2, 'room in front of the first kernel');
    near(opened.end, 910050000, 2, 'and behind the last one');
    assert.deepEqual([await param('start'), await param('end')], [null, null]);
    await page.click('button[aria-label="Fit the whole trace"]');
    await eventually(async () => assert.deepEqual([await param('start'), await param('end')], ['-5000000', '1005000000']));
    await page.reload();
    await eventually(async () => near((await sight()).end, 1005000000, 2, 'the address keeps it'));
});

test('what one opens on, and Fit, end with the work, not with the recording', async () => {
    const marks = await get(server.url, `traces/${traces.marked.id}/timeline/tracks`);
    assert.equal(marks.end_ns, 30000000);
    await open('', traces.marked);
    near((await sight()).end, 10050000, 2, 'the end of the last slice, and some room');
    await open('?start=1000000&end=2000000', traces.marked);
    await page.click('button[aria-label="Fit the whole trace"]');
    await eventually(async () => near((await sight()).end, 10050000, 2, 'so does Fit'));
});

test('W, S, A and D zoom and move, 0 shows all', async () => {
    await open('?start=1000000&end=2000000');
    await focus();
    await key('w');
    const closer = await sight();
    assert.ok(closer.end - closer.start < 1000000);
    near((closer.start + closer.end) / 2, 1500000, 2, 'the middle');
    await key('d');
    assert.ok((await sight()).start > closer.start);
    await key('a');
    near((await sight()).start, closer.start, 2, 'back again');
    await key('s');
    near((await sight()).start, 1000000, 2, 'out again');
    await key('0');
    assert.ok((await sight()).end >= tracks.end_ns);
});

test('a click chooses a slice: the panel has what the API says of it, the live region tells it, the way back undoes it', async () => {
    const launch = await named('cudaLaunchKernel', 2);
    const detail = await event(launch.event);
    await open(`?start=${launch.start_ns - 20000}&end=${launch.start_ns + 40000}`);
    const { x, y } = await point(`t${detail.track}`, detail.lane, launch.start_ns + launch.dur_ns / 2);
    await page.mouse.move(x, y);
    await eventually(async () => assert.match(plain(await page.textContent('.tl-tip')), /^cudaLaunchKernel1\.00 µs · cuda_runtime$/));
    await page.mouse.click(x, y);
    await addressed(page, `event=${launch.event}`);
    await chosen(launch.event);
    await title('cudaLaunchKernel');
    const panel = page.locator('#tl-panel-slice');
    await eventually(async () => {
        const text = plain(await panel.textContent());
        assert.match(text, /Duration1\.00 µs/);
        assert.match(text, /Categorycuda_runtime/);
        assert.match(text, /Roleruntime/);
        for (const [name, value] of Object.entries(detail.args)) assert.ok(text.includes(`${name}${value}`), name);
    });
    assert.deepEqual(await panel.locator('.tl-stack .frame-name').allTextContents(), detail.enclosing.map(({ name }) => name.replace('nn.Module: ', '')).reverse());
    await says(new RegExp(`^cudaLaunchKernel, 1\\.00 µs, ${tracks.tracks[detail.track].label.replace(/[()]/g, '\\$&')}, launches 1$`));
    await page.goBack();
    await settled(page);
    await chosen(null);
    assert.ok(await page.isHidden('.tl-panel'));
});

test('flows: from launch to kernel and back by key and by link, from forward to backward', async () => {
    const launch = await named('cudaLaunchKernel');
    const [flow] = (await event(launch.event)).flows;
    await open(`?event=${launch.event}`);
    await chosen(launch.event);
    const shown = await sight();
    assert.ok(shown.start <= launch.start_ns && launch.start_ns <= shown.end);
    await focus();
    await key(']');
    await chosen(flow.event);
    await title(flow.name);
    const after_ = await sight();
    assert.ok(after_.start <= flow.start_ns && flow.start_ns <= after_.end, 'the kernel is in sight');
    await says(/launched by cudaLaunchKernel/);
    await page.click('.tl-part:has(h3:text("Launched by")) .tl-place');
    await chosen(launch.event);
    const backward = await named('LinearBackward0');
    const forward = (await event(backward.event)).flows.find(({ kind }) => kind === 'fwdbwd');
    await open(`?event=${backward.event}`);
    await page.click('.tl-part:has(h3:text("Forward")) .tl-place');
    await chosen(forward.event);
    await title('aten::linear');
});

test('arrow keys walk along a lane and from lane to lane, Enter leads to the details, F fits', async () => {
    const [first, second] = (await lane(0, 2)).filter(({ name }) => name.startsWith('aten::item'));
    await open(`?event=${first.event}`);
    await chosen(first.event);
    await focus();
    await key('ArrowRight');
    await chosen(second.event);
    await key('ArrowLeft');
    await chosen(first.event);
    await key('ArrowUp');
    await title('aten::loop');
    await key('ArrowUp');
    await title('ProfilerStep#1');
    await key('ArrowDown');
    await title('aten::loop');
    await key('Enter');
    await eventually(async () => assert.ok(await page.evaluate(() => document.activeElement?.matches('.tl-name'))));
    // Far away, where nothing was loaded: the last slice of the long branch, and back from it.
    const last = await named('aten::last_of_all');
    await open(`?start=0&end=5000&event=${last.event}`);
    await chosen(last.event);
    await focus();
    await key('f');
    const fitted = await sight();
    near(fitted.end - fitted.start, 1.4 * last.dur_ns, 2, 'the slice and room on either side');
    await key('ArrowLeft');
    await eventually(async () => assert.ok(Number((await picture()).event) !== last.event));
    const before_ = await event((await picture()).event);
    assert.equal(before_.start_ns + before_.dur_ns + 1000, last.start_ns);
});

test('search: counts of the API, matches stand out, N and Shift N walk, the lists lead to slices', async () => {
    await open();
    const answer = await get(server.url, `traces/${traces.model.id}/search?q=linear&limit=2000`);
    await page.fill('.tl-search input', 'linear');
    await addressed(page, 'q=linear');
    const count = (text) => eventually(async () => assert.equal(plain(await page.textContent('.tl-search .table-count')), text));
    await count(`${answer.total} matches`);
    const found = page.locator('#tl-panel-search');
    await eventually(async () => assert.deepEqual(await found.locator('section').first().locator('tbody .function-name').evaluateAll((list) => list.map((item) => item.getAttribute('data-tip'))), answer.names.map(({ name }) => name)));
    await focus();
    await key('n');
    await count(`1 of ${answer.total} matches`);
    await chosen(answer.hits[0].event);
    await says(new RegExp(`1 of ${answer.total} matches`));
    await key('n');
    await chosen(answer.hits[1].event);
    await key('Shift+N');
    await chosen(answer.hits[0].event);
    await page.click('#tl-tab-search');
    await found.locator(`[data-hit="${answer.hits[3].event}"]`).click();
    await chosen(answer.hits[3].event);
    await page.click('#tl-tab-search');
    await found.locator('section').first().locator('.function-name').first().click();
    await addressed(page, `q=${encodeURIComponent(answer.names[0].name)}`);
    await page.fill('.tl-search input', 'no such slice');
    await eventually(async () => assert.match(await found.textContent(), /No slice has “no such slice”/));
});

test('arguments are found, too', async () => {
    await open('?q=model.py');
    await eventually(async () => assert.match(plain(await page.textContent('#tl-panel-search')), /Call stack/));
});

test('a range: drawn on the ruler, its figures are those of the API, as a file, too; M marks the slice, Escape takes it back', async () => {
    await open();
    const { canvas } = await point('t0', 0, 0);
    await drag({ x: canvas.x + 40, y: canvas.y + 10 }, { x: canvas.x + 340, y: canvas.y + 10 });
    const range = await param('sel');
    const [, from, to] = /^(-?\d+)-(\d+)$/.exec(range).map(Number);
    const data = await get(server.url, `traces/${traces.model.id}/window?start_ns=${from}&end_ns=${to}`);
    const panel = page.locator('#tl-panel-range');
    await eventually(async () => assert.match(plain(await panel.textContent()), new RegExp(`${data.operators.total} operators`)));
    sameTime(plain(await panel.locator('.tl-role-keys li:has-text("Kernel") strong').textContent()), data.roles.kernel, 'kernel time');
    assert.deepEqual(await panel.locator('[aria-label="Operators of the range"] .function-name').evaluateAll((list) => list.map((item) => item.getAttribute('data-tip'))), data.operators.rows.slice(0, 30).map(({ name }) => name));
    assert.deepEqual(await panel.locator('[aria-label="Kernels of the range"] .function-name').evaluateAll((list) => list.map((item) => item.getAttribute('data-tip'))), data.kernels.rows.slice(0, 30).map(({ name }) => name));
    for (const href of await panel.locator('a:has-text("CSV"), a:has-text("Download as trace")').evaluateAll((list) => list.map((item) => item.href))) {
        assert.equal((await ask(href)).status, 200, href);
    }
    const slice = await named('aten::softmax');
    await open(`?event=${slice.event}`);
    await chosen(slice.event);
    await focus();
    await key('m');
    await addressed(page, `sel=${slice.start_ns}-${slice.start_ns + slice.dur_ns}`);
    await key('Escape');
    await eventually(async () => assert.equal(await param('sel'), null));
    await chosen(slice.event);
    await key('Escape');
    await chosen(null);
    await eventually(async () => assert.equal(await param('event'), null));
});

test('tracks and processes fold; folded lanes keep their slices', async () => {
    await open();
    const height = () => page.locator('.tl-head:has([data-key="t0"])').evaluate((node) => node.clientHeight);
    const before_ = await height();
    await head('t0').click();
    await settled(page);
    await eventually(async () => assert.equal(await param('collapsed'), 't0'));
    assert.equal(await head('t0').getAttribute('aria-expanded'), 'false');
    await eventually(async () => assert.ok((await height()) < before_));
    await head('p0').click();
    await eventually(async () => assert.equal(await head('t0').count(), 0));
    // What leads to a slice in it unfolds it.
    const slice = await named('aten::softmax');
    await page.fill('.tl-search input', 'aten::softmax');
    await eventually(async () => assert.equal(plain(await page.textContent('.tl-search .table-count')), '1 match'));
    await page.press('.tl-search input', 'Enter');
    await chosen(slice.event);
    await eventually(async () => assert.equal(await head('p0').getAttribute('aria-expanded'), 'true'));
});

test('a step is zoomed to from its ruler', async () => {
    await open('?start=100000&end=400000');
    const { canvas } = await point('t0', 0, 0);
    await page.mouse.click(canvas.x + canvas.width / 2, canvas.y + 34);
    const [step] = tracks.steps;
    await addressed(page, `start=${step.start_ns}`);
    assert.deepEqual([(await sight()).start, (await sight()).end], [step.start_ns, step.end_ns]);
});

test('a link opens the same picture in another browser: place, folds, slice, range, search, second trace', async () => {
    const slice = await named('aten::softmax');
    const hash = `#/traces/${traces.model.id}/timeline?start=250000&end=450000&event=${slice.event}&sel=300000-350000&q=softmax&with=${traces.other.id}&shift_ns=1000&collapsed=t5&tab=range`;
    const fresh = await newPage(chrome.browser);
    await visit(fresh, server.url, hash);
    await eventually(async () => {
        const data = await fresh.$eval('.tl-scroll', ({ dataset }) => ({ ...dataset }));
        assert.deepEqual([data.startNs, data.endNs, data.selectedEvent, data.panel], ['250000', '450000', String(slice.event), 'range']);
    });
    assert.equal(await fresh.inputValue('.tl-search input'), 'softmax');
    assert.equal(await fresh.locator('.tl-fold[data-key="t5"]').getAttribute('aria-expanded'), 'false');
    assert.equal(await fresh.evaluate(() => document.querySelectorAll('.tl-head-trace').length > 0), true);
    assert.equal(await fresh.evaluate(() => location.hash), hash);
    assert.deepEqual(fresh.complaints, []);
    await fresh.leave();
});

test('a second trace below the first: chosen, laid on it, looked into, taken away', async () => {
    await open();
    await page.click('button:has-text("Add trace")');
    await page.locator('dialog .picker').nth(1).locator('input').click();
    await page.click('dialog .picker-list li:has-text("b, span")');
    await addressed(page, `with=${traces.other.id}`);
    await eventually(async () => assert.equal(await page.locator('.tl-head-trace').first().textContent(), 'model, aspan 1'));
    const align = page.locator('.tl-second select');
    await eventually(async () => assert.ok(await align.isVisible()));
    await page.locator('.tl-scroll').evaluate((node) => { node.scrollTop = node.scrollHeight; });
    await eventually(async () => assert.equal(await page.locator('.tl-head-trace').last().textContent(), 'model, bspan 1'));
    // A slice of it is its own.
    const otherTracks = await get(server.url, `traces/${traces.other.id}/timeline/tracks`);
    const stream = otherTracks.tracks.findIndex(({ kind }) => kind === 'stream');
    await eventually(async () => assert.equal(await head(`wt${stream}`).count(), 1));
    const answer = await get(server.url, `traces/${traces.other.id}/timeline?tracks=${stream}&width_px=16384`);
    assert.ok(otherTracks.tracks[stream].lanes > 1, 'kernels that overlap');
    const [slices] = answer.tracks;
    const [number, from] = [slices.event.at(-1), slices.start_ns.at(-1)];
    const { x, y } = await point(`wt${stream}`, slices.lane.at(-1), from + slices.dur_ns.at(-1) / 2);
    await page.mouse.click(x, y);
    await addressed(page, `event=w${number}`);
    await title(answer.labels[slices.label.at(-1)].name);
    await page.click('button[aria-label="Remove the second trace"]');
    await eventually(async () => assert.equal(await page.locator('.tl-head-trace').count(), 0));
    assert.equal(await param('with'), null);
});

test('rows of other views lead here', async () => {
    await visit(page, server.url, `#/traces/${traces.model.id}/operators`);
    await page.click('.row-toggle[data-tip="aten::softmax"]');
    await page.click('a:has-text("Show in timeline")');
    await addressed(page, '/timeline?q=aten%3A%3Asoftmax');
    await eventually(async () => assert.equal(plain(await page.textContent('.tl-search .table-count')), '1 match'));
    await visit(page, server.url, `#/traces/${traces.model.id}/kernels`);
    await page.locator('.row-toggle').first().click();
    await page.click('a:has-text("Show in timeline")');
    await addressed(page, '/timeline?q=kernel_of_');
});

test('a file without events says so', async () => {
    await open('', traces.table);
    assert.equal(await page.textContent('.empty h2'), 'No timeline of this trace');
    await visit(page, server.url, `#/traces/${traces.table.id}/utilisation`);
    await eventually(async () => assert.equal(await page.locator('#views a:has-text("Timeline")').count(), 0));
});

/** Frames of Python 20 levels deep, a stream of two kernels, and the odd tracks that every recording has. */
function deepTrace() {
    const events = [];
    const slice = (cat, name, pid, tid, ts, dur, args = {}) => events.push({ ph: 'X', cat, name, pid, tid, ts, dur, args });
    const label = (name, pid, args) => events.push({ ph: 'M', name, pid, tid: 0, args });
    label('process_name', 100, { name: 'python3' });
    label('process_labels', 100, { labels: 'CPU' });
    label('process_labels', 0, { labels: 'GPU 0' });
    for (let depth = 0; depth < 20; depth += 1) slice('python_function', `model.py(${depth}): level_${depth}`, 100, 100, 1000 + depth, 900 - 2 * depth);
    for (let call = 0; call < 300; call += 1) slice('cpu_op', 'aten::add', 100, 100, 1100 + 2 * call, 1);
    for (let call = 0; call < 300; call += 1) slice('kernel', call % 2 ? 'kernel_one' : 'kernel_two', 0, 7, 1100 + 2 * call, 1, { device: 0, stream: 7 });
    slice('python_function', 'threading.py(1): wait', 0, 0, 1000, 900);
    slice('Trace', 'PyTorch Profiler (0)', 'Spans', 'PyTorch Profiler', 1000, 900);
    slice('overhead', 'Buffer Flush', -1, 0, 1010, 5);
    return JSON.stringify({ schemaVersion: 1, traceEvents: events });
}

test('devices stand first, deep Python is folded thin, small tracks are one folded group; the choice is in the address and stays', async () => {
    const file = path.join(folder, 'deep.1700000000000.pt.trace.json');
    await writeFile(file, deepTrace());
    traces.deep = await put(server.url, 'deep', file);
    const list = await get(server.url, `traces/${traces.deep.id}/timeline/tracks`);
    const deep = list.tracks.find(({ lanes }) => lanes > 12);
    assert.ok(deep, 'a thread of more than 12 levels');
    const names = () => page.$$eval('.tl-head-name', (nodes) => nodes.map((item) => item.textContent));
    await open('', traces.deep);
    await eventually(async () => assert.deepEqual((await names()).map((name) => name?.replace(/: .*%$/, '')), ['Idle time', 'Device 0', 'GPU 0', 'stream 7', 'CPU: python3 (100)', 'thread 100', 'Other tracks (3)']));
    assert.equal(await head(`t${deep.id}`).getAttribute('aria-expanded'), 'false');
    const height = (id) => page.locator(`.tl-head:has([data-key="t${id}"])`).evaluate((node) => node.clientHeight);
    assert.ok(await height(deep.id) < 12 * LANE);
    await head(`t${deep.id}`).click();
    await addressed(page, `expanded=t${deep.id}`);
    await eventually(async () => assert.equal(await height(deep.id), deep.lanes * LANE));
    await head('rest').click();
    await addressed(page, 'rest');
    await eventually(async () => assert.equal((await names()).length, 10));
    // Pinned, the stream stays in sight while the host scrolls.
    await page.click('button:has-text("View")');
    await page.click('label:has-text("Devices pinned")');
    await addressed(page, 'tracks=pinned');
    await page.locator('.tl-scroll').evaluate((node) => { node.scrollTop = node.scrollHeight; });
    const stream = list.tracks.find(({ kind }) => kind === 'stream');
    await eventually(async () => assert.ok(await page.locator(`.tl-pinned:has([data-key="t${stream.id}"])`).isVisible()));
    const kernel = (await get(server.url, `traces/${traces.deep.id}/search?q=kernel_one`)).hits[0];
    const { x, y } = await point(`t${stream.id}`, 0, kernel.start_ns + 500);
    await page.mouse.click(x, y);
    await addressed(page, `event=${kernel.event}`);
    await open('', traces.deep);
    await eventually(async () => assert.equal(await param('tracks'), 'pinned'));
    await page.click('button:has-text("View")');
    await page.click('label:has-text("As in the trace")');
    await eventually(async () => assert.equal((await names())[0], 'CPU: python3 (100)'));
    await page.click('label:has-text("Devices first")');
    await eventually(async () => assert.equal(await param('tracks'), null));
});

test('kernels of one role have shades by name', async () => {
    const shades = await page.evaluate(async () => {
        const { shadeBy, roleColour } = await import('./js/lib/colours.js').catch(() => import(document.querySelector('link[rel=modulepreload][href$="lib/colours.js"]').href));
        return [0, 1, 2, 3].map((seed) => shadeBy(roleColour('kernel'), seed));
    });
    assert.equal(new Set(shades).size, 4);
    // What is drawn has both: pixels of the lane of the stream.
    await open(`?start=${100000}&end=${112000}`, traces.deep);
    const canvas = await page.locator('.tl-canvas').boundingBox();
    const list = await get(server.url, `traces/${traces.deep.id}/timeline/tracks`);
    const row = await head(`t${list.tracks.find(({ kind }) => kind === 'stream').id}`).boundingBox();
    const colours = await page.evaluate(([x, y, width]) => {
        const node = document.querySelector('.tl-canvas');
        const ratio = node.width / node.clientWidth;
        const { data } = node.getContext('2d').getImageData(x, Math.round(y * ratio), Math.round(width * ratio), 1);
        const seen = {};
        for (let at = 0; at < data.length; at += 4) seen[data.slice(at, at + 3).join(' ')] = (seen[data.slice(at, at + 3).join(' ')] ?? 0) + 1;
        return Object.values(seen).filter((count) => count > 100).length;
    }, [0, row.y - canvas.y + 4, canvas.width]);
    assert.ok(colours >= 3, `two kernels and the ground: ${colours} colours`);
});

test('letters work without a click first, ? lists the shortcuts, the wheel scrolls where that is chosen', async () => {
    await open('', traces.deep);
    const whole = await sight();
    await page.keyboard.press('w');
    await eventually(async () => assert.ok((await picture()).end - (await picture()).start < whole.end - whole.start));
    await page.keyboard.press('0');
    await eventually(async () => assert.equal((await picture()).end, whole.end));
    await page.keyboard.press('?');
    await eventually(async () => assert.equal(await page.textContent('dialog h2'), 'Keyboard shortcuts'));
    await page.keyboard.press('w');
    await page.keyboard.press('Escape');
    assert.equal((await sight()).end, whole.end, 'keys stay in the dialog');
    // What is typed is typed.
    await page.fill('.tl-search input', 'w');
    await page.keyboard.press('s');
    await settled(page);
    assert.equal((await picture()).end, whole.end);
    await open(`?expanded=t${(await get(server.url, `traces/${traces.deep.id}/timeline/tracks`)).tracks.find(({ lanes }) => lanes > 12).id}`, traces.deep);
    await page.click('button:has-text("View")');
    await page.click('label:has-text("Scroll (Ctrl")');
    await page.setViewportSize({ width: 1280, height: 400 });
    const canvas = await page.locator('.tl-canvas').boundingBox();
    await page.mouse.move(canvas.x + 300, canvas.y + 150);
    const before_ = await sight();
    await page.mouse.wheel(0, 120);
    await eventually(async () => assert.ok(await page.locator('.tl-scroll').evaluate((node) => node.scrollTop > 0)));
    assert.equal((await sight()).end, before_.end);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -120);
    await page.keyboard.up('Control');
    await eventually(async () => assert.ok((await picture()).end < before_.end));
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.click('label:has-text("Zoom (Shift")');
});

test('the panel has a splitter for pointer and keys; a link shows its slice', async () => {
    const deepest = (await get(server.url, `traces/${traces.deep.id}/search?q=level_19`)).hits[0];
    const detail = await event(deepest.event, traces.deep);
    await open(`?expanded=t${detail.track}&start=90000&end=130000&event=${deepest.event}&tracks=host`, traces.deep);
    const line = page.locator('.tl-splitter');
    await eventually(async () => assert.ok(await line.isVisible()));
    const tall = () => page.locator('.tl-panel').evaluate((node) => node.clientHeight);
    const first = await tall();
    await line.focus();
    for (let press = 0; press < 5; press += 1) await page.keyboard.press('ArrowUp');
    await eventually(async () => assert.ok(await tall() > first + 100));
    await page.keyboard.press('Home');
    await eventually(async () => assert.ok(await tall() < 120));
    const box = await line.boundingBox();
    await drag({ x: box.x + 200, y: box.y + 4 }, { x: box.x + 200, y: box.y - 300 });
    await eventually(async () => assert.ok(await tall() > 350));
    // Opened anew the panel is as high, and the lane of the slice is in sight.
    await open(`?expanded=t${detail.track}&start=90000&end=130000&event=${deepest.event}&tracks=host`, traces.deep);
    await eventually(async () => assert.ok(await tall() > 350));
    await eventually(async () => {
        const [top, height] = await page.locator('.tl-scroll').evaluate((node) => [node.scrollTop, node.clientHeight]);
        const lane_ = 24 + detail.lane * LANE;
        assert.ok(lane_ + LANE <= top + height && lane_ >= top, `lane at ${lane_}, in sight ${top} to ${top + height}`);
    });
    const { start, end } = await picture();
    assert.deepEqual([start, end], [90000, 130000], 'the time of the link');
});

test('the keys are listed, and nothing is out of reach of the keyboard', async () => {
    await open();
    await page.click('button[aria-label="Keyboard shortcuts"]');
    assert.ok((await page.locator('dialog kbd').count()) > 8);
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await eventually(async () => assert.ok(await page.evaluate(() => document.activeElement?.matches('.tl-search input'))));
});

for (const theme of /** @type {const} */ (['light', 'dark'])) {
    test(`axe finds nothing, ${theme}: slice, range and matches`, async () => {
        const slice = await named('cudaLaunchKernel');
        const other = await newPage(chrome.browser, { theme });
        for (const query of ['', `?event=${slice.event}`, '?sel=0-500000', '?q=linear', `?with=${traces.other.id}`]) {
            await visit(other, server.url, `#/traces/${traces.model.id}/timeline${query}`);
            assert.deepEqual(await axeFaults(other), [], query);
        }
        assert.deepEqual(other.complaints, []);
        await other.leave();
    });
}

test('at 400 pixels nothing is wider than the screen, and a slice can be chosen', async () => {
    const narrow = await newPage(chrome.browser, { width: 400, height: 800 });
    await visit(narrow, server.url, `#/traces/${traces.model.id}/timeline`);
    assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    await narrow.focus('.tl-canvas');
    await narrow.keyboard.press('ArrowRight');
    await eventually(async () => assert.ok(await narrow.isVisible('.tl-panel .tl-name')));
    await settled(narrow);
    assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    const canvas = await narrow.locator('.tl-canvas').boundingBox();
    assert.ok(canvas.width > 280, `the lanes have ${canvas.width} pixels`);
    await narrow.leave();
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
