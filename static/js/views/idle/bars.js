/** A bar of parts that add up, with its key. */

import { h } from '../../lib/dom.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {{kind: string, label: string, help?: string, ns: number, ratio: number | null}} Part kind: of its colour in the style sheet */

/** @param {string} label @param {Part[]} parts */
export function bar(label, parts) {
    const shown = parts.filter(({ ns }) => ns > 0).map((part) => ({ ...part, text: `${part.label}: ${fmt.time(part.ns)}, ${fmt.share(part.ratio)}` }));
    return h('div', { class: 'time-bar idle-bar', role: 'img', 'aria-label': `${label}. ${shown.map(({ text }) => text).join('; ') || 'Nothing'}` }, shown.map(({ kind, text, ratio }) => {
        const node = h('span', { class: `wait-${kind}`, 'data-tip': text });
        node.style.setProperty('--w', String(ratio ?? 0));
        return node;
    }));
}

/** @param {Part[]} parts of which those that any bar has */
export const key = (parts) => h('p', { class: 'time-key' }, parts.map(({ kind, label, help }) => h('span', { 'data-tip': help },
    h('span', { class: `swatch wait-${kind}`, 'aria-hidden': 'true' }), label)));
