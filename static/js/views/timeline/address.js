/** What of the timeline stands in the URL, so that a link opens the same picture. */

import { SECOND, foldedAtFirst } from './model.js';

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
        toggled: new Set(['collapsed', 'expanded'].flatMap((name) => (params.get(name) ?? '').split('.').filter(Boolean))),
        tracks: params.get('tracks'),
        range: /** @type {[number, number] | null} */ (from !== undefined && Number(from) < Number(to) ? [Number(from), Number(to)] : null),
        event: event === undefined ? null : { pane: second ? 1 : 0, event: Number(event) },
        q: params.get('q') ?? '',
        path: params.get('path') ?? '',
        gap: params.get('gap') ?? '',
        with: params.get('with') ?? '',
        shift: whole(params.get('shift_ns')) ?? 0,
        tab: params.get('tab'),
    };
}

/** @typedef {ReturnType<typeof readAddress>} Address */

/** What moves without being chosen. @param {import('./canvas/stage.js').Stage} stage @returns {Record<string, string | number | null>} */
export function placeParams({ view, root, state }) {
    const time = view.isOpen ? [null, null] : [Math.round(view.start), Math.round(view.end)];
    const first = foldedAtFirst(state.panes);
    const keys = (/** @type {boolean} */ folded) => [...state.toggled].filter((key) => first.has(key) !== folded).join('.') || null;
    return { start: time[0], end: time[1], top: Math.round(root.scrollTop) || null, collapsed: keys(true), expanded: keys(false), tracks: state.order === 'devices' ? null : state.order };
}

/** The same of an address, to tell whether it is this page's own. @param {URLSearchParams} params */
export const placeKey = (params) => ['start', 'end', 'top', 'collapsed', 'expanded', 'tracks'].map((name) => params.get(name) ?? '').join(' ');

/** @param {number} pane @param {number} event */
export const eventParam = (pane, event) => `${pane === 0 ? '' : SECOND}${event}`;

/** @param {[number, number]} range */
export const rangeParam = ([from, to]) => `${Math.round(from)}-${Math.max(Math.round(from) + 1, Math.round(to))}`;
