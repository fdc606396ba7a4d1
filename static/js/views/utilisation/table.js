/** A row a kernel: its time, its use, its class; opened, its whole name, its other metrics and its launches. */

import { h, fill } from '../../lib/dom.js';
import { localTable } from '../../table/localtable.js';
import { fullName, figures, plainTable } from '../../table/detail_parts.js';
import { showFailure } from '../../lib/states.js';
import { CLASSES, classIndex, classLabel } from './classes.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const LAUNCHES = 10;

/** @param {string} id of the trace @param {KernelUse} data */
export function useTable(id, data) {
    return localTable(data.rows, {
        caption: 'Kernels', noun: ['kernel', 'kernels'], search: 'Search kernels', columns: columns(data), sort: ['total_ns', 'desc'],
        identity: (row) => row.name,
        detail: (row) => detail(id, data, /** @type {any} */ (row)),
        csv: (query) => api.csvUrl(id, 'kernel-utilisation', query),
    });
}

/** @param {KernelUse} data @returns {Column[]} */
function columns(data) {
    const has = (/** @type {(row: KernelUseRow) => any} */ figure) => data.rows.some((row) => figure(row) !== null);
    /** @type {Column[]} */
    const uses = [];
    if (data.tensor !== null) uses.push({ key: 'tensor', label: 'Tensor', kind: 'share', width: 80, priority: 3, help: 'Use of the tensor pipe, of its peak, weighted by time' });
    if (data.dram !== null) uses.push({ key: 'dram', label: 'DRAM', kind: 'share', width: 80, priority: 4, help: 'DRAM throughput, of its peak, weighted by time' });
    if (data.sm !== null) uses.push({ key: 'sm', label: 'SM', kind: 'share', width: 80, priority: 7, help: 'Throughput of the multiprocessors, of their peak, weighted by time' });
    if (uses.length) {
        uses.push({ key: 'class', label: 'Class', kind: 'text', width: 112, priority: 6, help: 'Low is below a third of the peak; compute is the larger of tensor and SM use', value: (row) => classLabel(row.class) });
        uses.push({ key: 'headroom_ns', label: 'Headroom', kind: 'time', family: 'sum', width: 104, priority: 5, help: 'Time saved at peak throughput: time × (1 − the larger use)' });
    }
    /** @type {Column[]} */
    const spread = [
        { key: 'p50_ns', label: 'p50', kind: 'time', family: 'call', width: 80, priority: 9, help: 'Half of the launches take less' },
        { key: 'p95_ns', label: 'p95', kind: 'time', family: 'call', width: 80, priority: 11, help: '95% of the launches take less' },
        { key: 'p99_ns', label: 'p99', kind: 'time', family: 'call', width: 80, priority: 12, help: '99% of the launches take less' },
        { key: 'min_ns', label: 'Min', kind: 'time', family: 'call', width: 80, priority: 13, help: 'The shortest launch' },
        { key: 'max_ns', label: 'Max', kind: 'time', family: 'call', width: 84, priority: 10, help: 'The longest launch' },
    ];
    return [
        { key: 'name', label: 'Kernel', kind: 'name', width: 270, priority: 0 },
        { key: 'launches', label: 'Launches', kind: 'int', width: 84, priority: 8 },
        { key: 'total_ns', label: 'Total', kind: 'time', family: 'sum', width: 92, priority: 1, help: 'Sum of the durations of all launches' },
        { key: 'share', label: 'Share', kind: 'share', width: 84, priority: 2, help: 'Of the time of all kernels' },
        ...uses,
        { key: 'mean_ns', label: 'Mean', kind: 'time', family: 'call', width: 84, priority: 9, help: 'A launch, on average' },
        ...spread.filter(({ key }) => has((row) => row[/** @type {'p50_ns'} */ (key)])),
    ];
}

/** @param {string} id @param {KernelUse} data @param {KernelUseRow} row */
function detail(id, data, row) {
    /** @type {[string, string][]} */
    const pairs = [['Launches', fmt.int(row.launches)], ['Total', `${fmt.time(row.total_ns)}, ${fmt.share(row.share)}`], ['Mean', fmt.time(row.mean_ns)]];
    if (row.min_ns !== null && row.max_ns !== null) pairs.push(['Shortest / longest', fmt.times([row.min_ns, row.max_ns])]);
    if (row.p50_ns !== null && row.p95_ns !== null && row.p99_ns !== null) pairs.push(['p50 / p95 / p99', fmt.times([row.p50_ns, row.p95_ns, row.p99_ns])]);
    if (row.tensor !== null) pairs.push(['Tensor use', fmt.share(row.tensor)]);
    if (row.dram !== null) pairs.push(['DRAM use', fmt.share(row.dram)]);
    if (row.sm !== null) pairs.push(['SM use', fmt.share(row.sm)]);
    if (row.headroom_ns !== null) pairs.push(['Headroom', fmt.time(row.headroom_ns)]);
    const launches = h('div', { class: 'launches' });
    if (data.has_launches) loadLaunches(launches, id, data, row);
    const { label, text } = CLASSES[classIndex(row.class)];
    return h('div', null, fullName(row.full_name),
        row.class ? h('p', null, h('strong', null, label), `. ${text}.`) : null,
        figures(pairs), row.metrics?.length ? metricTable(row.metrics) : null, launches);
}

/** @param {NonNullable<KernelUseRow['metrics']>} metrics */
function metricTable(metrics) {
    const print = (/** @type {number | null} */ value) => (value === null ? '–' : fmt.num(value, Math.abs(value) >= 1000 || Number.isInteger(value) ? 0 : 2));
    return h('div', null, h('h3', null, fmt.plural(metrics.length, 'other metric')),
        plainTable('Other metrics', ['Metric', 'Unit', 'Launches', 'Mean', 'Min', 'Max'], metrics.map(({ metric, unit, launches, mean, min, max }) => [
            metric, unit || '–', fmt.int(launches), print(mean), print(min), print(max)]), 2));
}

/** The longest of its launches. @param {HTMLElement} box @param {string} id @param {KernelUse} data @param {KernelUseRow} row */
async function loadLaunches(box, id, data, row) {
    fill(box, h('p', { class: 'quiet' }, 'Loading launches …'));
    try {
        const { rows, total } = await api.kernelLaunches(id, { name: row.name, sort: 'duration_ns', order: 'desc', limit: LAUNCHES });
        const unit = fmt.columnUnit(rows[0]?.duration_ns ?? 0);
        const grids = rows.some(({ grid, block }) => grid || block);
        /** @type {[keyof Uses, string][]} */
        const all = [['tensor', 'Tensor'], ['dram', 'DRAM'], ['sm', 'SM']];
        const uses = all.filter(([key]) => data[key] !== null);
        fill(box, h('h3', null, total > rows.length ? `Its longest launches, of ${fmt.int(total)}` : fmt.plural(total, 'launch', 'launches')),
            plainTable(`Launches of ${row.name}`, ['Launch', ...(grids ? ['Grid', 'Block'] : []), 'Duration', ...uses.map(([, label]) => label)],
                rows.map((launch) => [fmt.int(launch.position + 1), ...(grids ? [launch.grid ?? '–', launch.block ?? '–'] : []),
                    fmt.time(launch.duration_ns, unit), ...uses.map(([key]) => fmt.share(launch[key]))]), grids ? 3 : 1),
            h('p', { class: 'quiet' }, 'All of them: “As a table” at the launches in order, while this row is open.'));
    } catch (error) {
        showFailure(box, error, () => loadLaunches(box, id, data, row));
    }
}
