/** One glance at the modules: how much time they take, and which takes most of it itself. */

import { h, nameParts } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { totalOf, selfOf } from './tree.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./tree.js').ModuleTree} ModuleTree */

/** @param {ModuleTree} tree @param {string | null} device @param {(index: number) => void} onModule */
export function moduleAnswers(tree, device, onModule) {
    const sum = (/** @type {import('./tree.js').Measure} */ by) => tree.roots.reduce((total, index) => total + totalOf(tree.rows[index], by), 0);
    const calls = tree.roots.reduce((total, index) => total + tree.rows[index].occurrences, 0);
    const deepest = tree.rows.reduce((max, { depth }) => Math.max(max, depth + 1), 0);
    const host = fmt.time(sum('host'));
    const first = device ? answer(`${device} time in modules`, fmt.timeParts(sum('device')), [`${host} on the host`], 'first') : answer('Host time in modules', fmt.timeParts(sum('host')), ['No device time is known.'], 'first');
    return h('dl', { class: 'answers module-answers' }, first,
        device ? most(tree, 'device', `Highest ${device} self time`, onModule) : null,
        most(tree, 'host', 'Highest host self time', onModule),
        answer('Modules', [fmt.int(tree.rows.length), ''], [`${fmt.plural(deepest, 'level')} deep, ${fmt.plural(calls, 'call')} at the top`]));
}

/** @param {ModuleTree} tree @param {import('./tree.js').Measure} by @param {string} label @param {(index: number) => void} onModule */
function most(tree, by, label, onModule) {
    const top = tree.rows.reduce((best, row, index) => (best < 0 || selfOf(row, by) > selfOf(tree.rows[best], by) ? index : best), -1);
    if (top < 0) return null;
    const row = tree.rows[top];
    return answer(label, fmt.timeParts(selfOf(row, by)), [
        h('button', { class: 'answer-name link', type: 'button', 'data-tip': row.name, onclick: () => onModule(top) }, nameParts(row.name)),
        h('span', { class: 'answer-more' }, `of its ${fmt.time(totalOf(row, by))} in ${fmt.plural(row.occurrences, 'call')}`)]);
}
