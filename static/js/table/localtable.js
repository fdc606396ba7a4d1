/** A long table of rows at hand with its tools: search, filters, columns, opened rows. Its whole state is in the URL. */

import { h, fill, announce } from '../lib/dom.js';
import { LocalRows, matcher, shortKey } from './localrows.js';
import { VirtualTable } from './table.js';
import { columnChooser, valueOf } from './columns.js';
import { searchBox } from './rowtable.js';
import { csvText, saveCsv } from '../lib/csv.js';
import { setParams } from '../app/router.js';
import * as fmt from '../lib/fmt.js';

/** @typedef {{param: string, label: string, all: string, options: {value: string, label: string}[], keep: (row: Row, value: string) => boolean}} Filter */

/**
 * @typedef {{
 *   caption: string, noun: [string, string], search: string, columns: Column[], sort: [string, string],
 *   identity: (row: Row) => string, filters?: Filter[],
 *   detail?: (row: Row) => HTMLElement,
 *   csv?: (query: Record<string, string>) => string | null, file?: string, prefix?: string,
 * }} LocalTableSettings
 *     csv: where the server has the rows as a file, null: it has not those; file: what the page itself calls it otherwise; prefix: of its names in the URL, where a view has several tables
 */

/**
 * @param {Row[]} all
 * @param {LocalTableSettings} settings
 */
export function localTable(all, settings) {
    const { columns, filters = [], prefix = '' } = settings;
    const named = (/** @type {string} */ name) => `${prefix}${name}`;
    const get = (/** @type {string} */ name) => params.get(named(name));
    let params = new URLSearchParams();
    let query = '';
    // Opening what the URL names must not write it anew.
    let following = false;
    const rows = new LocalRows(all);
    const keys = new Map(all.map((row) => [row, shortKey(settings.identity(row))]));
    const count = h('p', { class: 'table-count', role: 'status' });
    const note = h('p', { class: 'table-note', hidden: true });
    const search = searchBox(settings.search, note, named('q'));
    const selects = filters.map((filter) => filterBox(filter, named(filter.param)));
    const { file } = settings;
    const csv = file ? h('button', { class: 'button', type: 'button', onclick: () => saveCsv(file, csvText(columns, rows.rows)) }, 'CSV') : h('a', { class: 'button', download: '' }, 'CSV');
    const table = new VirtualTable({
        caption: settings.caption, columns, rows, chosen: null, sort: settings.sort[0], order: settings.sort[1], emptyText: '',
        onSort: (sort, order) => setParams({ [named('sort')]: sort, [named('order')]: order }),
        detail: settings.detail,
        onToggle: () => following || setParams({ [named('row')]: openKeys().join(',') }, { replace: true }),
    });
    const chooser = columnChooser(columns, () => table.shown.map(({ key }) => key),
        (chosen) => setParams({ [named('cols')]: chosen && (chosen.join(',') || 'none') }, { replace: true }));
    const root = h('div', { class: 'row-table' },
        h('div', { class: 'table-tools' }, search.root, selects.map((box) => box.root), count, h('div', { class: 'tools-end' }, chooser, csv)),
        note, h('div', { class: 'table-box' }, table.root));

    /** @returns {string[]} */
    function openKeys() {
        return [...table.open.keys()].map((index) => rows.row(index)).flatMap((row) => (row ? [keys.get(row) ?? ''] : []));
    }

    /** Opens the rows that the URL names and closes the others. @param {boolean} show whether to bring the first into sight */
    function follow(show) {
        const wanted = get('row')?.split(',') ?? [];
        following = true;
        for (const index of [...table.open.keys()]) {
            const row = rows.row(index);
            if (!row || !wanted.includes(keys.get(row) ?? '')) table.toggle(index);
        }
        rows.rows.forEach((row, index) => {
            if (!wanted.includes(keys.get(row) ?? '') || table.open.has(index)) return;
            if (show && table.open.size === 0) table.reveal(index);
            else table.toggle(index);
        });
        following = false;
    }

    /** @returns {boolean} whether the search could be made */
    function select() {
        const q = get('q') ?? '';
        const matches = matcher(q);
        note.hidden = Boolean(matches);
        if (!matches) {
            fill(note, `“${q}” is not a pattern.`);
            return false;
        }
        const [sort, order] = sorting();
        const column = columns.find(({ key }) => key === sort) ?? columns[0];
        const chosen = filters.flatMap((filter) => {
            const value = get(filter.param);
            return value ? [{ filter, value }] : [];
        });
        rows.select((row) => matches(row.name) && chosen.every(({ filter, value }) => filter.keep(row, value)), (row) => valueOf(column, row), order);
        return true;
    }

    /** @returns {[string, string]} */
    function sorting() {
        const sort = get('sort');
        return sort ? [sort, get('order') ?? 'desc'] : settings.sort;
    }

    function paint() {
        const [sort, order] = sorting();
        const filtered = rows.total < all.length;
        const text = filtered ? `${fmt.int(rows.total)} of ${fmt.plural(all.length, ...settings.noun)}` : fmt.plural(rows.total, ...settings.noun);
        fill(count, text);
        if (filtered) announce(text);
        table.set({ sort, order, chosen: chosenColumns(), emptyText: filtered ? 'No results. Clear the search or filters.' : `No ${settings.noun[1]}.` });
        table.reset(all);
        const href = settings.csv?.({ ...Object.fromEntries(['q', ...filters.map(({ param }) => param)].map((name) => [name, get(name) ?? ''])), sort, order });
        csv.hidden = !href && !file;
        if (csv instanceof HTMLAnchorElement) csv.href = href ?? '';
    }

    const chosenColumns = () => get('cols')?.split(',') ?? null;

    return {
        root,
        /** @param {URLSearchParams} next */
        update(next) {
            const before = get('cols');
            const first = query === '';
            params = next;
            search.show(get('q') ?? '');
            selects.forEach((box) => box.show(get(box.param) ?? ''));
            const wanted = JSON.stringify(['q', 'sort', 'order', ...filters.map(({ param }) => param)].map(get));
            if (wanted !== query && select()) {
                query = wanted;
                paint();
            } else if (before !== get('cols')) {
                table.set({ chosen: chosenColumns() });
                table.layout();
            }
            follow(first);
        },
        /** The rows that are open. @returns {Row[]} */
        opened: () => [...table.open.keys()].flatMap((index) => rows.row(index) ?? []),
        /** Opens the row of this identity, even one that the search hides, and puts the keyboard there. @param {string} identity */
        open(identity) {
            const find = () => rows.rows.findIndex((row) => settings.identity(row) === identity);
            setParams({ [named('row')]: shortKey(identity), ...(find() < 0 ? Object.fromEntries(['q', ...filters.map(({ param }) => param)].map((name) => [named(name), null])) : {}) });
            table.focusRow(find());
            table.root.scrollIntoView({ block: 'nearest' });
        },
        destroy() {
            search.cancel();
            table.destroy();
        },
    };
}

/** @param {Filter} filter @param {string} name in the URL */
function filterBox({ param, label, all, options }, name) {
    const list = h('select', { class: 'input select', 'aria-label': label, 'data-filter': param, onchange: () => setParams({ [name]: list.value }) },
        h('option', { value: '' }, all), options.map(({ value, label: text }) => h('option', { value }, text)));
    return {
        param,
        root: list,
        /** @param {string} value */
        show(value) {
            list.value = value;
        },
    };
}
