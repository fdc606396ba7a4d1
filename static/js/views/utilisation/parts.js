/** The quieter parts of a kernel table: copies beside the kernels, rows that could not be read, where it came from. */

import { h, command } from '../../lib/dom.js';
import { plainTable } from '../../table/detail_parts.js';
import { RECORD } from './classes.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** What to run to have the uses. */
export const record = () => command(RECORD);

/** @param {KernelUse} data */
export function transfers({ transfers: list }) {
    if (list.length === 0) return null;
    const unit = fmt.timeUnit(Math.max(...list.map(({ total_ns: ns }) => ns)));
    return h('section', { class: 'section' }, h('h2', null, 'Copies and sets of memory'),
        plainTable('Copies and sets of memory', ['Operation', 'Kind', 'Operations', 'Total', 'Shortest', 'Longest', 'Size'], list.map((item) => [
            item.name, item.kind, fmt.int(item.operations), fmt.time(item.total_ns, unit), fmt.time(item.min_ns), fmt.time(item.max_ns), fmt.bytes(item.size_bytes)]), 2));
}

/** @param {KernelUse} data */
export function badRows({ bad_rows: list }) {
    if (list.length === 0) return null;
    return h('section', { class: 'section', id: 'bad-rows' }, h('h2', null, `${fmt.plural(list.length, 'row')} could not be read`),
        h('p', { class: 'quiet' }, 'The rows that could be read are in every figure above.'),
        h('ul', { class: 'warnings' }, list.map((text) => h('li', null, text))));
}

/** @param {Trace} trace */
export function aboutTable(trace) {
    /** @type {[string, any][]} */
    const facts = [
        ['File', h('a', { href: api.rawUrl(trace.id), download: '' }, trace.file_name)],
        ['Format', trace.format],
        ['Size', fmt.bytes(trace.size_bytes)],
        ['Uploaded', h('time', { datetime: trace.uploaded_at, title: fmt.date(trace.uploaded_at) }, fmt.ago(trace.uploaded_at))],
        ['SHA-256', h('code', { class: 'hash', title: trace.sha256 }, trace.sha256.slice(0, 12))],
    ];
    return h('section', { class: 'section' }, h('h2', null, 'About this table'),
        h('dl', { class: 'figures' }, facts.map(([term, value]) => h('div', null, h('dt', null, term), h('dd', null, value)))));
}
