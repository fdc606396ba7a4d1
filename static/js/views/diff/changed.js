/** What changed between two traces: one sentence, the step by category, and whether chance explains it. */

import { h, fill } from '../../lib/dom.js';
import { comparisonHref, go } from '../../app/router.js';
import { compareHref, hasCycles } from '../comparison/compare_links.js';
import { environmentStrip } from '../comparison/environment.js';
import { SIDES, SIDE_WORDS, sideName } from '../comparison/sides.js';
import { deltaText } from './rows.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** Of tests: below it chance hardly explains a difference. */
const SIGNIFICANT = 0.05;

/** @param {DiffSummary} summary */
export function changed(summary) {
    return [environmentStrip(summary), h('p', { class: 'lead changed' }, summary.sentence), waterfall(summary)];
}

/** Bars that begin where the one before ended: from the base's step to the candidate's. @param {DiffSummary} summary */
function waterfall({ waterfall: rows, step, per }) {
    const steps = rows.filter((row) => row.base_ns !== 0 || row.candidate_ns !== 0);
    const unit = fmt.timeUnit(Math.max(step.base_ns, step.candidate_ns));
    let at = step.base_ns;
    const parts = steps.map((row) => {
        const from = at;
        at += row.delta_ns;
        return { ...row, from, to: at };
    });
    const edges = [step.base_ns, step.candidate_ns, ...parts.map(({ to }) => to)];
    const most = Math.max(...edges, 1);
    // What all have in common would hide what changed: the scale begins below the smallest, at nothing when that is close.
    const least = Math.min(...edges);
    const origin = least > 0.8 * most ? least - (most - least || most) : 0;
    const x = (/** @type {number} */ ns) => `${(100 * (Math.max(origin, ns) - origin)) / (most - origin || 1)}%`;
    const bar = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ kind) => {
        const box = h('span', { class: kind });
        box.style.setProperty('--from', x(Math.min(from, to)));
        box.style.setProperty('--to', x(Math.max(from, to)));
        return h('span', { class: 'waterfall-track', 'aria-hidden': 'true' }, box);
    };
    const whole = (/** @type {import('../comparison/sides.js').Side} */ side) => h('tr', { class: 'whole' },
        h('th', { scope: 'row' }, sideName(side, SIDE_WORDS[side])), h('td', null, bar(origin, step[`${side}_ns`], `side-${side}`)),
        h('td', { class: 'col-value' }, fmt.time(step[`${side}_ns`], unit)), h('td', { class: 'col-value' }));
    return h('section', { class: 'section panel' },
        h('div', { class: 'section-head' }, h('h2', null, per === 'step' ? 'The step, by category' : 'The trace, by category')),
        h('table', { class: 'waterfall' }, h('caption', { class: 'visually-hidden' }, 'Time by category, from the base to the candidate'),
            h('thead', null, h('tr', null, ['Category', 'From base to candidate', `Time${per === 'step' ? ' a step' : ''}`, 'Difference'].map((head, index) => h('th', { scope: 'col', class: index > 1 ? 'col-value' : index === 1 ? 'visually-hidden' : null }, head)))),
            h('tbody', null, whole('base'),
                parts.map((row) => h('tr', null, h('th', { scope: 'row' }, row.label), h('td', null, bar(row.from, row.to, row.delta_ns < 0 ? 'less' : 'more')),
                    h('td', { class: 'col-value' }, fmt.time(row.candidate_ns, unit)), h('td', { class: 'col-value' }, deltaText(row.delta_ns, unit)))),
                whole('candidate'))),
        origin > 0 ? h('p', { class: 'quiet' }, `The bars begin at ${fmt.time(origin, unit)}.`) : null);
}

/** "Is it chance?": the tests of the step time, and the door to those of every function. @param {DiffSummary} summary */
export function chance({ step, base, candidate }) {
    const tested = step.p !== null;
    const differs = tested && Math.max(step.p ?? 1, step.u ?? 1) < SIGNIFICANT;
    const agrees = (step.p ?? 1) < SIGNIFICANT === (step.u ?? 1) < SIGNIFICANT;
    const word = !tested ? 'Not enough data to test' : differs ? 'Chance hardly explains the step times' : agrees ? 'Chance may explain the step times' : 'The tests of the step time do not agree';
    const problem = h('div');
    const button = h('button', { class: 'button primary', type: 'button', onclick: test }, 'Test every function');

    async function test() {
        button.disabled = true;
        try {
            const made = await api.compare({ base: base.id, candidate: candidate.id });
            go(comparisonHref(made.id));
        } catch (error) {
            fill(problem, h('p', { class: 'table-note', role: 'alert' }, error instanceof Error ? error.message : String(error)));
        } finally {
            button.disabled = false;
        }
    }

    const able = hasCycles(base) && hasCycles(candidate);
    return h('section', { class: 'section' },
        h('h2', null, word),
        h('dl', { class: 'environment-facts' },
            h('div', { class: 'environment-fact' }, h('dt', null, 'Steps'), SIDES.map((side) => h('dd', null, sideName(side, fmt.int(step[`${side}_steps`]))))),
            tested ? h('div', { class: 'environment-fact' }, h('dt', null, 'Welch’s t-test'), h('dd', null, `p ${fmt.chance(step.p)}`)) : null,
            tested ? h('div', { class: 'environment-fact' }, h('dt', null, 'Mann-Whitney U test'), h('dd', null, `p ${fmt.chance(step.u)}`)) : null),
        tested ? null : h('p', { class: 'quiet' }, 'A test needs at least two steps on each side.'),
        able ? h('p', null, 'What changed significantly?') : h('p', { class: 'quiet' }, 'Functions are tested by cycles, and one of the traces has none: mark them with prof.step().'),
        able ? h('div', { class: 'actions' }, button, h('a', { class: 'button', href: compareHref({ base: String(base.id), candidate: String(candidate.id) }) }, 'More choices')) : null,
        problem);
}
