/** The two traces of a diff: a run and one trace of it on each side. The choice is the address. */

import { h, fill, icon } from '../../lib/dom.js';
import { picker } from '../../lib/picker.js';
import { current, setParams } from '../../app/router.js';
import { canDiff } from '../comparison/compare_links.js';
import { SIDES, SIDE_WORDS, sideName } from '../comparison/sides.js';
import { isAbort } from '../../lib/api.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('../comparison/sides.js').Side} Side */

const NO_OPERATORS = 'no operators: not a profiler’s trace';

/** Where in the tree or in a table one was says nothing about other traces. */
const OTHER_TRACES = { path: null, row: null };

/** @param {Run[]} runs @param {AbortSignal} signal */
export function diffSides(runs, signal) {
    const choosers = SIDES.map((side) => sideChooser(side, runs, signal));
    const root = h('div', { class: 'diff-sides' }, choosers[0].root,
        h('button', { class: 'icon-button swap', type: 'button', 'aria-label': 'Swap sides', title: 'Swap sides', onclick: swap }, icon('compare')), choosers[1].root);
    return {
        root,
        /** @param {URLSearchParams} params */
        show: (params) => Promise.all(choosers.map((chooser) => chooser.show(params))),
    };
}

function swap() {
    const { params } = current();
    setParams({ base: params.get('candidate'), candidate: params.get('base'), ...OTHER_TRACES });
}

/** @param {Side} side @param {Run[]} runs @param {AbortSignal} signal */
function sideChooser(side, runs, signal) {
    const root = h('fieldset', { class: 'diff-side' });
    const legend = h('legend', null, sideName(side, SIDE_WORDS[side]), h('span', { class: 'quiet' }, side === 'base' ? ' before' : ' after'));
    let shown = /** @type {string | null} */ (null);
    let turn = 0;

    /** @param {string} id */
    const choose = (id) => setParams({ [side]: id, ...OTHER_TRACES });

    /** The trace that is most likely meant: of the other side's worker, else the first. @param {string} name */
    async function chooseRun(name) {
        const { trace_list: traces } = await api.run(name, signal);
        const able = traces.filter(canDiff);
        const other = current().params.get(side === 'base' ? 'candidate' : 'base') ?? '';
        const next = able.find(({ id }) => String(id) !== other) ?? able[0];
        if (next) choose(String(next.id));
    }

    /** @param {string} id */
    async function paint(id) {
        turn += 1;
        const mine = turn;
        try {
            const trace = id ? await api.trace(id, signal) : null;
            const traces = trace ? (await api.run(trace.run, signal)).trace_list : [];
            if (mine !== turn) return;
            const controls = () => [...root.querySelectorAll('input')];
            const focused = controls().findIndex((control) => control === document.activeElement);
            fill(root, legend, runPicker(trace?.run ?? ''), tracePicker(traces, id));
            // A choice rebuilds the pickers; the keyboard stays where it was.
            controls()[focused]?.focus();
        } catch (error) {
            if (isAbort(error) || mine !== turn) return;
            fill(root, legend, runPicker(''), tracePicker([], ''), h('p', { class: 'table-note', role: 'alert' }, error instanceof Error ? error.message : String(error)));
        }
    }

    /** @param {string} name */
    const runPicker = (name) => picker({
        label: 'Run', value: name, placeholder: 'Choose a run',
        options: runs.map((run) => ({ value: run.name, label: run.name, note: canDiff(run) ? fmt.plural(run.traces, 'trace') : NO_OPERATORS, disabled: !canDiff(run) })),
        onPick: chooseRun,
    });

    /** @param {Trace[]} traces @param {string} id */
    const tracePicker = (traces, id) => picker({
        label: 'Trace', value: id, placeholder: traces.length ? 'Choose a trace' : 'Choose a run first',
        options: traces.map((trace) => ({ value: String(trace.id), label: fmt.traceName(trace), note: canDiff(trace) ? trace.file_name : NO_OPERATORS, disabled: !canDiff(trace) })),
        onPick: choose,
    });

    return {
        root,
        /** @param {URLSearchParams} params */
        async show(params) {
            const id = params.get(side) ?? '';
            if (id === shown) return;
            shown = id;
            await paint(id);
        },
    };
}
