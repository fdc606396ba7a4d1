/** What a row of a diff opens: the whole name, every figure of both sides, and the name in each trace. */

import { h } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import { SIDES, SIDE_WORDS } from '../comparison/sides.js';
import { fullName, plainTable } from '../../table/detail_parts.js';
import { changeOf, changeText, deltaText } from './rows.js';
import { searchWord } from '../../lib/names.js';
import * as fmt from '../../lib/fmt.js';

/**
 * @param {DiffRow} row
 * @param {'operators' | 'kernels'} table
 * @param {import('./rows.js').Measure[]} measures
 * @param {DiffUnit} per
 * @param {Sides<number>} [links]
 */
export function diffDetail(row, table, measures, per, links) {
    const has = { base: row.presence !== 'added', candidate: row.presence !== 'removed' };
    return h('div', null, fullName(row.name),
        plainTable('Figures of both traces', ['', 'Base', 'Candidate', 'Δ', 'Change'], [
            [table === 'kernels' ? 'Launches' : 'Calls', calls(row.base_calls), calls(row.candidate_calls), fmt.signed(row.delta_calls, per === 'step' ? 1 : 0), changeText(row.base_calls > 0 ? row.delta_calls / row.base_calls : null)],
            ...measures.map((by) => {
                const unit = fmt.timeUnit(Math.max(row[by.base], row[by.candidate]));
                return [by.label, fmt.time(row[by.base], unit), fmt.time(row[by.candidate], unit), deltaText(row[by.delta], unit), changeText(changeOf(row, by))];
            }),
            ...(per === 'call' ? [] : [['Mean of a call', ...means(row, measures[0])]]),
        ], 1),
        links ? h('p', { class: 'actions' }, SIDES.filter((side) => has[side]).map((side) =>
            h('a', { class: 'button small', href: traceHref(links[side], table, { q: searchWord(row.name) }) }, `In the ${SIDE_WORDS[side].toLowerCase()}`))) : null);
}

/** @param {number} count a step may hold a fraction of a call */
const calls = (count) => (Number.isInteger(count) ? fmt.int(count) : fmt.num(count, 1));

/** Of a call, by the first measure. @param {DiffRow} row @param {import('./rows.js').Measure} by */
function means(row, by) {
    const [a, b] = SIDES.map((side) => (row[`${side}_calls`] > 0 ? row[by[side]] / row[`${side}_calls`] : null));
    const unit = fmt.timeUnit(Math.max(a ?? 0, b ?? 0));
    const delta = a !== null && b !== null ? b - a : null;
    return [fmt.time(a, unit), fmt.time(b, unit), delta === null ? '–' : deltaText(delta, unit), changeText(delta !== null && a ? delta / a : null)];
}
