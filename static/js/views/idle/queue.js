/** How many launches of a stream waited or ran, over time. */

import { h, announce } from '../../lib/dom.js';
import { draw, tooltip, font, solid } from '../../charts/charts.js';
import { chartPanel } from '../../charts/chartpanel.js';
import { plainTable } from '../../table/detail_parts.js';
import { token } from '../../app/theme.js';
import { setParams } from '../../app/router.js';
import { timelineSpan } from '../timeline/links.js';
import { thin } from './thin.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** @param {LaunchStream} stream */
const keyOf = ({ device, stream }) => `${device}:${stream}`;

/** @param {Trace} trace @param {LaunchStream[]} streams @param {string | null} lastStep `drop` or null @param {AbortSignal} signal */
export function queueChart(trace, streams, lastStep, signal) {
    const busiest = streams.reduce((best, stream) => (stream.launches > best.launches ? stream : best));
    const select = h('select', { class: 'input select', 'aria-label': 'Stream', onchange: () => setParams({ series: select.value === keyOf(busiest) ? null : select.value }) },
        streams.map((stream) => h('option', { value: keyOf(stream) }, `Device ${stream.device}, stream ${stream.stream}`)));
    const canvas = h('canvas', { role: 'img', 'aria-label': 'Length of the queue over time; press the table button for figures' });
    /** @type {import('./thin.js').Point[]} */
    let points = [];
    let shown = '';
    /** @type {Promise<import('../../charts/charts.js').LiveChart> | undefined} */
    let live;
    const panel = chartPanel({
        title: 'Queue', help: 'Launches whose work has not started. At 0 the device waits for the host', tools: streams.length > 1 ? [select] : [],
        chart: h('div', { class: 'step-chart queue-chart' }, canvas),
        table: () => plainTable('Length of the queue over time', ['Time', 'Length'], points.map(({ ts_ns: ts, length }) => [timelineSpan(trace, ts - 50000, ts + 50000, fmt.moment(ts)), fmt.int(length)]), 1),
    });
    return {
        root: panel.root,
        /** @param {URLSearchParams} params */
        async update(params) {
            const wanted = streams.map(keyOf).find((name) => name === params.get('series')) ?? keyOf(busiest);
            select.value = wanted;
            if (wanted === shown) return;
            const first = shown === '';
            shown = wanted;
            const { series } = await api.launches(String(trace.id), wanted, lastStep, signal);
            if (wanted !== shown) return;
            points = thin(series);
            panel.repaint();
            if (!first) announce(`Queue of ${select.selectedOptions[0]?.text ?? wanted}`);
            if (live) (await live).refresh();
            else await (live = draw(canvas, () => config(points)));
        },
        destroy() {
            live?.then((chart) => chart.destroy());
        },
    };
}

/** @param {import('./thin.js').Point[]} points */
function config(points) {
    const unit = fmt.timeUnit(points[points.length - 1]?.ts_ns ?? 0);
    const axis = { color: token('--ink-2'), font: font(12) };
    const colour = token('--cat-1');
    return {
        type: 'line',
        data: { datasets: [{ label: 'Queue', data: points.map(({ ts_ns: ts, length }) => ({ x: ts / unit.ns, y: length })), stepped: true, borderColor: colour, backgroundColor: `${colour}33`, fill: true, borderWidth: 1.5, pointRadius: 0 }] },
        options: {
            interaction: { mode: 'nearest', axis: 'x', intersect: false },
            scales: {
                x: { type: 'linear', bounds: 'data', grid: { display: false }, border: { color: token('--line-strong') }, ticks: { ...axis, maxRotation: 0, autoSkipPadding: 16, includeBounds: false }, title: { ...axis, display: true, text: `Time, ${unit.name}` } },
                y: { beginAtZero: true, border: { display: false }, grid: { color: token('--line') }, ticks: { ...axis, maxTicksLimit: 6, precision: 0 }, title: { ...axis, display: true, text: 'Launches in the queue' } },
            },
            plugins: {
                legend: { display: false },
                tooltip: { ...tooltip(), callbacks: {
                    title: (/** @type {any} */ items) => (items.length ? fmt.moment(points[items[0].dataIndex].ts_ns) : ''),
                    label: (/** @type {any} */ item) => ` Queue  ${fmt.int(item.raw.y)}`,
                    labelColor: (/** @type {any} */ item) => solid(item.dataset.borderColor),
                    labelPointStyle: () => ({ pointStyle: 'rectRounded', rotation: 0 }),
                } },
            },
        },
    };
}
