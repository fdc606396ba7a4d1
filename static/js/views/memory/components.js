/** Whose memory of a device the curve shows, where the recorder tells several apart. In the URL. */

import { h, fill } from '../../lib/dom.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';

/** Components of Ascend's profiler in words; others by their own name. */
const WORDS = /** @type {Record<string, string>} */ ({ PTA: 'PyTorch', GE: 'Graph engine', 'PTA+GE': 'Both', APP: 'Whole process' });

/** Whole ones behind their parts. @param {MemoryComponent} of */
const orderOf = ({ component }) => (Object.keys(WORDS).indexOf(component ?? '') + 9) % 9;

/** @param {MemoryCurve | undefined} curve @returns {MemoryComponent[]} */
const allOf = (curve) => (curve ? [curve, ...curve.components].sort((a, b) => orderOf(a) - orderOf(b)) : []);

/** @param {MemoryCurve | undefined} curve @param {string | null} name @returns {MemoryComponent | undefined} */
export const componentOf = (curve, name) => allOf(curve).find(({ component }) => component === name) ?? curve;

export function componentChoice() {
    const root = h('div', { hidden: true });
    let shown = '';
    return {
        root,
        /** @param {MemoryCurve | undefined} curve @param {string | null} name */
        show(curve, name) {
            const names = allOf(curve).map(({ component }) => component ?? '');
            root.hidden = names.length < 2;
            const now = `${names.join()} ${name}`;
            if (root.hidden || now === shown) return;
            shown = now;
            const choice = segmented('Whose memory', names.map((value) => ({ value, label: WORDS[value] ?? value })), (value) => setParams({ component: value === curve?.component ? null : value }));
            choice.show(componentOf(curve, name)?.component ?? '');
            fill(root, choice.root);
        },
    };
}
