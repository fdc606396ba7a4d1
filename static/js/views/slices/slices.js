/** Slices: the events of any trace by name, track or category, whatever its categories mean. */

import { h, fill } from '../../lib/dom.js';
import { rowTable } from '../../table/rowtable.js';
import { fullName, figures } from '../../table/detail_parts.js';
import { timelineLink } from '../timeline/links.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @type {Record<string, [string, string]>} */
const NOUNS = { name: ['name', 'names'], track: ['track', 'tracks'], category: ['category', 'categories'] };

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    const table = slicesTable(trace);
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Slices')), table.root);
    return { ready: table.update(route.params), update: (next) => table.update(next.params), destroy: () => table.destroy() };
}

/** @param {Trace} trace */
function slicesTable(trace) {
    return rowTable({
        id: String(trace.id),
        view: 'slices',
        caption: 'Slices',
        noun: (group) => NOUNS[group] ?? NOUNS.name,
        search: 'Search slices',
        groups: [{ value: 'name', label: 'Name' }, { value: 'track', label: 'Track' }, { value: 'category', label: 'Category' }],
        columnsFor: (first, group) => columns(group, first.duration_ns ?? 0),
        defaultSort: () => ['total_ns', 'desc'],
        detail: (row, group) => detail(trace, row, group),
        emptyText: (q) => (q ? `No results for “${q}”.` : 'This trace has no slices: no complete events and no pairs of begin and end.'),
    });
}

/** @param {string} group @param {number} durationNs of the trace @returns {Column[]} */
function columns(group, durationNs) {
    return [
        { key: group, label: group === 'name' ? 'Name' : group === 'track' ? 'Track' : 'Category', kind: 'name', width: 300, priority: 0 },
        { key: 'count', label: 'Slices', kind: 'int', width: 84, priority: 3 },
        { key: 'total_ns', label: 'Total', kind: 'time', family: 'sum', width: 104, priority: 1, help: 'Sum of the durations' },
        { key: 'self_ns', label: 'Self', kind: 'time', family: 'sum', width: 104, priority: 2, help: 'Without the slices inside, on the same track' },
        { key: 'busy_ns', label: 'Busy', kind: 'time', family: 'sum', width: 104, priority: 4, help: 'Time in which at least one of them runs, on any track' },
        { key: 'busy_share', label: 'Busy share', kind: 'share', width: 96, priority: 5, help: 'Of the length of the trace', sortable: false, value: (row) => (durationNs ? row.busy_ns / durationNs : null) },
        { key: 'mean_ns', label: 'Mean', kind: 'time', family: 'one', width: 92, priority: 6, help: 'One slice, on average' },
        { key: 'p50_ns', label: 'p50', kind: 'time', family: 'one', width: 92, priority: 7, help: 'Half of them take less' },
        { key: 'p95_ns', label: 'p95', kind: 'time', family: 'one', width: 92, priority: 9, help: '95% of them take less' },
        { key: 'p99_ns', label: 'p99', kind: 'time', family: 'one', width: 92, priority: 10, help: '99% of them take less' },
        { key: 'min_ns', label: 'Min', kind: 'time', family: 'one', width: 92, priority: 11, help: 'The shortest' },
        { key: 'max_ns', label: 'Max', kind: 'time', family: 'one', width: 92, priority: 8, help: 'The longest' },
    ];
}

/** @param {Trace} trace @param {Row} row @param {string} group */
function detail(trace, row, group) {
    const ids = group === 'track' ? /** @type {[string, string][]} */ ([['Process', row.pid], ['Thread', row.tid]]) : [];
    return h('div', null, fullName(row[group]),
        figures([...ids, ['Slices', fmt.int(row.count)], ['Shortest / longest', fmt.times([row.min_ns, row.max_ns])], ['p50 / p95 / p99', fmt.times([row.p50_ns, row.p95_ns, row.p99_ns])]]),
        group === 'name' && row.name ? timelineLink(trace, row.name) : null);
}
