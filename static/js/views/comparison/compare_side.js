/** One side of a comparison to be: a run, of it one trace, several, or all; a label, a process. */

import { h, fill, icon, debounce } from '../../lib/dom.js';
import { picker } from '../../lib/picker.js';
import { setParams } from '../../app/router.js';
import { hasCycles, NO_CYCLES } from './compare_links.js';
import { SIDE_WORDS, sideName } from './sides.js';
import { isAbort } from '../../lib/api.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const RUN = 'run:';

/** What the API takes: an id, a list of ids, a run. @param {string} value as it stands in the address */
export function sideBody(value) {
    if (value.startsWith(RUN)) return { run: value.slice(RUN.length) };
    const ids = value.split(',').map(Number);
    return ids.length === 1 ? ids[0] : ids;
}

/**
 * @param {import('./sides.js').Side} side
 * @param {Run[]} runs
 * @param {AbortSignal} signal
 */
export function sideChooser(side, runs, signal) {
    const choice = h('div', { class: 'side-choice' });
    const label = textField(`${side}_label`, 'Label', { type: 'text', maxlength: '60', placeholder: side });
    const pid = textField(`${side}_pid`, 'Process', { type: 'text', inputmode: 'numeric', pattern: '-?[0-9]+', title: 'A process number', placeholder: 'every' });
    const root = h('fieldset', { class: 'compare-side' },
        h('legend', null, sideName(side, SIDE_WORDS[side]), h('span', { class: 'quiet' }, side === 'base' ? ' the reference' : ' the one to judge')),
        choice, h('div', { class: 'side-fields' }, label.root, pid.root));
    /** @type {Map<string, Promise<Trace[]>>} */
    const tracesOf = new Map();
    let shown = '';
    let turn = 0;

    /** @param {string} value */
    const choose = (value) => setParams({ [side]: value });

    /** @param {string} name */
    function traces(name) {
        if (!tracesOf.has(name)) tracesOf.set(name, api.run(name, signal).then((run) => run.trace_list));
        return /** @type {Promise<Trace[]>} */ (tracesOf.get(name));
    }

    /** A run of one able trace is that trace. @param {string} name */
    async function chooseRun(name) {
        const able = (await traces(name)).filter(hasCycles);
        choose(able.length === 1 ? String(able[0].id) : RUN + name);
    }

    /** What the address says of this side: the run at hand and the traces of it. @param {string} value */
    async function read(value) {
        if (value.startsWith(RUN)) {
            const name = value.slice(RUN.length);
            return { run: name, ids: /** @type {string[]} */ ([]), known: await traces(name) };
        }
        const ids = value.split(',').filter(Boolean);
        if (ids.length === 0) return { run: '', ids, known: /** @type {Trace[]} */ ([]) };
        const { run } = await api.trace(ids[0], signal);
        return { run, ids, known: await traces(run) };
    }

    /** @param {string} value */
    async function paint(value) {
        turn += 1;
        const mine = turn;
        try {
            const state = await read(value);
            if (mine !== turn) return;
            const controls = () => [...choice.querySelectorAll('input, button')];
            const focused = controls().findIndex((control) => control === document.activeElement);
            fill(choice, runPicker(state.run), state.run ? tracePicker(state, value) : null, state.ids.length > 1 ? chips(state) : null, state.ids.length ? addPicker(state) : null);
            // A choice rebuilds the pickers; the keyboard stays where it was.
            const next = controls()[focused];
            if (next instanceof HTMLElement) next.focus();
        } catch (error) {
            if (isAbort(error) || mine !== turn) return;
            fill(choice, runPicker(''), h('p', { class: 'table-note', role: 'alert' }, error instanceof Error ? error.message : String(error)));
        }
    }

    /** @param {string} name */
    function runPicker(name) {
        return picker({
            label: 'Run', value: name, placeholder: 'Choose a run',
            options: runs.map((run) => ({
                value: run.name, label: run.name, note: hasCycles(run) ? fmt.plural(run.traces, 'trace') : NO_CYCLES, disabled: !hasCycles(run),
            })),
            onPick: chooseRun,
        });
    }

    /** @param {Trace} trace */
    const option = (trace) => ({ value: String(trace.id), label: fmt.traceName(trace), note: hasCycles(trace) ? trace.file_name : NO_CYCLES, disabled: !hasCycles(trace) });

    /** @param {{run: string, ids: string[], known: Trace[]}} state @param {string} value */
    function tracePicker({ run, ids, known }, value) {
        const able = known.filter(hasCycles).length;
        const whole = { value: RUN + run, label: 'The whole run', note: `${fmt.plural(able, 'trace')} with cycles` };
        const several = ids.length > 1 ? [{ value, label: fmt.plural(ids.length, 'trace') }] : [];
        return picker({ label: 'Trace', value, options: [...several, whole, ...known.map(option)], onPick: choose });
    }

    /** @param {{ids: string[], known: Trace[]}} state */
    function addPicker({ ids, known }) {
        const others = known.filter((trace) => !ids.includes(String(trace.id)));
        if (!others.some(hasCycles)) return null;
        return picker({ label: 'And another trace', value: '', placeholder: 'Add to this side', options: others.map(option), onPick: (id) => choose([...ids, id].join(',')) });
    }

    /** @param {{ids: string[], known: Trace[]}} state */
    function chips({ ids, known }) {
        return h('ul', { class: 'side-chips' }, ids.map((id) => {
            const trace = known.find((item) => String(item.id) === id);
            const name = trace ? fmt.traceName(trace) : `trace ${id}`;
            return h('li', null, name, h('button', { class: 'icon-button', type: 'button', 'aria-label': `Take ${name} off`, onclick: () => choose(ids.filter((item) => item !== id).join(',')) }, icon('close')));
        }));
    }

    return {
        root,
        /** @param {URLSearchParams} params */
        async show(params) {
            label.show(params);
            pid.show(params);
            const value = params.get(side) ?? '';
            if (value === shown && choice.childElementCount) return;
            shown = value;
            await paint(value);
        },
        /** What the fields say, typed a moment ago or long since. */
        texts: () => ({ ...label.text(), ...pid.text() }),
        cancel() {
            label.cancel();
            pid.cancel();
        },
    };
}

/** A field whose text is a parameter of the address. @param {string} param @param {string} text @param {Record<string, any>} settings */
export function textField(param, text, settings) {
    // What was typed a moment ago is newer than the address.
    let typed = false;
    const send = debounce(() => {
        typed = false;
        setParams({ [param]: input.value.trim() }, { replace: true });
    }, 150);
    const input = h('input', { ...settings, class: 'input wide', id: `compare-${param}`, autocomplete: 'off', spellcheck: 'false', oninput: () => {
        typed = true;
        send();
    } });
    return {
        root: h('label', { class: 'field', for: `compare-${param}` }, text, input),
        cancel() {
            typed = false;
            send.cancel();
        },
        text: () => ({ [param]: input.value.trim() }),
        /** @param {URLSearchParams} params */
        show(params) {
            if (!typed && document.activeElement !== input) input.value = params.get(param) ?? '';
        },
    };
}
