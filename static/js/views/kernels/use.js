/** Utilisation beside time: what the kernel tables of a run know of the kernels of a trace. */

import { h, fill } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import { CLASSES, classIndex, classLabel } from '../utilisation/classes.js';
import { isAbort } from '../../lib/api.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @type {[keyof Uses, string, string][]} */
const USES = [['tensor', 'Tensor', 'Use of the tensor pipe, of its peak'], ['dram', 'DRAM', 'DRAM throughput, of its peak'], ['sm', 'SM', 'Throughput of the multiprocessors, of their peak']];

/** @param {RowPage} first @returns {Column[]} none where no table was matched */
export function useColumns(first) {
    if (!first.utilisation) return [];
    const measured = USES.filter(([key]) => first.rows.some((row) => typeof row[key] === 'number'));
    if (measured.length === 0) return [];
    return [
        ...measured.map(([key, label, help], index) => /** @type {Column} */ ({ key, label, kind: 'share', width: 80, priority: 2.1 + index / 10, help: `${help}, weighted by time, from the kernel table` })),
        { key: 'utilisation_class', label: 'Use', kind: 'text', width: 112, priority: 2.5, help: 'Low is below a third of the peak; compute is the larger of tensor and SM use', value: (row) => (row.utilisation_match ? classLabel(row.utilisation_class) : null) },
        { key: 'headroom_ns', label: 'Headroom', kind: 'time', width: 104, priority: 2.6, help: 'Time saved at peak throughput: time × (1 − the larger use)' },
    ];
}

/** Of an opened row. @param {Row} row @returns {{pairs: [string, string][], text: HTMLElement | null}} */
export function rowUse(row) {
    if (!row.utilisation_match) return { pairs: [], text: null };
    /** @type {[string, string][]} */
    const pairs = USES.flatMap(([key, label]) => (typeof row[key] === 'number' ? [/** @type {[string, string]} */ ([`${label} use`, fmt.share(row[key])])] : []));
    if (typeof row.headroom_ns === 'number') pairs.push(['Headroom', fmt.time(row.headroom_ns)]);
    const { label, text } = CLASSES[classIndex(row.utilisation_class)];
    const by = row.utilisation_match === 'launch' ? 'by name, grid and block' : 'by name';
    return { pairs, text: h('p', null, h('strong', null, label), `. ${text}. `, h('span', { class: 'quiet' }, `Matched with the kernel table ${by}.`)) };
}

/** How many kernels were matched with which tables, and which were not. @param {AbortSignal} signal */
export function matchLine(signal) {
    const root = h('div', { class: 'match-line', hidden: true });
    let shown = '';

    /** @param {number[]} ids */
    async function nameTables(ids) {
        const links = root.querySelectorAll('a');
        try {
            const traces = await Promise.all(ids.map((id) => api.trace(id, signal)));
            traces.forEach((trace, index) => fill(links[index], fmt.worker(trace)));
        } catch (error) {
            if (!isAbort(error)) console.warn(String(error));
        }
    }
    return {
        root,
        /** @param {Matched | null} matched */
        show(matched) {
            const text = JSON.stringify(matched);
            if (text === shown) return;
            shown = text;
            root.hidden = !matched;
            if (!matched) return;
            const { tables, matched_kernels: count, unmatched_kernels: rest, unmatched, unmatched_in_table: alone } = matched;
            const links = tables.map((id, index) => [index ? ', ' : '', h('a', { href: traceHref(id, 'utilisation') }, `table ${id}`)]);
            // Tables of another model in the run: lists of what does not match would be all of both.
            if (count === 0) fill(root, h('p', { class: 'quiet' }, 'No kernel has a name that is in ', links, '.'));
            else fill(root, h('p', null, `Use is known of ${fmt.int(count)} of ${fmt.plural(count + rest, 'kernel')}, matched by name with `, links, '.'),
            nameList(`${fmt.plural(rest, 'kernel')} not in ${tables.length === 1 ? 'the table' : 'the tables'}`, unmatched, rest),
            nameList(`${fmt.plural(alone.length, 'kernel')} only in ${tables.length === 1 ? 'the table' : 'the tables'}`, alone, alone.length));
            nameTables(tables);
        },
    };
}

/** @param {string} title @param {string[]} names @param {number} total of which these are the first */
function nameList(title, names, total) {
    if (total === 0) return null;
    return h('details', { class: 'match-list' }, h('summary', null, title),
        h('div', { class: 'match-names', tabindex: '0', role: 'region', 'aria-label': title }, h('ul', null, names.map((name) => h('li', null, h('code', null, name))))),
        total > names.length ? h('p', { class: 'quiet' }, `and ${fmt.int(total - names.length)} more`) : null);
}
