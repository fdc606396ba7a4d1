/** What each function takes of a cycle, over all cycles: beta, and mu of its metrics. */

import { h, fill } from '../../lib/dom.js';
import { localTable } from '../../table/localtable.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import { groupUses } from './group.js';
import { fullName, plainTable } from '../../table/detail_parts.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** Cycles listed of an opened row. */
const CYCLES = 60;

const GROUPS = [{ value: 'function', label: 'Functions' }, { value: 'metric', label: 'Functions and metrics' }];

/**
 * The table and the choice of what a line is.
 * @param {string} id of the trace
 * @param {CycleAnswer} data
 */
export function cycleTable(id, data) {
    const hasMetrics = data.rows.some((row) => row.mu_pct !== null);
    const box = h('div');
    const groups = segmented('A line is', GROUPS, (group) => setParams({ group: group === GROUPS[0].value ? null : group, sort: null, order: null, cols: null, row: null, metric: null }));
    let shown = '';
    /** @type {ReturnType<typeof localTable> | undefined} */
    let table;
    return {
        root: box,
        control: hasMetrics ? groups.root : null,
        /** @param {URLSearchParams} params */
        update(params) {
            const group = params.get('group') === 'metric' && hasMetrics ? 'metric' : 'function';
            groups.show(group);
            if (group !== shown) {
                table?.destroy();
                table = build(id, data, group === 'metric', hasMetrics);
                shown = group;
                fill(box, table.root);
            }
            table?.update(params);
        },
        destroy: () => table?.destroy(),
    };
}

/** @param {string} id @param {CycleAnswer} data @param {boolean} byMetric @param {boolean} hasMetrics */
function build(id, data, byMetric, hasMetrics) {
    const all = groupUses(data, byMetric);
    const equal = (/** @type {string} */ field) => (/** @type {Row} */ row, /** @type {string} */ value) => String(row[field]) === value;
    const options = (/** @type {string} */ field) => [...new Set(all.map((row) => String(row[field])))].sort().map((value) => ({ value, label: value }));
    const processes = options('pid');
    const filters = [{ param: 'device', label: 'Device', all: 'All devices', options: options('device'), keep: equal('device') }];
    if (processes.length > 1) filters.push({ param: 'pid', label: 'Process', all: 'All processes', options: processes, keep: equal('pid') });
    if (byMetric) filters.push({ param: 'metric', label: 'Metric', all: 'All metrics', options: options('metric'), keep: equal('metric') });
    return localTable(all, {
        caption: 'Functions by their share of the cycle',
        noun: byMetric ? ['row', 'rows'] : ['function', 'functions'],
        search: 'Search functions',
        columns: columns(byMetric, hasMetrics, processes.length > 1),
        sort: ['beta', 'desc'],
        identity: (row) => [row.name, row.device, row.pid, byMetric ? row.metric : ''].join('\n'),
        filters,
        detail,
        csv: () => api.cyclesCsvUrl(id),
    });
}

/** @param {boolean} byMetric @param {boolean} hasMetrics @param {boolean} manyProcesses @returns {Column[]} */
function columns(byMetric, hasMetrics, manyProcesses) {
    const two = (/** @type {number} */ value) => fmt.num(value);
    const few = (/** @type {number} */ value) => fmt.num(value, value < 100 ? 1 : 0);
    /** @type {Column[]} */
    const list = [
        { key: 'name', label: 'Function', kind: 'name', width: 330, priority: 0 },
        { key: 'device', label: 'Device', kind: 'text', width: 124, priority: 4 },
    ];
    if (manyProcesses) list.push({ key: 'pid', label: 'Process', kind: 'int', width: 90, priority: 5, print: String });
    if (byMetric) list.push({ key: 'metric', label: 'Metric', kind: 'text', width: 160, priority: 3 });
    list.push(
        { key: 'type', label: 'Type', kind: 'text', width: 116, priority: 9 },
        { key: 'beta', label: 'β %', kind: 'num', width: 80, priority: 1, print: two, help: 'Share of the cycle, mean of all cycles; above 100% where several run at a time' },
        { key: 'beta_max', label: 'β max %', kind: 'num', width: 86, priority: 8, print: two, help: 'In the cycle where it took the most' },
        { key: 'duration_ns', label: 'Time', kind: 'time', width: 96, priority: 2, help: 'In a cycle, on average' },
        { key: 'calls', label: 'Calls', kind: 'num', width: 86, priority: 7, print: few, help: 'In a cycle, on average' },
        { key: 'in_cycles', label: 'In cycles', kind: 'int', width: 86, priority: 6 },
    );
    if (byMetric) list.push({ key: 'mu', label: 'μ', kind: 'num', width: 104, priority: 2, print: fmt.metric, help: 'Mean of the metric while the function ran' });
    else if (hasMetrics) list.push({ key: 'metric_count', label: 'Metrics', kind: 'int', width: 80, priority: 10, help: 'Counters that were sampled while it ran: open the row for μ' });
    return list;
}

/** @param {Row} row */
function detail(row) {
    /** @type {import('./group.js').Use[]} */
    const each = row.each;
    const unit = fmt.timeUnit(each.reduce((max, use) => Math.max(max, use.duration_ns), 0));
    const rest = each.length - CYCLES;
    return h('div', null, fullName(row.name),
        row.metrics.length ? h('div', { class: 'launches' }, h('h3', null, 'Metrics while it ran'),
            plainTable('Metrics while it ran', ['Metric', 'μ', 'σ', 'In cycles'], row.metrics.map((/** @type {any} */ sum) => [sum.metric, fmt.metric(sum.mu), fmt.metric(sum.sigma), fmt.int(sum.cycles)]), 1)) : null,
        h('div', { class: 'launches' }, h('h3', null, 'In each cycle'),
            plainTable('In each cycle', ['Cycle', 'β %', 'Time', 'Calls'], each.slice(0, CYCLES).map((use) => [
                String(use.cycle), fmt.num(use.beta_pct), fmt.time(use.duration_ns, unit), fmt.int(use.instances_count)]), 1),
            rest > 0 ? h('p', { class: 'quiet' }, `and ${fmt.plural(rest, 'more cycle')}: the CSV has all`) : null));
}
