/** How the timeline is looked at: where the devices stand, and what the wheel does. The browser remembers both. */

import { h } from '../../lib/dom.js';
import { preference, prefer } from '../../lib/preferences.js';

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
    const list = h('div', { class: 'menu', role: 'group', 'aria-label': 'View options', tabindex: '-1', hidden: true }, orders.root, wheels.root);
    const button = h('button', { class: 'button', type: 'button', 'aria-expanded': 'false', 'aria-haspopup': 'true', onclick: () => set(list.hidden) }, 'View');
    /** @type {HTMLElement} */
    const root = h('div', {
        class: 'menu-root',
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== 'Escape' || list.hidden) return;
            event.stopPropagation();
            set(false);
            button.focus();
        },
        onfocusout: (/** @type {FocusEvent} */ event) => {
            if (event.relatedTarget instanceof Node && !root.contains(event.relatedTarget)) set(false);
        },
    }, button, list);
    /** @param {boolean} open */
    function set(open) {
        button.setAttribute('aria-expanded', String(open));
        list.hidden = !open;
    }
    return { root, show: orders.show };
}
