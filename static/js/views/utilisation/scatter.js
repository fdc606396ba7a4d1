/** Compute against DRAM, a bubble a kernel with its area by time: what stands low and large has most to gain. */

import { h } from '../../lib/dom.js';
import { draw, showTip, tooltip, font, solid } from '../../charts/charts.js';
import { chartPanel, walkable } from '../../charts/chartpanel.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import { token } from '../../app/theme.js';
import { nameText } from '../../table/columns.js';
import { clip } from '../../lib/names.js';
import { plainTable } from '../../table/detail_parts.js';
import { LOW, CLASSES, classIndex, classColour, classLabel, classKey } from './classes.js';
import * as fmt from '../../lib/fmt.js';

/** Radius of the kernel with most time, and of the least. */
const LARGEST = 26;
const SMALLEST = 3.5;

/** @typedef {'tensor' | 'sm'} ComputeAxis */
/** @type {Record<ComputeAxis, string>} */
const AXES = { tensor: 'Tensor use', sm: 'SM use' };

/** @param {KernelUse} data @param {(name: string) => void} onKernel */
export function scatter(data, onKernel) {
    /** @type {ComputeAxis} */
    let axis = 'tensor';
    /** @type {Set<string>} */
    let chosen = new Set();
    const both = data.tensor !== null && data.sm !== null;
    // Large ones first: small ones are drawn over them, and the keyboard meets what matters first.
    const kernels = () => data.rows.filter((row) => row[axis] !== null && row.dram !== null).sort((a, b) => b.total_ns - a.total_ns);
    const most = data.rows.reduce((max, row) => Math.max(max, row.total_ns), 0);
    const canvas = h('canvas');
    const tools = both ? segmented('Compute axis', [{ value: 'tensor', label: 'Tensor' }, { value: 'sm', label: 'SM' }], (x) => setParams({ x: x === 'tensor' ? null : x })) : null;
    const shown = CLASSES.map((_, index) => index).filter((index) => data.classes.some((item) => classIndex(item.class) === index && item.launches > 0));
    const panel = chartPanel({
        title: 'Compute against DRAM', help: 'A bubble a kernel, its area by its time; the lines stand at a third of the peak', tools: [tools?.root],
        chart: h('div', { class: 'use-scatter-box' }, h('div', { class: 'use-scatter' }, canvas), h('p', { class: 'use-keys' }, shown.map(classKey))),
        table: () => plainTable('Kernels by compute and DRAM use', ['Kernel', AXES[axis], 'DRAM use', 'Class', 'Time'], kernels().map((row) => [
            nameText(row.name), fmt.share(row[axis]), fmt.share(row.dram), classLabel(row.class), fmt.time(row.total_ns)]), 1),
    });
    const walk = walkable(canvas, {
        label: 'Kernels by compute and DRAM use, the longest first', count: () => kernels().length, text: (index) => words(kernels()[index]),
        show: (index) => point(index), act: (index) => onKernel(kernels()[index].name),
    });
    /** @type {Promise<import('../../charts/charts.js').LiveChart> | undefined} */
    let live;

    /** @param {KernelUseRow} row */
    const words = (row) => `${row.name}: ${AXES[axis]} ${fmt.share(row[axis])}, DRAM use ${fmt.share(row.dram)}, ${fmt.time(row.total_ns)}, ${classLabel(row.class)}`;

    /** @param {number} index */
    async function point(index) {
        showTip((await live)?.chart(), index);
    }

    function config() {
        const rows = kernels();
        const faint = (/** @type {KernelUseRow} */ row) => chosen.size > 0 && !chosen.has(row.name);
        const colour = (/** @type {KernelUseRow} */ row) => classColour(classIndex(row.class));
        return {
            type: 'bubble',
            data: { datasets: [{
                data: rows.map((row) => ({ x: Number(row[axis]), y: Number(row.dram), r: Math.max(SMALLEST, LARGEST * Math.sqrt(row.total_ns / Math.max(1, most))) })),
                backgroundColor: rows.map((row) => colour(row) + (faint(row) ? '26' : 'a6')),
                borderColor: rows.map((row) => (chosen.has(row.name) ? token('--ink') : faint(row) ? `${colour(row)}59` : colour(row))),
                borderWidth: rows.map((row) => (chosen.has(row.name) ? 2 : 1)),
                hoverRadius: 2,
                clip: false,
            }] },
            plugins: [thirds],
            options: {
                layout: { padding: { top: 12, right: 14 } },
                scales: { x: scale(AXES[axis]), y: scale('DRAM use') },
                onClick: (/** @type {any} */ _event, /** @type {any[]} */ items) => items.length && onKernel(rows[items[0].index].name),
                onHover: (/** @type {any} */ _event, /** @type {any[]} */ items) => { canvas.style.cursor = items.length ? 'pointer' : ''; },
                plugins: { legend: { display: false }, tooltip: { ...tooltip(), callbacks: {
                    title: (/** @type {any} */ items) => (items.length ? clip(rows[items[0].dataIndex].name, 60) : ''),
                    label: (/** @type {any} */ item) => ` ${AXES[axis]} ${fmt.share(rows[item.dataIndex][axis])}, DRAM ${fmt.share(rows[item.dataIndex].dram)}`,
                    labelColor: (/** @type {any} */ item) => solid(colour(rows[item.dataIndex])),
                    footer: (/** @type {any} */ items) => (items.length ? foot(rows[items[0].dataIndex]) : ''),
                } } },
            },
        };
    }

    return {
        root: panel.root,
        /** @param {URLSearchParams} params @param {Set<string>} names the kernels whose rows are open */
        update(params, names) {
            const next = /** @type {ComputeAxis} */ (data.tensor === null || (both && params.get('x') === 'sm') ? 'sm' : 'tensor');
            tools?.show(next);
            const same = next === axis && names.size === chosen.size && [...names].every((name) => chosen.has(name));
            axis = next;
            chosen = names;
            if (live && same) return;
            panel.repaint();
            const rows = kernels();
            walk.set(rows.findIndex((row) => chosen.has(row.name)));
            if (live) live.then((chart) => chart.refresh());
            else live = draw(canvas, config);
        },
        destroy() {
            live?.then((chart) => chart.destroy());
        },
    };
}

