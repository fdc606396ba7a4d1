/** Below the lanes: the chosen slice, the marked range, or what a search found, whichever was asked for last. */

import { h, icon } from '../../lib/dom.js';
import { setParams } from '../../app/router.js';

/** @typedef {'slice' | 'range' | 'search'} Tab */

/** @type {[Tab, string][]} */
const TABS = [['slice', 'Slice'], ['range', 'Range'], ['search', 'Matches']];

/** @param {Record<Tab, HTMLElement>} boxes @param {{onClose: () => void}} events */
export function panel(boxes, { onClose }) {
    const buttons = TABS.map(([tab, word]) => h('button', { class: 'tl-tab', type: 'button', role: 'tab', id: `tl-tab-${tab}`, 'aria-controls': `tl-panel-${tab}`,
        onclick: () => setParams({ tab }, { replace: true }), onkeydown: walk }, word));
    const bodies = TABS.map(([tab]) => h('div', { class: 'tl-body', role: 'tabpanel', id: `tl-panel-${tab}`, 'aria-labelledby': `tl-tab-${tab}`, tabindex: '0', hidden: true }, boxes[tab]));
    const root = h('section', { class: 'tl-panel', 'aria-label': 'Details', hidden: true },
        h('div', { class: 'tl-panel-head' }, h('div', { class: 'tl-tabs', role: 'tablist', 'aria-label': 'Details' }, buttons),
            h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Close the panel', title: 'Close the panel', onclick: onClose }, icon('close'))), bodies);

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
