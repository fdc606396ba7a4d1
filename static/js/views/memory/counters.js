/** Memory by the counters of a trace, sampled or by category: a line for each, as the timeline draws them. */

import { h, swatch } from '../../lib/dom.js';
import { chartPanel } from '../../charts/chartpanel.js';
import { draw, font, solid, tooltip } from '../../charts/charts.js';
import { categoryColour } from '../../lib/colours.js';
import { plainTable } from '../../table/detail_parts.js';
import { token } from '../../app/theme.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const SHOWN = 8;
const WIDTH_PX = 1000;
/** Bytes of a unit that a series is named by. */
const UNITS = /** @type {Record<string, number>} */ ({ b: 1, byte: 1, bytes: 1, kb: 1024, kib: 1024, mb: 1024 ** 2, mib: 1024 ** 2, gb: 1024 ** 3, gib: 1024 ** 3 });

/** @typedef {{name: string, points: {x: number, y: number}[]}} Line x in ns, y in bytes */

/** A memory timeline has a counter of bytes with a series a category. */
const CATEGORIES = 'memory';

/** Series of counters that count bytes. @param {Trace} trace @param {TimelineTrack[]} tracks */
const byteSeries = ({ views }, tracks) => tracks.filter(({ kind }) => kind === 'counter').flatMap(({ id, label, series = [] }) => {
    const categories = views.includes('memory_categories') && label === CATEGORIES;
    return series.flatMap((name, lane) => {
        const bytes = categories ? 1 : UNITS[name.toLowerCase()];
        return bytes ? [{ track: id, lane, name: categories ? name : series.length > 1 ? `${label}, ${name}` : label, bytes }] : [];
    });
});

/** @param {Trace} trace @param {AbortSignal} signal @returns {Promise<Line[]>} those with the most first */
async function fetchLines(trace, signal) {
    if (!trace.views.some((view) => view === 'memory_counters' || view === 'memory_categories')) return [];
    const { tracks } = await api.call(`traces/${trace.id}/timeline/tracks`, { signal });
    const wanted = byteSeries(trace, tracks);
    if (wanted.length === 0) return [];
    const query = { start_ns: 0, end_ns: trace.duration_ns, width_px: WIDTH_PX, tracks: [...new Set(wanted.map(({ track }) => track))].join(',') };
    const answer = await api.call(`traces/${trace.id}/timeline`, { query, signal });
    /** @type {Map<number, {points?: {start_ns: number[], lane: number[], max: number[]}}>} */
    const found = new Map(answer.tracks.map((/** @type {{id: number}} */ track) => [track.id, track]));
    const lines = wanted.map(({ track, lane, name, bytes }) => {
        const { start_ns: start = [], lane: lanes = [], max = [] } = found.get(track)?.points ?? {};
        return { name, points: start.flatMap((ns, at) => (lanes[at] === lane ? [{ x: Math.max(0, ns), y: max[at] * bytes }] : [])) };
    });
    return lines.filter(({ points }) => points.length > 0).sort((a, b) => peakOf(b) - peakOf(a));
}

/** @param {Line} line */
const peakOf = ({ points }) => points.reduce((most, { y }) => Math.max(most, y), 0);

/** The counters as a chart with its table, to be drawn when it stands in the page; null: the trace has none. @param {Trace} trace @param {AbortSignal} signal */
export async function memoryCounters(trace, signal) {
    const all = await fetchLines(trace, signal);
    if (all.length === 0) return null;
    const lines = all.slice(0, SHOWN);
    const time = fmt.timeUnit(trace.duration_ns);
    const sizes = fmt.byteUnit(peakOf(lines[0]));
    const canvas = h('canvas', { role: 'img', 'aria-label': `Memory counters over time: ${lines.map(({ name }) => name).join(', ')}; press the table button for figures` });
    const key = h('p', { class: 'side-key' }, lines.map(({ name }, index) => h('span', { class: 'side-name' }, swatch(categoryColour(index)), name)));
    const table = () => plainTable('Memory counters', ['Counter', 'Values', 'First', 'Last', 'Most'],
        all.map((line) => [line.name, fmt.int(line.points.length), fmt.bytes(line.points[0].y), fmt.bytes(line.points[line.points.length - 1].y), fmt.bytes(peakOf(line))]), 1);
    const panel = chartPanel({ title: 'Memory counters over time', help: 'What the profiler sampled, as the timeline draws it', chart: h('div', null, h('div', { class: 'memory-chart' }, canvas), key), table });
    /** @type {Promise<import('../../charts/charts.js').LiveChart> | undefined} */
    let live;
    return { root: panel.root, draw: () => (live ??= draw(canvas, () => chartConfig(lines, trace, time, sizes))), destroy: () => live?.then((chart) => chart.destroy()) };
}

/** @param {Line[]} lines @param {Trace} trace @param {fmt.TimeUnit} time @param {{name: string, bytes: number, digits: number}} sizes */
function chartConfig(lines, trace, time, sizes) {
    const ticks = { color: token('--ink-2'), font: font(12), maxRotation: 0 };
    const title = (/** @type {string} */ text) => ({ display: true, text, color: token('--ink-2'), font: font(12) });
    return {
        type: 'line',
        data: { datasets: lines.map(({ name, points }, index) => ({
            label: name, stepped: true, pointRadius: 0, pointHoverRadius: 4, borderWidth: 1.5, borderColor: categoryColour(index), pointBackgroundColor: categoryColour(index),
            // What was counted last holds to the end.
            data: [...points, { x: trace.duration_ns, y: points[points.length - 1].y }].map(({ x, y }) => ({ x: x / time.ns, y: y / sizes.bytes })),
        })) },
        options: {
            parsing: false, normalized: true,
            interaction: { mode: 'nearest', axis: 'x', intersect: false },
            scales: {
                x: { type: 'linear', min: 0, max: trace.duration_ns / time.ns, grid: { display: false }, border: { color: token('--line-strong') }, ticks: { ...ticks, autoSkipPadding: 24 }, title: title(time.name) },
                y: { beginAtZero: true, border: { display: false }, grid: { color: token('--line') }, ticks: { ...ticks, maxTicksLimit: 6 }, title: title(sizes.name) },
            },
            plugins: { legend: { display: false }, tooltip: { ...tooltip(), callbacks: {
                title: (/** @type {any} */ items) => (items.length ? `At ${fmt.time(items[0].raw.x * time.ns, time)}` : ''),
                label: (/** @type {any} */ item) => ` ${item.dataset.label}  ${fmt.bytes(item.raw.y * sizes.bytes, sizes)}`,
                labelColor: (/** @type {any} */ item) => solid(item.dataset.borderColor),
            } } },
        },
    };
}
