/** A table of a view with its tools: search, grouping, columns, CSV. Its whole state is in the URL. */

import { h, fill, icon, debounce, announce } from '../lib/dom.js';
import { PagedRows } from './source.js';
import { VirtualTable } from './table.js';
import { columnChooser } from './columns.js';
import { setParams } from '../app/router.js';
import { showFailure, skeleton } from '../lib/states.js';
import * as api from '../lib/api.js';
import * as fmt from '../lib/fmt.js';

/**
 * @typedef {{
 *   id?: string, of?: string, view: string, caption: string, noun: (group: string) => [string, string],
 *   groups?: {value: string, label: string}[], search?: string,
 *   columnsFor: (first: RowPage, group: string) => Column[],
 *   defaultSort: (first: RowPage) => [string, string],
 *   sort?: [string, string],
 *   detail?: (row: Row, group: string) => HTMLElement,
 *   href?: (row: Row) => string,
 *   emptyText: (q: string) => string,
 *   onRows?: (first: RowPage) => void,
 *   filters?: {param: string, label: string}[],
 *   prefix?: string, also?: (params: URLSearchParams) => Record<string, string | null>, pageOf?: (answer: any) => RowPage,
 * }} RowTableSettings
 *     id: of the trace; of: what else the view is of, `runs/<run>`; filters: of the URL, which leave out rows; a chip says each and takes it back; prefix: of its names in the URL, where a view has several tables; also: what else of the URL decides which rows;
 *     pageOf: where the rows stand in the answer, if not at its top
 */

/** What of the URL decides which rows are asked for. @param {RowTableSettings} settings @param {URLSearchParams} params */
function queryOf(settings, params) {
    const get = (/** @type {string} */ name) => params.get(`${settings.prefix ?? ''}${name}`);
    return {
        group_by: settings.groups ? (get('group') ?? settings.groups[0].value) : null,
        q: settings.search ? get('q') : null,
        sort: get('sort') ?? settings.sort?.[0] ?? null,
        order: get('order') ?? (get('sort') ? null : settings.sort?.[1]) ?? null,
        ...Object.fromEntries((settings.filters ?? []).map(({ param }) => [param, get(param) || null])),
        ...settings.also?.(params),
    };
}

