/** Below the lanes: the chosen slice, the marked range, or what a search found, whichever was asked for last. */

import { h, icon } from '../../lib/dom.js';
import { preference, prefer } from '../../lib/preferences.js';
import { setParams } from '../../app/router.js';

/** @typedef {'slice' | 'gap' | 'range' | 'search'} Tab */

/** @type {[Tab, string][]} */
const TABS = [['slice', 'Slice'], ['gap', 'Idle'], ['range', 'Range'], ['search', 'Matches']];

/** Of the height of the window, in percent. */
const LEAST = 12;
const MOST = 85;
const STEP = 4;

/** The line above the panel: a drag or the arrow keys move it, and the browser remembers where. @param {HTMLElement} root whose --tl-panel it sets */
function splitter(root) {
    const line = h('div', { class: 'tl-splitter', role: 'separator', tabindex: '0', 'aria-orientation': 'horizontal', 'aria-label': 'Height of the panel',
        'aria-valuemin': String(LEAST), 'aria-valuemax': String(MOST), onkeydown, onpointerdown: grab, onpointermove: drag, onpointerup: release, onpointercancel: release });
    const box = () => root.getBoundingClientRect();
    const now = () => Number(line.getAttribute('aria-valuenow') ?? (100 * root.offsetHeight) / Math.max(1, window.innerHeight));

    /** @param {number} percent */
    function set(percent) {
        const bounded = Math.round(Math.max(LEAST, Math.min(MOST, percent)));
        root.style.setProperty('--tl-panel', `${bounded}vh`);
        line.setAttribute('aria-valuenow', String(bounded));
        prefer('timeline-panel', String(bounded));
    }

    /** @param {KeyboardEvent} event */
    function onkeydown(event) {
        const way = event.key === 'ArrowUp' ? STEP : event.key === 'ArrowDown' ? -STEP : event.key === 'Home' ? -MOST : event.key === 'End' ? MOST : 0;
        if (way === 0) return;
        event.preventDefault();
        set(now() + way);
    }

    /** @param {PointerEvent} event */
    function grab(event) {
        line.setPointerCapture(event.pointerId);
        event.preventDefault();
        line.focus();
    }

    /** @param {PointerEvent} event */
    function drag(event) {
        if (!line.hasPointerCapture(event.pointerId)) return;
        const { bottom } = box();
        set((100 * (bottom - event.clientY)) / Math.max(1, window.innerHeight));
    }

    /** @param {PointerEvent} event */
    function release(event) {
        line.releasePointerCapture(event.pointerId);
    }

    const kept = Number(preference('timeline-panel'));
    if (kept >= LEAST && kept <= MOST) set(kept);
    return { line, tell: () => line.setAttribute('aria-valuenow', String(Math.round(now()))) };
}

/** @param {Partial<Record<Tab, HTMLElement>>} boxes @param {{onClose: () => void}} events */
export function panel(boxes, { onClose }) {
    const buttons = TABS.map(([tab, word]) => h('button', { class: 'tl-tab', type: 'button', role: 'tab', id: `tl-tab-${tab}`, 'aria-controls': `tl-panel-${tab}`,
        onclick: () => setParams({ tab }, { replace: true }), onkeydown: walk }, word));
    const bodies = TABS.map(([tab]) => h('div', { class: 'tl-body', role: 'tabpanel', id: `tl-panel-${tab}`, 'aria-labelledby': `tl-tab-${tab}`, tabindex: '0', hidden: true }, boxes[tab] ?? null));
    const root = h('section', { class: 'tl-panel', 'aria-label': 'Details', hidden: true },
        h('div', { class: 'tl-panel-head' }, h('div', { class: 'tl-tabs', role: 'tablist', 'aria-label': 'Details' }, buttons),
            h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Close the panel', title: 'Close the panel', onclick: onClose }, icon('close'))), bodies);
    const split = splitter(root);
    root.prepend(split.line);

    /** @param {KeyboardEvent} event */
    function walk(event) {
        const way = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        if (way === 0) return;
        event.preventDefault();
        const shown = buttons.filter((button) => !button.hidden);
        const at = shown.findIndex((button) => button === event.target);
        const next = shown[(at + way + shown.length) % shown.length];
        next.focus();
        next.click();
    }

    return {
        root,
        /** @param {Tab[]} there what there is to show @param {string | null} wanted */
        show(there, wanted) {
            const chosen = there.find((tab) => tab === wanted) ?? (wanted === 'none' ? null : there[0] ?? null);
            root.hidden = chosen === null;
            if (chosen) split.tell();
            TABS.forEach(([tab], index) => {
                buttons[index].hidden = !there.includes(tab);
                buttons[index].setAttribute('aria-selected', String(tab === chosen));
                buttons[index].tabIndex = tab === chosen ? 0 : -1;
                bodies[index].hidden = tab !== chosen;
            });
            return chosen;
        },
        /** The keyboard goes to what is shown. */
        focus() {
            const heading = bodies.find((body) => !body.hidden)?.querySelector('h2, h3, p');
            if (!(heading instanceof HTMLElement)) return;
            heading.tabIndex = -1;
            heading.focus();
        },
    };
}
