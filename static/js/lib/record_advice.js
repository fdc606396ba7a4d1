/** What to ask of the recorder of a file, so that a view of its traces has something to show. */

import * as api from './api.js';
import { h } from './dom.js';

/**
 * Null: nothing is known of this recorder, or nothing is missing. A file without a trace is told to record one.
 * @param {Trace} trace
 * @param {string} view
 * @param {AbortSignal} signal
 * @param {string | null} [own] what PyTorch's profiler is asked
 * @returns {Promise<string | null>}
 */
export async function recordAdvice(trace, view, signal, own = null) {
    if (trace.format === 'chrome-trace' || !trace.views.includes('overview')) return own;
    const { health: { missing } } = await api.overview(String(trace.id), signal);
    return missing.find((item) => item.view === view)?.record || null;
}

/** "upload the whole folder": a sentence of its own. @param {string} text */
const isInstruction = (text) => /^(upload|wrap) /.test(text);

/** `with_stack=True`, but not a sentence. @param {string} text */
export const isCode = (text) => /[=([]|--/.test(text) && !isInstruction(text);

/** The code of a text as code: "torch.profiler.profile(…) records both at once" is code up to its bracket. @param {string} text */
function codeOf(text) {
    const call = /^(\S+\(.*\)) ([a-z].*)$/.exec(text);
    return call ? [h('code', null, call[1]), ` ${call[2]}`] : isCode(text) ? [h('code', null, text)] : [text];
}

/** After the sentence that says what is missing. @param {string} record */
export const howTo = (record) => (isInstruction(record) ? [` ${record[0].toUpperCase()}${record.slice(1)}.`] : [' Record with ', codeOf(record), '.']);

/** A line under an empty view. @param {string | null} option */
export const recordWith = (option) => (option ? h('p', null, howTo(option)) : null);
