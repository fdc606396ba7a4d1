/** What of the timeline stands in the URL, so that a link opens the same picture. */

import { SECOND } from './model.js';

/** @param {string | null} text */
const whole = (text) => (text !== null && /^-?\d{1,15}$/.test(text) ? Number(text) : null);

/** @param {URLSearchParams} params */
export function readAddress(params) {
    const [start, end] = [whole(params.get('start')), whole(params.get('end'))];
    const [, from, to] = /^(-?\d{1,15})-(-?\d{1,15})$/.exec(params.get('sel') ?? '') ?? [];
    const [, second, event] = new RegExp(`^(${SECOND}?)(\\d{1,10})$`).exec(params.get('event') ?? '') ?? [];
    return {
        time: /** @type {[number, number] | null} */ (start !== null && end !== null && start < end ? [start, end] : null),
        top: whole(params.get('top')) ?? 0,
        collapsed: new Set((params.get('collapsed') ?? '').split('.').filter(Boolean)),
        range: /** @type {[number, number] | null} */ (from !== undefined && Number(from) < Number(to) ? [Number(from), Number(to)] : null),
        event: event === undefined ? null : { pane: second ? 1 : 0, event: Number(event) },
        q: params.get('q') ?? '',
        with: params.get('with') ?? '',
        shift: whole(params.get('shift_ns')) ?? 0,
        tab: params.get('tab'),
    };
}

/** @typedef {ReturnType<typeof readAddress>} Address */

/** What moves without being chosen. @param {import('./stage.js').Stage} stage @returns {Record<string, string | number | null>} */
export function placeParams({ view, root, state }) {
    const time = view.isAll ? [null, null] : [Math.round(view.start), Math.round(view.end)];
    return { start: time[0], end: time[1], top: Math.round(root.scrollTop) || null, collapsed: [...state.collapsed].join('.') || null };
}

/** The same of an address, to tell whether it is this page's own. @param {URLSearchParams} params */
export const placeKey = (params) => ['start', 'end', 'top', 'collapsed'].map((name) => params.get(name) ?? '').join(' ');

/** @param {number} pane @param {number} event */
export const eventParam = (pane, event) => `${pane === 0 ? '' : SECOND}${event}`;

/** @param {[number, number]} range */
export const rangeParam = ([from, to]) => `${Math.round(from)}-${Math.max(Math.round(from) + 1, Math.round(to))}`;
