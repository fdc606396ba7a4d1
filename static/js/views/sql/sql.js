/** SQL over the tables of a trace: a statement, its rows, the tables it may read, and these as a file. */

import { h, fill } from '../../lib/dom.js';
import { plainTable } from '../../table/detail_parts.js';
import { setParams } from '../../app/router.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const FIRST = 'SELECT name, calls, total_ns\nFROM kernels\nORDER BY total_ns DESC\nLIMIT 20';
/** In a file; the page shows the first thousand. */
const ROWS_MAX = 100000;

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const path = `traces/${encodeURIComponent(route.id)}`;
    /** @type {SqlTables} */
    const { tables } = await api.call(`${path}/sql`, { signal });
    const shown = h('div', { 'aria-live': 'polite' });
    const box = /** @type {HTMLTextAreaElement} */ (h('textarea', {
        class: 'input sql-text', rows: 6, spellcheck: 'false', 'aria-label': 'Statement', maxlength: 16384,
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
        },
    }));
    const csv = h('a', { class: 'button small', download: '' }, 'CSV');
    /** Only the newest answer is shown. */
    let asked = 0;

    function run() {
        setParams({ sql: box.value.trim() || null });
    }

    /** @param {URLSearchParams} params */
    async function update(params) {
        const statement = params.get('sql') ?? '';
        box.value = statement || FIRST;
        csv.hidden = statement === '';
        if (!statement) {
            fill(shown);
            return;
        }
        const mine = ++asked;
        csv.setAttribute('href', api.apiUrl(`${path}/sql`, { q: statement, format: 'csv', limit: ROWS_MAX }));
        try {
            const answer = await api.call(`${path}/sql`, { query: { q: statement }, signal });
            if (mine === asked) fill(shown, rowsTable(answer));
        } catch (error) {
            if (api.isAbort(error)) return;
            if (mine === asked) fill(shown, h('p', { class: 'quiet', role: 'alert' }, error instanceof Error ? error.message : String(error)));
        }
    }

    fill(root,
        h('div', { class: 'view-head' }, h('h1', null, 'SQL'),
            h('a', { class: 'button small', href: api.apiUrl(`${path}/results.db`), download: '' }, 'SQLite file')),
        h('div', null, box, h('div', { class: 'actions sql-actions' }, h('button', { class: 'button primary', type: 'button', onclick: run }, 'Run'), csv,
            h('span', { class: 'quiet' }, 'Ctrl+Enter runs it. One SELECT, at most 3 s; times are in nanoseconds.'))),
        shown, tablesList(tables));
    return { ready: update(route.params), update: (next) => update(next.params) };
}

/** @param {SqlRows} answer */
function rowsTable({ columns, rows, truncated }) {
    const texts = columns.map((_, at) => rows.some((row) => typeof row[at] === 'string'));
    const head = texts.indexOf(false);
    const said = `${fmt.plural(rows.length, 'row')}${truncated ? ', and there are more' : ''}`;
    return h('section', { class: 'section sql-rows' }, h('p', { class: 'quiet' }, said),
        rows.length ? plainTable('Rows of the statement', columns, rows.map((row) => row.map(cellText)), head < 0 ? columns.length : head) : null);
}

/** @param {string | number | null} value */
function cellText(value) {
    if (value === null) return '–';
    return typeof value === 'number' ? String(value) : value;
}

/** @param {SqlTables['tables']} tables */
function tablesList(tables) {
    return h('section', { class: 'section' }, h('h2', null, 'Tables'),
        h('dl', { class: 'sql-tables' }, tables.map(({ name, rows, columns }) => [
            h('dt', null, h('code', null, name)),
            h('dd', null, rows, ' ', h('span', { class: 'quiet' }, columns.join(', ')))])));
}
