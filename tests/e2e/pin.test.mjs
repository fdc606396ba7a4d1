/** Pinning a run: a switch in the list and on the run's page, by pointer and by keyboard; it outlives a reload. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, fixture, put, get, eventually, axeFaults } from './support.mjs';

const { server, page } = await stage();
for (const run of ['first', 'second']) await put(server.url, run, fixture('cuda_training'));

const pinned = async () => Object.fromEntries((await get(server.url, 'runs')).runs.map((run) => [run.name, run.pinned]));
const button = (run) => page.getByRole('button', { name: `Pin run ${run}` });
/** What the switch shows and what the server says. */
const is = (run, value) => eventually(async () => {
    assert.equal(await button(run).getAttribute('aria-pressed'), String(value));
    assert.equal((await pinned())[run], value);
});

test('in the list, by pointer and by keyboard', async () => {
    await visit(page, server.url, '#/');
    await is('first', false);
    await button('first').click();
    await is('first', true);
    await is('second', false);
    await button('second').focus();
    await page.keyboard.press('Enter');
    await is('second', true);
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Pin run second', 'the focus stays');
    await page.keyboard.press('Space');
    await is('second', false);
    await visit(page, server.url, '#/');
    await is('first', true);
    assert.deepEqual(await axeFaults(page), []);
});

test('on the page of the run', async () => {
    await visit(page, server.url, '#/runs/first');
    const words = page.getByRole('button', { name: 'Pin run', exact: true });
    assert.equal(await words.getAttribute('aria-pressed'), 'true');
    await words.click();
    await eventually(async () => {
        assert.equal(await words.getAttribute('aria-pressed'), 'false');
        assert.equal((await pinned()).first, false);
    });
});

test('what the server refuses changes nothing', async () => {
    await visit(page, server.url, '#/');
    await page.route('**/api/v1/runs/first', (route) => route.fulfill({ status: 403, contentType: 'application/problem+json', body: '{"title": "Not allowed", "status": 403, "detail": "no pins today"}' }));
    await button('first').click();
    await eventually(async () => assert.match(await page.textContent('body') ?? '', /no pins today/));
    await is('first', false);
    await page.unroute('**/api/v1/runs/first');
});

test('nothing complained', () => assert.deepEqual(page.complaints.filter((text) => !text.includes('403')), []));
