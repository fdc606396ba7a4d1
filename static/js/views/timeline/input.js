/** Pointer and wheel on the canvas: drag pans, on the rulers or with Shift it selects a range; the wheel zooms or scrolls, as chosen. */

import { h, fill } from '../../lib/dom.js';
import { menu } from '../../lib/menu.js';
import { preference, prefer } from '../../lib/preferences.js';

/** A drag over less is a click. */
const DRAG_PX = 4;
/** Of the wheel: one notch of about 100 pixels zooms by a fifth. */
const ZOOM_PER_PX = 0.0018;
const PINCH_PER_PX = 0.01;
const LINE_PX = 16;
const LONGEST_NOTCH = 240;

/**
 * @param {import('./canvas/stage.js').Stage} stage
 * @param {{
 *   onClick: (x: number, y: number) => void, onDouble: (x: number, y: number) => void,
 *   onRange: (range: [number, number], done: boolean) => void,
 * }} events
 */
export function pointerInput(stage, { onClick, onDouble, onRange }) {
    const { canvas, view, root } = stage;
    /** @type {Map<number, {x: number, y: number}>} */
    const fingers = new Map();
    /** @type {{kind: 'pan' | 'range' | 'pinch', x: number, y: number, start: number, top: number, moved: boolean} | null} */
    let drag = null;

    /** @param {MouseEvent} event */
    const at = (event) => {
        const box = canvas.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const spread = () => {
        const [a, b] = [...fingers.values()];
        return { x: (a.x + b.x) / 2, wide: Math.max(10, Math.hypot(a.x - b.x, a.y - b.y)) };
    };

    canvas.addEventListener('pointerdown', (event) => {
        if (event.button !== 0) return;
        canvas.focus({ preventScroll: true });
        canvas.setPointerCapture(event.pointerId);
        const point = at(event);
        fingers.set(event.pointerId, point);
        drag = { kind: fingers.size === 2 ? 'pinch' : event.shiftKey || point.y < stage.state.ruler ? 'range' : 'pan', ...point, start: view.ns(point.x), top: root.scrollTop, moved: fingers.size === 2 };
        stage.animate(null);
    });
    canvas.addEventListener('pointermove', (event) => {
        const point = at(event);
        const before = fingers.get(event.pointerId);
        if (!drag || !before) {
            stage.hover(point.x, point.y);
            return;
        }
        if (drag.kind === 'pinch' && fingers.size === 2) {
            const from = spread();
            fingers.set(event.pointerId, point);
            const to = spread();
            view.zoom(to.x, from.wide / to.wide);
            view.pan(((from.x - to.x) / view.width) * view.span);
            stage.moved();
            return;
        }
        fingers.set(event.pointerId, point);
        if (!drag.moved && Math.hypot(point.x - drag.x, point.y - drag.y) < DRAG_PX) return;
        drag.moved = true;
        if (drag.kind === 'range') {
            const now = view.ns(Math.max(0, Math.min(view.width, point.x)));
            onRange([Math.min(drag.start, now), Math.max(drag.start, now)], false);
            return;
        }
        stage.leave();
        canvas.style.cursor = 'grabbing';
        // What was under the pointer stays under it.
        view.pan(drag.start - view.ns(point.x));
        root.scrollTop = drag.top - (point.y - drag.y);
        stage.moved();
    });

    /** @param {PointerEvent} event */
    function release(event) {
        const point = at(event);
        fingers.delete(event.pointerId);
        if (!drag) return;
        const { kind, moved, start } = drag;
        drag = null;
        canvas.style.cursor = '';
        if (event.type === 'pointercancel' || kind === 'pinch') return;
        if (!moved) onClick(point.x, point.y);
        else if (kind === 'range') {
            const now = view.ns(Math.max(0, Math.min(view.width, point.x)));
            onRange([Math.min(start, now), Math.max(start, now)], true);
        }
    }
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    canvas.addEventListener('pointerleave', () => drag || stage.leave());
    canvas.addEventListener('dblclick', (event) => {
        const { x, y } = at(event);
        onDouble(x, y);
    });
    canvas.addEventListener('wheel', (event) => {
        const unit = event.deltaMode === 0 ? 1 : LINE_PX;
        const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
        // With Alt the lanes scroll as any page does.
        if (event.altKey) return;
        const sideways = event.shiftKey || Math.abs(dx) > Math.abs(dy);
        const scrolls = wheelChoice() === 'scroll' && !event.ctrlKey && !event.metaKey && !sideways;
        event.preventDefault();
        stage.animate(null);
        const { x, y } = at(event);
        if (scrolls) root.scrollTop += dy;
        else if (sideways) view.pan((((event.shiftKey && dx === 0 ? dy : dx)) / view.width) * view.span);
        else view.zoom(x, Math.exp(Math.max(-LONGEST_NOTCH, Math.min(LONGEST_NOTCH, dy)) * (event.ctrlKey ? PINCH_PER_PX : ZOOM_PER_PX)));
        stage.hover(x, y);
        stage.moved();
    }, { passive: false });
}

/* What the View menu offers; the browser remembers both choices. */

/** @typedef {import('./model.js').TrackOrder} TrackOrder */
/** @typedef {'zoom' | 'scroll'} Wheel */

/** @type {[TrackOrder, string][]} */
const ORDERS = [['devices', 'Devices first'], ['pinned', 'Devices pinned on top'], ['host', 'As in the trace']];
/** @type {[Wheel, string][]} */
const WHEELS = [['zoom', 'Zoom (Shift: pan, Alt: scroll)'], ['scroll', 'Scroll (Ctrl: zoom, Shift: pan)']];

/** @template {string} T @param {[T, string][]} list @param {string | null} text @returns {T | null} */
const known = (list, text) => list.find(([value]) => value === text)?.[0] ?? null;

/** @param {string | null} text of the address; without one the last choice holds @returns {TrackOrder} */
export const orderFrom = (text) => known(ORDERS, text) ?? known(ORDERS, preference('timeline-order')) ?? 'devices';

/** @returns {Wheel} */
export const wheelChoice = () => known(WHEELS, preference('timeline-wheel')) ?? 'zoom';

/** @param {{onOrder: (order: TrackOrder) => void}} events */
export function optionsMenu({ onOrder }) {
    /** @template {string} T @param {string} legend @param {[T, string][]} list @param {(value: T) => void} pick */
    const choice = (legend, list, pick) => {
        const inputs = list.map(([value]) => h('input', { type: 'radio', name: `tl-${legend}`, value, onchange: () => pick(value) }));
        return {
            root: h('fieldset', { class: 'tl-choice' }, h('legend', null, legend), list.map(([, label], index) => h('label', { class: 'menu-item' }, inputs[index], label))),
            show: (/** @type {T} */ value) => inputs.forEach((input) => { input.checked = input.value === value; }),
        };
    };
    const orders = choice('Tracks', ORDERS, (order) => {
        prefer('timeline-order', order);
        onOrder(order);
    });
    const wheels = choice('Mouse wheel', WHEELS, (wheel) => prefer('timeline-wheel', wheel));
    wheels.show(wheelChoice());
    const { root } = menu('View', 'View options', (list) => fill(list, orders.root, wheels.root));
    return { root, show: orders.show };
}
