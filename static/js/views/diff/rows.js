/** Names of two traces: what counts as changed, the largest changes as bars, and all of them as a table. */

import { h, nameParts } from '../../lib/dom.js';
import { localTable } from '../../table/localtable.js';
import { shorten } from '../../lib/names.js';
import { diffDetail } from './detail.js';
import * as fmt from '../../lib/fmt.js';

/** What is compared: three fields of a row, base_…, candidate_… and delta_…. @typedef {{value: string, label: string, help: string, base: string, candidate: string, delta: string}} Measure */

/** @param {string} value @param {string} label @param {string} help @returns {Measure} */
const measure = (value, label, help) => ({ value, label, help, base: `base_${value}_ns`, candidate: `candidate_${value}_ns`, delta: `delta_${value}_ns` });

/** @type {Measure} */
const KERNEL_TIME = { value: 'total', label: 'Time', help: 'All launches together', base: 'base_total_ns', candidate: 'candidate_total_ns', delta: 'delta_ns' };

/** Behind the head of a column. @type {Record<DiffUnit, string>} */
const UNIT_HEADS = { step: 'a step', call: 'a call', total: 'in total' };

/** @param {'operators' | 'kernels'} table @param {string} device "GPU" @param {boolean} hasDevice @param {DiffUnit} per @returns {Measure[]} */
export function measuresOf(table, device, hasDevice, per) {
    if (table === 'kernels') return [{ ...KERNEL_TIME, help: per === 'call' ? 'The mean of a launch' : `All launches together, ${UNIT_HEADS[per]}` }];
    const host = [measure('host_self', 'Host self', 'On the CPU, without the operators it calls'), measure('host', 'Host total', 'On the CPU, with the operators it calls')];
    return hasDevice ? [measure('device_self', `${device} self`, 'Kernels that the operator itself launched'), measure('device', `${device} total`, 'Kernels of the operator and of all it calls'), ...host] : host;
}

/** @param {DiffRow} row @param {Measure} by */
export const changeOf = (row, by) => (row[by.base] > 0 ? row[by.delta] / row[by.base] : null);

/** "+12.3%", or that there is nothing to compare with. @param {number | null} change */
export const changeText = (change) => (change === null ? '–' : `${fmt.signed(100 * change, 1)}%`);

/** "+1.2 ms" @param {number} ns @param {fmt.TimeUnit} [unit] */
export const deltaText = (ns, unit) => `${ns > 0 ? '+' : ns < 0 ? '−' : ''}${fmt.time(Math.abs(ns), unit)}`;

/** @param {DiffRow} row @param {Measure} by */
function wordOf(row, by) {
    if (row.presence !== 'both') return row.presence;
    return row[by.delta] !== 0 || row.delta_calls !== 0 ? 'changed' : 'same';
}

/** Shown of the largest changes. */
const TOP = 12;

/** @param {DiffRow[]} rows @param {Measure} by */
export const largest = (rows, by) => rows.filter((row) => row[by.delta] !== 0).sort((a, b) => Math.abs(b[by.delta]) - Math.abs(a[by.delta])).slice(0, TOP);

/**
 * Bars to both sides of nothing.
 * @param {DiffRow[]} rows
 * @param {Measure} by
 * @param {(row: DiffRow) => void} onRow
 */
export function changeBars(rows, by, onRow) {
    const top = largest(rows, by);
    if (top.length === 0) return h('p', { class: 'quiet' }, 'Nothing took more or less time.');
    const most = Math.abs(top[0][by.delta]);
    const unit = fmt.timeUnit(most);
    return h('table', { class: 'diff-bars' }, h('caption', { class: 'visually-hidden' }, `Largest changes, ${by.label}`),
        h('thead', { class: 'visually-hidden' }, h('tr', null, ['Name', 'Less or more', 'Difference', 'Change'].map((head) => h('th', { scope: 'col' }, head)))),
        h('colgroup', null, h('col', { class: 'col-name' }), h('col'), h('col', { class: 'col-value' }), h('col', { class: 'col-change' })),
        h('tbody', null, top.map((row) => {
            const { short, hint } = shorten(row.name);
            const ns = row[by.delta];
            const bar = h('span', { class: ns < 0 ? 'less' : null });
            bar.style.setProperty('--w', `${(100 * Math.abs(ns)) / most}%`);
            return h('tr', null,
                h('th', { scope: 'row', class: 'col-name' }, h('button', { class: 'function-name', type: 'button', 'data-tip': row.name, onclick: () => onRow(row) }, nameParts(short, hint))),
                h('td', null, h('span', { class: 'diff-track', 'aria-hidden': 'true' }, bar)),
                h('td', { class: 'col-value' }, deltaText(ns, unit)), h('td', { class: 'col-change quiet' }, row.presence === 'both' ? changeText(changeOf(row, by)) : row.presence));
        })));
}

