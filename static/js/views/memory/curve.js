/** The curve of allocated and reserved memory. A drag over it, or the two fields, choose a window of time. */

import { h } from '../../lib/dom.js';
import { chartPanel, walkable } from '../../charts/chartpanel.js';
import { draw, showTip, tooltip, font, solid } from '../../charts/charts.js';
import { categoryColour } from '../../lib/colours.js';
import { plainTable } from '../../table/detail_parts.js';
import { windowOf, setWindow, windowFields } from './window.js';
import { componentChoice, componentOf } from './components.js';
import { windowDrag, windowBand } from './drag.js';
import { setParams } from '../../app/router.js';
import { token } from '../../app/theme.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('../../charts/charts.js').LiveChart} LiveChart */

const NOTHING = 'No memory records of this device.';
const SINCE_START = 'This PyTorch version does not record totals: the curve is what was allocated since the recording began.';

/** Records that a part of the curve is drawn from, where it is looked at closely. */
const CLOSE = 100000;

/** @param {MemoryCurve[]} curves @param {Trace} trace @param {AbortSignal} signal */
export function memoryCurve(curves, trace, signal) {
    const end = curves.reduce((max, { points }) => Math.max(max, points[points.length - 1]?.[0] ?? 0), trace.duration_ns);
    const unit = fmt.timeUnit(end);
    const fields = windowFields(unit);
    const whose = componentChoice();
    const canvas = h('canvas');
    const none = h('p', { class: 'quiet', hidden: true });
    const picture = h('div', { class: 'memory-chart' }, canvas);
    const parts = [lineKey('allocated', 'Allocated', 0), lineKey('reserved', 'Reserved by the allocator', 11)];
    const keys = h('div', { class: 'use-keys', role: 'group', 'aria-label': 'Lines shown' }, parts.map(({ button }) => button));
    const box = h('div', { class: 'memory-curve' }, none, picture, keys);
    const panel = chartPanel({ title: 'Memory over time', help: 'Drag over the curve to narrow the tables to a window of time', tools: [whose.root, fields.root], chart: box, table: pointTable });
    /** @type {MemoryComponent | undefined} */
    let curve;
    let sizes = fmt.byteUnit(0);
    let zoomed = false;
    let turns = 0;
    /** The line that is not shown. */
    let hidden = '';
    /** @type {import('./window.js').Window} */
    let chosen = { start: null, end: null };
    /** @type {Promise<LiveChart> | undefined} */
    let live;
    /** @type {LiveChart | undefined} */
    let drawn;
    /** All that is to be had, once one has zoomed. @type {MemoryCurve[] | undefined} */
    let close;
    const points = () => curve?.points ?? [];
    const walk = walkable(canvas, {
        label: 'Memory over time', count: () => points().length, text: recordText, show: (at) => showTip(drawn?.chart(), at), step: 25,
        onKey: (event, at) => {
            const time = at < 0 ? null : points()[at][0];
            if (event.key === '[' && time !== null) setWindow({ start: time, end: chosen.end });
            else if (event.key === ']' && time !== null) setWindow({ start: chosen.start, end: time });
            else if (event.key === '0') setWindow({ start: null, end: null });
            else return false;
            return true;
        },
    });
    const drag = windowDrag(canvas, { chart: () => drawn?.chart(), toNs: (value) => value * unit.ns, onWindow: setWindow });

    /** @param {number} at */
    function recordText(at) {
        const [time, allocated, reserved] = points()[at];
        return `Record ${fmt.int(at + 1)} of ${fmt.int(points().length)}, at ${fmt.time(time)}: ${[...(allocated === null ? [] : [`allocated ${fmt.bytes(allocated)}`]), ...(reserved ? [`reserved ${fmt.bytes(reserved)}`] : [])].join(', ')}. [ and ] make it the start and the end of the window.`;
    }

    const hasReserved = () => points().some(([, , reserved]) => reserved > 0);
    const hasAllocated = () => points().some(([, allocated]) => allocated !== null);

    /** What is held at the last record is held on: the line goes to the end of the trace. @param {1 | 2} part */
    function line(part) {
        const list = points().flatMap((point) => (point[part] === null ? [] : [{ x: point[0] / unit.ns, y: (point[part] ?? 0) / sizes.bytes }]));
        const last = list[list.length - 1];
        return last ? [...list, { x: end / unit.ns, y: last.y }] : list;
    }

    function config() {
        const [allocated, reserved] = [categoryColour(0), categoryColour(11)];
        const [peakNs, peakBytes] = curve?.peak ?? [0, 0];
        const ticks = { color: token('--ink-2'), font: font(12), maxRotation: 0 };
        const title = (/** @type {string} */ text) => ({ display: true, text, color: token('--ink-2'), font: font(12) });
        const steps = { stepped: true, pointRadius: 0, pointHoverRadius: 4, borderWidth: 1.5 };
        const hasUse = hasAllocated();
        const datasets = [
            ...(hasUse ? [{ ...steps, label: 'Allocated', hidden: hidden === 'allocated', data: line(1), borderColor: allocated, backgroundColor: `${allocated}38`, fill: 'origin', pointBackgroundColor: allocated }] : []),
            { label: 'Peak', hidden: hidden === (hasUse ? 'allocated' : 'reserved'), data: [{ x: peakNs / unit.ns, y: peakBytes / sizes.bytes }], pointRadius: 4.5, pointHoverRadius: 4.5, borderColor: token('--bg'), pointBackgroundColor: hasUse ? allocated : reserved, pointBorderWidth: 1.5, showLine: false },
            ...(hasReserved() ? [{ ...steps, label: 'Reserved', hidden: hidden === 'reserved', data: line(2), borderColor: reserved, borderDash: [4, 3], fill: false, pointBackgroundColor: reserved }] : []),
        ];
        return {
            type: 'line',
            data: { datasets },
            options: {
                parsing: false, normalized: true,
                interaction: { mode: 'nearest', axis: 'x', intersect: false },
                scales: {
                    x: { type: 'linear', min: axis()[0], max: axis()[1], grid: { display: false }, border: { color: token('--line-strong') }, ticks: { ...ticks, autoSkipPadding: 24 }, title: title(unit.name) },
                    y: { beginAtZero: true, border: { display: false }, grid: { color: token('--line') }, ticks: { ...ticks, maxTicksLimit: 6 }, title: title(sizes.name) },
                },
                plugins: { legend: { display: false }, tooltip: { ...tooltip(), filter: (/** @type {any} */ item) => item.dataset.label !== 'Peak', callbacks: {
                    title: (/** @type {any} */ items) => (items.length ? `At ${fmt.time(items[0].raw.x * unit.ns, unit)}` : ''),
                    label: (/** @type {any} */ item) => ` ${item.dataset.label}  ${fmt.bytes(item.raw.y * sizes.bytes, sizes)}`,
                    labelColor: (/** @type {any} */ item) => solid(item.dataset.borderColor),
                    labelPointStyle: () => ({ pointStyle: 'rectRounded', rotation: 0 }),
                } } },
            },
            plugins: [windowBand(() => drag.now() ?? band())],
        };
    }

    /** @returns {[number, number]} */
    function axis() {
        const [from, to] = zoomed ? [chosen.start ?? 0, chosen.end ?? end] : [0, end];
        return [from / unit.ns, Math.max(to, from + 1) / unit.ns];
    }

    /** The chosen window in units of the axis. @returns {[number, number] | null} */
    function band() {
        if (zoomed || (chosen.start === null && chosen.end === null)) return null;
        return [(chosen.start ?? 0) / unit.ns, (chosen.end ?? end) / unit.ns];
    }

    function pointTable() {
        if (points().length === 0) return h('p', { class: 'quiet' }, NOTHING);
        const [allocated, reserved] = [hasAllocated(), hasReserved()];
        const { total_points: total } = curve ?? { total_points: 0 };
        return h('div', { class: 'section' },
            total > points().length ? h('p', { class: 'quiet' }, `${fmt.int(points().length)} of ${fmt.int(total)} records, which keep the shape of the curve.`) : null,
            plainTable('Memory over time', [`Time, ${unit.name}`, ...(allocated ? [`Allocated, ${sizes.name}`] : []), ...(reserved ? [`Reserved, ${sizes.name}`] : [])],
                points().map(([time, a, r]) => [fmt.timeIn(time, unit), ...(allocated ? [a === null ? '–' : fmt.bytesIn(a, sizes)] : []), ...(reserved ? [fmt.bytesIn(r, sizes)] : [])]), 0));
    }

    async function fetchClose() {
        try {
            close = (await api.memoryCurve(trace.id, signal, CLOSE)).devices;
        } catch {
            // The curve of all of the recording is as true, only coarser.
        }
    }

    async function paint() {
        sizes = fmt.byteUnit(points().reduce((max, [, a, r]) => Math.max(max, hidden === 'allocated' ? 0 : (a ?? 0), hidden === 'reserved' ? 0 : r), 0));
        none.hidden = points().length > 0 && !curve?.since_start;
        none.textContent = curve?.since_start ? SINCE_START : NOTHING;
        picture.hidden = points().length === 0;
        keys.hidden = points().length === 0;
        parts.forEach(({ name, paint: repaint, button }) => {
            repaint(hidden);
            button.hidden = name === 'reserved' ? !hasReserved() : !hasAllocated();
        });
        walk.set(-1);
        panel.repaint();
        if (points().length === 0) return;
        if (live) (await live).refresh();
        else {
            live = draw(canvas, config);
            drawn = await live;
        }
    }

    return {
        root: panel.root,
        /** @param {string} device @param {URLSearchParams} params */
        async update(device, params) {
            const before = JSON.stringify([zoomed && chosen, zoomed, hidden]);
            chosen = windowOf(params);
            zoomed = params.get('zoom') === '1' && (chosen.start !== null || chosen.end !== null);
            hidden = params.get('hide') ?? '';
            fields.show(chosen, zoomed);
            turns += 1;
            const turn = turns;
            if (zoomed && !close && curves.some((of) => [of, ...of.components].some(({ points: list, total_points: total }) => list.length < total))) await fetchClose();
            if (turn !== turns) return;
            const of = ((zoomed && close) || curves).find((item) => item.device === device);
            whose.show(of, params.get('component'));
            const next = componentOf(of, params.get('component'));
            if (next !== curve || JSON.stringify([zoomed && chosen, zoomed, hidden]) !== before || !live) {
                curve = next;
                await paint();
            } else drawn?.chart()?.draw();
        },
        destroy() {
            drag.destroy();
            live?.then((chart) => chart.destroy());
        },
    };
}

/** A line's key, which takes it off the chart. @param {'allocated' | 'reserved'} name @param {string} label @param {number} category */
function lineKey(name, label, category) {
    const swatch = h('span', { class: 'swatch', 'aria-hidden': 'true' });
    const button = h('button', { class: 'side-button', type: 'button', 'data-line': name, onclick: () => setParams({ hide: button.getAttribute('aria-pressed') === 'true' ? name : null }) },
        h('span', { class: 'use-class' }, swatch, h('span', { class: 'side-text' }, label)));
    return {
        name,
        button,
        /** @param {string} hidden */
        paint(hidden) {
            swatch.style.setProperty('--c', categoryColour(category));
            button.setAttribute('aria-pressed', String(hidden !== name));
        },
    };
}
