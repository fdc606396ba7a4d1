/** Call tree: branches come when they are unfolded, a call anywhere in it opens from its address, partners and matches are a key away. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, fixture, put, get, sameTime, settled, addressed, eventually, putText } from './support.mjs';
import { trainingTrace, LONG_BRANCH } from './training_trace.mjs';
import { shortTable } from './kernel_tables.mjs';

const { server, page } = await stage();
const traces = {
    model: await putText(server.url, 'calls', 'train.1700000000000.pt.trace.json', trainingTrace()),
    table: await putText(server.url, 'calls', 'kernels.txt', shortTable),
    gpu: await put(server.url, 'gpu', fixture('cuda_training')),
};
const { threads } = await get(server.url, `traces/${traces.model.id}/tree`);

const open = (trace, query = '') => visit(page, server.url, `#/traces/${trace.id}/calls${query}`);
const tree = (trace, thread, query = '') => get(server.url, `traces/${trace.id}/tree/${thread}${query}`);
const plain = (text) => text?.replaceAll('\u00a0', ' ').trim();
const names = () => page.$$eval('.tree-table .row-toggle', (list) => list.map((item) => item.getAttribute('data-tip')));
const shown = (list) => eventually(async () => assert.deepEqual(await names(), list));
const row = (name) => page.locator(`.tree-table .row-toggle[data-tip="${name}"]`);
const marked = (name) => eventually(async () => assert.deepEqual(await page.$$eval('tr.marked .row-toggle', (list) => list.map((item) => item.getAttribute('data-tip'))), [name]));
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-tip'));
const crumbs = (list) => eventually(async () => assert.deepEqual(await page.locator('.tree-path li').allTextContents(), list));
const rowCount = (count) => eventually(async () => assert.equal(await page.getAttribute('.tree-table', 'aria-rowcount'), String(count + 1)));
const count = (text) => eventually(async () => assert.equal(plain(await page.textContent('.tree-search .table-count')), text));
const named = async (trace, thread, name, which = 0) => (await tree(trace, thread, `?q=${encodeURIComponent(name)}`)).rows[which].node;
const key = async (name) => {
    await page.keyboard.press(name);
    await settled(page);
};

test('the thread with most calls comes first; a lone call leads on to what is in it', async () => {
    await open(traces.model);
    const picker = page.getByRole('combobox', { name: 'Thread' });
    assert.equal(await picker.inputValue(), threads[0].label);
    await count(`${threads[0].nodes - 1} calls`.replace(/(\d)(\d{3}) /, '$1,$2 '));
    const [step] = (await tree(traces.model, 0, '?depth=1')).rows;
    const { rows } = await tree(traces.model, 0, `?node=${step.node}&depth=1`);
    await shown([step.name, ...rows.map(({ name }) => name)]);
    await picker.focus();
    await picker.press('ArrowDown');
    await picker.press('ArrowDown');
    await picker.press('Enter');
    await addressed(page, 'thread=1');
    await shown((await tree(traces.model, 1, '?depth=1')).rows.map(({ name }) => name));
    await eventually(async () => assert.equal(await page.getByRole('combobox', { name: 'Thread' }).inputValue(), `Thread ${threads[1].tid}`));
});

test('branches are asked for when they are unfolded, once', async () => {
    const asked = [];
    const note = (request) => /\/tree\/0/.test(request.url()) && asked.push(new URL(request.url()).searchParams.get('node'));
    await open(traces.model);
    page.on('request', note);
    await row('nn.Module: Model_0').focus();
    await key('ArrowRight');
    await eventually(async () => assert.ok((await names()).includes('nn.Module: Encoder_0')));
    await key('ArrowLeft');
    await key('ArrowRight');
    await eventually(async () => assert.ok((await names()).includes('nn.Module: Head_0')));
    page.off('request', note);
    assert.deepEqual(asked, [String(await named(traces.model, 0, 'nn.Module: Model_0'))]);
    assert.equal(await page.getAttribute('tr:has([data-tip="nn.Module: Encoder_0"])', 'aria-level'), '3');
    await key('ArrowRight');
    await eventually(async () => assert.equal(await focused(), 'nn.Module: Encoder_0'));
    await key('ArrowLeft');
    await eventually(async () => assert.equal(await focused(), 'nn.Module: Model_0'));
});

test('a long branch comes in parts', async () => {
    await open(traces.model);
    await row('aten::loop').focus();
    await key('ArrowRight');
    const first = 3;
    await rowCount(first + 500 + 1);
    await key('End');
    await eventually(async () => assert.equal(await focused(), `${LONG_BRANCH - 500} more calls`));
    await key('Enter');
    await rowCount(first + 1000 + 1);
    await key('End');
    await key('Enter');
    await rowCount(first + LONG_BRANCH);
    await key('End');
    await eventually(async () => assert.equal(await focused(), 'aten::last_of_all'));
});

test('a row: start, duration, own and device time; opened, its call stack and what it is', async () => {
    const node = await named(traces.model, 0, 'aten::softmax');
    const { path: above } = await tree(traces.model, 0, `?node=${node}&limit=1`);
    const parent = above[above.length - 2];
    const [call] = (await tree(traces.model, 0, `?node=${parent.node}&depth=1`)).rows;
    await open(traces.model, `?node=${node}`);
    await marked('aten::softmax');
    await crumbs(above.slice(1).map(({ name }) => name));
    const cells = await page.locator('tr.marked').evaluate((tr) => [...tr.children].map((cell) => cell.textContent.trim()));
    const units = await page.$$eval('.tree-table thead .unit', (list) => list.map((item) => item.textContent));
    [call.start_ns, call.duration_ns, call.host_self_ns, call.device_total_ns, call.device_self_ns].forEach((ns, index) => sameTime(`${cells[index + 1]} ${units[index]}`, ns, `column ${index + 1}`));
    await eventually(async () => {
        const text = plain(await page.textContent('.detail'));
        assert.match(text, /KindOperator/);
        assert.deepEqual(await page.locator('.detail .frame-name').allTextContents(), ['forward', 'train_step', '<module>']);
    });
    await page.click('.tree-path button:has-text("Head_0")');
    await addressed(page, `node=${parent.node}`);
    await marked('nn.Module: Head_0');
});

test('a call far behind opens from its address', async () => {
    const node = await named(traces.model, 0, 'aten::last_of_all');
    await open(traces.model, `?node=${node}`);
    await marked('aten::last_of_all');
    await eventually(async () => {
        const [line, box] = [await page.locator('tr.marked').boundingBox(), await page.locator('.table-scroll').boundingBox()];
        assert.ok(line && box && line.y >= box.y && line.y + line.height <= box.y + box.height, 'it is in sight');
    });
    await eventually(async () => assert.match(plain(await page.textContent('.detail .full-name')), /aten::last_of_all/));
    await page.click('.row-toggle[data-tip="aten::last_of_all"]');
    await eventually(async () => assert.equal(await page.locator('.detail').count(), 0));
});

test('forward leads to backward and back, over threads', async () => {
    const forward = await named(traces.model, 0, 'aten::linear');
    await open(traces.model, `?node=${forward}`);
    await page.click('.partner a');
    await addressed(page, 'thread=1');
    await marked('LinearBackward0');
    await eventually(async () => assert.match(plain(await page.textContent('.partner')), /^Its forward call aten::linear$/));
    await page.click('.partner a');
    await addressed(page, `node=${forward}`);
    await marked('aten::linear');
    await page.goBack();
    await marked('LinearBackward0');
    // A partner on the same thread.
    const near = await named(traces.gpu, 0, 'aten::conv2d');
    await open(traces.gpu, `?node=${near}`);
    await page.click('.partner a');
    await marked('autograd::engine::evaluate_function: ConvolutionBackward0');
    await page.locator('.partner a:has-text("aten::conv2d")').click();
    await addressed(page, `node=${near}`);
    await marked('aten::conv2d');
});

test('search: the first match is shown, the keys go on and back, patterns too', async () => {
    const found = await tree(traces.model, 0, '?q=aten::linear');
    await open(traces.model);
    await page.fill('.search', 'aten::linear');
    await addressed(page, `node=${found.rows[0].node}`);
    await count(`1 of ${found.total} matches`);
    await marked('aten::linear');
    await page.press('.search', 'Enter');
    await addressed(page, `node=${found.rows[1].node}`);
    await count(`2 of ${found.total} matches`);
    await page.press('.search', 'Shift+Enter');
    await page.press('.search', 'Shift+Enter');
    await addressed(page, `node=${found.rows[found.total - 1].node}`);
    await count(`${found.total} of ${found.total} matches`);
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('type')), 'search', 'the keyboard stays'));
    await page.click('button:has-text("Next")');
    await count(`1 of ${found.total} matches`);
    // More than are walked through.
    await page.fill('.search', '/^aten::item_/');
    const many = await tree(traces.model, 0, `?q=${encodeURIComponent('/^aten::item_/')}`);
    await count(`1 of ${many.total.toLocaleString('en-US')} matches, the first ${many.rows.length} of them one by one`);
    await page.fill('.search', 'no such call');
    await count('0 matches');
    assert.ok(await page.isDisabled('button:has-text("Next")'));
    await page.fill('.search', '/(/');
    await eventually(async () => assert.ok(await page.locator('.table-note').isVisible()));
    await page.press('.search', 'Escape');
    await page.waitForFunction(() => !location.hash.includes('q='));
    await eventually(async () => assert.ok(await page.locator('.table-note').isHidden()));
});

test('the search and its match come back from the URL', async () => {
    const found = await tree(traces.model, 0, '?q=aten::linear');
    await open(traces.model, `?q=aten%3A%3Alinear&node=${found.rows[2].node}`);
    await count(`3 of ${found.total} matches`);
    await marked('aten::linear');
    await eventually(async () => assert.equal(await page.inputValue('.search'), 'aten::linear'));
});

test('an operator leads to its calls, and a call to all of its name', async () => {
    await visit(page, server.url, `#/traces/${traces.gpu.id}/operators?q=aten%3A%3Asoftmax`);
    await page.click('.row-toggle[data-tip="aten::softmax"]');
    await page.click('.detail a:has-text("Show in call tree")');
    await addressed(page, 'calls?q=aten%3A%3Asoftmax');
    await marked('aten::softmax');
    await page.click('tr.marked .row-toggle');
    await page.click('.detail a:has-text("All calls of this name")');
    await addressed(page, 'operators?q=aten%3A%3Asoftmax');
});

test('an address of no call says so, and a table of kernels what to record', async () => {
    await open(traces.model, '?node=99999');
    await eventually(async () => assert.match(await page.textContent('.table-note') ?? '', /99999/));
    assert.ok((await names()).length > 0, 'the tree is there');
    await open(traces.table);
    await eventually(async () => assert.match(await page.textContent('.empty') ?? '', /ProfilerActivity\.CPU/));
    assert.equal(await page.locator('#views a:has-text("Overview")').count(), 0);
});

// The call that is not there is asked for on purpose, and so is the pattern that does not compile.
test('nothing complained', () => assert.deepEqual(page.complaints.filter((text) => !/status of 40[04]/.test(text)), []));
