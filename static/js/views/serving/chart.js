/** A column a step, in order of time: device time by class, durations, gaps, batch, tokens. */

import { h, fill, swatch } from '../../lib/dom.js';
import { draw, tooltip, font, solid } from '../../charts/charts.js';
import { chartPanel } from '../../charts/chartpanel.js';
import { colourBook } from '../../charts/ranking.js';
import { categoryColour } from '../../lib/colours.js';
import { token } from '../../app/theme.js';
import { segmented } from '../../table/rowtable.js';
import { plainTable } from '../../table/detail_parts.js';
import { setParams } from '../../app/router.js';
import { phaseWord } from './phases.js';
import * as fmt from '../../lib/fmt.js';

/** Classes with a colour of their own; the rest is one. */
const CLASSES = 7;
const OTHER = 'Other';

/** What a column can stand for. @type {{value: string, label: string, isTime: boolean, of?: (row: EngineStep) => number | null}[]} of: absent, by class */
const MEASURES = [
    { value: 'device', label: 'Device time', isTime: true },
    { value: 'host', label: 'Host time', isTime: true, of: (row) => row.duration_ns },
    { value: 'host_gap', label: 'Host gap', isTime: true, of: (row) => row.host_gap_ns },
    { value: 'device_gap', label: 'Device gap', isTime: true, of: (row) => row.device_gap_ns },
    { value: 'batch', label: 'Batch', isTime: false, of: (row) => row.requests },
    { value: 'tokens', label: 'Tokens', isTime: false, of: (row) => row.tokens },
    { value: 'kv', label: 'KV', isTime: false, of: (row) => kvOf(row) },
];

/** Lengths of keys and values of all requests. @param {Row | EngineStep} row */
export const kvOf = (row) => (row.context_kv === null || row.generation_kv === null ? null : row.context_kv + row.generation_kv);

/**
 * @param {EngineSteps} answer
 * @param {number} total steps of the trace, of which the answer may have the first only
 */
export function stepChart({ rows, phases }, total) {
    let measure = MEASURES[0];
    const choice = segmented('Measure', MEASURES.map(({ value, label }) => ({ value, label })), (value) => setParams({ measure: value === 'device' ? null : value }));
    const canvas = h('canvas', { role: 'img', 'aria-label': 'Steps in order of time; press the table button for figures' });
    const legend = h('p', { class: 'time-key' });
    const classes = largestClasses(phases);
    /** @type {Promise<import('../../charts/charts.js').LiveChart> | undefined} */
    let live;
    const panel = chartPanel({
        title: 'Over the steps', help: total > rows.length ? `The first ${fmt.int(rows.length)} of ${fmt.int(total)} steps` : undefined,
        tools: [choice.root], chart: h('div', null, h('div', { class: 'step-chart' }, canvas), legend), table: () => figureTable(rows, measure),
    });

    function paint() {
        const series = seriesOf(rows, phases, classes, measure);
        fill(legend, series.map(({ label, colour }) => h('span', null, swatch(colour()), label)));
        return config(rows, series, measure);
    }
    return {
        root: panel.root,
        /** @param {URLSearchParams} params */
        update(params) {
            const wanted = MEASURES.find(({ value }) => value === params.get('measure')) ?? MEASURES[0];
            choice.show(wanted.value);
            if (live && wanted === measure) return;
            measure = wanted;
            panel.repaint();
            if (live) live.then((chart) => chart.refresh());
            else live = draw(canvas, paint);
        },
        destroy() {
            live?.then((chart) => chart.destroy());
        },
    };
}

/** @param {EnginePhase[]} phases @returns {string[]} */
function largestClasses(phases) {
    /** @type {Map<string, number>} */
    const sums = new Map();
    for (const { classes } of phases) for (const [name, ns] of Object.entries(classes)) sums.set(name, (sums.get(name) ?? 0) + ns);
    return [...sums].sort(([, a], [, b]) => b - a).slice(0, CLASSES).map(([name]) => name);
}

/** @typedef {{label: string, colour: () => string, values: (number | null)[]}} Series */

/** By class, else a colour a phase. @param {EngineStep[]} rows @param {EnginePhase[]} phases @param {string[]} classes @param {MEASURES[0]} measure @returns {Series[]} */
function seriesOf(rows, phases, classes, measure) {
    const { of } = measure;
    if (of) {
        return phases.map(({ phase }, index) => ({ label: phaseWord(phase), colour: () => categoryColour(index), values: rows.map((row) => (row.phase === phase ? of(row) : null)) }));
    }
    const colours = colourBook()(classes);
    const named = classes.map((name, index) => ({ label: name, colour: colours[index], values: rows.map((row) => row.classes[name] ?? 0) }));
    const rest = rows.map((row) => row.device_ns - classes.reduce((sum, name) => sum + (row.classes[name] ?? 0), 0));
    return rest.some((ns) => ns > 0) ? [...named, { label: OTHER, colour: () => token('--cat-other'), values: rest }] : named;
}

/** @param {EngineStep[]} rows @param {Series[]} series @param {MEASURES[0]} measure */
function config(rows, series, measure) {
    const most = Math.max(1, ...rows.map((row) => Math.abs(measure.of ? (measure.of(row) ?? 0) : row.device_ns)));
    const unit = fmt.timeUnit(most);
    const scale = measure.isTime ? unit.ns : 1;
    const print = (/** @type {number} */ value) => (measure.isTime ? fmt.time(value, unit) : fmt.int(value));
    const axis = { color: token('--ink-2'), font: font(12) };
    return {
        type: 'bar',
        data: {
            labels: rows.map((row) => String(row.index)),
            datasets: series.map(({ label, colour, values }) => ({
                label, data: values.map((value) => (value === null ? null : value / scale)), backgroundColor: colour(), hoverBackgroundColor: colour(),
                categoryPercentage: rows.length > 60 ? 1 : 0.86, barPercentage: 1, maxBarThickness: 110,
            })),
        },
        options: {
            interaction: { mode: 'index', intersect: false },
            scales: {
                x: { stacked: true, grid: { display: false }, border: { color: token('--line-strong') }, ticks: { ...axis, maxRotation: 0, autoSkipPadding: 16 }, title: { ...axis, display: true, text: 'Step' } },
                y: { stacked: true, border: { display: false }, grid: { color: token('--line') }, ticks: { ...axis, maxTicksLimit: 6 },
                    title: { ...axis, display: true, text: measure.isTime ? unit.name : measure.label } },
            },
            plugins: {
                legend: { display: false },
                tooltip: {
                    ...tooltip(),
                    filter: (/** @type {any} */ item) => item.raw !== null && item.raw !== 0,
                    callbacks: {
                        title: (/** @type {any} */ items) => (items.length ? `Step ${items[0].label}, ${rows[items[0].dataIndex].phase}` : ''),
                        label: (/** @type {any} */ item) => ` ${item.dataset.label}  ${print(item.raw * scale)}`,
                        labelColor: (/** @type {any} */ item) => solid(item.dataset.backgroundColor),
                        labelPointStyle: () => ({ pointStyle: 'rectRounded', rotation: 0 }),
                    },
                },
            },
        },
    };
}

/** @param {EngineStep[]} rows @param {MEASURES[0]} measure */
function figureTable(rows, measure) {
    const { of = (/** @type {EngineStep} */ row) => row.device_ns } = measure;
    return plainTable(`${measure.label} of each step`, ['Step', 'Phase', measure.label],
        rows.map((row) => [String(row.index), phaseWord(row.phase), measure.isTime ? fmt.time(of(row)) : fmt.int(of(row))]), 2);
}
