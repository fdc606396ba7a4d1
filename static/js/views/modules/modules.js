/** Modules: which part of the model takes the time, as a chart of nested bars and as a tree. */

import { h, fill } from '../../lib/dom.js';
import { empty } from '../../lib/states.js';
import { recordAdvice, recordWith } from '../../lib/record_advice.js';
import { moduleAnswers } from './answers.js';
import { moduleTree, MEASURES } from './tree.js';
import { icicle } from './icicle.js';
import { moduleTable } from './table.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import { deviceWord } from '../../lib/fmt.js';
import * as api from '../../lib/api.js';

/** @typedef {import('./tree.js').Measure} Measure */

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    if (!trace.views.includes('modules') && !trace.views.includes('lightning')) {
        fill(root, h('h1', null, 'Modules'), empty('No module calls in this trace',
            recordWith(await recordAdvice(trace, 'modules', signal, 'with_stack=True, with_modules=True'))));
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
