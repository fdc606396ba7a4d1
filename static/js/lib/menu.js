/** Buttons that open a list of choices. */

import { h } from './dom.js';

/**
 * A button that opens a list of choices. Escape closes it, and so does leaving it.
 * @param {string} text of the button
 * @param {string} label of the list
 * @param {(list: HTMLElement) => void} open fills the list, each time it opens
 */
export function menu(text, label, open) {
    const list = h('div', { class: 'menu', role: 'group', 'aria-label': label, tabindex: '-1', hidden: true });
    const button = h('button', { class: 'button', type: 'button', 'aria-expanded': 'false', 'aria-haspopup': 'true', onclick: () => set(list.hidden) }, text);
    /** @param {boolean} shown */
    const set = (shown) => {
        button.setAttribute('aria-expanded', String(shown));
        list.hidden = !shown;
        if (shown) open(list);
    };
    const close = () => {
        set(false);
        button.focus();
    };
    /** @type {HTMLElement} */
    const root = h('div', {
        class: 'menu-root',
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== 'Escape' || list.hidden) return;
            event.stopPropagation();
            close();
        },
        onfocusout: (/** @type {FocusEvent} */ event) => {
            if (!(event.relatedTarget instanceof Node) || !root.contains(event.relatedTarget)) set(false);
        },
    }, button, list);
    return { root, close };
}
