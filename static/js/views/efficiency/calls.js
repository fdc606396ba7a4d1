/** The rows as a table; a row opens its inputs, what it reached of the peaks, and what a kernel table measured. */

import { h, fill } from '../../lib/dom.js';
import { rowTable } from '../../table/rowtable.js';
import { fullName, figures, plainTable } from '../../table/detail_parts.js';
import { nameText } from '../../table/columns.js';
import { traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { timelineLink } from '../timeline/links.js';
import { showFailure } from '../../lib/states.js';
import { searchWord } from '../../lib/names.js';
import { BOUNDS, byteRate, flopRate, nameOf, ofPeak } from './words.js';
import { reached } from './verdict.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** Kernels of an operator that are looked at for what was measured of them. */
const LAUNCHES = 500;
const KERNELS = 8;

export const GROUPS = [{ value: 'operator', label: 'Operator' }, { value: 'shape', label: 'Shape' }, { value: 'module', label: 'Module' }, { value: 'step', label: 'Step' }];
/** @type {Record<string, [string, string]>} */
const NOUNS = { operator: ['operator', 'operators'], shape: ['shape', 'shapes'], module: ['module', 'modules'], step: ['step', 'steps'] };

/** @param {Trace} trace @param {() => DevicePeaks | null} device */
export function callTable(trace, device) {
    return rowTable({
        id: String(trace.id), view: 'efficiency', caption: 'Efficiency', noun: (group) => NOUNS[group] ?? ['row', 'rows'], search: 'Search names', groups: GROUPS,
        columnsFor: (_first, group) => columns(group), defaultSort: () => ['time_ns', 'desc'],
        detail: (row, group) => detail(trace, device(), row, group), emptyText: (q) => (q ? `Nothing matches “${q}”.` : 'No operator launched device work.'),
    });
}

/** @param {string} group @returns {Column[]} */
function columns(group) {
    const key = group === 'module' || group === 'step' ? group : 'name';
    return [
        { key, label: GROUPS.find(({ value }) => value === group)?.label ?? 'Name', kind: 'name', width: 250, priority: 0, value: (row) => nameOf(row, group) },
        ...(group === 'shape' ? [/** @type {Column} */ ({ key: 'input_dims', label: 'Shapes', kind: 'text', width: 190, priority: 2.5, value: (row) => (row.input_dims ? JSON.stringify(row.input_dims) : null) })] : []),
        { key: 'time_ns', label: 'Time', kind: 'time', family: 'sum', width: 100, priority: 1, help: 'On the device: the union of what a call launched, summed' },
        { key: 'headroom_ns', label: 'Headroom', kind: 'time', family: 'sum', width: 100, priority: 2, help: 'Time above the roofline' },
        { key: 'roofline_ratio', label: 'Of roofline', kind: 'share', width: 104, priority: 3, print: ofPeak, help: 'The time at the device’s peaks, of the time; above 100%: from a cache if bound by memory, else the peak or the type is wrong' },
        { key: 'bound', label: 'Bound', kind: 'text', width: 84, priority: 4, value: (row) => BOUNDS[row.bound] ?? null, help: 'What the device’s peaks limit first' },
        { key: 'flops_per_second', label: 'FLOP/s', kind: 'num', width: 118, priority: 5, print: flopRate },
        { key: 'bytes_per_second', label: 'B/s', kind: 'num', width: 96, priority: 6, print: byteRate },
        { key: 'intensity', label: 'FLOP/B', kind: 'num', width: 84, priority: 7, help: 'Operations a byte', print: (value) => fmt.num(value, value < 10 ? 2 : 1) },
        { key: 'precision', label: 'Type', kind: 'text', width: 70, priority: 8 },
        { key: 'mfu', label: 'MFU', kind: 'share', width: 88, print: ofPeak, priority: group === 'step' ? 1.5 : 9, help: group === 'step' ? 'Matrix FLOPs of what the device could do in the step' : 'Its part of the MFU' },
        { key: 'calls', label: 'Calls', kind: 'int', width: 72, priority: 10 },
        { key: 'total_flops', label: 'FLOPs', kind: 'num', width: 110, priority: 11, print: (value) => fmt.si(value, 'FLOP') },
        { key: 'total_bytes', label: 'Bytes', kind: 'num', width: 96, priority: 12, print: (value) => fmt.si(value, 'B') },
        { key: 'unit', label: 'Unit', kind: 'text', width: 76, priority: 13 },
    ];
}

/** @param {Trace} trace @param {DevicePeaks | null} device @param {Row} row @param {string} group */
function detail(trace, device, row, group) {
    /** @type {[string, unknown][]} */
    const inputs = [['Dimensions', row.input_dims], ['Types', row.input_types], ['Strides', row.input_strides], ['Values', row.concrete_inputs]];
    const measured = h('div', { class: 'launches' });
    if (row.name && trace.views.includes('kernels')) loadMeasured(measured, trace, row);
    return h('div', null, fullName(nameOf(row, group)),
        inputs.filter(([, list]) => list).map(([label, list]) => h('p', null, h('span', { class: 'quiet' }, `${label} `), h('code', null, JSON.stringify(list)))),
        row.total_flops === null ? h('p', { class: 'quiet' }, 'No formula says what it computes.') : null,
        figures([['Time', fmt.time(row.time_ns)], ['Mean call', fmt.time(row.mean_ns)], ['At the roofline', fmt.time(row.roofline_ns)],
            ['FLOPs a call', fmt.si(row.flops, 'FLOP')], ['Bytes a call', fmt.si(row.bytes, 'B')], ['Reached', flopRate(row.flops_per_second)], ...reached(device, row)]),
        row.name ? timelineLink(trace, row.name, 'Show in timeline') : null,
        row.name && hasView(trace, 'operators') ? h('p', null, h('a', { href: traceHref(trace.id, 'operators', { q: searchWord(row.name) }) }, 'Show in operators')) : null, measured);
}

/** What a kernel table of the run measured of the kernels of an operator, beside what was computed. @param {HTMLElement} box @param {Trace} trace @param {Row} row */
async function loadMeasured(box, trace, row) {
    try {
        const page = await api.rows(String(trace.id), 'kernels', { group_by: 'launch', operator: row.name, sort: 'total_ns', order: 'desc', limit: LAUNCHES });
        const rows = page.rows.filter(({ utilisation_match: match }) => match).slice(0, KERNELS);
        if (rows.length === 0) return;
        fill(box, h('h3', null, 'Measured by a kernel table of the run'),
            plainTable('Measured use of its kernels, of the peak', ['Kernel', 'Tensor', 'SM', 'DRAM', 'Time'], rows.map((kernel) => [
                nameText(kernel.name), fmt.share(kernel.tensor), fmt.share(kernel.sm), fmt.share(kernel.dram), fmt.time(kernel.total_ns)]), 1));
    } catch (error) {
        showFailure(box, error, () => loadMeasured(box, trace, row));
    }
}
