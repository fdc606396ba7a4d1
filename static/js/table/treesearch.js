/** Search in a tree: goes from match to match instead of hiding the rest. */

import { h, fill, announce } from '../lib/dom.js';
import { searchBox } from './rowtable.js';

/** @param {{label: string, onStep: (step: 1 | -1) => void}} settings */
export function treeSearch({ label, onStep }) {
    const note = h('p', { class: 'table-note', hidden: true });
    const search = searchBox(label, note);
    const count = h('p', { class: 'table-count', role: 'status' });
    const step = (/** @type {string} */ text, /** @type {1 | -1} */ way) => h('button', { class: 'button small', type: 'button', disabled: true, 'data-step': way, onclick: () => onStep(way) }, text);
    const steps = [step('Previous', -1), step('Next', 1)];
    search.root.addEventListener('keydown', (event) => {
        if (!(event instanceof KeyboardEvent) || event.key !== 'Enter') return;
        event.preventDefault();
        onStep(event.shiftKey ? -1 : 1);
    });
    return {
        root: h('div', { class: 'tree-search' }, search.root, steps, count),
        note,
        /** @param {string} q */
        show: (q) => search.show(q),
        /** How many matches there are, and at which one is. @param {string} text @param {boolean} any */
        tell(text, any) {
            if (count.textContent === text) return;
            fill(count, text);
            steps.forEach((button) => { button.disabled = !any; });
            if (text) announce(text);
        },
        /** @param {string | null} text */
        complain(text) {
            note.hidden = text === null;
            fill(note, text ?? '');
        },
        cancel: search.cancel,
    };
}
