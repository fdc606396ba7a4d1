/** From an empty page to a read trace, by the page alone. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, fixture, get, axeFaults, settled, eventually, clipboard } from './support.mjs';

const { server, page } = await stage();

/** To choose. @param {string} name @param {string | Buffer} content */
const fileOf = (name, content) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });

test('an empty catalogue says how to begin', async () => {
    await visit(page, server.url, '#/');
    const line = await page.textContent('.command code');
    assert.match(line ?? '', new RegExp(`curl -T .* ${server.url}api/v1/runs/`));
    await eventually(async () => assert.deepEqual(await axeFaults(page), []));
    await page.click('.command button');
    await eventually(async () => assert.equal(await clipboard(page), line));
});

test('a chosen file is named, sent, followed and opened', async () => {
    await page.setInputFiles('#file-input', fixture('cuda_training'));
    await eventually(async () => assert.equal(await page.inputValue('#run-name'), 'worker0'));
    await eventually(async () => assert.deepEqual(await axeFaults(page), []));
    await page.fill('#run-name', 'by page/one');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.tray-item.done a');
    await eventually(async () => assert.equal(await page.textContent('.run-name'), 'by page/one'));
    await page.click('.tray-item.done a');
    await page.waitForSelector('.answers');
    await eventually(async () => assert.match(await page.textContent('#path') ?? '', /by page\/one/));
    const { runs } = await get(server.url, 'runs');
    assert.equal(runs[0].traces, 1);
});

test('several files dropped on any view go to one run', async () => {
    const files = ['node0_0.1700000000000.pt.trace.json.gz', 'node0_1.1700000000000.pt.trace.json.gz'];
    await visit(page, server.url, '#/');
    await page.waitForSelector('.run-name');
    const transfer = await page.evaluateHandle(async (names) => {
        const data = new DataTransfer();
        names.forEach((name) => data.items.add(new File([`{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"${name}","pid":1,"tid":1,"ts":1,"dur":2}]}`], name)));
        return data;
    }, files.map((name) => name.replace('.gz', '')));
    await page.dispatchEvent('main', 'dragenter', { dataTransfer: transfer });
    await page.waitForSelector('.drop-veil', { state: 'visible' });
    await page.dispatchEvent('main', 'drop', { dataTransfer: transfer });
    await page.waitForSelector('.drop-veil', { state: 'hidden' });
    await page.fill('#run-name', 'two');
    await page.click('dialog button.primary');
    await page.waitForFunction(() => [...document.querySelectorAll('.tray-item.done .file-name')].filter((item) => item.textContent.startsWith('node0_')).length === 2);
    const run = await get(server.url, 'runs/two');
    assert.equal(run.traces, 2);
});

test('what is no trace says so, with the place; other bytes under a taken name can replace', async () => {
    const bad = fileOf('bad.pt.trace.json', 'this is not a trace');
    const taken = fileOf('node0_0.1700000000000.pt.trace.json', '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"other","pid":1,"tid":1,"ts":1,"dur":5}]}');
    page.complaints.length = 0;
    await page.setInputFiles('#file-input', [bad, taken]);
    await page.fill('#run-name', 'two');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelectorAll('.tray-item.failed').length === 2);
    await eventually(async () => assert.ok((await page.textContent('.tray-item.failed [role="alert"]') ?? '').length > 10));
    await page.click('.tray-item.failed button:has-text("Replace it")');
    await page.waitForFunction(() => document.querySelectorAll('.tray-item.failed').length === 1);
    await page.waitForFunction(() => [...document.querySelectorAll('.tray-item.done .file-name')].filter((item) => item.textContent.startsWith('node0_0')).length === 2);
    // The refusals themselves are the only complaints.
    assert.deepEqual(page.complaints.filter((text) => !/status of 4\d\d/.test(text)), []);
    page.complaints.length = 0;
});

test('note and tags are kept, and a run can be deleted', async () => {
    await visit(page, server.url, '#/runs/two');
    await page.click('button:has-text("Edit note and tags")');
    await page.fill('#edit-tags', 'nightly, two gpus');
    await page.fill('#edit-note', 'first try');
    await page.click('button:has-text("Save")');
    await page.waitForSelector('.tag:has-text("two gpus")');
    await settled(page);
    const run = await get(server.url, 'runs/two');
    assert.deepEqual(run.tags, ['nightly', 'two gpus']);
    assert.equal(run.note, 'first try');
    await page.click('button:has-text("Delete run")');
    await page.waitForSelector('dialog');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    assert.equal((await get(server.url, 'runs')).total, 2);
    await page.click('button:has-text("Delete run")');
    await page.click('dialog button.danger');
    await page.waitForFunction(() => location.hash === '#/');
    await settled(page);
    await eventually(async () => assert.equal(await page.locator('.run-name').count(), 1));
    assert.equal((await get(server.url, 'runs')).total, 1);
    assert.deepEqual(page.complaints, []);
});

/** A tar of texts. @param {Record<string, string>} files */
function tarOf(files) {
    const blocks = [];
    for (const [name, text] of Object.entries(files)) {
        const header = Buffer.alloc(512);
        header.write(name, 0);
        header.write(text.length.toString(8).padStart(11, '0'), 124);
        header.write('        0', 148);
        header.write('ustar\u000000', 257);
        header.write(header.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0') + '\0', 148);
        blocks.push(header, Buffer.alloc(Math.ceil(text.length / 512) * 512, 0).fill(text, 0, text.length));
    }
    return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

test('an archive gives its traces, and says what of it could not be read', async () => {
    const trace = '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":5}]}';
    const file = fileOf('ranks.tar', tarOf({ 'rank_0/t.json': trace, 'rank_1/t.json': trace, 'notes.txt': 'no trace' }));
    await visit(page, server.url, '#/');
    for (const time of ['first', 'again']) {
        await page.setInputFiles('#file-input', file);
        assert.equal(await page.inputValue('#run-name'), 'ranks', time);
        await page.keyboard.press('Enter');
        await page.waitForSelector('.tray-item.done .tray-errors');
        assert.match(await page.textContent('.tray-item.done:has(.tray-errors) a') ?? '', /2.traces/);
        await page.click('.tray-errors summary');
        assert.match(await page.textContent('.tray-errors li') ?? '', /^notes\.txt/);
        await eventually(async () => assert.deepEqual(await axeFaults(page), []));
        await page.click('.tray-item:has(.tray-errors) .icon-button');
    }
    assert.deepEqual((await get(server.url, 'runs/ranks')).traces, 2);
});

test('the function whose calls are the cycles goes with the file', async () => {
    const asked = [];
    page.on('request', (request) => request.method() === 'PUT' && asked.push(request.url()));
    await visit(page, server.url, '#/');
    await page.setInputFiles('#file-input', fixture('cpu_only', 'worker0.1700000000000.pt.trace.json'));
    await page.click('.upload-more summary');
    await page.fill('#run-marker', 'aten::linear');
    await page.fill('#run-name', 'marked');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.tray-item.done a');
    await eventually(() => assert.equal(new URL(asked[0]).searchParams.get('marker'), 'aten::linear'));
});
