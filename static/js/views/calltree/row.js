/** A call: its columns, its name, and what its row opens. */

import { h } from '../../lib/dom.js';
import { fullName, figures } from '../../table/detail_parts.js';
import { frameList } from '../../lib/frames.js';
import { frameBox } from '../stacks/frames.js';
import { traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { deviceWord } from '../../lib/fmt.js';
import { timelineSpan } from '../timeline/links.js';
import * as fmt from '../../lib/fmt.js';

/** What the API calls the kinds of calls. @type {Record<string, string>} */
const KINDS = {
    operator: 'Operator', data_loader: 'Data loader', optimizer: 'Optimizer', step: 'Step', module: 'Module',
    lightning_module: 'Lightning module', lightning_profile: 'Profile of Lightning', backward: 'Backward of a module',
};

/** @param {Trace} trace @param {(row: Row) => number} whole of what a call is in @returns {Column[]} */
export function callColumns(trace, whole) {
    const device = deviceWord(trace.device_type);
    /** @type {Column[]} */
    const columns = [
        { key: 'name', label: 'Call', kind: 'name', width: 420, priority: 0, sortable: false },
        { key: 'start_ns', label: 'Start', kind: 'time', width: 112, priority: 3, help: 'After the start of the trace', sortable: false },
        { key: 'duration_ns', label: 'Duration', kind: 'time', family: 'call', width: 112, priority: 1, help: 'The bar is of the call that it is in', sortable: false,
            bar: (row) => row.duration_ns / Math.max(1, whole(row)) },
        { key: 'host_self_ns', label: 'Host self', kind: 'time', family: 'call', width: 104, priority: 4, help: 'Without the calls in it', sortable: false },
    ];
    if (trace.device_type === 'CPU') return columns;
    return [...columns,
        { key: 'device_total_ns', label: `${device} total`, kind: 'time', family: 'call', width: 112, priority: 2, help: 'What it and the calls in it started', sortable: false },
        { key: 'device_self_ns', label: `${device} self`, kind: 'time', family: 'call', width: 104, priority: 5, help: 'What it started itself', sortable: false },
    ];
}

/** To the digits that tell it from its neighbours. @param {number} ns */
function moment(ns) {
    const unit = fmt.columnUnit(ns);
    return `${fmt.timeIn(ns, unit)}${fmt.NBSP}${unit.name}`;
}

/** @param {Trace} trace @param {CallRow} row */
export function callDetail(trace, row) {
    const device = deviceWord(trace.device_type);
    /** @type {[string, string][]} */
    const pairs = [['Kind', row.type === 'Python' ? 'Python function' : KINDS[row.class] ?? row.type], ['Start', moment(row.start_ns)], ['End', moment(row.end_ns)], ['Duration', fmt.time(row.duration_ns)], ['Host self', fmt.time(row.host_self_ns)]];
    if (trace.device_type !== 'CPU') pairs.push([`${device} total`, fmt.time(row.device_total_ns)], [`${device} self`, fmt.time(row.device_self_ns)]);
    pairs.push(['Calls in it', fmt.int(row.children)]);
    return h('div', null, fullName(row.name), figures(pairs), partner(trace, row), hasView(trace, 'timeline') ? h('p', null, timelineSpan(trace, row.start_ns, row.end_ns, 'Show in timeline')) : null, stack(row),
        row.class === 'operator' ? h('p', null, h('a', { href: traceHref(trace.id, 'operators', { q: row.name }) }, 'All calls of this name')) : null);
}

/** @param {Trace} trace @param {CallRow} row */
function partner(trace, { partner: other }) {
    if (!other) return null;
    const backward = /backward/i.test(other.name);
    return h('p', { class: 'partner' }, h('span', { class: 'quiet' }, backward ? 'Its backward call ' : 'Its forward call '),
        h('a', { href: traceHref(trace.id, 'calls', { thread: String(other.thread), node: String(other.node) }) }, other.name));
}

/** @param {CallRow} row */
function stack(row) {
    return row.call_stack ? h('div', { class: 'stacks' }, h('h3', null, 'Call stack'), frameBox(frameList(row.call_stack))) : null;
}
