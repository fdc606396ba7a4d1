/** The cycle times of both sides: by rank as the report has them, in order of time where the traces are at hand, or as a table. */

import { h } from '../../lib/dom.js';
import { sideLines, timeScale } from '../../charts/cycle_charts.js';
import { shortLabels, sideSwitch } from './sides.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import { plainTable } from '../../table/detail_parts.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const RANK = 'rank';

/** @param {Comparison} data */
export function cycleTimes(data) {
    const { labels } = data.summary;
    const byRank = { base: data.cycles.map((row) => row.base_ns), candidate: data.cycles.map((row) => row.candidate_ns) };
    const means = { base: data.summary.base.mean_cycle_ns, candidate: data.summary.candidate.mean_cycle_ns };
    const scale = timeScale([...byRank.base, ...byRank.candidate]);
    // A report knows durations, but not when they were.
    const hasOrder = data.trace_id === null && data.traces.base.length + data.traces.candidate.length > 0 && data.rows.length > 0;
    const canvas = h('canvas', { role: 'img', 'aria-label': `Cycle times of ${labels.join(' and ')}; choose “Table” for figures` });
    const chartBox = h('div', { class: 'step-chart' }, canvas);
    const tableBox = h('div', { class: 'step-chart-table', hidden: true });
    const note = h('p', { class: 'quiet', hidden: true });
    const modes = segmented('Cycle times', [{ value: RANK, label: 'By length' }, ...(hasOrder ? [{ value: 'time', label: 'In order of time' }] : []), { value: 'table', label: 'Table' }],
        (mode) => setParams({ chart: mode === RANK ? null : mode }, { replace: true }));
    // One at a time: without both there would be no chart.
    const sides = sideSwitch(labels, (side) => setParams({ hide: side === hidden ? null : side }, { replace: true }));
    const root = h('section', { class: 'section' },
        h('div', { class: 'section-head' }, h('h2', null, 'Cycle times'), sides.root, h('div', { class: 'section-tools' }, modes.root)),
        chartBox, tableBox, note);
    let mode = '';
    let hidden = '';
    let drawn = RANK;
    /** @type {Sides<(number | null)[]> | null} */
    let inOrder = null;
    /** @type {Promise<import('../../charts/charts.js').LiveChart> | undefined} */
    let live;

    /** Any row's series says how long the cycles were, in order of time. */
    async function fetchOrder() {
        try {
            const { base, candidate } = await api.betaSeries(data.id, data.rows[0]);
            inOrder = { base: base.cycle_ns, candidate: candidate.cycle_ns };
        } catch {
            inOrder = { base: [], candidate: [] };
        }
        return inOrder;
    }

    async function show() {
        tableBox.hidden = mode !== 'table';
        chartBox.hidden = mode === 'table';
        note.hidden = true;
        if (mode === 'table') {
            if (tableBox.childElementCount === 0) tableBox.append(figures(data));
            return;
        }
        const order = mode === 'time' ? (inOrder ?? await fetchOrder()) : null;
        if (order && order.base.length + order.candidate.length === 0) {
            note.hidden = false;
            note.textContent = 'The traces are not there any more, and with them the order of the cycles: drawn by length.';
        }
        drawn = order && note.hidden ? 'time' : RANK;
        if (live) (await live).refresh();
        else {
            live = sideLines(canvas, () => ({
                values: drawn === 'time' && inOrder ? inOrder : byRank, hidden, means, labels, scale, fromZero: false,
                xTitle: drawn === 'time' ? 'Cycle' : 'Rank by length',
            }));
            await live;
        }
        canvas.dataset.mode = drawn;
    }

    return {
        root,
        /** @param {URLSearchParams} params */
        async update(params) {
            const wanted = params.get('chart') ?? RANK;
            const next = wanted === 'table' || (wanted === 'time' && hasOrder) ? wanted : RANK;
            const off = params.get('hide') ?? '';
            modes.show(next);
            sides.show(off);
            sides.root.hidden = next === 'table';
            if (next === mode && off === hidden) return;
            mode = next;
            hidden = off;
            await show();
        },
        destroy() {
            live?.then((chart) => chart.destroy());
        },
    };
}

/** @param {Comparison} data */
function figures({ cycles, summary: { labels } }) {
    const unit = fmt.columnUnit(cycles.reduce((max, row) => Math.max(max, row.base_ns ?? 0, row.candidate_ns ?? 0), 0));
    const print = (/** @type {number | null} */ ns) => (ns === null ? '–' : fmt.timeIn(ns, unit));
    return plainTable('Cycle times, longest first', ['Rank', ...shortLabels(labels).map((label) => `${label} ${unit.name}`), `Δ ${unit.name}`, 'Δ %'], cycles.map((row) => [
        fmt.int(row.rank), print(row.base_ns), print(row.candidate_ns), row.delta_ns === null ? '–' : fmt.signed(row.delta_ns / unit.ns, unit.digits), fmt.signed(row.delta_pct)]), 1);
}
