/** What to ask of the recorder of a file, so that a view of its traces has something to show. */

import * as api from './api.js';

/**
 * Null: nothing is known of this recorder, or nothing is missing. PyTorch's own options are what the views say by themselves.
 * @param {Trace} trace
 * @param {string} view
 * @param {AbortSignal} signal
 * @returns {Promise<string | null>}
 */
export async function recordAdvice(trace, view, signal) {
    if (trace.format === 'chrome-trace' || !trace.views.includes('overview')) return null;
    const { health: { missing } } = await api.overview(String(trace.id), signal);
    return missing.find((item) => item.view === view)?.record ?? null;
}
