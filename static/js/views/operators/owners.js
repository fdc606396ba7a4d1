/** Whose the device time is: operators, calls outside of them, graph launches, work whose launch was not recorded. It adds up. */

import { h, fill } from '../../lib/dom.js';
import { rowTable } from '../../table/rowtable.js';
import { fullName, figures } from '../../table/detail_parts.js';
import { traceHref } from '../../app/router.js';
import { timelineLink } from '../timeline/links.js';
import * as fmt from '../../lib/fmt.js';

/** @type {Record<string, string>} */
const KINDS = { operator: 'Operator', call: 'Call outside operators', graph_launch: 'Graph launch', launch_not_recorded: 'Launch not recorded' };

/** @param {Row} row */
const kindOf = (row) => KINDS[row.kind] ?? row.kind;

/** @param {Row} row a launch that was not recorded has no name */
const nameOf = (row) => row.name || kindOf(row);

/** @param {Trace} trace */
export function owners(trace) {
    const notes = h('div', { class: 'owner-notes' });
    const table = rowTable({
        id: String(trace.id),
        view: 'device-time/operators',
        prefix: 'owner_',
        caption: 'Whose the device time is',
        noun: () => ['row', 'rows'],
        columnsFor: () => COLUMNS,
        defaultSort: () => ['device_ns', 'desc'],
        detail: (row) => h('div', null, fullName(nameOf(row)),
            figures([['Kind', kindOf(row)], ['Calls', fmt.int(row.calls)], ['Device work', fmt.int(row.kernels)], ['Device time', fmt.time(row.device_ns)], ['Mostly', row.class]]),
            row.name ? timelineLink(trace, row.name) : null),
        onRows: (first) => fill(notes, noteLines(first).map((line) => h('p', null, line))),
        emptyText: () => 'No device did anything in this trace.',
    });
    return {
        root: h('section', { class: 'section', id: 'owners' }, h('h2', null, 'Whose the device time is'),
            h('p', { class: 'quiet' }, 'Every kernel, copy and memset counts once, for the operator around its launch, for the launch, or for neither.'), notes, table.root),
        update: table.update,
        destroy: table.destroy,
    };
}

/** @type {Column[]} */
const COLUMNS = [
    { key: 'name', label: 'Operator or call', kind: 'name', width: 290, priority: 0, value: nameOf },
    { key: 'kind', label: 'Kind', kind: 'text', width: 170, priority: 4, value: kindOf },
    { key: 'device_ns', label: 'Device time', kind: 'time', width: 110, priority: 1, help: 'Sum of the durations' },
    { key: 'share', label: 'Share', kind: 'share', width: 84, priority: 2, help: 'Of all device time', sortable: false },
    { key: 'calls', label: 'Calls', kind: 'int', width: 76, priority: 5 },
    { key: 'kernels', label: 'Device work', kind: 'int', width: 100, priority: 3, help: 'Kernels, copies and memsets' },
    { key: 'class', label: 'Mostly', kind: 'text', width: 120, priority: 6, help: 'The class of most of its device time' },
];

/** What to do about time that belongs to no operator. @param {RowPage} first */
function noteLines(first) {
    const { companion, alignment: fit } = first;
    const lines = first.rows.flatMap((row) => {
        const size = `${fmt.plural(row.kernels, 'kernel')}, ${fmt.share(row.share)}`;
        if (row.kind === 'graph_launch') return [`${row.name}: ${size} of the device time. Upload the trace of the graph’s capture into this run to name its operators.`];
        if (row.kind === 'launch_not_recorded') return [`${size} of the device time ran without a recorded launch: launched before the recording began, or the host was not recorded.`];
        return [];
    });
    if (!companion) return lines;
    const skipped = fit?.skipping ? `, ${fmt.int(fit.skipping)} with launches skipped` : '';
    return [['Kernels of graphs have their operators from ', h('a', { href: traceHref(companion, 'operators') }, 'a capture in this run'),
        `: ${fmt.plural((fit?.equal ?? 0) + (fit?.skipping ?? 0), 'graph launch', 'graph launches')} aligned${skipped}${fit?.failed ? `, ${fmt.int(fit.failed)} failed` : ''}.`], ...lines];
}
