/**
 * Keys of the timeline. W, S, A and D move for as long as they are held, gathering speed; where motion is not wanted they
 * go in steps. Letters need no click first: they work wherever no text is typed. Arrows and Enter belong to what has the focus.
 */

import { h } from '../../lib/dom.js';
import { modal } from '../../lib/states.js';

/** Screens a second, and how fast it grows while held. */
const PAN_SPEED = 0.9;
const PAN_MOST = 3.2;
const ZOOM_SPEED = 1.3;
const ZOOM_MOST = 3.4;
const GATHER_MS = 700;
/** One key press, where nothing is to glide. */
const PAN_STEP = 0.15;
const ZOOM_STEP = 0.7;
const SCROLL_STEP = 0.85;

/** What is told of the keys, in the order of use. @type {[string, string][]} */
export const KEYS = [
    ['W / S', 'zoom in / out'], ['A / D', 'earlier / later'], ['← / →', 'previous / next slice'], ['↑ / ↓', 'lane above / below'], ['Enter', 'show the details'],
    ['F', 'zoom to the slice or range'], ['0', 'fit the whole trace'], ['M', 'select the slice, or what is in sight, as the range'], ['N / Shift N', 'next / previous match'],
    ['[ / ]', 'follow flow back / forward'], ['Page ↑ / ↓', 'scroll the lanes'], ['/', 'search'], ['Esc', 'clear range, then slice'], ['?', 'keyboard shortcuts'],
];

export function showKeys() {
    modal('Keyboard shortcuts', h('dl', { class: 'tl-key-list' }, KEYS.map(([key, text]) => h('div', null, h('dt', null, h('kbd', null, key)), h('dd', null, text)))),
        h('p', { class: 'quiet' }, 'Drag to pan. Scroll to zoom, Shift+scroll to pan; “View” makes the wheel scroll. Drag on the ruler, or with Shift, to select a range. Click a step to zoom to it.'));
}

/**
 * @typedef {{
 *   walk: (way: 1 | -1) => void, climb: (way: 1 | -1) => void, open: () => void, fit: () => void, all: () => void, mark: () => void,
 *   help: () => void, clear: () => boolean, match: (way: 1 | -1) => void, follow: (way: 1 | -1) => void,
 * }} Actions
 */

/**
 * @param {import('./canvas/stage.js').Stage} stage
 * @param {Actions} actions
 */
export function keyInput(stage, actions) {
    const { canvas, view, state } = stage;
    const calm = matchMedia('(prefers-reduced-motion: reduce)');
    /** Held keys, and since when. @type {Map<string, number>} */
    const held = new Map();
    let last = 0;

    /** Where zooming holds on: the pointer, else the slice, else the middle. */
    function anchor() {
        if (state.pointerNs !== null) return view.x(state.pointerNs);
        const { selection, panes } = state;
        const place = selection?.place;
        if (!selection || !place) return view.width / 2;
        const x = view.x(place.start_ns + (place.dur_ns ?? 0) / 2 + panes[selection.pane].shift);
        return x >= 0 && x <= view.width ? x : view.width / 2;
    }

    /** @param {number} now @param {number} first @param {number} most @param {number} since */
    const speed = (now, first, most, since) => first + (most - first) * Math.min(1, (now - since) / GATHER_MS);

    /** @param {number} now */
    function glide(now) {
        const seconds = Math.min(0.05, Math.max(0, (now - last) / 1000));
        last = now;
        for (const [key, since] of held) {
            const way = key === 'd' || key === 's' ? 1 : -1;
            if (key === 'a' || key === 'd') view.pan(way * speed(now, PAN_SPEED, PAN_MOST, since) * seconds * view.span);
            else view.zoom(anchor(), Math.exp(way * speed(now, ZOOM_SPEED, ZOOM_MOST, since) * seconds));
        }
        stage.moved();
        return held.size > 0;
    }

    /** @param {string} key */
    function step(key) {
        if (key === 'a' || key === 'd') view.pan((key === 'd' ? 1 : -1) * PAN_STEP * view.span);
        else view.zoom(anchor(), key === 'w' ? ZOOM_STEP : 1 / ZOOM_STEP);
        stage.moved();
    }

    /** @type {Record<string, () => unknown>} */
    const anywhere = { '+': () => step('w'), '=': () => step('w'), '-': () => step('s'), '0': actions.all, f: actions.fit, m: actions.mark, '?': actions.help, '[': () => actions.follow(-1), ']': () => actions.follow(1) };
    /** @type {Record<string, () => unknown>} */
    const others = {
        ArrowLeft: () => actions.walk(-1), ArrowRight: () => actions.walk(1), ArrowUp: () => actions.climb(-1), ArrowDown: () => actions.climb(1),
        Enter: actions.open,
        PageDown: () => { stage.root.scrollTop += SCROLL_STEP * view.height; }, PageUp: () => { stage.root.scrollTop -= SCROLL_STEP * view.height; },
        Home: () => { stage.root.scrollTop = 0; }, End: () => { stage.root.scrollTop = stage.root.scrollHeight; },
    };

    /** Nothing else has the focus: the canvas takes every key. */
    const isIdle = (/** @type {Element} */ target) => target === canvas || target === document.body || target.tagName === 'MAIN';

    /** @param {KeyboardEvent} event */
    function press(event) {
        const { target } = event;
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (!(target instanceof Element) || target.closest('input, textarea, select, dialog, [contenteditable]') || document.querySelector('dialog[open]')) return;
        const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        if ('wasd'.includes(key)) {
            if (calm.matches) step(key);
            else if (!held.has(key)) {
                held.set(key, performance.now());
                last = performance.now();
                stage.animate(glide);
            }
        } else if (key === 'n') actions.match(event.shiftKey ? -1 : 1);
        else if (key === 'Escape') {
            if (!isIdle(target) || !actions.clear()) return;
        } else if (anywhere[key]) anywhere[key]();
        else if (others[key] && isIdle(target)) others[key]();
        else return;
        event.preventDefault();
    }

    const letGo = (/** @type {KeyboardEvent} */ event) => held.delete(event.key.toLowerCase());
    const stop = () => held.clear();
    document.addEventListener('keydown', press);
    document.addEventListener('keyup', letGo);
    window.addEventListener('blur', stop);
    return {
        step,
        destroy() {
            stop();
            document.removeEventListener('keydown', press);
            document.removeEventListener('keyup', letGo);
            window.removeEventListener('blur', stop);
        },
    };
}
