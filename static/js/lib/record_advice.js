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
    return missing.find((item) => item.view === view)?.record ?? null;
}

/** A line under an empty view. @param {string | null} option */
export const recordWith = (option) => (option ? h('p', null, 'Record it with ', h('code', null, option), '.') : null);