/**
 * @param {DiffRow[]} rows
 * @param {{table: 'operators' | 'kernels', by: Measure, measures: Measure[], per: DiffUnit, file: string, links?: Sides<number>}} settings links: traces to look the name up in
 */
export function diffTable(rows, { table, by, measures, per, file, links }) {
    const noun = table === 'kernels' ? 'kernel' : 'operator';
    return localTable(rows, {
        caption: `${noun === 'kernel' ? 'Kernels' : 'Operators'} of both traces`, noun: [noun, `${noun}s`], search: `Search ${noun}s`, columns: columns(by, measures, noun === 'kernel' ? 'Launches' : 'Calls', per), sort: ['magnitude', 'desc'],
        identity: (row) => row.name, file,
        filters: [{ param: 'only', label: 'Presence', all: 'Changed or not', keep: (row, value) => wordOf(/** @type {DiffRow} */ (row), by) === value,
            options: [{ value: 'added', label: 'Added' }, { value: 'removed', label: 'Removed' }, { value: 'changed', label: 'Changed' }, { value: 'same', label: 'The same' }] }],
        detail: (row) => diffDetail(/** @type {DiffRow} */ (row), table, measures, per, links),
    });
}

/** @param {Measure} by @param {Measure[]} measures @param {string} calls @param {DiffUnit} per @returns {Column[]} */
function columns(by, measures, calls, per) {
    const digits = per === 'step' ? 1 : 0;
    const sign = (/** @type {number} */ value) => fmt.signed(value, Number.isInteger(value) ? 0 : digits);
    const count = (/** @type {number} */ value) => (Number.isInteger(value) ? fmt.int(value) : fmt.num(value, digits));
    const head = UNIT_HEADS[per];
    /** @param {Measure} one @param {number} at @returns {Column[]} */
    const three = (one, at) => [
        { key: one.base, label: one === by ? `Base ${head}` : `${one.label}, base`, kind: 'time', family: one.value, width: one === by ? 140 : 170, priority: at + 2, help: one.help },
        { key: one.candidate, label: one === by ? `Candidate ${head}` : `${one.label}, cand.`, kind: 'time', family: one.value, width: one === by ? 172 : 170, priority: at + 1, help: one.help },
        { key: one.delta, label: one === by ? 'Δ' : `Δ ${one.label}`, kind: 'delta', family: `delta ${one.value}`, width: one === by ? 150 : 170, priority: at, help: `${one.label}, candidate less base` },
    ];
    return [
        { key: 'name', label: calls === 'Calls' ? 'Operator' : 'Kernel', kind: 'name', width: 290, priority: 0 },
        { key: 'presence', label: 'Where', kind: 'text', width: 84, priority: 5, value: (row) => wordOf(/** @type {DiffRow} */ (row), by), help: 'Added: only in the candidate; removed: only in the base' },
        ...three(by, 1),
        { key: 'change', label: 'Change', kind: 'num', width: 104, priority: 4, value: (row) => changeOf(/** @type {DiffRow} */ (row), by), print: changeText, help: 'Of the base' },
        { key: 'base_calls', label: `${calls}, base`, kind: 'int', width: 116, priority: 8, print: count, help: per === 'step' ? 'A step' : 'In the whole trace' },
        { key: 'candidate_calls', label: `${calls}, cand.`, kind: 'int', width: 122, priority: 7, print: count, help: per === 'step' ? 'A step' : 'In the whole trace' },
        { key: 'delta_calls', label: `Δ ${calls.toLowerCase()}`, kind: 'int', width: 100, priority: 6, print: sign },
        ...measures.filter((one) => one !== by).flatMap((one, index) => three(one, 20 + 3 * index)),
        { key: 'magnitude', label: '|Δ|', kind: 'time', width: 92, priority: 90, value: (row) => Math.abs(row[by.delta]), help: 'Whichever way it changed' },
    ];
}
