/** Which rank the others wait for, why and what it costs; a map of ranks and steps that leads into the timeline. */

import { h, fill } from '../../lib/dom.js';
import { go, traceHref } from '../../app/router.js';
import { onTheme, token } from '../../app/theme.js';
import { walkable } from '../../charts/chartpanel.js';
import { sharpContext } from '../../lib/canvas.js';
import { ApiError } from '../../lib/api.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const ROW = 18;
const HEIGHT = 480;

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
            const data = await api.stragglers(run, { span }, signal);
            if (data.ranks.length < 2) return;
            const map = rankMap(data);
            stop = map.destroy;
            fill(root, h('section', { class: `verdict ${VERDICTS[data.verdict.kind]}`, 'aria-label': 'Which rank the others wait for' },
                h('p', { class: 'verdict-text' }, h('strong', null, data.verdict.text)),
                warnings(data)), map.root);
            map.paint();
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            if (error.status !== 404) fill(root, h('p', { class: 'quiet' }, error.message));
        }
    }
    return { root, ready: load(), destroy: () => stop() };
}

/** @param {Stragglers} data */
function warnings({ warnings: list }) {
    const islands = list.find(({ code }) => code === 'clock_islands');
    const twice = list.find(({ code }) => code === 'rank_twice');
    return [
        islands ? h('p', { class: 'quiet' }, `The ranks share no collective across ${fmt.int(islands.count)} groups: times of different groups cannot be compared.`) : null,
        twice ? h('p', { class: 'quiet' }, `${fmt.plural(twice.count, 'trace')} left out: a later upload has the same rank.`) : null,
    ];
}

/** A canvas with a row a rank and a column a step. @param {Stragglers} data */
function rankMap(data) {
    const { ranks, steps, culprits, traces } = data;
    const canvas = h('canvas', { class: 'rank-map' });
    const said = h('p', { class: 'sight', 'aria-live': 'polite' });
    const layers = h('select', { class: 'input select', 'aria-label': 'What the map shows', onchange: () => paint() },
        LAYERS.map(({ value, label }) => h('option', { value }, label)));
    let at = -1;
    canvas.style.height = `${Math.min(HEIGHT, Math.max(ROW, ranks.length * ROW))}px`;

    const layer = () => LAYERS.find(({ value }) => value === layers.value) ?? LAYERS[0];
    const places = (/** @type {number} */ index) => ({ row: Math.floor(index / steps.length), column: index % steps.length });

    function paint() {
        const place = sharpContext(canvas);
        if (!place) return;
        const { context, width, height } = place;
        const cells = data[layer().value];
        const most = cells.reduce((top, row) => row.reduce((best, value) => Math.max(best ?? 0, value ?? 0), top) ?? 0, 0);
        const [across, down] = [width / steps.length, height / ranks.length];
        const gap = across > 6 && down > 6 ? 1 : 0;
        const none = token('--sunk');
        const full = token(layer().colour);
        cells.forEach((row, r) => row.forEach((value, s) => {
            context.globalAlpha = 1;
            context.fillStyle = none;
            context.fillRect(s * across, r * down, across - gap, down - gap);
            context.globalAlpha = value === null || most === 0 ? 0 : value / most;
            context.fillStyle = full;
            context.fillRect(s * across, r * down, across - gap, down - gap);
        }));
        context.globalAlpha = 1;
        context.strokeStyle = token('--slower');
        context.lineWidth = 2;
        culprits.forEach(({ rank }, s) => {
            const r = rank === null ? -1 : ranks.indexOf(rank);
            if (r >= 0) context.strokeRect(s * across + 1, r * down + 1, Math.max(1, across - gap - 2), Math.max(1, down - gap - 2));
        });
        if (at >= 0) {
            const { row, column } = places(at);
            context.strokeStyle = token('--ink');
            context.strokeRect(column * across, row * down, Math.max(2, across - gap), Math.max(2, down - gap));
        }
    }

    /** @param {number} index */
    function text(index) {
        const { row, column } = places(index);
        const time = (/** @type {number | null} */ value) => (value === null ? 'none' : fmt.time(value));
        const culprit = culprits[column];
        const blame = culprit.rank === ranks[row] ? `, the others lose ${time(culprit.margin_ns)} to it by ${culprit.cause}` : '';
        return `Rank ${ranks[row]}, step ${steps[column]}: waits ${time(data.wait_ns[row][column])}, works ${time(data.work_ns[row][column])} of ${time(data.step_ns[row][column])}${blame}`;
    }

    /** @param {number} index */
    function show(index) {
        at = index;
        fill(said, index < 0 ? 'Outlined: the rank that the others wait for. A cell opens its step in the timeline.' : text(index));
        paint();
    }

    /** @param {number} index */
    async function open(index) {
        const { row, column } = places(index);
        const found = await api.rows(traces[row], 'steps', { limit: 0 });
        const step = found.rows.find(({ name }) => name === String(steps[column]));
        go(traceHref(traces[row], 'timeline', step ? { start: String(step.start_ns), end: String(step.start_ns + step.duration_ns) } : {}));
    }

    /** @param {MouseEvent} event */
    function under(event) {
        const box = canvas.getBoundingClientRect();
        const column = Math.floor((event.clientX - box.left) / Math.max(1, box.width) * steps.length);
        const row = Math.floor((event.clientY - box.top) / Math.max(1, box.height) * ranks.length);
        return row >= 0 && row < ranks.length && column >= 0 && column < steps.length ? row * steps.length + column : -1;
    }

    const walk = walkable(canvas, { label: 'Ranks by step', count: () => ranks.length * steps.length, text, show, act: open, step: steps.length });
    canvas.addEventListener('pointermove', (event) => {
        const next = under(event);
        if (next !== at) show(next);
    });
    canvas.addEventListener('pointerleave', () => show(-1));
    canvas.addEventListener('click', (event) => {
        const index = under(event);
        walk.set(index);
        if (index >= 0) open(index);
    });
    const sized = new ResizeObserver(() => paint());
    sized.observe(canvas);
    const forget = onTheme(paint);
    show(-1);
    return {
        root: h('section', { class: 'section' }, h('h2', null, 'Ranks by step'), h('div', { class: 'table-tools' }, layers, said), canvas),
        paint,
        destroy() {
            sized.disconnect();
            forget();
        },
    };
}
