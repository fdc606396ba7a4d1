/** On paper a long table has its first rows, not those that happened to be in sight. */

import { h } from '../lib/dom.js';
import * as fmt from '../lib/fmt.js';

/** As many as every table has at hand. */
export const PRINTED = 200;

/**
 * @param {HTMLElement} root of the table
 * @param {() => number} total
 * @param {(printing: boolean) => void} draw
 * @returns {() => void} ends it
 */
export function onPrint(root, total, draw) {
    const note = h('p', { class: 'quiet' });
    const before = () => {
        draw(true);
        if (total() <= PRINTED) return;
        note.textContent = `Rows 1 to ${PRINTED} of ${fmt.int(total())}; all of them are in the CSV.`;
        root.after(note);
    };
    const after = () => {
        note.remove();
        draw(false);
    };
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
        window.removeEventListener('beforeprint', before);
        window.removeEventListener('afterprint', after);
    };
}
