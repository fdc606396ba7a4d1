/** The roofline: rate of operations against operations a byte, a bubble a row with its area by time, a roof a precision. */

import { h, fill, swatch } from '../../lib/dom.js';
import { draw, showTip, tooltip, font, solid } from '../../charts/charts.js';
import { chartPanel, walkable } from '../../charts/chartpanel.js';
import { categoryColour } from '../../lib/colours.js';
import { token } from '../../app/theme.js';
import { clip } from '../../lib/names.js';
import { plainTable } from '../../table/detail_parts.js';
import { nameText } from '../../table/columns.js';
import { byteRate, flopRate, nameOf, ofPeak } from './words.js';
import { POINTS } from './api.js';
import * as fmt from '../../lib/fmt.js';

const LARGEST = 26;
const SMALLEST = 3.5;
/** An axis has this much room around its points, as a factor. */
const ROOM = 2;

/** @typedef {{trace: Trace, data: Efficiency}} Side */
/** @typedef {{row: EfficiencyRow, side: number, place: number, key: string}} Point place: in the order of the table */
/** @typedef {{label: string, peak: number, bandwidth: number, key: string}} Roof */

/** @param {EfficiencyRow} row */
const kindOf = ({ precision, unit }) => (precision && unit ? `${precision} ${unit}` : 'several types');
/** @param {Trace} trace */
const traceName = (trace) => `${trace.run}, ${trace.worker}`;

/**
 * @param {(point: Point) => void} onPoint
 * @param {any[]} tools beside its title
 */
export function rooflineChart(onPoint, tools) {
    /** @type {Side[]} */
    let sides = [];
    let group = 'operator';
    /** @type {Point[]} */
    let points = [];
    /** @type {Promise<import('../../charts/charts.js').LiveChart> | undefined} */
    let live;
    const canvas = h('canvas');
    const keys = h('p', { class: 'time-key' });
    const note = h('p', { class: 'quiet' });
    const panel = chartPanel({
        title: 'Roofline', help: 'A bubble a row, its area by its time; below a sloping roof memory is the limit, below a flat one computing', tools,
        chart: h('div', { class: 'use-scatter-box' }, h('div', { class: 'use-scatter' }, canvas), keys, note), table: () => figureTable(),
    });
    const walk = walkable(canvas, {
        label: 'Rows by intensity and rate, the longest first', count: () => points.length, text: (index) => words(points[index]),
        show: (index) => point(index), act: (index) => onPoint(points[index]),
    });

    /** @param {Point} at */
    const words = ({ row, side }) => `${nameOf(row, group)}${sides.length > 1 ? ` of ${traceName(sides[side].trace)}` : ''}: ${fmt.num(row.intensity, 2)} FLOP a byte, ${flopRate(row.flops_per_second)}, ${fmt.time(row.time_ns)}`;
    const keyLabels = () => [...new Set(points.map(({ key }) => key))];
    /** @param {string} key */
    const colourOf = (key) => categoryColour(keyLabels().indexOf(key));

    /** @param {number} index */
    async function point(index) {
        showTip((await live)?.chart(), index);
    }

    function figureTable() {
        return plainTable('Rows by intensity and rate', ['Row', ...(sides.length > 1 ? ['Trace'] : []), 'Kind', 'FLOP a byte', 'FLOP/s', 'B/s', 'Time'], points.map(({ row, side }) => [
            nameText(nameOf(row, group)), ...(sides.length > 1 ? [traceName(sides[side].trace)] : []), kindOf(row), fmt.num(row.intensity, 2), flopRate(row.flops_per_second), byteRate(row.bytes_per_second), fmt.time(row.time_ns)]),
        sides.length > 1 ? 3 : 2);
    }

    function config() {
        const most = points.reduce((max, { row }) => Math.max(max, row.time_ns), 1);
        const roofs = roofsOf(sides, points);
        const range = rangeOf(points, roofs);
        const colours = points.map(({ key }) => colourOf(key));
        return {
            type: 'bubble',
            data: { datasets: [{
                data: points.map(({ row }) => ({ x: Number(row.intensity), y: Number(row.flops_per_second), r: Math.max(SMALLEST, LARGEST * Math.sqrt(row.time_ns / most)) })),
                backgroundColor: colours.map((colour) => `${colour}a6`), borderColor: colours, borderWidth: 1, hoverRadius: 2, clip: false,
            }] },
            plugins: [roofLines(roofs)],
            options: {
                layout: { padding: { top: 16, right: 14 } },
                scales: { x: scale('FLOP a byte', range.x, (value) => (value < 1 ? String(value) : fmt.int(value))), y: scale('FLOP/s', range.y, (value) => fmt.si(value, '')) },
                onClick: (/** @type {any} */ _event, /** @type {any[]} */ items) => items.length && onPoint(points[items[0].index]),
                onHover: (/** @type {any} */ _event, /** @type {any[]} */ items) => { canvas.style.cursor = items.length ? 'pointer' : ''; },
                plugins: { legend: { display: false }, tooltip: { ...tooltip(), callbacks: {
                    title: (/** @type {any} */ items) => (items.length ? clip(nameOf(points[items[0].dataIndex].row, group), 60) : ''),
                    label: (/** @type {any} */ item) => ` ${flopRate(points[item.dataIndex].row.flops_per_second)}, ${fmt.num(points[item.dataIndex].row.intensity, 2)} FLOP a byte`,
                    labelColor: (/** @type {any} */ item) => solid(colours[item.dataIndex]),
                    footer: (/** @type {any} */ items) => (items.length ? foot(points[items[0].dataIndex].row) : ''),
                } } },
            },
        };
    }

    function paintKeys() {
        fill(keys, keyLabels().map((label) => h('span', null, swatch(colourOf(label)), label)));
        const rows = sides.reduce((sum, { data }) => sum + data.rows.length, 0);
        const cut = sides.some(({ data }) => data.total > data.rows.length);
        fill(note, `${fmt.plural(points.length, 'row')} with FLOPs and bytes of ${fmt.int(rows)}${cut ? `, the ${fmt.int(POINTS)} longest of a trace` : ''}. Enter or a click opens its row.`);
    }

    return {
        root: panel.root,
        /** @param {Side[]} next the trace itself, then others @param {string} by */
        show(next, by) {
            sides = next;
            group = by;
            points = next.flatMap(({ trace, data }, side) => data.rows.map((row, place) => ({ row, side, place, key: next.length > 1 ? traceName(trace) : kindOf(row) })))
                .filter(({ row }) => Number(row.intensity) > 0 && Number(row.flops_per_second) > 0).sort((a, b) => b.row.time_ns - a.row.time_ns);
            panel.root.hidden = points.length === 0;
            walk.set(-1);
            panel.repaint();
            paintKeys();
            if (points.length === 0) return;
            if (live) live.then((chart) => chart.refresh());
            else live = draw(canvas, () => {
                paintKeys();
                return config();
            });
        },
        destroy() {
            live?.then((chart) => chart.destroy());
        },
    };
}

