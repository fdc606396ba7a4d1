/** Which rank the others wait for, why and what it costs; a map of ranks and steps that leads into the timeline. */

import { h, fill } from '../../lib/dom.js';
import { go, runViewHref, traceHref } from '../../app/router.js';
import { heatMap } from '../../charts/heat_map.js';
import { ApiError } from '../../lib/api.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** What a cell's colour can say. @type {{value: 'wait_ns' | 'work_ns' | 'step_ns', label: string, colour: string}[]} */
const LAYERS = [
    { value: 'wait_ns', label: 'Waiting', colour: '--role-communication' },
    { value: 'work_ns', label: 'Work', colour: '--role-kernel' },
    { value: 'step_ns', label: 'Step time', colour: '--accent' },
];

const VERDICTS = { persistent: 'warn', scattered: 'warn', balanced: 'good', unknown: '' };

/**
 * The verdict and the map; nothing for a run of one rank.
 * @param {string} run @param {string | null} span @param {AbortSignal} signal
 */
export function rankVerdict(run, span, signal) {
    const root = h('div', { class: 'rank-verdict' });
    let stop = () => {};
    async function load() {
        try {
            /** @type {Stragglers} */
            const data = await api.call(`${api.runPath(run)}/stragglers`, { query: { span }, signal });
            if (data.ranks.length < 2) return;
            const map = data.steps.length > 0 ? rankMap(data) : null;
            stop = () => map?.destroy();
            fill(root, h('section', { class: `verdict ${VERDICTS[data.verdict.kind]}`, 'aria-label': 'Which rank the others wait for' },
                h('p', { class: 'verdict-text' }, h('strong', null, data.verdict.text)),
                warnings(data), ways(run, data)), map?.root);
            map?.repaint();
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            if (error.status !== 404) fill(root, h('p', { class: 'quiet' }, error.message));
        }
    }
    return { root, ready: load(), destroy: () => stop() };
}

/** Where the figures behind the sentence are. @param {string} run @param {Stragglers} data */
function ways(run, { verdict: { rank } }) {
    return h('p', { class: 'ways' }, h('a', { href: runViewHref(run, 'ranks') }, 'All ranks on one timeline'), ' · ', h('a', { href: runViewHref(run, 'collectives') }, 'Collectives and waiting'), ' · ',
        h('a', { href: runViewHref(run, 'clock') }, 'How the clocks were aligned'),
        rank === null ? null : [' · ', h('a', { href: runViewHref(run, 'collectives', { 'c-sort': 'skew_ns', 'c-order': 'desc' }) }, 'Collectives that waited longest')]);
}

/** @param {{warnings: {code: string, count: number}[]}} data */
export function warnings({ warnings: list }) {
    const islands = list.find(({ code }) => code === 'clock_islands');
    const twice = list.find(({ code }) => code === 'rank_twice');
    return [
        islands ? h('p', { class: 'quiet' }, `The ranks share no collective across ${fmt.int(islands.count)} groups: times of different groups cannot be compared.`) : null,
        twice ? h('p', { class: 'quiet' }, `${fmt.plural(twice.count, 'trace')} left out: a later upload has the same rank.`) : null,
    ];
}

/** A row a rank, a column a step. @param {Stragglers} data */
function rankMap(data) {
    const { ranks, steps, culprits, traces } = data;
    const layers = h('select', { class: 'input select', 'aria-label': 'What the map shows', onchange: () => map.repaint() },
        LAYERS.map(({ value, label }) => h('option', { value }, label)));
    const layer = () => LAYERS.find(({ value }) => value === layers.value) ?? LAYERS[0];
    const rowOf = new Map(ranks.map((rank, row) => [rank, row]));

    /** @param {number} row @param {number} column */
    function text(row, column) {
        const time = (/** @type {number | null} */ value) => (value === null ? 'none' : fmt.time(value));
        const culprit = culprits[column];
        const blame = culprit.rank === ranks[row] ? `, the others lose ${time(culprit.margin_ns)} to it by ${culprit.cause}` : '';
        return `Rank ${ranks[row]}, step ${steps[column]}: waits ${time(data.wait_ns[row][column])}, works ${time(data.work_ns[row][column])} of ${time(data.step_ns[row][column])}${blame}`;
    }

    /** @param {number} row @param {number} column */
    async function open(row, column) {
        const found = await api.rows(traces[row], 'steps', { limit: 0 });
        const step = found.rows.find(({ name }) => name === String(steps[column]));
        go(traceHref(traces[row], 'timeline', step ? { start: String(step.start_ns), end: String(step.start_ns + step.duration_ns) } : {}));
    }

    const map = heatMap({
        label: 'Ranks by step', rows: ranks.length, columns: steps.length, value: (row, column) => data[layer().value][row][column], colour: () => layer().colour, text, act: open,
        hint: 'Outlined: the rank that the others wait for. A cell opens its step in the timeline.',
        rowName: (row) => `Rank ${ranks[row]}`, columnName: (column) => (column ? String(steps[column]) : `Step ${steps[0]}`),
        marked: culprits.flatMap(({ rank }, column) => (rank === null || !rowOf.has(rank) ? [] : [/** @type {[number, number]} */ ([rowOf.get(rank) ?? 0, column])])),
    });
    return {
        root: h('section', { class: 'section' }, h('h2', null, 'Ranks by step'), h('div', { class: 'table-tools' }, layers, map.said), map.root),
        repaint: map.repaint,
        destroy: map.destroy,
    };
}
