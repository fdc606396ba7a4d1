/** `#/newest?tag=branch=main`: leads to the newest run that the filters leave, for links that stay true. */

import { h, fill } from '../../lib/dom.js';
import { go, runHref, traceHref } from '../../app/router.js';
import { empty } from '../../lib/states.js';
import * as api from '../../lib/api.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route `view` names the view of its trace, "run" the run itself
 * @param {AbortSignal} signal
 */
export async function mount(root, route, signal) {
    const filters = Object.fromEntries(['tag', 'project', 'q'].map((key) => [key, route.params.get(key)]));
    const { runs: [newest] } = await api.runs({ ...filters, sort: 'uploaded_at', order: 'desc', limit: 1 }, signal);
    if (!newest) {
        fill(root, h('h1', null, 'Newest run'), empty('No run matches', h('p', null, 'No run that you may read has this tag and project.'), h('p', null, h('a', { class: 'button', href: '#/' }, 'All runs'))));
        return;
    }
    const view = route.params.get('view') ?? 'overview';
    go(newest.figures.trace_id && view !== 'run' ? traceHref(newest.figures.trace_id, view) : runHref(newest.name), { replace: true });
}