/** @param {KernelUseRow} row */
const foot = (row) => `${fmt.time(row.total_ns)}, ${fmt.share(row.share)} of the time, ${fmt.plural(row.launches, 'launch', 'launches')}`;

/** @param {string} title */
function scale(title) {
    return {
        // A little below nothing, so that a bubble at nothing does not cover the axis.
        min: -0.04, max: 1, border: { color: token('--line-strong') }, grid: { color: token('--line') },
        afterBuildTicks: (/** @type {any} */ axis) => { axis.ticks = [0, 0.2, 0.4, 0.6, 0.8, 1].map((value) => ({ value })); },
        ticks: { color: token('--ink-2'), font: font(12), callback: (/** @type {number} */ value) => `${Math.round(100 * value)}%` },
        title: { display: true, text: `${title}, of the peak`, color: token('--ink-2'), font: font(12) },
    };
}

/** The lines between low and not low, and what the fields between them mean. */
const thirds = {
    id: 'thirds',
    beforeDatasetsDraw(/** @type {any} */ chart) {
        const { ctx, chartArea: { left, right, top, bottom }, scales: { x, y } } = chart;
        const [atX, atY] = [x.getPixelForValue(LOW), y.getPixelForValue(LOW)];
        ctx.save();
        ctx.strokeStyle = token('--control');
        ctx.setLineDash([5, 4]);
        ctx.beginPath();
        ctx.moveTo(atX, top);
        ctx.lineTo(atX, bottom);
        ctx.moveTo(left, atY);
        ctx.lineTo(right, atY);
        ctx.stroke();
        ctx.fillStyle = token('--ink-3');
        ctx.font = `12px ${token('--font')}`;
        ctx.textBaseline = 'top';
        ctx.fillText(classLabel('low_compute'), left + 6, top + 2);
        ctx.fillText(classLabel('low_dram'), atX + 6, atY + 4);
        ctx.textAlign = 'right';
        ctx.fillText(classLabel('neither_low'), right - 4, top + 2);
        ctx.restore();
    },
};
