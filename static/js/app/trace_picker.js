/** Chooses another trace, in a dialog: its run, then the trace. */

import { h, fill } from '../lib/dom.js';
import { picker } from '../lib/picker.js';
import { modal, showFailure } from '../lib/states.js';
import { allRuns } from '../lib/all_runs.js';
import * as api from '../lib/api.js';
import * as fmt from '../lib/fmt.js';

/**
 * @param {{title: string, text: string, none: string, trace: Trace, able: (other: Trace) => boolean,
 *          onPick: (other: Trace) => void, signal: AbortSignal}} settings
 *     trace: whose run comes first; able: which of a run can be chosen; none: what is said where no trace can
 */
export async function pickTrace({ title, text, none, trace, able, onPick, signal }) {
    const body = h('div', { class: 'tl-choose' });
    const dialog = modal(title, h('p', { class: 'quiet' }, text), body);
    try {
        const runs = await allRuns(signal);
        const paint = async (/** @type {string} */ name) => {
            const { trace_list: traces = [] } = await api.run(name, signal);
            const found = traces.filter(able);
            fill(body, picker({ label: 'Run', value: name, options: runs.map((run) => ({ value: run.name, label: run.name })), onPick: paint }),
                found.length ? picker({ label: 'Trace', value: '', options: found.map((item) => ({ value: String(item.id), label: fmt.traceName(item) })), onPick: (id) => {
                    const other = found.find((item) => String(item.id) === id);
                    dialog.close();
                    if (other) onPick(other);
                } }) : h('p', { class: 'quiet' }, none));
        };
        await paint(trace.run);
    } catch (error) {
        showFailure(body, error, () => {
            dialog.close();
            pickTrace({ title, text, none, trace, able, onPick, signal });
        });
    }
}
