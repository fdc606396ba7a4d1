/** Tables: sums, single collectives, ranks. */

import { h, fill } from '../../lib/dom.js';
import { runViewHref, setParams, traceHref } from '../../app/router.js';
import { localTable } from '../../table/localtable.js';
import { rowTable } from '../../table/rowtable.js';
import { figures, plainTable } from '../../table/detail_parts.js';
import { showFailure, skeleton } from '../../lib/states.js';
import { runPath } from '../../lib/api.js';
import { rangeParam } from '../timeline/address.js';
import { kindWord } from './words.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** Ranks of one collective that are listed; the latest first. */
const PARTS = 40;

const perSecond = (/** @type {number} */ value) => fmt.si(value, 'B/s');

/** @type {Column[]} */
const INSTANCES = [
    { key: 'name', label: 'Collective', kind: 'name', width: 150, priority: 0 },
    { key: 'step', label: 'Step', kind: 'int', width: 70, priority: 5 },
    { key: 'group', label: 'Group', kind: 'text', width: 92, priority: 4, help: 'Name of its process group' },
    { key: 'bytes', label: 'Bytes', kind: 'size', width: 92, priority: 3, help: 'What each rank sends; of an all-gather what it receives' },
    { key: 'start_ns', label: 'Start', kind: 'time', width: 104, priority: 6, help: 'Of the first rank, after the start of the run' },
    { key: 'skew_ns', label: 'Skew', kind: 'time', family: 'part', width: 92, priority: 1, help: 'From the first rank that arrives to the last' },
    { key: 'mean_wait_ns', label: 'Mean wait', kind: 'time', family: 'part', width: 108, priority: 2, help: 'What a rank waits for the last one, on average' },
    { key: 'transfer_ns', label: 'Transfer', kind: 'time', family: 'part', width: 100, priority: 2, help: 'The shortest of its ranks: data flows' },
    { key: 'end_skew_ns', label: 'End skew', kind: 'time', family: 'part', width: 100, priority: 12 },
    { key: 'algorithm_bytes_per_s', label: 'Algorithm', kind: 'num', print: perSecond, width: 108, priority: 8, help: 'Bytes over transfer' },
    { key: 'bus_bytes_per_s', label: 'Bus', kind: 'num', print: perSecond, width: 108, priority: 5, help: 'The same times what the kind moves over the wires: 2(n\u22121)/n of an all-reduce' },
    { key: 'last_rank', label: 'Last', kind: 'int', width: 70, priority: 3, help: 'The rank that arrives last' },
    { key: 'first_rank', label: 'First', kind: 'int', width: 70, priority: 9 },
    { key: 'ranks_n', label: 'Ranks', kind: 'int', width: 78, priority: 7 },
    { key: 'size', label: 'Size', kind: 'int', width: 70, priority: 10, help: 'Ranks of its group' },
    { key: 'complete', label: 'Complete', kind: 'bool', width: 96, priority: 11, help: 'All ranks of the group have it' },
    { key: 'sequence', label: 'Sequence', kind: 'int', width: 96, priority: 13, help: 'Its Seq, or its place among the group\u2019s collectives' },
    { key: 'dtype', label: 'Type', kind: 'text', width: 92, priority: 14 },
];

/** @param {string} run @param {api.Chosen} chosen */
export function instanceTable(run, chosen) {
    return rowTable({
        of: runPath(run), view: 'collectives', prefix: 'c-', caption: 'Collectives', noun: () => ['collective', 'collectives'], search: 'Search collectives',
        columnsFor: () => INSTANCES, defaultSort: () => ['start_ns', 'asc'], also: () => ({ ...chosen, parts: 'none' }), filters: [{ param: 'kind', label: 'Kind' }, { param: 'group', label: 'Group' }],
        detail: (row) => instanceDetail(run, chosen, row), emptyText: (q) => (q ? `No collective matches \u201c${q}\u201d.` : 'No collectives.'),
    });
}

/** @param {string} run @param {api.Chosen} chosen @param {Row} row */
function instanceDetail(run, chosen, row) {
    const box = h('div', null, skeleton('rows'));
    const load = async () => {
        try {
            const { rows } = await api.collectives(run, { ...chosen, parts: 'none', detail: 1, kind: row.kind, group: row.group, sequence: row.sequence, limit: 0 });
            const own = rows.find(({ start_ns: start, group_ranks: ranks, name }) => start === row.start_ns && ranks === row.group_ranks && name === row.name);
            fill(box, partTable(own?.ranks ?? []));
        } catch (error) {
            showFailure(box, error, load);
        }
    };
    load();
    return h('div', null, chosen.clock === 'raw' ? null : h('p', null, h('a', { href: onTimeline(run, chosen.span, row) }, 'Show on the timeline of all ranks')), figures([['Kind', kindWord(row.kind)], ['Ranks of the group', row.group_ranks ?? 'not told'], ['Matched by', row.matched_by], ['Sends', fmt.bytes(row.in_bytes)], ['Receives', fmt.bytes(row.out_bytes)]]),
        row.mismatch ? h('p', { class: 'quiet' }, 'Its ranks name it differently: it counts in no sum and for no clock.') : null, box);
}

