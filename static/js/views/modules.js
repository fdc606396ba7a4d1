/** Modules: which part of the model takes the time, as a chart of nested bars and as a tree. */

import { h, fill } from '../dom.js';
import { empty } from '../states.js';
import { moduleAnswers } from './modules_answers.js';
import { moduleTree, MEASURES } from './modules_tree.js';
import { icicle } from './modules_icicle.js';
import { moduleTable } from './modules_table.js';
import { segmented } from '../rowtable.js';
import { setParams } from '../router.js';
import { deviceWord } from '../fmt.js';
import * as api from '../api.js';

/** @typedef {import('./modules_tree.js').Measure} Measure */

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    if (!trace.views.includes('modules') && !trace.views.includes('lightning')) {
        fill(root, h('h1', null, 'Modules'), empty('No module calls in this trace', h('p', null, 'Profile with ',
            h('code', null, 'with_stack=True, with_modules=True'), ' to record them.')));
        return {};
    }
    const data = await api.modules(route.id, signal);
    const tree = moduleTree(data);
    const device = tree.rows.some((row) => row.device_total_ns !== 0) ? deviceWord(trace.device_type) : null;
    const fallback = /** @type {Measure} */ (device ? 'device' : 'host');
    const choose = (/** @type {number} */ index) => setParams({ at: index });
    const measures = device ? segmented('Width shows', [{ value: 'device', label: device }, { value: 'host', label: 'Host' }], (by) => setParams({ by: by === fallback ? null : by })) : null;
    const chart = icicle(tree, { device, tools: [measures?.root], onChoose: choose });
    const table = moduleTable(trace, tree, device);
    fill(root,
        h('div', { class: 'view-head' }, h('h1', null, data.kind === 'lightning' ? 'Lightning modules' : 'Modules')),
        moduleAnswers(tree, device, choose),
        chart.root,
        h('section', { class: 'section' }, h('h2', { class: 'visually-hidden' }, 'All modules'), table.root));

    /** @param {URLSearchParams} params */
    function update(params) {
        const by = MEASURES.find((measure) => measure === params.get('by')) ?? fallback;
        measures?.show(by);
        chart.update(params, by);
        table.update(params);
    }
    update(route.params);
    return {
        update: (next) => update(next.params),
        destroy() {
            chart.destroy();
            table.destroy();
        },
    };
}
