/** One set-up for every chart: library, colours, tooltips, theme. Chart.js comes with the first chart, not with the page. */

import { h } from '../lib/dom.js';
import { during } from '../app/activity.js';
import { roleColour } from '../lib/colours.js';
import { clip } from '../lib/names.js';
import { token, onTheme } from '../app/theme.js';
import * as fmt from '../lib/fmt.js';

const STEP_LABEL_LENGTH = 40;

/** @type {Promise<NonNullable<typeof Chart>> | undefined} */
let loading;

/** Its build for script tags: the module build imports by bare names, which need an import map that the CSP forbids. */
function library() {
    loading ??= new Promise((resolve, reject) => {
        const script = h('script', { src: new URL('../../vendor/chart.js', import.meta.url).href });
        script.onload = () => (globalThis.Chart ? resolve(globalThis.Chart) : reject(new Error('vendor/chart.js defines no Chart')));
        script.onerror = () => reject(new Error('vendor/chart.js is missing'));
        document.head.append(script);
    });
    return loading;
}

/** @typedef {{destroy: () => void, refresh: () => void, chart: () => ChartInstance | undefined}} LiveChart */

/**
 * Draws what `build` describes, again when the theme changes. Only the first drawing moves.
 * @param {HTMLCanvasElement} canvas
 * @param {() => any} build a Chart.js configuration with colours of the present theme
 * @returns {Promise<LiveChart>}
 */
export function draw(canvas, build) {
    return during(start(canvas, build));
}

/** @param {HTMLCanvasElement} canvas @param {() => any} build @returns {Promise<LiveChart>} */
async function start(canvas, build) {
    const Constructor = await library();
    /** @type {ChartInstance | undefined} */
    let chart;
    let moves = !matchMedia('(prefers-reduced-motion: reduce)').matches;
    const refresh = () => {
        chart?.destroy();
        chart = undefined;
        // The user may have gone elsewhere while the library was loading.
        if (!canvas.isConnected) return;
        const config = build();
        config.options = { ...shared(), ...config.options, animation: moves ? { duration: 250 } : false };
        chart = new Constructor(canvas, config);
        moves = false;
        canvas.dataset.drawn = 'yes';
    };
    refresh();
    const stop = onTheme(refresh);
    return {
        refresh,
        chart: () => chart,
        destroy: () => {
            stop();
            chart?.destroy();
        },
    };
}

function shared() {
    // No resizeDelay: its late update would reach charts that are gone.
    return { responsive: true, maintainAspectRatio: false };
}

export function tooltip() {
    return {
        backgroundColor: token('--tip-bg'),
        titleColor: token('--tip-ink'),
        bodyColor: token('--tip-ink'),
        footerColor: token('--tip-ink'),
        titleFont: font(12, 600),
        bodyFont: font(12),
        footerFont: font(12, 600),
        padding: 10,
        cornerRadius: 4,
        usePointStyle: true,
        boxWidth: 8,
        boxHeight: 8,
        boxPadding: 4,
        caretSize: 4,
    };
}

/** Shows the tip of a point of the first data set, as a pointer over it does. @param {ChartInstance | undefined} chart @param {number} index */
export function showTip(chart, index) {
    const spot = chart?.getDatasetMeta(0).data[index];
    if (!chart || !spot) return;
    chart.setActiveElements([{ datasetIndex: 0, index }]);
    chart.tooltip?.setActiveElements([{ datasetIndex: 0, index }], { x: spot.x, y: spot.y });
    chart.draw();
}

/** @param {number} size @param {number} [weight] */
export const font = (size, weight = 400) => ({ family: token('--font'), size, weight });

/** Steps of serving engines hold sums over their requests in brackets, which no axis has room for. @param {string} name */
const stepLabel = (name) => clip(name.replace(/\([^)]*\)/g, ''), STEP_LABEL_LENGTH);

/**
 * One column a step, stacked by role.
 * @param {HTMLCanvasElement} canvas
 * @param {{steps: Step[], roles: Role[], hidden: () => string[], onPick: (step: Step) => void}} data
 */
