/** What can be done to a run or a trace. */

import { toast } from '../../lib/dom.js';
import { confirm } from '../../lib/states.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** What the page shows is no longer so: the frame and the view ask again, at another place where this one is gone. @param {string} [href] */
const changed = (href) => document.dispatchEvent(new CustomEvent('kinetoscope:changed', { detail: { href } }));

/** @param {() => Promise<any>} act @param {string} done */
async function attempt(act, done) {
    try {
        await act();
        toast(done);
        return true;
    } catch (error) {
        toast(error instanceof Error ? error.message : String(error));
        return false;
    }
}

/** @param {Run} run */
export async function deleteRun(run) {
    const yes = await confirm({
        title: `Delete ${run.name}?`,
        text: `Its ${fmt.plural(run.traces, 'trace')} (${fmt.bytes(run.size_bytes)}) will be gone for everybody. This cannot be undone.`,
        yes: 'Delete run',
    });
    if (yes && (await attempt(() => api.deleteRun(run.name), 'Run deleted'))) changed('#/');
}

/** @param {Trace} trace */
export async function deleteTrace(trace) {
    const yes = await confirm({
        title: `Delete ${trace.file_name}?`,
        text: `${trace.worker}, span ${trace.span} of ${trace.run} will be gone for everybody. Other spans may be renumbered.`,
        yes: 'Delete trace',
    });
    if (yes && (await attempt(() => api.deleteTrace(trace.id), 'Trace deleted'))) changed();
}

/** Nothing else that is shown depends on it, so nothing is asked for anew. @param {Run} run @param {boolean} pinned @returns {Promise<boolean>} */
export async function setPinned(run, pinned) {
    const done = await attempt(() => api.patchRun(run.name, { pinned }), pinned ? 'Run pinned' : 'Run no longer pinned');
    if (done) run.pinned = pinned;
    return done;
}

/** @param {string} name @param {{tags: string[], note: string}} body */
export async function saveRun(name, body) {
    if (await attempt(() => api.patchRun(name, body), 'Saved')) changed();
}