/** @param {EfficiencyRow} row */
const foot = (row) => `${fmt.time(row.time_ns)} in ${fmt.plural(row.calls, 'call')}${row.roofline_ratio === null ? '' : `, ${ofPeak(row.roofline_ratio)} of the roofline`}`;

/** A roof for each precision that a point has, once where devices have it in common. @param {Side[]} sides @param {Point[]} points @returns {Roof[]} */
function roofsOf(sides, points) {
    /** @type {Map<string, Roof>} */
    const roofs = new Map();
    const several = new Set(sides.map(({ data }) => data.device?.name)).size > 1;
    for (const { row, side } of points) {
        const { device } = sides[side].data;
        const peak = device && row.unit && row.precision ? (row.unit === 'matrix' ? device.matrix : device.vector)[row.precision] : null;
        if (!device || !peak || !device.bandwidth_bytes_per_second) continue;
        const key = `${peak} ${device.bandwidth_bytes_per_second}`;
        const label = `${several ? `${device.name}, ` : ''}${kindOf(row)} ${flopRate(peak)}`;
        const known = roofs.get(key);
        // fp16 and bf16 have one roof: the label names the first.
        if (!known) roofs.set(key, { label, peak, bandwidth: device.bandwidth_bytes_per_second, key });
    }
    return [...roofs.values()].sort((a, b) => b.peak - a.peak);
}

/** @param {Point[]} points @param {Roof[]} roofs */
function rangeOf(points, roofs) {
    const span = (/** @type {number[]} */ values) => [10 ** Math.floor(Math.log10(Math.min(...values) / ROOM)), 10 ** Math.ceil(Math.log10(Math.max(...values) * ROOM))];
    return {
        x: span([...points.map(({ row }) => Number(row.intensity)), ...roofs.map(({ peak, bandwidth }) => peak / bandwidth)]),
        y: span([...points.map(({ row }) => Number(row.flops_per_second)), ...roofs.map(({ peak }) => peak)]),
    };
}

/** @param {string} title @param {number[]} range @param {(value: number) => string} print */
function scale(title, [min, max], print) {
    const decades = Math.round(Math.log10(max / min));
    const each = Math.max(1, Math.ceil(decades / 6));
    return {
        type: 'logarithmic', min, max, border: { color: token('--line-strong') }, grid: { color: token('--line') },
        afterBuildTicks: (/** @type {any} */ axis) => { axis.ticks = Array.from({ length: Math.floor(decades / each) + 1 }, (_, index) => ({ value: min * 10 ** (index * each) })); },
        ticks: { color: token('--ink-2'), font: font(12), maxRotation: 0, callback: print },
        title: { display: true, text: title, color: token('--ink-2'), font: font(12) },
    };
}

/** The roofs: what memory allows, up to what the unit can do. @param {Roof[]} roofs */
function roofLines(roofs) {
    return {
        id: 'roofs',
        beforeDatasetsDraw(/** @type {any} */ chart) {
            const { ctx, chartArea: { left, right, top, bottom }, scales: { x, y } } = chart;
            ctx.save();
            ctx.beginPath();
            ctx.rect(left, top, right - left, bottom - top);
            ctx.clip();
            ctx.strokeStyle = token('--control');
            ctx.fillStyle = token('--ink-2');
            ctx.font = `12px ${token('--font')}`;
            ctx.textAlign = 'right';
            ctx.textBaseline = 'bottom';
            let last = -Infinity;
            for (const { label, peak, bandwidth } of roofs) {
                const ridge = peak / bandwidth;
                const height = y.getPixelForValue(peak);
                ctx.beginPath();
                ctx.moveTo(x.getPixelForValue(x.min), y.getPixelForValue(x.min * bandwidth));
                ctx.lineTo(x.getPixelForValue(ridge), height);
                ctx.lineTo(right, height);
                ctx.stroke();
                // Labels of roofs that lie close together would cover each other.
                if (height - last >= 14) {
                    ctx.fillText(label, right - 4, height - 2);
                    last = height;
                }
            }
            ctx.restore();
        },
    };
}
