/** The chart of one metric: points in order of time, the level between changes, the changes. */

import { h } from '../../lib/dom.js';
import { chartPanel, walkable } from '../../charts/chartpanel.js';
import { draw, leaveRoom, showTip, tooltip, font, solid } from '../../charts/charts.js';
import { categoryColour } from '../../lib/colours.js';
import { go, traceHref } from '../../app/router.js';
import { token } from '../../app/theme.js';
import { choose } from './chosen.js';
import { pointTable } from './tables.js';
import { rangeOf, zoomKey, zoomPointer, zoomTools } from './zoom.js';
import { carried, changeText, dateOf, dateSource, levelOf, levelText, metricWords, nameOf, scaleOf, sizeText, tagsOf, verdictText } from './words.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./api.js').Point} Point */
/** @typedef {import('./api.js').Change} Change */
/**
 * What a chart shows; `points` are those with a value, `positions` and `changeAt` go by the index in the series.
 * @typedef {{series: import('./api.js').Series, changes: import('./api.js').Changes, points: Point[], positions: Map<number, number>,
 *            changeAt: Map<number, Change>, scale: import('./words.js').Scale}} Shown
 */

/** Above this, points are dots. */
const MANY = 300;
const CHOSEN_PX = 6;

/** @param {import('./api.js').Series} series @param {import('./api.js').Changes} found @returns {Shown} */
export function shownOf(series, found) {
    const points = series.rows.filter(({ value }) => value !== null);
    const changes = carried(found, points);
    const scale = scaleOf(series.unit, points.reduce((max, { value }) => Math.max(max, Math.abs(value ?? 0)), 0));
    const positions = new Map(points.map(({ index }, at) => [index, at]));
    return { series, changes, points, positions, scale, changeAt: new Map(changes.changes.map((change) => [change.index, change])) };
}

/** The change that matters now, and the level since. @param {Shown} shown */
function verdict({ series, changes, positions, points, scale }) {
    const last = changes.changes[changes.changes.length - 1];
    const level = levelText(changes, scale, points);
    if (!last) return h('p', { class: 'history-verdict' }, `No change in ${fmt.plural(points.length, 'point')}: ${level}.`);
    const point = points[positions.get(last.index) ?? -1];
    return h('p', { class: 'history-verdict' },
        h('strong', { class: last.worse ? 'history-worse' : 'history-better' }, `${verdictText(last)}, ${sizeText(last)}`), ' since ',
        point ? h('a', { href: traceHref(point.trace) }, nameOf(point)) : `point ${fmt.int(last.index + 1)} of ${fmt.int(series.total)}`, `: ${level}, ${scale.text(last.mean_before)} before.`);
}

