/** A memory snapshot: what each device reserved and gave out, blocks over time, who holds memory, alone or against another snapshot, and the map of segments. */

import { h, fill } from '../../lib/dom.js';
import { segmented } from '../../table/rowtable.js';
import { figures } from '../../table/detail_parts.js';
import { setParams } from '../../app/router.js';
import { blocksOverTime } from './blocks.js';
import { holders } from './holders.js';
import { segmentsMap } from './segments.js';
import { howTo } from '../../lib/record_advice.js';
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
    const [snapshot, { health }] = await Promise.all([api.call(`traces/${trace.id}/memory-snapshot`, { signal }), api.overview(String(trace.id), signal)]);
    const lacks = health.missing.map(({ reason, record }) => h('p', { class: 'quiet' }, reason, howTo(record)));
    /** @type {string[]} */
    const devices = snapshot.devices.map((/** @type {any} */ { device }) => String(device));
    const fallback = devices[0] ?? '';
    const deviceOf = (/** @type {URLSearchParams} */ params) => devices.find((device) => device === params.get('device')) ?? fallback;
    const choice = devices.length > 1 ? segmented('Device', devices.map((device) => ({ value: device, label: `Device ${device}` })), (device) => setParams({ device: device === fallback ? null : device, blocks: null })) : null;
    const shown = h('div', null);
    const blocks = blocksOverTime(trace, signal);
    const held = holders(trace, snapshot, signal);
    const segments = segmentsMap(trace, signal);
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Memory snapshot'), choice?.root), shown, ...lacks, devices.length ? blocks.root : null, ...held.roots, devices.length ? segments.root : null);

    /** @param {URLSearchParams} params */
    function update(params) {
        const device = deviceOf(params);
        choice?.show(device);
        fill(shown, snapshot.devices.filter((/** @type {any} */ item) => String(item.device) === device).map(deviceSection));
        return Promise.all([devices.length ? blocks.update(params, device) : null, held.update(params, device), devices.length ? segments.update(params, device) : null]);
    }
    return { ready: update(route.params), update: (next) => update(next.params), destroy: () => { blocks.destroy(); held.destroy(); segments.destroy(); } };
}

/** @param {any} device of the answer */
function deviceSection(device) {
    const oom = device.oom.map((/** @type {any} */ failed) => h('li', null, `Event ${fmt.int(failed.event)}: ${fmt.bytes(failed.size_bytes)} could not be taken by ${failed.frame}`));
    return h('section', { class: 'section' }, h('h2', null, `Device ${device.device}`), figures([
        ['Peak allocated', fmt.bytes(device.peak_allocated_bytes)], ['Peak reserved', fmt.bytes(device.peak_reserved_bytes)],
        ['Allocated at the end', fmt.bytes(device.allocated_bytes)], ['Reserved at the end', fmt.bytes(device.reserved_bytes)],
        ['Fragmentation', fmt.share(device.fragmentation)], ['Before the recording', fmt.bytes(device.history_start_allocated_bytes)],
        ['Live blocks', fmt.int(device.live_blocks)], ['Segments', fmt.int(device.segments)], ['Events', fmt.int(device.events)]]),
    oom.length ? h('div', null, h('h3', null, 'Out of memory'), h('ul', null, ...oom)) : null);
}
