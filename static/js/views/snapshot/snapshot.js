/** A memory snapshot: what each device reserved and gave out, blocks over time, and who holds memory. */

import { h, fill } from '../../lib/dom.js';
import { rowTable } from '../../table/rowtable.js';
import { fullName, figures } from '../../table/detail_parts.js';
import { blocksOverTime } from './blocks.js';
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
    const [snapshot, lives] = await Promise.all([
        api.call(`traces/${trace.id}/memory-snapshot`, { signal }),
        api.call(`traces/${trace.id}/memory-snapshot/lives`, { signal, query: { limit: 5000 } })]);
    const blocks = blocksOverTime(lives);
    const table = frameTable(trace);
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Memory snapshot')),
        ...snapshot.devices.map(deviceSection), blocks.root,
        h('section', { class: 'section' }, h('h2', null, 'Held at the peak, by source line'), table.root));
    blocks.paint();
    return { ready: table.update(route.params), update: (next) => table.update(next.params), destroy: () => { blocks.destroy(); table.destroy(); } };
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

/** @param {Trace} trace */
function frameTable(trace) {
    return rowTable({
        id: String(trace.id),
        view: 'memory-snapshot/frames',
        caption: 'Held at the peak, by source line',
        noun: () => ['line', 'lines'],
        search: 'Search source lines',
        columnsFor: () => [
            { key: 'frame', label: 'Source line', kind: 'name', width: 320, priority: 0 },
            { key: 'bytes', label: 'Bytes', kind: 'size', width: 104, priority: 1, help: 'As requested' },
            { key: 'share', label: 'Share', kind: 'share', width: 96, priority: 2, help: 'Of all bytes at the peak' },
            { key: 'blocks', label: 'Blocks', kind: 'int', width: 84, priority: 3 },
        ],
        defaultSort: () => ['bytes', 'desc'],
        detail: (row) => h('div', null, fullName(row.frame), figures([['Blocks', fmt.int(row.blocks)], ['Bytes', fmt.int(row.bytes)]])),
        emptyText: (q) => (q ? `No results for “${q}”.` : 'The snapshot holds no block.'),
    });
}
