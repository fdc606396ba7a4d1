/** A second trace below the first on one clock: which one, and what of it is laid above what. */

import { h, fill, icon } from '../../lib/dom.js';
import { setParams } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { pickTrace } from '../../app/trace_picker.js';
import { stepWord } from './canvas/ruler.js';

/** Steps to choose from: the others are one drag away. */
const STEPS = 200;

/** @typedef {{trace: Trace, answer: TimelineTracks}} Side */

/** How much later the second trace is shown so that both began at the same moment of the world's clock. @param {Trace} first @param {Trace} second */
const clockShift = (first, second) => Number(BigInt(second.start_clock_ns) - BigInt(first.start_clock_ns));

/** Whether two traces were recorded at the same time: ranks of one job. @param {Trace} first @param {Trace} second */
function together(first, second) {
    const shift = clockShift(first, second);
    return shift < first.duration_ns && -shift < second.duration_ns;
}

/** Ways to lay the second on the first. @param {Side} first @param {Side} second @returns {{label: string, shift: number}[]} */
export function alignments(first, second) {
    /** @type {{label: string, shift: number}[]} */
    const list = [];
    if (together(first.trace, second.trace)) list.push({ label: 'Same clock', shift: clockShift(first.trace, second.trace) });
    list.push({ label: 'Align starts', shift: first.answer.start_ns - second.answer.start_ns });
    const steps = new Map(second.answer.steps.map((step) => [step.name, step]));
    for (const step of first.answer.steps.slice(0, STEPS)) {
        const other = steps.get(step.name);
        if (other) list.push({ label: `Align at ${stepWord(step.name)}`, shift: step.start_ns - other.start_ns });
    }
    if (list.length < STEPS && first.answer.steps[0] && second.answer.steps[0]) list.push({ label: 'Align first steps', shift: first.answer.steps[0].start_ns - second.answer.steps[0].start_ns });
    return list.filter(({ label, shift }, index) => list.findIndex((other) => other.label === label || other.shift === shift) === index);
}

/** @param {Trace} trace @param {AbortSignal} signal */
export function secondTrace(trace, signal) {
    const open = h('button', { class: 'button', type: 'button', 'data-tip': 'Show another trace below this one, on the same clock', onclick: () => choose() }, icon('compare'), h('span', { class: 'tl-word' }, 'Add trace'));
    const align = h('select', { class: 'input select', 'aria-label': 'Alignment of the second trace', hidden: true, onchange: () => setParams({ shift_ns: align.value === '0' ? null : align.value }) });
    const remove = h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Remove the second trace', title: 'Remove the second trace', hidden: true, onclick: () => {
        setParams({ with: null, shift_ns: null });
        open.focus();
    } }, icon('close'));
    const root = h('div', { class: 'tl-second' }, open, align, remove);

    async function choose() {
        await pickTrace({ title: 'Add trace', text: 'It is shown below this one, on the same clock: another worker, or the trace before a change.', none: 'No other trace of this run has a timeline.', trace, signal,
            able: (item) => hasView(item, 'timeline') && item.id !== trace.id, onPick: (second) => {
                const shift = together(trace, second) ? clockShift(trace, second) : 0;
                setParams({ with: String(second.id), shift_ns: shift === 0 ? null : shift });
            } });
    }

    return {
        root,
        /** @param {Side | null} first @param {Side | null} second @param {number} shift */
        show(first, second, shift) {
            [align, remove].forEach((node) => { node.hidden = !second; });
            if (!first || !second) return;
            const ways = alignments(first, second);
            const known = ways.some((way) => way.shift === shift);
            fill(align, ways.map((way) => h('option', { value: String(way.shift) }, way.label)), known ? null : h('option', { value: String(shift) }, 'From the link'));
            align.value = String(shift);
        },
    };
}
