/** What the tables of memory are narrowed to: a device, and a window of time. Both are in the URL. */

import { h } from '../../lib/dom.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import * as fmt from '../../lib/fmt.js';

/** Devices side by side; more are a list. */
const SIDE_BY_SIDE = 4;

/** @typedef {{start: number | null, end: number | null}} Window in nanoseconds after the trace's start; null: no bound */

/** @param {URLSearchParams} params @returns {Window} */
export function windowOf(params) {
    const [start, end] = ['start', 'end'].map((name) => {
        const text = params.get(name) ?? '';
        return /^-?\d{1,15}$/.test(text) ? Number(text) : null;
    });
    // The wrong way round it would be a window of nothing.
    return start !== null && end !== null && start > end ? { start: null, end: null } : { start, end };
}

/** @param {Window} window_ */
export function setWindow({ start, end }) {
    if (start !== null && end !== null && start > end) [start, end] = [end, start];
    const none = start === null && end === null;
    setParams({ start: start === null ? null : Math.round(start), end: end === null ? null : Math.round(end), ...(none ? { zoom: null } : {}) });
}

/** @param {MemoryDevice[]} devices @param {string} fallback */
export function deviceChoice(devices, fallback) {
    const options = devices.map(({ device, peak_bytes: peak }) => ({ value: device, label: peak === null ? fmt.deviceName(device) : `${fmt.deviceName(device)}, ${fmt.bytes(peak)}` }));
    const pick = (/** @type {string} */ device) => setParams({ device: device === fallback ? null : device });
    if (options.length < 2) return { root: null, show: () => {} };
    if (options.length <= SIDE_BY_SIDE) return segmented('Device and its peak', options, pick);
    const list = h('select', { class: 'input select', 'aria-label': 'Device and its peak', onchange: () => pick(list.value) },
        options.map(({ value, label }) => h('option', { value }, label)));
    return {
        root: list,
        /** @param {string} device */
        show(device) {
            list.value = device;
        },
    };
}

/** Start and end as two fields, in the unit of the axis: the way by keyboard to what a drag chooses. @param {fmt.TimeUnit} unit */
export function windowFields(unit) {
    const field = (/** @type {string} */ label) => h('input', { class: 'input window-field', type: 'number', step: 'any', 'aria-label': `${label} of the window in ${unit.name}`, placeholder: label, onchange: apply });
    const [from, to] = [field('Start'), field('End')];
    const zoom = h('button', { class: 'button small', type: 'button', hidden: true, 'data-tip': 'The axis is the window', onclick: () => setParams({ zoom: zoom.getAttribute('aria-pressed') === 'true' ? null : '1' }) }, 'Zoom');
    const reset = h('button', { class: 'button small', type: 'button', hidden: true, onclick: () => {
        setWindow({ start: null, end: null });
        from.focus();
    } }, 'Whole recording');
    const value = (/** @type {HTMLInputElement} */ input) => (input.value === '' || !Number.isFinite(Number(input.value)) ? null : Math.round(Number(input.value) * unit.ns));
    const text = (/** @type {number | null} */ ns) => (ns === null ? '' : String(ns / unit.ns));

    function apply() {
        setWindow({ start: value(from), end: value(to) });
    }
    return {
        root: h('div', { class: 'window-fields', role: 'group', 'aria-label': 'Window of time' }, h('span', { class: 'quiet' }, 'Window'), from, h('span', { class: 'quiet' }, 'to'), to, h('span', { class: 'quiet' }, unit.name), zoom, reset),
        /** @param {Window} window_ @param {boolean} zoomed */
        show({ start, end }, zoomed) {
            if (value(from) !== start) from.value = text(start);
            if (value(to) !== end) to.value = text(end);
            [reset, zoom].forEach((button) => { button.hidden = start === null && end === null; });
            zoom.setAttribute('aria-pressed', String(zoomed));
        },
    };
}
