/** How well kernels use the device, from a table of Nsight Compute or Nsight Systems. */

import { h, fill } from '../../lib/dom.js';
import { empty } from '../../lib/states.js';
import { useAnswers } from './answers.js';
import { scatter } from './scatter.js';
import { classBars } from './bars.js';
import { histogram } from './histogram.js';
import { strip } from './strip.js';
import { loadLaunches } from './launches.js';
import { useTable } from './table.js';
import { transfers, badRows, record, aboutTable } from './parts.js';
import * as api from '../../lib/api.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    if (!trace.views.includes('utilisation')) {
        fill(root, h('h1', null, 'Utilisation'), empty('No kernel table here', h('p', null, 'Utilisation comes from tables of Nsight Compute or Nsight Systems. Record one and upload it to this run:'), record()));
        return {};
    }
    const data = await api.kernelUse(route.id, { limit: 0 }, signal);
    const measured = data.tensor !== null || data.sm !== null;
    const table = useTable(route.id, data);
    const open = (/** @type {string} */ name) => table.open(name);
    const points = measured && data.dram !== null ? scatter(data, open) : null;
    const bars = measured || data.dram !== null ? classBars(trace, data, signal) : null;
    const latency = data.has_launches ? histogram() : null;
    const order = data.has_launches ? strip(data, { id: route.id, onKernel: open }) : null;
    fill(root,
        h('div', { class: 'view-head' }, h('h1', null, 'Utilisation')),
        useAnswers(data, open),
        bars ? null : h('section', { class: 'section' }, h('h2', null, 'No use was measured'), h('p', { class: 'quiet' }, 'This table has times only. To see tensor and DRAM use, classes and headroom, record with'), record()),
        data.has_launches ? null : h('p', { class: 'quiet' }, 'This table has sums only. For latencies and the order of launches record with ', h('code', null, 'nsys stats --report cuda_gpu_trace --format csv'), '.'),
        h('div', { class: `use-charts${points ? '' : ' no-scatter'}` }, points?.root, h('div', { class: 'use-side' }, bars?.root, latency?.root)),
        order?.root,
        h('section', { class: 'section' }, h('h2', { class: 'visually-hidden' }, 'All kernels'), table.root),
        transfers(data), badRows(data), aboutTable(trace));
    let params = route.params;
    const update = () => {
        table.update(params);
        const names = new Set(table.opened().map((row) => row.name));
        points?.update(params, names);
        order?.update(params, names);
        latency?.update(params);
        return bars?.update(params);
    };
    update();

    async function launches() {
        if (!order || !latency) return;
        try {
            const list = await loadLaunches(route.id, order.progress, signal);
            order.show(list, params);
            await latency.show(list);
        } catch (error) {
            order.fail(error, launches);
        }
    }
    return {
        ready: Promise.all([launches(), bars?.start(route.params)]),
        update(next) {
            params = next.params;
            return update();
        },
        destroy() {
            table.destroy();
            points?.destroy();
            latency?.destroy();
            order?.destroy();
        },
    };
}
