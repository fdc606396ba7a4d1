/** A window of time on a chart: chosen by a drag, and drawn as a band with what is outside of it faint. */

import { token } from '../../app/theme.js';

/** A drag over less is a click. */
const DRAG_PX = 5;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{chart: () => ChartInstance | undefined, toNs: (value: number) => number, onWindow: (window_: import('./window.js').Window) => void}} settings
 */
export function windowDrag(canvas, { chart, toNs, onWindow }) {
    /** Where the drag began and is, in pixels. @type {[number, number] | null} */
    let drag = null;
    let frame = 0;
    const pixel = (/** @type {PointerEvent} */ event) => {
        const area = chart()?.chartArea ?? { left: 0, right: 0 };
        return Math.max(area.left, Math.min(area.right, event.clientX - canvas.getBoundingClientRect().left));
    };
    const redraw = () => {
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => chart()?.draw());
    };
    const isDrag = () => drag !== null && Math.abs(drag[1] - drag[0]) >= DRAG_PX;

    /** In units of the axis, the earlier first. @returns {[number, number] | null} */
    function now() {
        const scale = chart()?.scales.x;
        if (!drag || !scale || !isDrag()) return null;
        return [scale.getValueForPixel(Math.min(...drag)), scale.getValueForPixel(Math.max(...drag))];
    }

    canvas.addEventListener('pointerdown', (event) => {
        if (event.button !== 0 || !chart()) return;
        drag = [pixel(event), pixel(event)];
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
        if (!drag) return;
        drag = [drag[0], pixel(event)];
        redraw();
    });
    canvas.addEventListener('pointerup', () => {
        const window_ = now();
        drag = null;
        if (window_) onWindow({ start: toNs(window_[0]), end: toNs(window_[1]) });
        else redraw();
    });
    canvas.addEventListener('pointercancel', () => {
        drag = null;
        redraw();
    });
    canvas.addEventListener('dblclick', () => onWindow({ start: null, end: null }));
    return { now, destroy: () => cancelAnimationFrame(frame) };
}

/** A plugin of Chart.js. @param {() => [number, number] | null} range in units of the axis */
export function windowBand(range) {
    return {
        id: 'window',
        /** @param {ChartInstance} chart */
        afterDatasetsDraw({ ctx: context, chartArea: { left, right, top, bottom }, scales: { x } }) {
            const chosen = range();
            if (!chosen) return;
            const [from, to] = chosen.map((value) => Math.max(left, Math.min(right, x.getPixelForValue(value))));
            context.save();
            context.fillStyle = token('--bg');
            context.globalAlpha = 0.68;
            context.fillRect(left, top, from - left, bottom - top);
            context.fillRect(to, top, right - to, bottom - top);
            context.globalAlpha = 1;
            context.fillStyle = token('--accent');
            context.fillRect(from - 0.5, top, 1.5, bottom - top);
            context.fillRect(to - 1, top, 1.5, bottom - top);
            context.restore();
        },
    };
}
