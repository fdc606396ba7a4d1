/** The first glance at a comparison: different or not, how long the cycles are on both sides, the worst function. */

import { h, fill } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { traceHref } from '../../app/router.js';
import { functionButton, NO_METRIC, SIGNIFICANT } from './parts.js';
import { isAbort } from '../../lib/api.js';
import { SIDES, sideName, role, scoreText } from './sides.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** Traces of a side that are named; of more only their number. */
const NAMED = 3;

/** Whether the cycle time itself differs by more than chance; null: not tested, or the tests do not agree. @param {ComparisonSummary} summary */
function timeDiffers({ cycle_p: p, cycle_u: u }) {
    const [first, ...rest] = [p, u].filter((value) => value !== null).map((value) => value < SIGNIFICANT);
    return first === undefined || rest.some((other) => other !== first) ? null : first;
}

/** The answer in a line: what differs, in words. @param {Comparison} data */
export function headline({ verdict: word, summary }) {
    const [, candidate] = summary.labels;
    const change = summary.change_pct ?? 0;
    if (word === 'no_difference') return 'No significant difference';
    if (word === 'undecided') return 'Not enough data to test';
    const differs = timeDiffers(summary);
    if (differs === null || change === 0) return `Yes, ${candidate} is different`;
    if (!differs) return 'Yes, though not in the length of its cycles';
    return `Yes, its cycles are ${fmt.percent(Math.abs(change), 1)} ${change > 0 ? 'longer' : 'shorter'}`;
}

/** @param {Comparison} data */
function mood({ verdict: word, summary }) {
    if (word === 'no_difference') return 'good';
    if (word === 'undecided') return '';
    return timeDiffers(summary) && (summary.change_pct ?? 0) < 0 ? 'good' : 'warn';
}

/** @param {Comparison} data */
export function verdict(data) {
    const [base, candidate] = data.summary.labels;
    return h('section', { class: `verdict ${mood(data)}`, 'aria-labelledby': 'verdict-line' },
        h('p', { class: 'verdict-question' }, 'Is ', h('strong', null, candidate), ' different from ', h('strong', null, base), '?'),
        h('h2', { class: 'verdict-line', id: 'verdict-line' }, headline(data)),
        h('p', { class: 'verdict-text' }, data.summary.verdict_text));
}

/** @param {Comparison} data @param {import('./parts.js').Seek} seek @param {AbortSignal} signal */
export function answers(data, seek, signal) {
    const { summary } = data;
    const unit = fmt.timeUnit(Math.max(summary.base.mean_cycle_ns ?? 0, summary.candidate.mean_cycle_ns ?? 0));
    return h('dl', { class: 'answers comparison-answers' },
        SIDES.map((side) => sideAnswer(data, side, unit, signal)),
        changeAnswer(summary),
        worstAnswer(data, seek));
}

/** @param {Comparison} data @param {import('./sides.js').Side} side @param {import('../../lib/fmt.js').TimeUnit} unit @param {AbortSignal} signal */
function sideAnswer(data, side, unit, signal) {
    const { label, pid, host, cycles, mean_cycle_ns: ns } = data.summary[side];
    const links = h('span', { class: 'answer-more' });
    const note = [[`mean of ${fmt.plural(cycles, 'cycle')}`, role(pid, host)].filter(Boolean).join(', '), links];
    const box = answer('', ns === null ? ['–', ''] : fmt.timeParts(ns, unit), note);
    fill(/** @type {Element} */ (box.firstElementChild), sideName(side, label));
    if (data.trace_id === null) nameTraces(links, data.traces[side], signal);
    else fill(links, side === 'base' ? h('a', { href: traceHref(data.trace_id, 'comparison') }, 'from an uploaded report') : null);
    return box;
}

/** Links to the traces behind a side. @param {HTMLElement} box @param {number[]} ids @param {AbortSignal} signal */
async function nameTraces(box, ids, signal) {
    const rest = ids.length - NAMED;
    const links = ids.slice(0, NAMED).map((id) => h('a', { href: traceHref(id, 'cycles') }, `trace ${id}`));
    fill(box, links.flatMap((link, index) => [index > 0 ? ', ' : null, link]), rest > 0 ? ` and ${rest} more` : null);
    await Promise.all(ids.slice(0, NAMED).map(async (id, index) => {
        try {
            const trace = await api.trace(id, signal);
            fill(links[index], `${trace.run}, ${fmt.traceName(trace)}`);
        } catch (error) {
            if (!isAbort(error)) links[index].replaceWith(h('span', null, `trace ${id}, deleted since`));
        }
    }));
}

/** @param {ComparisonSummary} summary */
function changeAnswer(summary) {
    const { change_pct: percent, delta_ns: delta, cycle_p: p, cycle_u: u } = summary;
    const differs = timeDiffers(summary);
    const tests = [p === null ? '' : `t-test p ${equals(p)}`, u === null ? '' : `U test p ${equals(u)}`].filter(Boolean).join(', ');
    const chance = differs === null ? ': they do not agree' : differs ? ': more than chance' : ': within chance';
    const size = delta === null ? '' : `${delta > 0 ? '+' : delta < 0 ? '−' : ''}${fmt.time(Math.abs(delta))} a cycle`;
    return answer('Change', percent === null ? ['–', ''] : [fmt.signed(percent, Math.abs(percent) < 100 ? 2 : 0), '%'],
        [size, h('span', { class: 'answer-more' }, tests ? tests + chance : 'no test of the cycle time')],
        differs ? ((percent ?? 0) > 0 ? 'bad' : 'good') : '');
}

/** @param {number} p */
const equals = (p) => (p < 0.0005 ? '< 0.001' : `= ${fmt.chance(p)}`);

/** @param {Comparison} data @param {import('./parts.js').Seek} seek */
function worstAnswer(data, seek) {
    const top = data.rows[0];
    if (!top || !top.score) return answer('Most suspicious function', ['–', ''], ['No function changed its share of the cycle.']);
    return answer('Most suspicious function', [fmt.signed(top.delta_beta), 'points'], [
        functionButton(top, seek),
        h('span', { class: 'answer-more' }, `${top.device}, ${fmt.num(top.base_beta_pct)} to ${fmt.percent(top.candidate_beta_pct)} of the cycle`),
        top.metric === NO_METRIC ? null : h('span', { class: 'answer-more' }, `${top.metric} ${fmt.metric(top.base_mu)} to ${fmt.metric(top.candidate_mu)}`),
        h('span', { class: 'answer-more' }, `score ${scoreText(top.score)}`)]);
}
