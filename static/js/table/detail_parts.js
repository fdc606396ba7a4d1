/** Pieces of an opened row. */

import { h, icon, copy } from '../lib/dom.js';

/** Answers of the old plugin, taken in as they stand, know sums but not single calls. @param {Trace} trace */
export const knowsCalls = (trace) => trace.format !== 'plugin-json';

/** The whole name, and a button that copies it. @param {string} name */
export function fullName(name) {
    return h('div', { class: 'full-name' }, h('code', null, name),
        h('button', { class: 'button small', type: 'button', onclick: () => copy(name, 'Name copied') }, icon('copy'), 'Copy name'));
}

/** @param {[string, string][]} pairs */
export function figures(pairs) {
    return h('dl', { class: 'figures' }, pairs.map(([term, text]) => h('div', null, h('dt', null, term), h('dd', null, text))));
}

/**
 * A short table of plain texts; columns after `texts` are right-aligned figures.
 * @param {string} caption
 * @param {string[]} heads
 * @param {(string | Node)[][]} lines
 * @param {number} texts how many leading columns are texts
 */
export function plainTable(caption, heads, lines, texts) {
    const kind = (/** @type {number} */ index) => (index < texts ? 'kind-text' : 'kind-int');
    return h('div', { class: 'scroll-x', tabindex: '0', role: 'region', 'aria-label': caption }, h('table', { class: 'plain-table' },
        h('caption', { class: 'visually-hidden' }, caption),
        h('thead', null, h('tr', null, heads.map((head, index) => h('th', { scope: 'col', class: kind(index) }, head)))),
        h('tbody', null, lines.map((line) => h('tr', null, line.map((text, index) => h('td', { class: kind(index) }, text)))))));
}
