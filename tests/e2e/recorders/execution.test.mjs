/** Tensors of a call from an execution trace of its run: the panel of the timeline names them, and leads to who wrote and who reads them. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer, startBrowser, newPage, visit, put, eventually, axeFaults } from '../support.mjs';

const FIXTURES = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../fixtures');
const MAKE = `
import sys
sys.path.insert(0, sys.argv[1])
import recordings
open(sys.argv[2], 'wb').write(recordings.execution_kineto())
open(sys.argv[3], 'wb').write(recordings.execution_trace())
`;
let server;
let chrome;
let page;
let folder;
let kineto;
let execution;

before(async () => {
    server = await startServer();
    chrome = await startBrowser();
    page = await newPage(chrome.browser);
    folder = await mkdtemp(path.join(tmpdir(), 'kinetoscope-execution-'));
    const files = ['trace.json', 'execution.json'].map((name) => path.join(folder, name));
    execFileSync('python3', ['-c', MAKE, FIXTURES, ...files]);
    kineto = await put(server.url, 'tensors', files[0]);
    execution = await put(server.url, 'tensors', files[1]);
});
after(async () => {
    await chrome?.stop();
    await server?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
});

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
