/** Tensors of a call from an execution trace of its run: the panel of the timeline names them, and leads to who wrote and who reads them. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, recording, putText, eventually, axeFaults } from '../support.mjs';

const { server, page } = await stage();
const kineto = await putText(server.url, 'tensors', 'trace.json', recording('recordings.execution_kineto()'));
const execution = await putText(server.url, 'tensors', 'execution.json', recording('recordings.execution_trace()'));

test('a call names its tensors, and a link leads to who wrote one', async () => {
    await visit(page, server.url, `#/traces/${kineto.id}/timeline?event=5`);
    await eventually(async () => assert.match(await page.textContent('.tl-tensors'), /Tensors it reads.*float \[64\].*tensor 54.*Written by aten::view.*Written by aten::relu_.*Tensors it gives.*float \[128\].*Read by aten::sum "all".*execution\.json, node 8/));
    assert.deepEqual(await axeFaults(page), []);
    await page.click('.tl-tensors button:has-text("aten::relu_")');
    await eventually(async () => assert.equal(await page.textContent('.tl-name'), 'aten::relu_'));
    await eventually(async () => assert.match(await page.textContent('.tl-tensors'), /Written by aten::linear.*Read by aten::view, aten::cat/));
});

test('a call without a number asks nothing', async () => {
    await visit(page, server.url, `#/traces/${kineto.id}/timeline?event=8`);
    await eventually(async () => assert.equal(await page.textContent('.tl-name'), 'aten::zeros'));
    assert.equal(await page.$('.tl-tensors'), null);
});

test('the execution trace leads to the timelines of its run', async () => {
    await visit(page, server.url, `#/traces/${execution.id}/execution`);
    await eventually(async () => assert.equal(await page.textContent('h1'), 'Execution trace'));
    assert.deepEqual(await axeFaults(page), []);
    await page.click('main a:has-text("trace")');
    await eventually(async () => assert.match(page.url(), new RegExp(`traces/${kineto.id}/timeline`)));
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
