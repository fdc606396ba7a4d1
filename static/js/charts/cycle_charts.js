/** Charts of cycles: two sides against each other, or one trace's durations. */

import { draw, leaveRoom, tooltip, font, solid } from './charts.js';
import { categoryColour } from '../lib/colours.js';
import { SIDES, SIDE_POINTS, sideColour } from '../views/comparison/sides.js';
import { token } from '../app/theme.js';
import * as fmt from '../lib/fmt.js';

/** Above this many cycles single points are only noise. */
const POINTS = 150;

/** @typedef {{name: string, of: (value: number) => number, print: (value: number) => string, difference: (value: number) => string}} Scale */

/** Durations in the unit that suits the longest. @param {(number | null)[]} values @returns {Scale} */
export function timeScale(values) {
    const unit = fmt.timeUnit(values.reduce((/** @type {number} */ max, value) => Math.max(max, value ?? 0), 0));
    const print = (/** @type {number} */ ns) => fmt.time(ns, unit);
    return { name: unit.name, of: (ns) => ns / unit.ns, print, difference: (ns) => `${ns > 0 ? '+' : ns < 0 ? '−' : ''}${print(Math.abs(ns))}` };
}

/** Shares of the cycle in percent. @returns {Scale} */
export const percentScale = () => ({ name: '% of the cycle', of: (value) => value, print: (value) => fmt.percent(value), difference: (value) => `${fmt.signed(value)} points` });

/** @param {string} text */
const axisTitle = (text) => ({ display: true, text, color: token('--ink-2'), font: font(12) });

/** @param {string} xTitle @param {string} yTitle @param {boolean} fromZero */
function scales(xTitle, yTitle, fromZero) {
    const ticks = { color: token('--ink-2'), font: font(12), maxRotation: 0, autoSkipPadding: 16 };
    return {
        x: { grid: { display: false }, border: { color: token('--line-strong') }, ticks, title: axisTitle(xTitle) },
        y: { beginAtZero: fromZero, afterDataLimits: fromZero ? undefined : leaveRoom, border: { display: false }, grid: { color: token('--line') },
            ticks: { ...ticks, maxTicksLimit: 6 }, title: axisTitle(yTitle) },
    };
}

/**
 * A line a side, and its mean dashed.
 * @param {HTMLCanvasElement} canvas
 * @param {() => {values: Sides<(number | null)[]>, means: Sides<number | null>, labels: [string, string], scale: Scale, xTitle: string, fromZero: boolean, hidden?: string}} data
 */
export function sideLines(canvas, data) {
    return draw(canvas, () => {
        const { values, means, labels, scale, xTitle, fromZero, hidden } = data();
        const count = Math.max(values.base.length, values.candidate.length);
        const ranks = Array.from({ length: count }, (_, index) => index);
        const at = (/** @type {number | null | undefined} */ value) => (value === null || value === undefined ? null : scale.of(value));
        const lines = SIDES.map((side, index) => ({
            label: labels[index],
            data: ranks.map((rank) => at(values[side][rank])),
            hidden: hidden === side,
            borderColor: sideColour(side),
            backgroundColor: sideColour(side),
            borderWidth: 1.5,
            pointStyle: SIDE_POINTS[side],
            pointRadius: count > POINTS ? 0 : side === 'candidate' ? 4.5 : 3.5,
            pointHoverRadius: 6,
            tension: 0,
        }));
        const meanLines = SIDES.map((side, index) => ({
            label: `${labels[index]}, mean`,
            data: ranks.map(() => at(means[side])),
            hidden: hidden === side,
            borderColor: sideColour(side),
            borderWidth: 1,
            borderDash: [5, 4],
            pointRadius: 0,
            pointHoverRadius: 0,
        }));
        return {
            type: 'line',
            data: { labels: ranks.map((rank) => String(rank + 1)), datasets: [...lines, ...meanLines] },
            options: {
                interaction: { mode: 'index', intersect: false },
                scales: scales(xTitle, scale.name, fromZero),
                plugins: { legend: { display: false }, tooltip: sideTip(values, labels, scale, xTitle) },
            },
        };
    });
}

/** @param {Sides<(number | null)[]>} values @param {[string, string]} labels @param {Scale} scale @param {string} xTitle */
function sideTip(values, labels, scale, xTitle) {
    return {
        ...tooltip(),
        filter: (/** @type {any} */ item) => item.datasetIndex < SIDES.length,
        callbacks: {
            title: (/** @type {any} */ items) => (items.length ? `${xTitle} ${items[0].label}` : ''),
            label: (/** @type {any} */ item) => ` ${labels[item.datasetIndex]}  ${scale.print(values[SIDES[item.datasetIndex]][item.dataIndex] ?? 0)}`,
            labelColor: (/** @type {any} */ item) => solid(item.dataset.borderColor),
            labelPointStyle: (/** @type {any} */ item) => ({ pointStyle: item.dataset.pointStyle, rotation: 0 }),
            footer: (/** @type {any} */ items) => {
                const [a, b] = SIDES.map((side) => (items.length ? values[side][items[0].dataIndex] : null) ?? null);
                if (a === null || b === null) return '';
                return `Δ ${scale.difference(b - a)}${a > 0 ? `, ${fmt.signed((100 * (b - a)) / a, 1)}%` : ''}`;
            },
        },
    };
}

/**
 * A column a cycle, coloured by its kind.
 * @param {HTMLCanvasElement} canvas
 * @param {{cycles: Cycle[], kinds: string[]}} data
 */
export function cycleColumns(canvas, { cycles, kinds }) {
    const scale = timeScale(cycles.map((cycle) => cycle.duration_ns));
    return draw(canvas, () => {
        const colours = cycles.map((cycle) => categoryColour(kinds.indexOf(cycle.kind)));
        return {
            type: 'bar',
            data: {
                labels: cycles.map((cycle) => String(cycle.number)),
                datasets: [{ data: cycles.map((cycle) => scale.of(cycle.duration_ns)), backgroundColor: colours, hoverBackgroundColor: colours,
                    categoryPercentage: cycles.length > 60 ? 1 : 0.86, barPercentage: 1, maxBarThickness: 110 }],
            },
            options: {
                interaction: { mode: 'index', intersect: false },
                scales: scales('Cycle', scale.name, true),
                plugins: {
                    legend: { display: false },
                    tooltip: {
                        ...tooltip(),
                        callbacks: {
                            title: (/** @type {any} */ items) => (items.length ? `Cycle ${items[0].label}` : ''),
                            label: (/** @type {any} */ item) => ` ${cycles[item.dataIndex].kind}  ${scale.print(cycles[item.dataIndex].duration_ns)}`,
                            labelColor: (/** @type {any} */ item) => solid(item.dataset.backgroundColor[item.dataIndex]),
                            labelPointStyle: () => ({ pointStyle: 'rectRounded', rotation: 0 }),
                        },
                    },
                },
            },
        };
    });
}
