/** Kernels: what ran on the device, by name or by launch configuration and operator. */

import { h, fill } from '../../lib/dom.js';
import { rowTable } from '../../table/rowtable.js';
import { ranking } from '../../charts/ranking.js';
import { traceHref } from '../../app/router.js';
import { token } from '../../app/theme.js';
import { pinnedNotes } from '../../app/pinned_notes.js';
import { kernelDetail } from './detail.js';
import { pieBoard } from '../../charts/pies.js';
import { knowsCalls } from '../../table/detail_parts.js';
import { useColumns, matchLine } from './use.js';
import { empty } from '../../lib/states.js';
import { recordAdvice, recordWith } from '../../lib/record_advice.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    if (!trace.views.includes('kernels')) {
        fill(root, h('h1', null, 'Kernels'), empty('No kernels in this trace',
            recordWith(await recordAdvice(trace, 'kernels', signal, 'activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]'))));
        return {};
    }
    // A kernel table measures the use of Tensor Cores: what names suggest would only contradict it.
    const measured = trace.views.includes('utilisation');
    const pies = pieBoard({
        id: route.id,
        view: 'kernels',
        emptyText: 'No kernel time.',
        charts: () => [{ key: 'total_ns', title: 'Kernel time', help: 'Sum of the durations of all launches' }],
        extra: (first, off, toggle) => (measured ? null : tensorPie(route.id, first, trace.device_type, off, toggle)),
    });
    const matched = matchLine(signal);
    const table = rowTable({
        id: route.id,
        view: 'kernels',
        caption: 'Kernels',
        noun: (group) => (group === 'launch' ? ['launch configuration', 'launch configurations'] : ['kernel', 'kernels']),
        search: 'Search kernels',
        filters: [{ param: 'class', label: 'Class' }],
        groups: [{ value: 'name', label: 'Name' }, { value: 'launch', label: 'Launch and operator' }],
        columnsFor: (first, group) => columns(first, group, trace.device_type)
            .filter(({ key }) => (knowsCalls(trace) || !/^p\d\d_ns$/.test(key)) && !(measured && /tensor_core|matrix_unit/.test(key))),
        defaultSort: () => ['total_ns', 'desc'],
        detail: (row, group) => kernelDetail(route.id, trace, row, group),
        onRows: (first) => matched.show(first.utilisation ?? null),
        emptyText: (q) => (q ? `No kernel matches “${q}”.` : 'No kernels of this kind in this trace.'),
    });
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Kernels'), pies.control), pinnedNotes(trace, 'kernel', signal), h('h2', { class: 'visually-hidden' }, 'All kernels'), matched.root, table.root, h('h2', null, 'Largest kernels'), pies.root);
    return {
        ready: Promise.all([pies.start(route.params, signal), table.update(route.params)]),
        update(next) {
            pies.update(next.params);
            return table.update(next.params);
        },
        destroy() {
            pies.destroy();
            table.destroy();
        },
    };
}

/** A part of the kernels that use matrix units. */
const USED = 'Used';

/** @param {string} id @param {RowPage} first @param {string} deviceType @param {() => string[]} off @param {(name: string) => void} onToggle */
function tensorPie(id, first, deviceType, off, onToggle) {
    const used = first.tensor_core_share;
    const total = first.sums?.total_ns ?? 0;
    if (deviceType === 'MLU' || used === null || used === undefined || total === 0) return null;
    const unit = fmt.timeUnit(total);
    const chart = ranking({
        title: first.matrix_units ?? 'Tensor Cores', help: 'Kernel time in kernels that use matrix units, by their names', print: (value) => fmt.time(value, unit),
        off, onToggle, href: (name) => traceHref(id, 'kernels', { sort: 'matrix_unit', order: name === USED ? 'desc' : 'asc' }), emptyText: 'No kernel time.', bars: true,
    });
    const slices = [
        { name: USED, value: used * total, share: used, colour: () => token('--tensor-used') },
        { name: 'Not used, or unknown', value: (1 - used) * total, share: 1 - used, colour: () => token('--cat-other') },
    ];
    return { root: chart.root, paint: () => chart.show(slices, total), destroy: chart.destroy };
}

