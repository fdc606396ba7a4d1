/** Which part of the series the charts show: by dragging, by the wheel with Ctrl, by keys and buttons; the address holds it. */

import { h } from '../../lib/dom.js';
import { current, setParams } from '../../app/router.js';

/** @typedef {import('./api.js').Point} Point */
/** First and last index in the series, both in it. @typedef {[number, number]} Range */

/** A drag over less is a click. */
const DRAG_PX = 6;
/** The wheel's way to one step. */
const NOTCH_PX = 50;
const STEP = 2;

/** Of the traces that the address names; the whole series where one of them is not in it. @param {Point[]} rows @returns {Range} */
export function rangeOf(rows) {
    const whole = /** @type {Range} */ ([rows[0].index, rows[rows.length - 1].index]);
    const [, first, last] = /^(\d+)-(\d+)$/.exec(current().params.get('zoom') ?? '') ?? [];
    const ends = [first, last].map((id) => rows.find(({ trace }) => trace === Number(id))?.index);
    const [from, to] = ends.map(Number).sort((a, b) => a - b);
    return ends.includes(undefined) || from === to ? whole : [from, to];
}

/** @param {Point[]} rows @param {Range} range @param {boolean} [replace] no new entry in the history, for what changes with every notch */
function show(rows, [from, to], replace = false) {
    const [first, last] = [rows[0].index, rows[rows.length - 1].index];
    const [a, b] = [Math.max(first, from), Math.min(last, to)];
    if (b <= a) return;
    const isWhole = a === first && b === last;
    setParams({ zoom: isWhole ? null : `${rows[a - first].trace}-${rows[b - first].trace}` }, { replace });
}

/** Around a place that stays where it is. @param {Point[]} rows @param {number} factor below 1: nearer @param {number} [at] an index @param {boolean} [replace] */
export function zoomBy(rows, factor, at, replace) {
    const [first, last] = [rows[0].index, rows[rows.length - 1].index];
    const [from, to] = rangeOf(rows);
    const middle = at === undefined || at < from || at > to ? (from + to) / 2 : at;
    const steps = to - from;
    const size = Math.max(1, Math.min(last - first, factor < 1 ? Math.floor(steps * factor) : Math.ceil(steps * factor)));
    const start = Math.max(first, Math.min(last - size, Math.round(middle - (middle - from) * size / steps)));
    show(rows, [start, start + size], replace);
}

export const showAll = () => setParams({ zoom: null });

/** @param {Point[]} rows */
export function zoomTools(rows) {
    const small = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ onclick) => h('button', { class: 'button small', type: 'button', 'aria-label': label, title: label, onclick }, text);
    const out = small('−', 'Zoom out', () => zoomBy(rows, STEP));
    const all = small('Fit', 'Fit all points', showAll);
    const near = small('+', 'Zoom in', () => zoomBy(rows, 1 / STEP));
    return {
        nodes: rows.length > 2 ? [out, near, all] : [],
        paint() {
            const [from, to] = rangeOf(rows);
            const isWhole = to - from === rows.length - 1;
            // One that has the focus keeps it: aria-disabled, not disabled.
            for (const button of [out, all]) button.setAttribute('aria-disabled', String(isWhole));
            near.setAttribute('aria-disabled', String(to - from <= 1));
        },
    };
}

/** Keys of the chart. @param {Point[]} rows @param {string} key @param {number | undefined} at @returns {boolean} whether it took the key */
export function zoomKey(rows, key, at) {
    if (key === '+' || key === '=') zoomBy(rows, 1 / STEP, at);
    else if (key === '-') zoomBy(rows, STEP, at);
    else if (key === '0') showAll();
    else return false;
    return true;
}

/**
 * Drag and wheel. A finger scrolls the page and has the buttons.
 * @param {HTMLCanvasElement} canvas
 * @param {Point[]} rows
 * @param {() => ChartInstance | undefined} chart
 */
export function zoomPointer(canvas, rows, chart) {
    /** @type {{from: number, to: number} | null} pixels */
    let drag = null;
    let isClick = true;
    let way = 0;

    /** @param {number} pixel @param {ChartInstance} now */
    const inside = (pixel, { chartArea: { left, right } }) => Math.max(left, Math.min(right, pixel));

    canvas.addEventListener('pointerdown', (event) => {
        const now = chart();
        isClick = true;
        if (!now || event.button !== 0 || event.pointerType === 'touch') return;
        drag = { from: inside(event.offsetX, now), to: inside(event.offsetX, now) };
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
        const now = chart();
        if (!drag || !now) return;
        drag.to = inside(event.offsetX, now);
        isClick &&= Math.abs(drag.to - drag.from) < DRAG_PX;
        if (!isClick) now.draw();
    });
    canvas.addEventListener('pointerup', () => {
        const now = chart();
        if (drag && now && !isClick) {
            const ends = [drag.from, drag.to].map((pixel) => now.scales.x.getValueForPixel(pixel)).sort((a, b) => a - b);
            show(rows, [Math.ceil(ends[0]), Math.floor(ends[1])]);
        }
        end();
    });
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('keydown', (event) => {
        if (event.key === 'Escape' && drag) end();
    });
    canvas.addEventListener('wheel', (event) => {
        const now = chart();
        if (!now || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        way += event.deltaY;
        if (Math.abs(way) < NOTCH_PX) return;
        zoomBy(rows, way > 0 ? STEP : 1 / STEP, now.scales.x.getValueForPixel(event.offsetX), true);
        way = 0;
    }, { passive: false });

    function end() {
        drag = null;
        chart()?.draw();
    }

    return {
        /** Whether the click that comes now ends no drag. */
        isClick: () => isClick,
        /** What is being dragged over. @param {ChartInstance} chart @param {string} colour */
        paint({ ctx: context, chartArea: { top, bottom } }, colour) {
            if (!drag || isClick) return;
            context.save();
            context.fillStyle = colour;
            context.fillRect(Math.min(drag.from, drag.to), top, Math.abs(drag.to - drag.from), bottom - top);
            context.restore();
        },
    };
}