/** The collective marked, from the first rank that arrives to its end, with room around it. @param {string} run @param {string | null} span @param {Row} row its times are of the aligned clock */
function onTimeline(run, span, row) {
    const [start, length] = [row.start_ns, row.skew_ns + row.transfer_ns];
    return runViewHref(run, 'ranks', { span, start: start - length - 1, end: start + 2 * length + 1, sel: rangeParam([start, start + length]) });
}

/** @param {api.Part[]} parts */
function partTable(parts) {
    const sorted = [...parts].sort((a, b) => a.wait_ns - b.wait_ns).slice(0, PARTS);
    return h('div', null, sorted.length < parts.length ? h('p', { class: 'quiet' }, `The last ${sorted.length} of ${fmt.plural(parts.length, 'rank')} to arrive.`) : null,
        plainTable('Its ranks, the last to arrive first', ['Rank', 'Start', 'Duration', 'Waits'], sorted.map((part) => [
            h('a', { href: traceHref(part.trace, 'timeline', { event: String(part.event) }), 'data-tip': 'Show in timeline' }, `Rank ${part.rank}`),
            fmt.moment(part.start_ns), fmt.time(part.duration_ns), fmt.time(part.wait_ns)]), 1));
}

/** @type {Column[]} */
const SUMS = [
    { key: 'name', label: 'Kind', kind: 'name', width: 130, priority: 0 },
    { key: 'group', label: 'Group', kind: 'text', width: 110, priority: 3 },
    { key: 'group_ranks', label: 'Ranks', kind: 'text', width: 150, priority: 7 },
    { key: 'bytes', label: 'Bytes', kind: 'size', width: 96, priority: 2 },
    { key: 'count', label: 'Count', kind: 'int', width: 78, priority: 4 },
    { key: 'transfer_ns', label: 'Transfer', kind: 'time', family: 'sum', width: 104, priority: 1, help: 'Of all of them together' },
    { key: 'mean_wait_ns', label: 'Mean wait', kind: 'time', family: 'call', width: 112, priority: 5 },
    { key: 'bus_bytes_per_s', label: 'Bus', kind: 'num', print: perSecond, width: 116, priority: 6, help: 'Median of their bus bandwidths' },
];

/** @param {string} run @param {CollectiveSumRow[]} summary */
export function summaryTable(run, summary) {
    const rows = summary.map((row) => ({ ...row, name: kindWord(row.kind) }));
    return localTable(/** @type {any[]} */ (rows), {
        caption: 'Collectives by kind, group and size', noun: ['row', 'rows'], search: 'Search kinds', columns: SUMS, sort: ['transfer_ns', 'desc'], prefix: 's-', file: `collectives-${run}.csv`,
        identity: (row) => `${row.kind} ${row.group} ${row.group_ranks} ${row.bytes}`,
        detail: (row) => h('div', null, figures([['Ranks of the group', row.group_ranks ?? 'not told']]), h('button', {
            class: 'button small', type: 'button', onclick: () => {
                setParams({ 'c-kind': row.kind, 'c-group': row.group });
                document.getElementById('instances')?.scrollIntoView({ block: 'start' });
            },
        }, 'Show each')),
    });
}

/** @type {Column[]} */
const OVERLAP = [
    { key: 'name', label: 'Rank', kind: 'name', width: 110, priority: 0 },
    { key: 'communication_ns', label: 'Communication', kind: 'time', family: 'sum', width: 140, priority: 1 },
    { key: 'hidden_ns', label: 'Hidden', kind: 'time', family: 'sum', width: 104, priority: 3, help: 'Other kernels run meanwhile' },
    { key: 'exposed_ns', label: 'Exposed', kind: 'time', family: 'sum', width: 104, priority: 2, help: 'No other kernel runs' },
    { key: 'exposed_ratio', label: 'Exposed share', kind: 'share', width: 140, priority: 4 },
];

/** @param {string} run @param {api.Overlap[]} overlap */
export function overlapTable(run, overlap) {
    return localTable(/** @type {any[]} */ (overlap.map((row) => ({ ...row, name: `Rank ${row.rank}` }))), {
        caption: 'Communication that other kernels hide, by rank', noun: ['rank', 'ranks'], search: 'Search ranks', columns: OVERLAP, sort: ['exposed_ns', 'desc'], prefix: 'o-', file: `exposed-${run}.csv`,
        identity: (row) => String(row.rank),
    });
}
