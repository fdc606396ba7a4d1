/** Every choice is in the URL, the way back works, and all of it by keyboard. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stage, visit, fixture, put, get, ask, column, settled, addressed, eventually, clipboard } from './support.mjs';

const { server, page } = await stage();
const gpu = await put(server.url, 'gpu', fixture('cuda_training'));
await put(server.url, 'spans', fixture('two_spans'));
await put(server.url, 'spans', fixture('two_spans', 'worker0.1700000060000.pt.trace.json.gz'));
await put(server.url, 'cpu', fixture('cpu_only', 'worker0.1700000000000.pt.trace.json'));

const open = (hash) => visit(page, server.url, hash);
/** The address is exactly this, and shown. @param {string} hash */
const at = async (hash) => {
    await page.waitForFunction((wanted) => location.hash === wanted, hash);
    await settled(page);
};
const rowCount = async (total) => eventually(async () => assert.equal(await page.getAttribute('.data-table', 'aria-rowcount'), String(total + 1)));
const focused = (attribute) => page.evaluate((name) => document.activeElement?.getAttribute(name), attribute);

test('search, plain and as a pattern', async () => {
    await open(`#/traces/${gpu.id}/operators`);
    const all = await get(server.url, `traces/${gpu.id}/operators?limit=0`);
    const word = all.rows[0].name.slice(-6);
    await page.keyboard.press('/');
    await eventually(async () => assert.equal(await focused('type'), 'search'));
    await page.keyboard.type(word);
    await addressed(page, `q=${encodeURIComponent(word)}`);
    const plain = await get(server.url, `traces/${gpu.id}/operators?q=${encodeURIComponent(word)}`);
    await rowCount(plain.total);
    await page.fill('.search', '/^aten::[a-m]/');
    await addressed(page, '%5Eaten');
    const pattern = await get(server.url, `traces/${gpu.id}/operators?q=${encodeURIComponent('/^aten::[a-m]/')}`);
    await rowCount(pattern.total);
    await page.fill('.search', 'no such operator');
    await addressed(page, 'no+such+operator');
    await eventually(async () => assert.match(await page.textContent('.table-empty') ?? '', /no such operator/));
    await page.press('.search', 'Escape');
    await at(`#/traces/${gpu.id}/operators`);
    await rowCount(all.total);
});

test('a search that is still being typed stays in its view', async () => {
    await open(`#/traces/${gpu.id}/operators`);
    // In one turn of the page: nothing pauses between the last letter and the way out.
    await page.evaluate((id) => {
        const search = document.querySelector('.search');
        search.value = 'conv';
        search.dispatchEvent(new Event('input'));
        location.hash = `#/traces/${id}/kernels`;
    }, gpu.id);
    await at(`#/traces/${gpu.id}/kernels`);
    await eventually(async () => assert.equal(await page.textContent('h1'), 'Kernels'));
    const { total } = await get(server.url, `traces/${gpu.id}/kernels`);
    await rowCount(total);
});

test('choices made while the figures are on their way are kept', async () => {
    let release = () => {};
    const held = new Promise((resolve) => { release = resolve; });
    await page.route('**/operators?*', async (route) => {
        await held;
        await route.continue();
    });
    await page.goto(`${server.url}?held#/traces/${gpu.id}/operators`);
    await page.fill('.search', 'aten');
    await page.waitForFunction(() => location.hash.includes('q=aten'));
    await page.check('input[value="name_shape"]', { force: true });
    await page.waitForFunction(() => location.hash.includes('group=name_shape'));
    assert.equal(await page.inputValue('.search'), 'aten');
    release();
    await settled(page);
    const { total } = await get(server.url, `traces/${gpu.id}/operators?q=aten&group_by=name_shape`);
    await rowCount(total);
    await eventually(async () => assert.ok(await page.isChecked('input[value="name_shape"]')));
    await page.unroute('**/operators?*');
});

