/** Clocks of a run: how far apart those of its ranks are, how surely that is known, what cannot be aligned. */

import { h, fill } from '../../lib/dom.js';
import { runViewHref, traceHref } from '../../app/router.js';
import { empty, skeleton } from '../../lib/states.js';
import { answer } from '../overview/answers.js';
import { chartPanel } from '../../charts/chartpanel.js';
import { draw, font } from '../../charts/charts.js';
import { localTable } from '../../table/localtable.js';
import { boardOf } from '../runs/board.js';
import { spanChoice } from '../runs/spans.js';
import { token } from '../../app/theme.js';
import { call, runPath } from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {{rows: RankClockRow[], total: number, reference: number | null, warnings: {code: string, count: number}[]}} Clock */

const CONFIDENCE = ['reference', 'high', 'medium', 'low'];

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const run = route.id;
    const body = h('div', { class: 'run-view' }, skeleton('figures', 'block', 'rows'));
    const tools = h('div', { class: 'view-tools' });
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Clocks'), tools), body);
    const spans = spanChoice(run, route.params.get('span'), signal).then((choice) => fill(tools, choice), () => {});
    const shown = boardOf(body, {
        query: (params) => ({ span: params.get('span') }),
        ask: (query) => /** @type {Promise<Clock>} */ (call(`${runPath(run)}/clock`, { query, signal })),
        board: (data) => board(body, run, data),
        nothing: (said) => empty('No clocks to compare', h('p', null, said)),
    });
    const update = (/** @type {URLSearchParams} */ params) => Promise.all([spans, shown.update(params)]);
    return { ready: update(route.params), update: (next) => update(next.params), destroy: shown.destroy };
}

/** @param {HTMLElement} body @param {string} run @param {Clock} data */
function board(body, run, data) {
    const rows = data.rows.map((row) => ({ ...row, name: `Rank ${row.rank}` }));
    const chart = offsets(data.rows);
    const table = localTable(/** @type {any[]} */ (rows), {
        caption: 'Clocks by rank', noun: ['rank', 'ranks'], search: 'Search ranks', columns: COLUMNS, sort: ['name', 'asc'], identity: (row) => String(row.rank), file: `clock-${run}.csv`,
        filters: [{ param: 'confidence', label: 'Confidence', all: 'Every confidence', options: CONFIDENCE.map((value) => ({ value, label: value })), keep: (row, value) => row.confidence === value }],
        detail: (row) => h('p', null, h('a', { href: traceHref(row.trace, 'timeline') }, 'Its timeline')),
    });
    fill(body, verdict(run, data), answers(data), chart.root, h('section', { class: 'section' }, h('h2', null, 'Each rank'), table.root));
    return {
        /** @param {URLSearchParams} params */
        update(params) {
            table.update(params);
            return chart.ready;
        },
        destroy() {
            chart.destroy();
            table.destroy();
        },
    };
}

/** @type {Column[]} */
const COLUMNS = [
    { key: 'name', label: 'Rank', kind: 'name', width: 110, priority: 0, value: (row) => row.rank, print: (rank) => `Rank ${rank}` },
    { key: 'offset_ns', label: 'Offset', kind: 'time', family: 'offset', width: 120, priority: 1, help: 'How far its clock is ahead of the reference' },
    { key: 'residual_ns', label: 'Residual', kind: 'time', family: 'residual', width: 110, priority: 2, help: 'Median distance of its ends of collectives from the others\u2019, once aligned' },
    { key: 'samples', label: 'Collectives', kind: 'int', width: 110, priority: 4, help: 'That told the offset' },
    { key: 'confidence', label: 'Confidence', kind: 'text', width: 120, priority: 3, help: 'high: 10 collectives and 10 \u00b5s at most; medium: 3 and 100 \u00b5s' },
];

/** @param {Clock} data */
const islandsOf = ({ rows }) => rows.filter(({ confidence }) => confidence === 'reference');

/** What can be trusted, in a sentence. @param {string} run @param {Clock} data */
function verdict(run, data) {
    const islands = islandsOf(data);
    const low = data.rows.filter(({ confidence }) => confidence === 'low');
    const text = islands.length > 1 ? `The ranks fall into ${fmt.int(islands.length)} islands that share no collective: times of different islands cannot be compared.`
        : low.length > 0 ? `The clocks of ${fmt.plural(low.length, 'rank')} are known roughly only: few collectives, or ends that scatter.`
            : `The clocks of all ${fmt.plural(data.total, 'rank')} are aligned by the ends of their collectives.`;
    return h('section', { class: `verdict ${islands.length > 1 || low.length > 0 ? 'warn' : 'good'}`, 'aria-label': 'Whether the clocks can be aligned' },
        h('p', { class: 'verdict-text' }, h('strong', null, text)),
        islands.length > 1 ? h('p', { class: 'quiet' }, `References: ${islands.slice(0, 12).map(({ rank }) => `rank ${rank}`).join(', ')}${islands.length > 12 ? ' and others' : ''}. Record a collective over all ranks, such as a barrier, within the profile.`) : null,
        h('p', { class: 'ways' }, h('a', { href: runViewHref(run, 'collectives') }, 'Collectives on the aligned clock')));
}

/** @param {Clock} data */
function answers(data) {
    const far = [...data.rows].sort((a, b) => Math.abs(b.offset_ns) - Math.abs(a.offset_ns))[0];
    const worst = [...data.rows].sort((a, b) => (b.residual_ns ?? -1) - (a.residual_ns ?? -1))[0];
    const count = (/** @type {string} */ word) => data.rows.filter(({ confidence }) => confidence === word).length;
    return h('dl', { class: 'answers' },
        answer('Reference', data.reference === null ? ['–', ''] : [`Rank ${data.reference}`, ''], ['Its clock is the run\u2019s'], 'first'),
        answer('Largest offset', far ? fmt.timeParts(Math.abs(far.offset_ns)) : ['–', ''], [far ? `Rank ${far.rank} is ${far.offset_ns < 0 ? 'behind' : 'ahead'}` : '']),
        answer('Largest residual', worst?.residual_ns === null || !worst ? ['–', ''] : fmt.timeParts(worst.residual_ns), [worst ? `Rank ${worst.rank}` : '']),
        answer('Confidence', [`${count('high')} high`, ''], [`${count('medium')} medium, ${count('low')} low`]));
}

/** @param {RankClockRow[]} rows */
function offsets(rows) {
    const canvas = h('canvas');
    const box = h('div', { class: 'worker-chart' }, canvas);
    const unit = fmt.timeUnit(Math.max(0, ...rows.map(({ offset_ns: ns }) => Math.abs(ns))));
    const panel = chartPanel({ title: 'Offset by rank', help: 'How far each clock is ahead of the reference', chart: box, table: () => h('p', { class: 'quiet' }, 'The table below has the figures of each rank.') });
    const ticks = { color: token('--ink-2'), font: font(12), maxRotation: 0, autoSkipPadding: 12 };
    const ready = draw(canvas, () => ({
        type: 'bar',
        data: { labels: rows.map(({ rank }) => `Rank ${rank}`), datasets: [{ label: `Offset, ${unit.name}`, data: rows.map(({ offset_ns: ns }) => ns / unit.ns), backgroundColor: token('--accent') }] },
        options: { maintainAspectRatio: false, plugins: { legend: { display: false } }, scales: { x: { ticks, grid: { display: false } }, y: { ticks, title: { display: true, text: unit.name, color: token('--ink-2') }, grid: { color: token('--line') } } } },
    }));
    return { root: panel.root, ready, destroy: () => ready.then((chart) => chart.destroy()) };
}