/** @param {Shown} shown */
export function historyChart(shown) {
    const { series, points, scale, changeAt } = shown;
    const { name, short, kind } = metricWords(series.metric);
    const canvas = h('canvas');
    /** @type {number[]} */
    let chosen = [];
    /** @type {import('../../charts/charts.js').LiveChart | undefined} */
    let live;
    /** @type {Promise<unknown> | undefined} */
    let drawing;
    let range = rangeOf(series.rows);
    const tools = zoomTools(series.rows);
    const zoom = zoomPointer(canvas, series.rows, () => live?.chart());
    const panel = chartPanel({
        title: kind ? `${short} (${kind})` : short, help: kind ? name : undefined, tools: tools.nodes,
        chart: h('div', null, verdict(shown), h('div', { class: 'history-chart' }, canvas)), table: () => pointTable(shown),
    });
    /** Where the points in sight begin and end. */
    let sight = inSight();
    // The keyboard walks through what is in sight.
    const walk = walkable(canvas, {
        label: `${name} over time`, count: () => sight.end - sight.first, text: (at) => pointText(sight.first + at), show: (at) => showTip(live?.chart(), sight.first + at),
        act: (at) => go(traceHref(points[sight.first + at].trace)),
        onKey: ({ key }, at) => {
            if (key !== ' ') return zoomKey(series.rows, key, points[sight.first + at]?.index);
            if (at >= 0) choose(points[sight.first + at]);
            return true;
        },
    });

    function inSight() {
        const from = points.findIndex(({ index }) => index >= range[0]);
        const behind = points.findIndex(({ index }) => index > range[1]);
        const end = behind < 0 ? points.length : behind;
        return { first: from < 0 ? end : from, end };
    }

    const limits = () => ({ min: range[0] - 0.5, max: range[1] + 0.5 });

    /** @param {number} at */
    function pointText(at) {
        const change = changeAt.get(points[at].index);
        return [`Point ${fmt.int(at + 1)} of ${fmt.int(points.length)}: ${nameOf(points[at])}, ${scale.text(points[at].value)}, ${dateOf(points[at])}`, ...tagsOf(points[at]),
            ...(change ? [changeText(change, scale)] : []), 'Space chooses it, Enter opens its trace, plus and minus zoom, 0 shows all'].join('. ');
    }

    /** @param {Point} point */
    const isChosen = (point) => chosen.includes(point.trace);

    /** One entry a point. */
    function looks() {
        const plain = categoryColour(0);
        const radius = points.length > MANY ? 1.5 : 3.5;
        const changed = points.map(({ index }) => changeAt.get(index));
        return {
            pointBackgroundColor: changed.map((change) => (change ? changeColour(change) : plain)),
            pointBorderColor: points.map((point) => (isChosen(point) ? token('--ink') : 'transparent')),
            pointBorderWidth: points.map((point) => (isChosen(point) ? 2.5 : 0)),
            pointRadius: points.map((point, at) => (isChosen(point) || changed[at] ? CHOSEN_PX : radius)),
            pointStyle: changed.map((change) => (change ? 'triangle' : 'circle')),
            // The triangle points to where the value went.
            pointRotation: changed.map((change) => (change && change.mean_after < change.mean_before ? 180 : 0)),
        };
    }

    function config() {
        const ticks = { color: token('--ink-2'), font: font(12), maxRotation: 0 };
        const dates = new Map(points.map((point) => [point.index, dateOf(point).split(',')[0]]));
        return {
            type: 'line',
            data: { datasets: [{
                label: name, data: points.map(({ index, value }) => ({ x: index, y: (value ?? 0) / scale.size })), ...looks(),
                borderColor: `${categoryColour(0)}66`, borderWidth: 1, pointHoverRadius: CHOSEN_PX, pointHoverBorderWidth: 2,
            }] },
            options: {
                parsing: false, normalized: true,
                interaction: { mode: 'nearest', axis: 'x', intersect: false },
                layout: { padding: { top: 18 } },
                onClick: (/** @type {unknown} */ _, /** @type {{index: number}[]} */ items) => items[0] && zoom.isClick() && choose(points[items[0].index]),
                scales: {
                    x: { type: 'linear', ...limits(), grid: { display: false }, border: { color: token('--line-strong') },
                        ticks: { ...ticks, autoSkipPadding: 24, precision: 0, callback: (/** @type {number} */ value) => dates.get(value) ?? '' } },
                    y: { afterDataLimits: leaveRoom, border: { display: false }, grid: { color: token('--line') }, ticks: { ...ticks, maxTicksLimit: 6 }, title: { display: true, text: scale.name, color: token('--ink-2'), font: font(12) } },
                },
                plugins: { legend: { display: false }, tooltip: { ...tooltip(), callbacks: {
                    title: (/** @type {any} */ items) => (items.length ? nameOf(points[items[0].dataIndex]) : ''),
                    label: (/** @type {any} */ item) => ` ${scale.text(points[item.dataIndex].value)}`,
                    labelColor: (/** @type {any} */ item) => solid(looks().pointBackgroundColor[item.dataIndex]),
                    afterBody: (/** @type {any} */ items) => (items.length ? tipLines(points[items[0].dataIndex]) : []),
                } } },
            },
            plugins: [{ id: 'levels', beforeDatasetsDraw: drawLevels, afterDraw: (/** @type {ChartInstance} */ chart) => zoom.paint(chart, `${categoryColour(0)}33`) }],
        };
    }

    /** @param {Point} point */
    function tipLines(point) {
        const change = changeAt.get(point.index);
        return [...tagsOf(point), `${dateOf(point)} (${dateSource(point)})`, ...(change ? [changeText(change, scale)] : [])];
    }

    /** The mean between two changes, and a line where it changed. @param {ChartInstance} chart */
    function drawLevels({ ctx: context, chartArea: { left, right, top, bottom }, scales: { x, y } }) {
        const inside = (/** @type {number} */ index) => Math.max(left, Math.min(right, x.getPixelForValue(index)));
        context.save();
        context.beginPath();
        context.rect(left, top, right - left, bottom - top);
        context.clip();
        context.strokeStyle = token('--ink-2');
        context.lineWidth = 1.5;
        context.setLineDash([5, 4]);
        for (const segment of shown.changes.segments) {
            const { first, last } = segment;
            const height = y.getPixelForValue(levelOf(segment, points).mean / scale.size);
            context.beginPath();
            context.moveTo(inside(first - 0.5), height);
            context.lineTo(inside(last + 0.5), height);
            context.stroke();
        }
        context.restore();
        context.save();
        context.font = `12px ${token('--font')}`;
        let free = -Infinity;
        for (const change of shown.changes.changes.filter(({ index }) => index > range[0] && index <= range[1])) {
            const at = Math.round(x.getPixelForValue(change.index - 0.5)) + 0.5;
            const text = sizeText(change);
            const width = context.measureText(text).width;
            const start = Math.max(left, Math.min(right - width, at - width / 2));
            context.strokeStyle = changeColour(change);
            context.fillStyle = context.strokeStyle;
            context.lineWidth = 1;
            context.beginPath();
            context.moveTo(at, top);
            context.lineTo(at, bottom);
            context.stroke();
            // Where two would overlap, the tip has the second.
            if (start < free) continue;
            context.fillText(text, start, top - 6);
            free = start + width + 8;
        }
        context.restore();
    }

    /** The keyboard stays at its point while that is in sight. @param {import('./zoom.js').Range} next */
    function look(next) {
        const at = Number(canvas.getAttribute('aria-valuenow')) - 1 + sight.first;
        range = next;
        sight = inSight();
        walk.set(canvas === document.activeElement && at >= sight.first && at < sight.end ? at - sight.first : -1);
    }

    return {
        root: panel.root,
        /** Shows the part that the address says. @param {number[]} traces that are chosen */
        async update(traces) {
            const next = rangeOf(series.rows);
            const moves = next.join() !== range.join();
            tools.paint();
            if (live && !moves && traces.join() === chosen.join()) return;
            if (moves) look(next);
            chosen = traces;
            drawing ??= draw(canvas, config).then((chart) => { live = chart; });
            if (live) {
                const chart = live.chart();
                Object.assign(chart?.data.datasets[0] ?? {}, looks());
                Object.assign(chart?.options.scales.x ?? {}, limits());
                chart?.update('none');
            } else await drawing;
        },
        destroy() {
            drawing?.then(() => live?.destroy());
        },
    };
}

/** @param {Change} change */
const changeColour = ({ worse }) => token(worse ? '--slower' : '--faster');
