/** An execution trace: what it is, and the traces of its run in whose timeline its tensors are shown. */

import { h, fill } from '../../lib/dom.js';
import { figures } from '../../table/detail_parts.js';
import { traceHref } from '../../app/router.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    const run = await api.runPage(trace.run, signal);
    const beside = run.trace_list.filter(({ has_events: has, format }) => has && format === 'chrome-trace');
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Execution trace')),
        figures([['Calls', fmt.int(trace.events)], ['Tensors on', trace.device_type], ['File', fmt.bytes(trace.size_bytes)]]),
        h('section', { class: 'section' }, h('h2', null, 'Traces of the same run'), beside.length
            ? [h('p', null, 'An execution trace has no times. Choose an operator in the timeline of one of these: the panel shows its tensors, who wrote what it reads and who reads what it gives.'),
                h('ul', null, beside.map((of) => h('li', null, h('a', { href: traceHref(of.id, 'timeline') }, fmt.traceName(of)))))]
            : h('p', null, 'An execution trace has no times. Upload the trace of the profiler of the same process into this run: its timeline then shows the tensors of each operator.')));
    return { ready: undefined, update: () => undefined, destroy: () => undefined };
}