test('an older answer never paints over a newer one', async () => {
    await open(`#/traces/${gpu.id}/operators`);
    let release = () => {};
    const held = new Promise((resolve) => { release = resolve; });
    // The first choice is answered last.
    await page.route('**/operators?*sort=calls*', async (route) => {
        await held;
        await route.continue().catch(() => {});
    });
    await page.click('[data-sort="calls"]');
    await page.waitForFunction(() => location.hash.includes('sort=calls'));
    assert.ok(await page.locator('.row-table.busy').count(), 'the old rows are marked as old');
    await page.click('[data-sort="host_self_ns"]');
    await addressed(page, 'sort=host_self_ns');
    release();
    await page.unroute('**/operators?*sort=calls*');
    const data = await get(server.url, `traces/${gpu.id}/operators?sort=host_self_ns&order=desc`);
    const names = () => page.locator('.row-table').first().locator('.row-toggle').evaluateAll((list) => list.map((item) => item.getAttribute('data-tip')));
    await eventually(async () => {
        const shown = await names();
        assert.ok(shown.length > 0);
        assert.deepEqual(shown, data.rows.slice(0, shown.length).map(({ name }) => name));
        assert.equal(await page.getAttribute('th:has([data-sort="host_self_ns"])', 'aria-sort'), 'descending');
    });
});

test('sort, group, top-N and columns come back from the URL', async () => {
    await open(`#/traces/${gpu.id}/operators`);
    await page.click('[data-sort="calls"]');
    await addressed(page, 'sort=calls&order=desc');
    await eventually(async () => {
        const calls = (await column(page, 'Calls')).map((text) => Number(text.replaceAll(',', '')));
        assert.ok(calls.length > 1);
        assert.deepEqual(calls, [...calls].sort((a, b) => b - a));
        assert.equal(await page.getAttribute('th:has([data-sort="calls"])', 'aria-sort'), 'descending');
    });
    await page.click('[data-sort="calls"]');
    await addressed(page, 'order=asc');
    await page.fill('#top-n', '3');
    await page.press('#top-n', 'Enter');
    await addressed(page, 'n=3');
    await eventually(async () => assert.equal(await page.locator('.ranking-list >> nth=0').locator('tbody tr').count(), 4));
    await page.click('.menu-root > button');
    await page.check('.menu-item:has-text("Host max") input');
    await page.keyboard.press('Escape');
    await addressed(page, 'cols=');
    await page.waitForFunction(() => [...document.querySelectorAll('.data-table th')].some((th) => th.textContent.startsWith('Host max')));
    const saved = await page.evaluate(() => location.hash);
    await open('#/');
    await open(saved);
    await eventually(async () => {
        assert.equal(await page.inputValue('#top-n'), '3');
        assert.equal(await page.getAttribute('th:has([data-sort="calls"])', 'aria-sort'), 'ascending');
        assert.ok((await column(page, 'Host max')).length > 0);
    });
    const csv = await page.getAttribute('a:has-text("CSV")', 'href');
    const rows = (await ask(csv)).text.trim().split('\r\n');
    const total = (await get(server.url, `traces/${gpu.id}/operators`)).total;
    assert.equal(rows.length, total + 1);
});

test('back and forward', async () => {
    const checked = (value) => eventually(async () => assert.ok(await page.isChecked(`input[value="${value}"]`)));
    await open('#/');
    await page.click('.run-name:has-text("gpu")');
    await at('#/runs/gpu');
    await page.click('a:has-text("Open overview")');
    await at(`#/traces/${gpu.id}/overview`);
    await page.waitForSelector('.answers');
    await page.click('#views a:has-text("Operators")');
    await at(`#/traces/${gpu.id}/operators`);
    await page.click('label:has-text("Name and input shape")');
    await at(`#/traces/${gpu.id}/operators?group=name_shape`);
    await page.goBack();
    await at(`#/traces/${gpu.id}/operators`);
    await checked('name');
    await page.goBack();
    await at(`#/traces/${gpu.id}/overview`);
    await page.waitForSelector('.answers');
    await page.goForward();
    await at(`#/traces/${gpu.id}/operators`);
    await page.waitForSelector('.pie-board');
    await page.goForward();
    await at(`#/traces/${gpu.id}/operators?group=name_shape`);
    await checked('name_shape');
});

test('pickers: type, arrows, Enter, Escape', async () => {
    const run = await get(server.url, 'runs/spans');
    await open(`#/traces/${run.trace_list[0].id}/operators`);
    const span = page.getByRole('combobox', { name: 'Span' });
    const expanded = (value) => eventually(async () => assert.equal(await span.getAttribute('aria-expanded'), value));
    await span.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expanded('true');
    await page.keyboard.press('Escape');
    await expanded('false');
    await eventually(async () => assert.equal(await span.inputValue(), '1'));
    await page.keyboard.press('ArrowDown');
    await expanded('true');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await at(`#/traces/${run.trace_list[1].id}/operators`);
    await page.waitForFunction(() => document.querySelector('[data-picker="span"]')?.value === '2');
    const runs = page.getByRole('combobox', { name: 'Run' });
    await runs.click();
    await page.keyboard.type('gp');
    await eventually(async () => assert.equal(await page.locator('.picker-list:visible li').count(), 1));
    await page.keyboard.press('Enter');
    await at(`#/traces/${gpu.id}/operators`);
});

