/** Operators by what they took, and the blocks one by one: of the device and the window that the URL names. */

import { h, icon, copy } from '../../lib/dom.js';
import { rowTable } from '../../table/rowtable.js';
import { fullName, figures } from '../../table/detail_parts.js';
import { setWindow, windowOf } from './window.js';
import { current, traceHref } from '../../app/router.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {(params: URLSearchParams) => Record<string, string | null>} Also */

/** @param {Trace} trace @param {Also} also */
export function operatorTable(trace, also) {
    /** @type {Column[]} */
    const columns = [
        { key: 'name', label: 'Operator', kind: 'name', width: 300, priority: 0 },
        { key: 'calls', label: 'Calls', kind: 'int', width: 72, priority: 5, help: 'On all devices' },
        { key: 'size_bytes', label: 'Increase', kind: 'size', family: 'size', width: 104, priority: 2, help: 'What it allocated less what it released, its callees included' },
        { key: 'self_size_bytes', label: 'Self increase', kind: 'size', family: 'size', width: 124, priority: 1, help: 'What it allocated less what it released, without its callees' },
        { key: 'allocations', label: 'Allocations', kind: 'int', width: 100, priority: 6, help: 'Its callees included' },
        { key: 'self_allocations', label: 'Self allocs', kind: 'int', width: 100, priority: 7, help: 'Allocations without those of its callees' },
        { key: 'allocated_bytes', label: 'Allocated', kind: 'size', family: 'size', width: 104, priority: 4, help: 'Whether released again or not, its callees included' },
        { key: 'self_allocated_bytes', label: 'Self allocated', kind: 'size', family: 'size', width: 128, priority: 3, help: 'Whether released again or not, without its callees' },
    ];
    return rowTable({
        id: String(trace.id), view: 'memory', caption: 'Operators', noun: () => ['operator', 'operators'], search: 'Search operators', prefix: 'op-', also,
        columnsFor: () => columns, defaultSort: () => ['self_size_bytes', 'desc'], detail: (row) => operatorDetail(trace, row),
        emptyText: (q) => (q ? `No operator matches “${q}”.` : 'No operator allocated or released memory here.'),
    });
}

/** @param {Trace} trace @param {Row} row */
function operatorDetail(trace, row) {
    return h('div', null, fullName(row.name), figures([
        ['Calls', fmt.int(row.calls)],
        ['Increase, of it self', `${fmt.bytes(row.size_bytes)}, ${fmt.bytes(row.self_size_bytes)}`],
        ['Allocations, of them self', `${fmt.int(row.allocations)}, ${fmt.int(row.self_allocations)}`],
        ['Allocated, of it self', `${fmt.bytes(row.allocated_bytes)}, ${fmt.bytes(row.self_allocated_bytes)}`],
        ['Mean self allocation', row.self_allocations ? fmt.bytes(row.self_allocated_bytes / row.self_allocations) : '–'],
    ]), h('p', null, h('a', { href: traceHref(trace.id, 'operators', { q: row.name }) }, 'Its times and call stacks')));
}

/** @param {Trace} trace @param {Also} also */
export function eventTable(trace, also) {
    /** @type {Column[]} */
    const columns = [
        { key: 'name', label: 'Block', kind: 'name', width: 330, priority: 0, help: 'The operator that allocated it' },
        { key: 'size_bytes', label: 'Size', kind: 'size', width: 100, priority: 1 },
        { key: 'allocated_ns', label: 'Allocated', kind: 'time', family: 'moment', width: 112, priority: 3, help: 'After the start of the trace; – is before the recording, or before the window' },
        { key: 'released_ns', label: 'Released', kind: 'time', family: 'moment', width: 112, priority: 4, help: 'After the start of the trace; – is not in the recording, or not in the window' },
        { key: 'duration_ns', label: 'Lifetime', kind: 'time', width: 104, priority: 2, help: 'From its allocation to its release' },
        { key: 'address', label: 'Address', kind: 'text', width: 150, priority: 5 },
    ];
    const table = rowTable({
        id: String(trace.id), view: 'memory/events', caption: 'Blocks', noun: () => ['block', 'blocks'], search: 'Search blocks', prefix: 'block-', also,
        columnsFor: () => columns, defaultSort: () => ['size_bytes', 'desc'], detail: (row) => blockDetail(row),
        emptyText: (q) => (q ? `No block matches “${q}”.` : 'No block was allocated or released here.'),
    });
    table.root.classList.add('block-table');
    return table;
}

/** @param {Row} row */
function blockDetail(row) {
    const { start, end } = windowOf(current().params);
    const whole = start === null && end === null ? 'recording' : 'window';
    const lived = row.allocated_ns !== null || row.released_ns !== null;
    return h('div', null, fullName(row.name), figures([
        ['Size', `${fmt.bytes(row.size_bytes)}, ${fmt.int(row.size_bytes)} B`],
        ['Allocated', row.allocated_ns === null ? `before the ${whole}` : fmt.time(row.allocated_ns)],
        ['Released', row.released_ns === null ? `not in the ${whole}` : fmt.time(row.released_ns)],
        ['Lifetime', fmt.time(row.duration_ns)],
        ['Address', row.address],
    ]), h('p', { class: 'actions' },
        lived ? h('button', { class: 'button small', type: 'button', onclick: () => setWindow({ start: row.allocated_ns, end: row.released_ns }) }, 'Window of its lifetime') : null,
        h('button', { class: 'button small', type: 'button', onclick: () => copy(row.address, 'Address copied') }, icon('copy'), 'Copy address')));
}
