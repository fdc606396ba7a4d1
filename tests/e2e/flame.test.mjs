/** Flame graph: what the bars say equals the API, zoom and search, from a kernel to its line, links to the source. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, get, settled, addressed, eventually, axeFaults, putText } from './support.mjs';
import { readFrame } from '../../static/js/lib/frames.js';
import { setSource, sourceHref } from '../../static/js/lib/source.js';

const span = (cat, name, tid, ts, dur, args = {}) => ({ ph: 'X', cat, name, pid: 1, tid, ts, dur, args });
const trace = JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: 'GPU', numSms: 100 }], traceEvents: [
    span('user_annotation', 'ProfilerStep#1', 1, 900, 2000),
    span('python_function', 'train.py(9): main', 1, 1000, 900),
    span('python_function', 'torch/nn/functional.py(7): linear', 1, 1005, 400),
    span('python_function', 'model/net.py(4): forward', 1, 1010, 300),
    span('python_function', '<built-in function linear>', 1, 1015, 250),
    span('cpu_op', 'aten::linear', 1, 1020, 220, { 'External id': 1 }),
    span('cuda_runtime', 'cudaLaunchKernel', 1, 1100, 10, { correlation: 7, 'External id': 1 }),
    span('kernel', 'gemm', 7, 1150, 60, { correlation: 7, device: 0, stream: 7, 'External id': 1 }),
] });

const { server, page } = await stage();
const { id } = await putText(server.url, 'flame', 'w.1700000000000.pt.trace.json', trace);
const { id: slow } = await putText(server.url, 'flame', 'slow.1700000000000.pt.trace.json', trace.replace('"dur":60', '"dur":120'));

const open = (view, query = '') => visit(page, server.url, `#/traces/${id}/${view}${query}`);
const plain = (text) => text?.replaceAll('\u00a0', ' ').trim();
const said = () => page.getAttribute('canvas.flame', 'aria-valuetext');

test('the names of frames, and whose they are as the server has it', async () => {
    assert.deepEqual(readFrame('a/b/net.py(34): forward'), { func: 'forward', place: 'b/net.py:34', path: 'a/b/net.py', line: 34, library: false });
    assert.equal(readFrame('<built-in method mm of type object at 0x7f>')?.func, 'mm');
    assert.equal(readFrame('void k<int>(int)'), null);
    const { nodes } = await get(server.url, `traces/${id}/flame-graph?weight=device`);
    for (const node of nodes.filter(({ kind }) => kind === 'python')) assert.equal(readFrame(node.name)?.library, node.library, node.name);
});

test('links to the source: only http and https, and nothing escapes its place', () => {
    setSource('https://git/x/{path}#L{line}');
    assert.equal(sourceHref('../a b/"net.py', 4), 'https://git/x/a%20b/%22net.py#L4');
    setSource('javascript:alert(1)//{path}');
    assert.equal(sourceHref('net.py', 4), '');
});

test('keys walk and zoom; the address holds it; libraries are folded until they are asked for', async () => {
    await open('flame');
    await page.focus('canvas.flame');
    for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    await eventually(async () => assert.match(plain(await said()) ?? '', /^main {2}train\.py:9: 60\.00 µs, 100\.0%, self 0 ns$/));
    await page.keyboard.press('ArrowDown');
    await eventually(async () => assert.match(plain(await said()) ?? '', /^forward {2}model\/net\.py:4/));
    await page.keyboard.press('Enter');
    await addressed(page, 'under=');
    await settled(page);
    await eventually(async () => assert.deepEqual(await page.locator('.tree-path li').allTextContents(), ['All', 'main  train.py:9', 'forward  model/net.py:4']));
    await page.keyboard.press('Escape');
    await settled(page);
    await page.check('text=Library frames');
    await addressed(page, 'libraries=shown');
    await settled(page);
    assert.deepEqual(await axeFaults(page), []);
});

test('another trace is chosen to compare with', async () => {
    await open('flame', '?by=operator');
    const box = page.locator('.flame-against input');
    await box.click();
    await box.fill('flame, slow');
    await box.press('Enter');
    await addressed(page, `against=${slow}`);
    const { nodes } = await get(server.url, `traces/${id}/flame-graph?by=operator&weight=device&against=${slow}`);
    assert.equal(nodes[0].against_total_ns, 2 * nodes[0].total_ns);
    await eventually(async () => assert.equal(await page.getAttribute('.flame-against a', 'href'), `#/diff?base=${slow}&candidate=${id}`));
    assert.deepEqual(await axeFaults(page), []);
    await page.click('.flame-against button:has-text("Stop comparing")');
    await eventually(async () => assert.doesNotMatch(page.url(), /against=/));
});

test('a search says how much of the time it is', async () => {
    await open('flame', '?q=gemm');
    await eventually(async () => assert.equal(plain(await page.textContent('[role=status].quiet')), '1 match, 100.0% of the time'));
});

test('one click from a kernel to its line', async () => {
    await open('kernels');
    await page.click('.row-toggle[data-tip="gemm"]');
    await eventually(async () => {
        assert.match(plain(await page.textContent('.stack-head')) ?? '', /^aten::linear/);
        assert.deepEqual(await page.locator('.stacks .frames li').allTextContents(), ['linear model/net.py:4', 'forward model/net.py:4', '1 library frame: torch', 'main train.py:9'].map((text) => text.replace('1 library', '1\u00a0library')));
    });
    await page.click('.frames-folded button');
    await eventually(async () => assert.equal(await page.locator('.stacks .frames li').count(), 4));
});
