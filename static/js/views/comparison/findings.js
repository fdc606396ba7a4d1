/** What the comparison found: the functions to look at first, those that came or went, and the counters of both sides. */

import { h } from '../../lib/dom.js';
import { shorten } from '../../lib/names.js';
import { plainTable } from '../../table/detail_parts.js';
import { ONE_SIDE, functionButton, hasMetrics } from './parts.js';
import { SIDES, shortLabels, sideName } from './sides.js';
import * as fmt from '../../lib/fmt.js';

/** Shown of the functions that came or went. */
const SHOWN = 8;

/** @typedef {import('./parts.js').Seek} Seek */

/** @param {Comparison} data @param {Seek} seek */
export function findings(data, seek) {
    const { findings: list, overview, recommendation, summary: { labels } } = data;
    const metrics = hasMetrics(data);
    const most = list.reduce((max, item) => Math.max(max, item.base_beta_pct ?? 0, item.candidate_beta_pct ?? 0), 0);
    return h('section', { class: 'section', id: 'findings' }, h('h2', null, 'What stands out'),
        overview ? h('p', { class: 'lead' }, overview) : null,
        list.length ? h('ol', { class: metrics ? 'findings' : 'findings no-metrics' }, list.map((item) => findingItem(item, labels, most, seek, metrics))) : null,
        recommendation ? h('p', { class: 'quiet lead' }, recommendation) : null);
}

/** @param {Finding} item @param {[string, string]} labels @param {number} most the largest beta of all findings @param {Seek} seek @param {boolean} metrics whether any were sampled */
function findingItem(item, labels, most, seek, metrics) {
    return h('li', { class: 'finding' },
        h('div', { class: 'finding-head' }, h('h3', null, functionButton(item, seek)), h('span', { class: 'quiet' }, item.device)),
        h('div', { class: 'finding-beta' },
            h('p', { class: 'finding-delta' }, fmt.signed(item.delta_beta), h('span', { class: 'answer-unit' }, 'points of the cycle')),
            SIDES.map((side, index) => betaBar(side, shortLabels(labels)[index], side === 'base' ? item.base_beta_pct : item.candidate_beta_pct, most)),
            h('p', { class: 'quiet' }, significance(item))),
        item.metrics.length ? metricTable(item, labels) : metrics ? h('p', { class: 'quiet' }, 'No metric changed with it.') : null);
}

/** @param {Finding} item */
function significance({ p_beta: p, significant }) {
    if (p === null) return 'not tested';
    return `${significant ? 'significant' : 'may be chance'}, p ${p < 0.0005 ? '< 0.001' : `= ${fmt.chance(p)}`}`;
}

/** @param {import('./sides.js').Side} side @param {string} label @param {number | null} value @param {number} most */
function betaBar(side, label, value, most) {
    const bar = h('span', { class: `beta-bar side-${side}`, 'aria-hidden': 'true' });
    bar.style.setProperty('--w', `${most > 0 ? (100 * Math.max(0, value ?? 0)) / most : 0}%`);
    return h('p', { class: 'beta-line' }, sideName(side, label), h('span', { class: 'beta-track', 'aria-hidden': 'true' }, bar), h('span', { class: 'beta-value' }, fmt.percent(value)));
}

/** @param {Finding} item @param {[string, string]} labels */
function metricTable(item, labels) {
    return plainTable(`Metrics of ${shorten(item.function).short}`, ['μ while it ran', ...shortLabels(labels)],
        item.metrics.map(({ metric, base_mu: a, candidate_mu: b }) => [metric, fmt.metric(a), fmt.metric(b)]), 1);
}

/** Functions that took time on one side only: the suspicion score of the report does not see them. @param {Comparison} data @param {Seek} seek */
export function appeared({ appeared: list, summary: { labels } }, seek) {
    if (list.length === 0) return null;
    const rest = list.length - SHOWN;
    const words = { added: `only in ${labels[1]}`, removed: `only in ${labels[0]}` };
    return h('section', { class: 'section', id: 'appeared' }, h('h2', null, 'Added and removed'),
        h('p', { class: 'quiet lead' }, 'These took time on one side only. Their suspicion score can be 0, as a spread of one side is missing.'),
        plainTable('Functions of one side only', ['Function', 'Device', 'Where', ...labels.map((label) => `β ${label}`), 'Δβ', 'p (Fisher)'],
            list.slice(0, SHOWN).map((item) => [
                functionButton(item, seek), item.device, words[item.presence], fmt.percent(item.base_beta_pct), fmt.percent(item.candidate_beta_pct), fmt.signed(item.delta_beta), fmt.chance(item.p_presence)]), 3),
        rest > 0 ? h('p', null, h('button', { class: 'button small', type: 'button', onclick: () => seek({ only: ONE_SIDE }) }, `All ${list.length} in the table`)) : null);
}

/** Counters of the compared traces, largest relative change first. @param {Comparison} data */
export function counters({ counters: list, summary: { labels } }) {
    if (list.length === 0) return null;
    const change = (/** @type {ComparedCounter} */ { base_mean: a, candidate_mean: b }) => (a && b !== null ? (100 * (b - a)) / Math.abs(a) : null);
    const sorted = [...list].sort((a, b) => Math.abs(change(b) ?? 0) - Math.abs(change(a) ?? 0));
    const hosts = new Set(list.map(({ hostname }) => hostname)).size > 1;
    return h('section', { class: 'section', id: 'counters' }, h('h2', null, 'Counters'),
        h('p', { class: 'quiet lead' }, 'Means over the whole of the traces, also between the cycles.'),
        h('div', { class: 'counter-table' }, plainTable('Counters of both sides', ['Counter', ...(hosts ? ['Host'] : []), ...labels, 'Δ %'],
            sorted.map((item) => [item.name, ...(hosts ? [item.hostname] : []), fmt.metric(item.base_mean), fmt.metric(item.candidate_mean), change(item) === null ? '–' : `${fmt.signed(change(item), 1)}%`]), hosts ? 2 : 1)));
}
