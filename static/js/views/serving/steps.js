/** The table of an engine's steps, and what a row opens. */

import { h } from '../../lib/dom.js';
import { rowTable, segmented } from '../../table/rowtable.js';
import { fullName, figures, plainTable } from '../../table/detail_parts.js';
import { timelineSpan } from '../timeline/links.js';
import { setParams } from '../../app/router.js';
import { kvOf } from './chart.js';
import { phaseWord } from './phases.js';
import * as fmt from '../../lib/fmt.js';

/** @param {Trace} trace @param {EngineSteps} answer */
export function stepTable(trace, { phases }) {
    const choice = segmented('Phase', [{ value: '', label: 'All' }, ...phases.map(({ phase }) => ({ value: phase, label: phaseWord(phase) }))], (phase) => setParams({ phase }));
    const table = rowTable({
        id: String(trace.id),
        view: 'engine-steps',
        caption: 'Steps of the engine',
        noun: () => ['step', 'steps'],
        search: 'Search annotations',
        columnsFor: () => COLUMNS,
        defaultSort: () => ['index', 'asc'],
        sort: ['index', 'asc'],
        also: (params) => ({ phase: params.get('phase') }),
        detail: (row) => detail(trace, row),
        emptyText: (q) => (q ? `No annotation matches “${q}”.` : 'No step of this phase.'),
    });
    return {
        root: h('div', { class: 'time-windows' }, phases.length > 1 ? choice.root : null, table.root),
        /** @param {URLSearchParams} params */
        update(params) {
            choice.show(params.get('phase') ?? '');
            return table.update(params);
        },
        destroy: table.destroy,
    };
}

/** @type {Column[]} */
const COLUMNS = [
    { key: 'annotation', label: 'Annotation', kind: 'name', width: 210, priority: 0, value: (row) => row.annotation },
    { key: 'index', label: 'Step', kind: 'int', width: 60, priority: 3 },
    { key: 'phase', label: 'Phase', kind: 'text', width: 84, priority: 4 },
    { key: 'requests', label: 'Batch', kind: 'int', width: 68, priority: 5, help: 'Requests' },
    { key: 'tokens', label: 'Tokens', kind: 'int', width: 80, priority: 6, help: 'New tokens, of prefill and decode' },
    { key: 'kv', label: 'KV', kind: 'int', width: 84, priority: 7, help: 'Lengths of keys and values of all requests', sortable: false, value: kvOf },
    { key: 'duration_ns', label: 'Host', kind: 'time', family: 'step', width: 96, priority: 1, help: 'Length of the annotation' },
    { key: 'device_ns', label: 'Device time', kind: 'time', family: 'step', width: 110, priority: 2, help: 'Sum of the durations of the work that the step launched, wherever it ran' },
    { key: 'device_busy_ns', label: 'Device busy', kind: 'time', family: 'step', width: 110, priority: 8, help: 'Time in which at least one piece of that work ran' },
    { key: 'host_gap_ns', label: 'Host gap', kind: 'time', family: 'gap', width: 100, priority: 9, help: 'From the end of earlier steps to the start; below 0 where they overlap' },
    { key: 'device_gap_ns', label: 'Device gap', kind: 'time', family: 'gap', width: 104, priority: 10, help: 'The same between the work of the steps on the device' },
    { key: 'device_events', label: 'Device work', kind: 'int', width: 100, priority: 11, help: 'Kernels, copies and memsets' },
    { key: 'context_tokens', label: 'Prefill tokens', kind: 'int', width: 110, priority: 12 },
    { key: 'generation_tokens', label: 'Decode tokens', kind: 'int', width: 110, priority: 13 },
    { key: 'attention_flops_per_layer', label: 'Attention GFLOP a layer', kind: 'num', width: 170, priority: 14, value: (row) => (row.attention_flops_per_layer === null ? null : row.attention_flops_per_layer / 1e9) },
    { key: 'start_ns', label: 'Start', kind: 'time', width: 96, priority: 15, help: 'After the start of the trace' },
];

/** @param {Trace} trace @param {Row} row */
function detail(trace, row) {
    const unit = fmt.timeUnit(row.device_ns);
    const classes = Object.entries(row.classes);
    const device = row.device_start_ns === null ? null : timelineSpan(trace, row.device_start_ns, row.device_end_ns, 'Its device work in the timeline');
    return h('div', null, fullName(row.annotation),
        figures([['Prefill requests / tokens / KV', side(row, 'context')], ['Decode requests / tokens / KV', side(row, 'generation')],
            ...(row.padded_batch === null ? [] : /** @type {[string, string][]} */ ([['Padded batch', fmt.int(row.padded_batch)]])),
            ...(row.resolution === null ? [] : /** @type {[string, string][]} */ ([['Resolution', row.resolution]])),
            ['Attention pairs', fmt.int(row.attention_pairs)]]),
        h('p', null, timelineSpan(trace, row.start_ns, row.start_ns + row.duration_ns, 'Show in timeline'), device ? [' · ', device] : null),
        classes.length ? plainTable(`Device time by class, in ${unit.name}`, ['Class', `Device time ${unit.name}`, 'Share'],
            classes.map(([name, ns]) => [name, fmt.timeIn(Number(ns), unit), fmt.share(row.device_ns ? Number(ns) / row.device_ns : null)]), 1) : null);
}

/** @param {Row} row @param {string} name */
const side = (row, name) => ['requests', 'tokens', 'kv'].map((what) => fmt.int(row[`${name}_${what}`])).join(' / ');
