/** The two sides of a comparison: each has one colour and one mark, on the page and in charts; and the verdict in words. */

import { h } from '../../lib/dom.js';
import { token } from '../../app/theme.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {'base' | 'candidate'} Side */

/** @type {Side[]} */
export const SIDES = ['base', 'candidate'];

/** @type {Record<Side, string>} */
export const SIDE_WORDS = { base: 'Baseline', candidate: 'Candidate' };

/** @param {Side} side */
export const sideColour = (side) => token(`--side-${side}`);

/** Not by colour alone. @type {Record<Side, string>} */
export const SIDE_POINTS = { base: 'circle', candidate: 'rectRot' };

/** A report that came as a table names none. @param {{id: number, title: string}} comparison */
export const titleOf = ({ id, title }) => title || `Comparison ${id}`;

/** The label of a side behind its mark. @param {Side} side @param {string} label */
export const sideName = (side, label) => h('span', { class: 'side-name' }, h('span', { class: `side-mark side-${side}`, 'aria-hidden': 'true' }), h('span', { class: 'side-text', 'data-tip': label }, label));

/** @param {[string, string]} labels */
export const sideKey = (labels) => h('p', { class: 'side-key' }, SIDES.map((side, index) => sideName(side, labels[index])));

/** The same as buttons, which take a side off a chart. @param {[string, string]} labels @param {(side: Side) => void} onToggle */
export function sideSwitch(labels, onToggle) {
    const buttons = SIDES.map((side, index) => h('button', { class: 'side-button', type: 'button', onclick: () => onToggle(side) }, sideName(side, labels[index])));
    return {
        root: h('div', { class: 'side-key', role: 'group', 'aria-label': 'Sides shown' }, buttons),
        /** @param {string} hidden */
        show(hidden) {
            buttons.forEach((button, index) => button.setAttribute('aria-pressed', String(SIDES[index] !== hidden)));
        },
    };
}

/** A name that fits a column's head. @param {[string, string]} labels */
export const shortLabels = (labels) => (labels.every((label) => label.length <= 9) ? labels : ['base', 'cand.']);

/** @type {Record<string, [string, string]>} text and mood */
const VERDICTS = {
    different: ['different', 'warn'],
    no_difference: ['no difference', 'good'],
    undecided: ['undecided', ''],
};

/** @param {string} verdict */
export const verdictWord = (verdict) => VERDICTS[verdict]?.[0] ?? verdict;

/** @param {string} verdict */
export const verdictChip = (verdict) => h('span', { class: `chip ${VERDICTS[verdict]?.[1] ?? ''}` }, verdictWord(verdict));

/** "pid 17 and 20 on node7": the processes that a pair compares. @param {{base_pid: number | null, candidate_pid: number | null, base_host?: string, candidate_host?: string}} pair */
export function roleText(pair) {
    const [a, b] = [role(pair.base_pid, pair.base_host), role(pair.candidate_pid, pair.candidate_host)];
    return a === b ? a : `${a || 'unknown'} against ${b || 'unknown'}`;
}

/** @param {number | null} pid @param {string} [host] */
export const role = (pid, host) => [pid === null ? '' : `process ${pid}`, host ? `on ${host}` : ''].filter(Boolean).join(' ');

/** "normal (process 17)" of a report's "normal_pid_17". @param {string} label */
export const labelText = (label) => label.replace(/(.)_pid_(\d+)$/, '$1 (process $2)');

/** @param {string} kind of cycle */
export const cyclesText = (kind) => (kind === 'step' ? 'steps' : `${kind} cycles`);

/** A process in each of several kinds of cycles. @param {ComparisonPair} pair */
export const pairText = (pair) => [roleText(pair), cyclesText(pair.kind)].filter(Boolean).join(', ');

/** @param {number | null} score */
export const scoreText = (score) => (score === null ? '–' : fmt.num(score, score >= 100 ? 0 : 2));