test('of more runs than the rail asks for, it tells how many there are, and typing finds the others', async () => {
    const firstOnes = /\/api\/v1\/runs\?(?!.*\bq=)/;
    await page.route(firstOnes, async (route) => {
        const answer = await route.fetch();
        const { runs, ...rest } = await answer.json();
        await route.fulfill({ response: answer, json: { ...rest, runs: runs.filter(({ name }) => name !== 'gpu'), total: 1234 } });
    });
    await open(`#/traces/${gpu.id}/operators`);
    const runs = page.getByRole('combobox', { name: 'Run' });
    assert.equal(await runs.inputValue(), 'gpu');
    assert.equal(await page.locator('.picker-count').first().textContent(), '1,234');
    await open('#/');
    await runs.click();
    await page.keyboard.type('gp');
    await eventually(async () => assert.deepEqual(await page.locator('.picker-list:visible .picker-option').allTextContents(), ['gpu']));
    await page.keyboard.press('Enter');
    await at('#/runs/gpu');
    await page.unroute(firstOnes);
});

test('rows by keyboard: arrows move, Enter opens, links lead on', async () => {
    const row = (value) => eventually(async () => assert.equal(await focused('data-row'), value));
    const expanded = (value) => eventually(async () => assert.equal(await page.getAttribute('[data-row="2"]', 'aria-expanded'), value));
    await open(`#/traces/${gpu.id}/operators`);
    await page.focus('.row-toggle[tabindex="0"]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await row('2');
    await page.keyboard.press('Enter');
    await expanded('true');
    await settled(page);
    await page.keyboard.press('Tab');
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Copy name'));
    await page.focus('[data-row="2"]');
    await page.keyboard.press('ArrowLeft');
    await expanded('false');
    await page.keyboard.press('End');
    const { total } = await get(server.url, `traces/${gpu.id}/operators`);
    await row(String(total - 1));
});

test('the skip link, a visible focus, and the link to copy', async () => {
    await open(`#/traces/${gpu.id}/overview`);
    await page.keyboard.press('Tab');
    await eventually(async () => {
        assert.equal(await focused('id'), 'skip');
        const box = await page.locator('#skip').boundingBox();
        assert.ok(box && box.y >= 0, 'the skip link shows when focused');
    });
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await focused('id'), 'content'));
    await page.focus('#copy-link');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await clipboard(page), page.url()));
    await page.keyboard.press('Tab');
    await eventually(async () => assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle), 'none'));
});

test('menus: Escape and leaving close them, a click on their own ground does not', async () => {
    for (const view of ['operators', 'timeline']) {
        await open(`#/traces/${gpu.id}/${view}`);
        const button = page.locator('.menu-root > button').first();
        const list = page.locator('.menu-root > .menu').first();
        const shown = async (wanted) => {
            assert.equal(await list.isVisible(), wanted, `${view}: the list`);
            assert.equal(await button.getAttribute('aria-expanded'), String(wanted), `${view}: what is said of it`);
        };
        const inside = () => list.evaluate((root) => root.contains(document.activeElement));
        await shown(false);
        await button.click();
        await shown(true);
        await list.click({ position: { x: 2, y: 2 } });
        await shown(true);
        const choice = list.locator('input').last();
        await choice.click();
        await shown(true);
        assert.equal(await inside(), true, `${view}: the keyboard is in the list`);
        await page.keyboard.press('Escape');
        await shown(false);
        assert.equal(await button.evaluate((root) => root === document.activeElement), true, `${view}: back at its button`);
        await page.keyboard.press('Enter');
        await shown(true);
        await page.keyboard.press('Shift+Tab');
        if (await inside() || await button.evaluate((root) => root === document.activeElement)) await page.keyboard.press('Shift+Tab');
        await shown(false);
        await button.click();
        await page.click('h1');
        await shown(false);
    }
});

test('nothing complained', () => assert.deepEqual(page.complaints, []));