/** @param {RowTableSettings} settings */
export function rowTable(settings) {
    /** @type {VirtualTable | undefined} */
    let table;
    /** @type {Column[]} */
    let columns = [];
    let query = queryOf(settings, new URLSearchParams());
    let builtFor = '';
    const box = h('div', { class: 'table-box' }, skeleton('rows'));
    const count = h('p', { class: 'table-count', role: 'status' });
    const note = h('p', { class: 'table-note', id: `${settings.view}-note`, hidden: true });
    const named = (/** @type {string} */ name) => `${settings.prefix ?? ''}${name}`;
    const search = settings.search ? searchBox(settings.search, note, named('q'), { [named('open')]: null }) : null;
    const groups = settings.groups ? segmented('Group by', settings.groups, (group) => setParams({ [named('group')]: group, [named('sort')]: null, [named('order')]: null, [named('cols')]: null, [named('open')]: null })) : null;
    const chips = h('span', { class: 'filter-chips' });
    const csv = h('a', { class: 'button', download: '' }, 'CSV');
    const chooser = columnChooser([], () => [], () => {});
    const tools = h('div', { class: 'table-tools' }, search?.root, groups?.root, chips, count, h('div', { class: 'tools-end' }, chooser, csv));
    const root = h('div', { class: 'row-table' }, tools, note, box);

    /** @param {Record<string, any>} wanted @param {AbortSignal} signal @returns {Promise<RowPage>} */
    async function fetchPage(wanted, signal) {
        const answer = await api.call(path, { query: wanted, signal });
        return settings.pageOf ? settings.pageOf(answer) : answer;
    }

    const path = `${settings.of ?? `traces/${settings.id}`}/${settings.view}`;
    const rows = new PagedRows();
    rows.onError = (error) => showFailure(box, error, load);

    async function load() {
        const asked = query;
        root.classList.add('busy');
        try {
            const first = await rows.reload((offset, limit, signal) => fetchPage({ ...asked, offset, limit }, signal));
            if (!first) return;
            note.hidden = true;
            build(first);
            paintCount();
            settings.onRows?.(first);
        } catch (error) {
            // A pattern that does not compile is the user's half-typed word, not a broken view.
            if (error instanceof api.ApiError && error.status === 400 && query.q) {
                fill(note, error.message);
                note.hidden = false;
            } else {
                builtFor = '';
                showFailure(box, error, load);
            }
        } finally {
            // A later load is still on its way.
            if (asked === query) root.classList.remove('busy');
        }
    }

    /** @param {RowPage} first */
    function build(first) {
        const group = query.group_by ?? '';
        columns = settings.columnsFor(first, group);
        const [sort, order] = settings.defaultSort(first);
        const shown = { sort: query.sort ?? sort, order: query.order ?? (query.sort ? 'desc' : order) };
        const kind = columns.map(({ key, label }) => key + label).join();
        if (!table || builtFor !== kind) {
            table?.destroy();
            const { detail } = settings;
            table = new VirtualTable({
                caption: settings.caption, columns, rows, chosen: chosen(), ...shown, emptyText: settings.emptyText(query.q ?? ''),
                onSort: (nextSort, nextOrder) => setParams({ [named('sort')]: nextSort, [named('order')]: nextOrder, [named('open')]: null }),
                onToggle: () => following || setParams({ [named('open')]: numbers().join('.') }, { replace: true }),
                detail: detail && ((row) => detail(row, query.group_by ?? '')),
                href: settings.href,
            });
            builtFor = kind;
            fill(box, table.root);
            tools.querySelector('.menu-root')?.replaceWith(columnChooser(columns, () => table?.shown.map(({ key }) => key) ?? [],
                (keys) => setParams({ [named('cols')]: keys && (keys.join(',') || 'none') }, { replace: true })));
        }
        table.set({ ...shown, chosen: chosen(), emptyText: settings.emptyText(query.q ?? '') });
        table.reset(first.rows);
        openWanted();
    }

    function paintCount() {
        const text = `${fmt.plural(rows.total, ...settings.noun(query.group_by ?? ''))}${query.q ? (rows.total === 1 ? ' matches' : ' match') : ''}`;
        fill(count, text);
        csv.href = api.apiUrl(path, { ...query, format: 'csv', limit: 0 });
        if (query.q) announce(text);
    }

    /** Opened rows by their place in the table, from 1: the rest of the address says which rows those are. */
    const numbers = () => [...table?.open.keys() ?? []].map((index) => index + 1).sort((a, b) => a - b);
    /** Rows are opened or closed as the address says, not by hand. */
    let following = false;

    function openWanted() {
        if (!table || !settings.detail) return;
        const wanted = (params.get(named('open')) ?? '').split('.').filter((text) => /^[1-9]\d{0,6}$/.test(text)).map(Number);
        const now = numbers();
        following = true;
        for (const number of [...now, ...wanted]) if (now.includes(number) !== wanted.includes(number)) table.toggle(number - 1);
        following = false;
    }

    function paintChips() {
        fill(chips, (settings.filters ?? []).flatMap(({ param, label }) => {
            const value = params.get(named(param));
            return value ? [h('button', { class: 'chip', type: 'button', 'aria-label': `Clear the filter ${label}: ${value}`, onclick: () => setParams({ [named(param)]: null, [named('open')]: null }) }, `${label}: ${value}`, icon('close'))] : [];
        }));
    }

    let params = new URLSearchParams();
    const chosen = () => params.get(named('cols'))?.split(',') ?? null;

    return {
        root,
        /** @param {URLSearchParams} next */
        async update(next) {
            const before = params.get(named('cols'));
            params = next;
            const wanted = queryOf(settings, next);
            const changed = !builtFor || JSON.stringify(wanted) !== JSON.stringify(query);
            if (changed) query = wanted;
            search?.show(query.q ?? '');
            paintChips();
            groups?.show(query.group_by ?? '');
            if (changed) await load();
            else if (before !== params.get(named('cols')) && table) {
                table.set({ chosen: chosen() });
                table.layout();
            }
            if (!changed) openWanted();
        },
        destroy() {
            search?.cancel();
            table?.destroy();
            rows.destroy();
        },
    };
}

/** @param {string} label @param {HTMLElement} note @param {string} [param] its name in the URL @param {Record<string, null>} [resets] what of the URL another search ends */
export function searchBox(label, note, param = 'q', resets = {}) {
    const send = debounce((/** @type {string} */ text) => {
        // "/conv" is on its way to "/conv/": wait for the end of the pattern.
        const open = text.startsWith('/') && (text.length < 3 || !text.endsWith('/'));
        note.hidden = !open;
        if (open) fill(note, 'End the pattern with “/”.');
        else setParams({ ...resets, [param]: text }, { replace: true });
    }, 150);
    const input = h('input', {
        class: 'input search', type: 'search', 'aria-label': label, placeholder: `${label}, or /pattern/`, autocomplete: 'off', spellcheck: 'false',
        oninput: () => send(input.value.trim()),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== 'Escape') return;
            input.value = '';
            send('');
        },
    });
    return {
        root: input,
        cancel: send.cancel,
        /** What the URL says, unless the user is typing it. @param {string} text */
        show(text) {
            if (document.activeElement !== input) input.value = text;
        },
    };
}

/**
 * A choice of few, all in sight.
 * @param {string} label
 * @param {{value: string, label: string}[]} options
 * @param {(value: string) => void} onPick
 */
export function segmented(label, options, onPick) {
    const name = `group-${label.replace(/\W/g, '')}-${Math.random().toString(36).slice(2, 7)}`;
    const inputs = options.map((option) => h('input', { type: 'radio', name, value: option.value, onchange: () => onPick(option.value) }));
    return {
        root: h('fieldset', { class: 'segmented' }, h('legend', { class: 'visually-hidden' }, label),
            options.map((option, index) => h('label', null, inputs[index], h('span', null, option.label)))),
        /** @param {string} value */
        show(value) {
            inputs.forEach((input) => { input.checked = input.value === value; });
        },
    };
}
