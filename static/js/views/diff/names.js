/** Two traces by name: how much time came or went, the largest changes as bars, then every operator or kernel. */

import { h, fill } from '../../lib/dom.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import { SIDES, sideName } from '../comparison/sides.js';
import { answer } from '../overview/answers.js';
import { changeBars, deltaText, diffTable, measuresOf } from './rows.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {'operators' | 'kernels'} Table */

/** Of what a figure is. @type {Record<DiffUnit, string>} */
const UNIT_WORDS = { step: 'a step', call: 'a call', total: 'in the whole trace' };

/** @param {NameDiff} data */
export function nameDiff(data) {
    const device = fmt.deviceWord(data.candidate.device_type || data.base.device_type);
    const { operators: sums } = data.sums;
    const hasDevice = SIDES.some((side) => sums[`${side}_device_self_ns`] > 0);
    // Recorders of two vendors launch kernels at different depths of the same operators: only with what they call do those compare.
    const mixed = hasDevice && data.base.device_type !== data.candidate.device_type;
    const chart = h('div');
    const rows = h('div');
    const tools = h('div', { class: 'panel-tools' });
    const changesHead = h('h2', null, 'Largest changes');
    const tableSection = h('section', { class: 'section comparison-rows' }, h('h2', { class: 'visually-hidden' }, 'Every name'), rows);
    const root = h('div', { class: 'diff-body' },
        h('section', { class: 'section panel' }, h('div', { class: 'section-head' }, changesHead, tools), chart), tableSection);
    /** @type {ReturnType<typeof diffTable> | undefined} */
    let table;
    let built = '';

    /** @param {Table} which @param {string} by */
    function build(which, by) {
        const measures = measuresOf(which, device, hasDevice, data.per);
        const first = (mixed && measures.find(({ value }) => value === 'device')) || measures[0];
        const chosen = measures.find(({ value }) => value === by) ?? first;
        const held = tools.contains(document.activeElement);
        table?.destroy();
        const own = diffTable(data[which], { table: which, by: chosen, measures, per: data.per, file: `diff-${data.base.id}-${data.candidate.id}-${which}.csv`, links: { base: data.base.id, candidate: data.candidate.id } });
        table = own;
        fill(rows, own.root);
        fill(changesHead, which === 'kernels' ? 'Kernels that changed most' : 'Operators that changed most');
        const choice = measures.length > 1 ? segmented('Time', measures.map(({ value, label }) => ({ value, label })), (value) => setParams({ time: value === first.value ? null : value, sort: null, order: null })) : null;
        choice?.show(chosen.value);
        fill(tools, choice?.root);
        const checked = tools.querySelector('input:checked');
        if (held && checked instanceof HTMLElement) checked.focus();
        fill(chart, changeBars(data[which], chosen, (row) => {
            own.open(row.name);
            tableSection.scrollIntoView({ block: 'start' });
        }));
    }

    return {
        root,
        /** @param {DiffSummary} summary */
        answers: (summary) => nameAnswers(data, device, summary),
        /** @param {Table} which @param {URLSearchParams} params */
        update(which, params) {
            const wanted = `${which} ${params.get('time') ?? ''}`;
            if (wanted !== built) {
                built = wanted;
                build(which, params.get('time') ?? '');
            }
            table?.update(params);
        },
        destroy() {
            table?.destroy();
        },
    };
}

/** @param {NameDiff} data @param {string} device @param {DiffSummary} summary */
function nameAnswers(data, device, { step, per }) {
    const { base, candidate, sums } = data;
    const { kernels, operators } = sums;
    const known = per === 'step';
    const hasKernels = kernels.names > 0;
    const work = hasKernels ? { base: kernels.base_total_ns, candidate: kernels.candidate_total_ns } : { base: operators.base_host_self_ns, candidate: operators.candidate_host_self_ns };
    const workWord = hasKernels ? `${device} time in kernels` : 'Host time in operators';
    const of = known ? { base: step.base_ns, candidate: step.candidate_ns } : work;
    const unit = fmt.timeUnit(Math.max(of.base, of.candidate));
    const side = (/** @type {import('../comparison/sides.js').Side} */ one, /** @type {Trace} */ trace) => {
        const box = answer('', fmt.timeParts(of[one], unit), [known ? `mean of ${fmt.plural(step[`${one}_steps`], 'step')}` : workWord.toLowerCase()]);
        fill(/** @type {Element} */ (box.firstElementChild), sideName(one, fmt.traceName(trace)));
        return box;
    };
    return h('dl', { class: 'answers diff-answers' },
        changeAnswer(known ? 'Average step' : workWord, of, known ? 'a step' : '', 'first'),
        side('base', base), side('candidate', candidate),
        known ? changeAnswer(workWord, work, UNIT_WORDS[data.per], '') : null,
        presence(sums));
}

/** Below this, times of two recordings differ anyway. */
const NOTABLE = 0.02;

/** @param {string} label @param {Sides<number>} of @param {string} what @param {string} place */
function changeAnswer(label, { base, candidate }, what, place) {
    if (base === 0) return answer(label, fmt.timeParts(candidate), ['only in the candidate'], place);
    const change = (candidate - base) / base;
    const mood = Math.abs(change) < NOTABLE ? '' : change > 0 ? 'bad' : 'good';
    return answer(label, [fmt.signed(100 * change, 1), '%'], [`${deltaText(candidate - base)} ${what}`, h('span', { class: 'answer-more' }, `from ${fmt.time(base)} to ${fmt.time(candidate)}`)], `${place} ${mood}`);
}

/** @param {NameDiff['sums']} sums */
function presence({ operators, kernels }) {
    const words = (/** @type {DiffSums} */ of, /** @type {string} */ noun) => (of.added + of.removed === 0 ? `the same ${fmt.plural(of.names, noun)}`
        : `${fmt.plural(of.names, noun)}: ${fmt.int(of.added)} added, ${fmt.int(of.removed)} removed`);
    const count = operators.added + operators.removed + kernels.added + kernels.removed;
    return answer('Added and removed', count ? [fmt.int(count), count === 1 ? 'name' : 'names'] : ['None', ''],
        [words(operators, 'operator'), kernels.names ? h('span', { class: 'answer-more' }, words(kernels, 'kernel')) : null]);
}
