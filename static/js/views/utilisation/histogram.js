/** How long launches take, on a logarithmic axis: many short ones are a launch problem, few long ones a kernel problem. */

import { h } from '../../lib/dom.js';
import { draw, tooltip, font, solid } from '../../charts/charts.js';
import { chartPanel } from '../../charts/chartpanel.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import { token } from '../../app/theme.js';
import { plainTable } from '../../table/detail_parts.js';
import { CLASSES, classColour } from './classes.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./launches.js').Launches} Launches */
/** @typedef {{from: number, to: number, counts: number[], times: number[]}} Bin durations, and launches and time by class */

const BINS_A_DECADE = 5;

/** @param {number} index */
const edge = (index) => 10 ** (index / BINS_A_DECADE);

/** @param {Launches} launches @returns {Bin[]} whole decades, at least one */
export function latencyBins(launches) {
    const indexOf = (/** @type {number} */ ns) => Math.floor(Math.log10(Math.max(1, ns)) * BINS_A_DECADE + 1e-9);
    let [low, high] = [Infinity, 0];
    for (let at = 0; at < launches.count; at += 1) {
        const index = indexOf(launches.duration(at));
        low = Math.min(low, index);
        high = Math.max(high, index);
    }
    if (low > high) return [];
    const first = Math.floor(low / BINS_A_DECADE) * BINS_A_DECADE;
    const last = Math.max(first + BINS_A_DECADE - 1, high);
    const bins = Array.from({ length: last - first + 1 }, (_, index) => ({
        from: edge(first + index), to: edge(first + index + 1), counts: CLASSES.map(() => 0), times: CLASSES.map(() => 0),
    }));
    for (let at = 0; at < launches.count; at += 1) {
        const ns = launches.duration(at);
        const bin = bins[indexOf(ns) - first];
        bin.counts[launches.use[at]] += 1;
        bin.times[launches.use[at]] += ns;
    }
    return bins;
}

/** @param {number} ns */
const isDecade = (ns) => Math.abs(Math.log10(ns) - Math.round(Math.log10(ns))) < 1e-6;

/** "10 µs". @param {number} ns a power of ten */
function whole(ns) {
    const unit = fmt.timeUnit(Math.round(ns));
    return `${fmt.int(ns / unit.ns)}${fmt.NBSP}${unit.name}`;
}

/** @param {number[]} list */
const sum = (list) => list.reduce((total, value) => total + value, 0);

/** @param {Bin} bin */
const range = (bin) => `${fmt.time(Math.round(bin.from))} to ${fmt.time(Math.round(bin.to))}`;

export function histogram() {
    /** @type {'launches' | 'time'} */
    let by = 'launches';
    /** @type {Bin[]} */
    let bins = [];
    let total = { launches: 0, time: 0 };
    const canvas = h('canvas', { role: 'img', 'aria-label': 'Launches by latency; press the table button for figures' });
    const tools = segmented('Bars show', [{ value: 'launches', label: 'Launches' }, { value: 'time', label: 'Time' }], (value) => setParams({ bars: value === 'time' ? value : null }));
    const panel = chartPanel({
        title: 'Latency of launches', help: 'How many launches take how long, or how much time they take together; the axis is logarithmic', tools: [tools.root],
        chart: h('div', { class: 'use-histogram' }, canvas),
        table: () => plainTable('Launches by latency', ['Latency', 'Launches', 'Time'],
            bins.filter((bin) => sum(bin.counts) > 0).map((bin) => [range(bin), fmt.int(sum(bin.counts)), fmt.time(sum(bin.times))]), 1),
    });
    /** @type {Promise<import('../../charts/charts.js').LiveChart> | undefined} */
    let live;

    function config() {
        const unit = fmt.timeUnit(Math.max(0, ...bins.map((bin) => sum(bin.times))));
        const value = (/** @type {Bin} */ bin, /** @type {number} */ use) => (by === 'time' ? bin.times[use] / unit.ns : bin.counts[use]);
        const shown = CLASSES.map((_, index) => index).filter((index) => bins.some((bin) => bin.counts[index] > 0));
        // Where nothing was measured, classes say nothing.
        const plain = shown.every((use) => CLASSES[use].key === 'unknown');
        const colour = (/** @type {number} */ use) => (plain ? token('--cat-1') : classColour(use));
        const ticks = { color: token('--ink-2'), font: font(12), maxRotation: 0 };
        return {
            type: 'bar',
            data: {
                labels: bins.map((bin) => fmt.time(Math.round(bin.from))),
                datasets: shown.map((use) => ({ label: plain ? '' : CLASSES[use].label, data: bins.map((bin) => value(bin, use)), backgroundColor: colour(use),
                    hoverBackgroundColor: colour(use), categoryPercentage: 1, barPercentage: 1, borderColor: token('--bg'), borderWidth: { left: 1 }, borderSkipped: false })),
            },
            options: {
                layout: { padding: { right: 24 } },
                interaction: { mode: 'index', intersect: false },
                scales: {
                    // A bin stands between its edges; whole decades are named.
                    x: { stacked: true, offset: true, grid: { display: false }, border: { color: token('--line-strong') },
                        ticks: { ...ticks, autoSkip: false, align: 'start', callback: (/** @type {number} */ at) => (isDecade(bins[at].from) ? whole(bins[at].from) : '') } },
                    y: { stacked: true, border: { display: false }, grid: { color: token('--line') }, ticks: { ...ticks, maxTicksLimit: 5, precision: by === 'time' ? undefined : 0 },
                        title: { display: true, text: by === 'time' ? unit.name : 'launches', color: token('--ink-2'), font: font(12) } },
                },
                plugins: { legend: { display: false }, tooltip: { ...tooltip(), filter: (/** @type {any} */ item) => item.raw > 0, callbacks: {
                    title: (/** @type {any} */ items) => (items.length ? range(bins[items[0].dataIndex]) : ''),
                    label: (/** @type {any} */ item) => ` ${item.dataset.label}  ${figure(bins[item.dataIndex], shown[item.datasetIndex])}`,
                    labelColor: (/** @type {any} */ item) => solid(item.dataset.backgroundColor),
                    labelPointStyle: () => ({ pointStyle: 'rectRounded', rotation: 0 }),
                    footer: (/** @type {any} */ items) => (items.length ? foot(bins[items[0].dataIndex]) : ''),
                } } },
            },
        };
    }

    /** @param {Bin} bin @param {number} use */
    const figure = (bin, use) => `${fmt.plural(bin.counts[use], 'launch', 'launches')}, ${fmt.time(bin.times[use])}`;

    /** @param {Bin} bin */
    const foot = (bin) => `${fmt.plural(sum(bin.counts), 'launch', 'launches')} (${fmt.share(sum(bin.counts) / total.launches)}), ${fmt.share(sum(bin.times) / total.time)} of the time`;

    async function paint() {
        if (bins.length === 0) return;
        panel.repaint();
        if (live) (await live).refresh();
        else live = draw(canvas, config);
    }

    return {
        root: panel.root,
        /** @param {Launches} launches */
        show(launches) {
            bins = latencyBins(launches);
            total = { launches: launches.count, time: launches.total };
            return paint();
        },
        /** @param {URLSearchParams} params */
        update(params) {
            const next = params.get('bars') === 'time' ? 'time' : 'launches';
            tools.show(next);
            if (next === by) return;
            by = next;
            paint();
        },
        destroy() {
            live?.then((chart) => chart.destroy());
        },
    };
}