export function stepColumns(canvas, { steps, roles, hidden, onPick }) {
    const unit = fmt.timeUnit(steps.reduce((max, step) => Math.max(max, step.duration_ns), 0));
    const ns = (/** @type {Step} */ step, /** @type {string} */ role) => Number(step[`${role}_ns`] ?? 0);
    return draw(canvas, () => ({
        type: 'bar',
        data: {
            labels: steps.map((step) => stepLabel(step.name)),
            datasets: roles.map(({ role, label }) => ({
                label,
                data: steps.map((step) => ns(step, role) / unit.ns),
                backgroundColor: roleColour(role),
                hoverBackgroundColor: roleColour(role),
                hidden: hidden().includes(role),
                // Hairlines between the parts, where columns are wide enough to show them.
                borderColor: token('--bg'),
                borderWidth: steps.length > 60 ? 0 : { top: 1 },
                borderSkipped: false,
                categoryPercentage: steps.length > 60 ? 1 : 0.86,
                barPercentage: 1,
                maxBarThickness: 110,
            })),
        },
        options: {
            interaction: { mode: 'index', intersect: false },
            onClick: (/** @type {any} */ _event, /** @type {any[]} */ items) => items.length && onPick(steps[items[0].index]),
            scales: {
                x: { stacked: true, grid: { display: false }, border: { color: token('--line-strong') },
                    ticks: { color: token('--ink-2'), font: font(12), maxRotation: 0, autoSkipPadding: 16 },
                    title: { display: true, text: 'Step', color: token('--ink-2'), font: font(12) } },
                y: { stacked: true, border: { display: false }, grid: { color: token('--line') },
                    ticks: { color: token('--ink-2'), font: font(12), maxTicksLimit: 6 },
                    title: { display: true, text: unit.name, color: token('--ink-2'), font: font(12) } },
            },
            plugins: {
                legend: { display: false },
                tooltip: {
                    ...tooltip(),
                    filter: (/** @type {any} */ item) => item.raw > 0,
                    itemSort: (/** @type {any} */ a, /** @type {any} */ b) => b.datasetIndex - a.datasetIndex,
                    callbacks: {
                        title: (/** @type {any} */ items) => (items.length ? `Step ${items[0].label}` : ''),
                        label: (/** @type {any} */ item) => {
                            const step = steps[item.dataIndex];
                            const value = ns(step, roles[item.datasetIndex].role);
                            return ` ${item.dataset.label}  ${fmt.time(value, unit)}  ${fmt.share(step.duration_ns ? value / step.duration_ns : null)}`;
                        },
                        labelColor: (/** @type {any} */ item) => solid(item.dataset.backgroundColor),
                        labelPointStyle: () => ({ pointStyle: 'rectRounded', rotation: 0 }),
                        footer: (/** @type {any} */ items) => (items.length ? `Total ${fmt.time(steps[items[0].dataIndex].duration_ns, unit)}` : ''),
                    },
                },
            },
        },
    }));
}

/**
 * @typedef {{name: string, value: number, share: number, colour: () => string}} Slice
 */

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{slices: () => Slice[], off: () => string[], print: (value: number) => string, total: () => number}} data
 */
export function doughnut(canvas, { slices, off, print, total }) {
    return draw(canvas, () => {
        const parts = slices().filter((slice) => !off().includes(slice.name));
        return {
            type: 'doughnut',
            data: {
                labels: parts.map((slice) => slice.name),
                datasets: [{
                    data: parts.map((slice) => slice.value),
                    backgroundColor: parts.map((slice) => slice.colour()),
                    borderColor: token('--bg'),
                    borderWidth: parts.length > 1 ? 1.5 : 0,
                    hoverBackgroundColor: parts.map((slice) => slice.colour()),
                    hoverOffset: 3,
                }],
            },
            options: {
                cutout: '64%',
                plugins: {
                    legend: { display: false },
                    tooltip: {
                        ...tooltip(),
                        // A small canvas has no room for a long name: the tip shows figures, the list beside it names.
                        callbacks: {
                            title: (/** @type {any} */ items) => (items.length ? clip(parts[items[0].dataIndex].name, 28) : ''),
                            label: (/** @type {any} */ item) => ` ${print(parts[item.dataIndex].value)}  ${fmt.share(parts[item.dataIndex].share)}`,
                            labelColor: (/** @type {any} */ item) => solid(item.dataset.backgroundColor[item.dataIndex]),
                            labelPointStyle: () => ({ pointStyle: 'rectRounded', rotation: 0 }),
                            footer: () => `of ${print(total())}`,
                        },
                    },
                },
            },
        };
    });
}

/** The key in a tip, without the frame that the parts have. @param {string} colour */
export const solid = (colour) => ({ backgroundColor: colour, borderColor: colour, borderWidth: 0 });

/** For `afterDataLimits`: some room around the values in sight, but none below zero where none of them is. @param {{min: number, max: number}} axis */
export function leaveRoom(axis) {
    const room = (axis.max - axis.min) * 0.08;
    axis.max += room;
    axis.min = axis.min < 0 ? axis.min - room : Math.max(0, axis.min - room);
}