/**
 * @param {RowPage} first
 * @param {string} group
 * @param {string} deviceType
 * @returns {Column[]}
 */
function columns(first, group, deviceType) {
    const launch = group === 'launch';
    const labels = first.config_labels ?? [];
    const uses = useColumns(first);
    /** @type {Column[]} */
    const list = [{ key: 'name', label: 'Kernel', kind: 'name', width: launch ? 290 : uses.length ? 320 : 430, priority: 0 }];
    if (launch) {
        list.push({ key: 'operator', label: 'Operator', kind: 'text', width: 190, priority: 3 });
        const widths = [96, 112, 92, 92];
        labels.forEach((label, index) => list.push({
            key: `config_${index}`, label: shortLabel(label), kind: 'text', width: widths[index] ?? 92, priority: 5 + index, help: label, sortable: false,
            value: (row) => row.config?.[index],
        }));
    }
    list.push(
        { key: 'calls', label: 'Calls', kind: 'int', width: 68, priority: 4 },
        { key: 'total_ns', label: 'Total', kind: 'time', width: 96, priority: 1, help: 'Sum of the durations of all launches' },
        { key: 'share', label: 'Share', kind: 'share', width: 84, priority: 2, help: 'Of the time of all kernels' },
        { key: 'class', label: 'Class', kind: 'text', width: 104, priority: launch ? 4 : 3, help: 'What it does, by its name' },
        ...uses,
        { key: 'mean_ns', label: 'Mean', kind: 'time', family: 'call', width: 84, priority: launch ? 9 : 5, help: 'A launch, on average' },
        { key: 'p50_ns', label: 'p50', kind: 'time', family: 'call', width: 80, priority: launch ? 14 : 6, help: 'Half of the launches take less' },
        { key: 'p95_ns', label: 'p95', kind: 'time', family: 'call', width: 80, priority: launch ? 15 : 7, help: '95% of the launches take less' },
        { key: 'p99_ns', label: 'p99', kind: 'time', family: 'call', width: 80, priority: launch ? 16 : 8, help: '99% of the launches take less' },
        { key: 'min_ns', label: 'Min', kind: 'time', family: 'call', width: 80, priority: 17, help: 'The shortest launch' },
        { key: 'max_ns', label: 'Max', kind: 'time', family: 'call', width: 84, priority: 10, help: 'The longest launch' },
    );
    if (!launch) list.push({ key: 'calls_per_step', label: 'Per step', kind: 'num', width: 80, priority: 13, help: 'Launches in a step, on average' });
    if (deviceType !== 'MLU') {
        list.push({ key: 'matrix_unit', label: first.matrix_units ?? 'Tensor Cores', kind: 'text', width: 112, priority: 9, help: 'Whether matrix units do the work, by its name', value: ({ matrix_unit: used }) => matrixUse(used) });
        if (launch) list.push({ key: 'operator_tensor_core_eligible', label: 'Op able', kind: 'bool', width: 92, priority: 18, help: `Its operator can run on ${first.matrix_units ?? 'Tensor Cores'}` });
    }
    if (first.has_blocks_per_sm) list.push({ key: 'blocks_per_sm', label: 'Blocks/SM', kind: 'num', width: 90, priority: 11, help: 'Blocks per multiprocessor, mean weighted by duration' });
    if (first.has_occupancy) list.push({ key: 'occupancy_pct', label: 'Occupancy %', kind: 'pct', width: 100, priority: 12, help: 'Estimated achieved occupancy, mean weighted by duration' });
    return list;
}

/** @param {boolean | null} used */
const matrixUse = (used) => (used === null ? 'unknown' : used ? 'used' : 'not used');

/** @param {string} label */
const shortLabel = (label) => label.replace('Registers per thread', 'Registers').replace('Shared memory', 'Shared B');
