/** Contents: what was read from a file, what was left out and why; its names, and its kernels by type where the recorder tells it. */

import { h, fill } from '../../lib/dom.js';
import { rowTable } from '../../table/rowtable.js';
import { plainTable, figures, fullName } from '../../table/detail_parts.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {{count: number, total_ns: number}} Sums */
/** @typedef {{device: number, activities: number, window_ns: number, busy_ns: number, idle_ns: number, computation_ns: number, communication_ns: number, exposed_communication_ns: number, free_ns: number}} DeviceContents */
/** @typedef {{name: string, start_ns: number, elapse_ns: number, transit_ns: number, wait_ns: number, synchronization_ns: number, idle_ns: number}} Collective */
/**
 * @typedef {{format: string, recorder: string | null, format_version: string | null, roles: Record<string, Sums>, devices: DeviceContents[],
 *   links: {device_activities: number, linked: number}, skipped: {what: string, count: number, reason: string}[], collectives: Collective[]}} Contents
 */

/** In the field's words. @type {Record<string, string>} */
const ROLES = {
    kernel: 'Kernels', communication: 'Communication', memcpy: 'Copies', memset: 'Memory sets', operator: 'Operators', step: 'Steps', annotation: 'Annotations and ranges',
    runtime: 'Runtime and driver calls', host: 'Other slices of the host', sync: 'Synchronisation', device_other: 'Waits and events of a stream', mark: 'Marks', counter: 'Counters', memory: 'Records of memory',
};
const COLLECTIVES_SHOWN = 50;

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    /** @type {Contents} */
    const contents = await api.call(`traces/${trace.id}/contents`, { signal });
    const types = trace.views.includes('kernels') ? await api.call(`traces/${trace.id}/kernels`, { signal, query: { group_by: 'op_type', limit: 0 } }) : { rows: [] };
    const names = contents.roles.host ? nameTable(trace) : null;
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Contents')), origin(contents, trace), records(contents), left(contents),
        contents.devices.length ? devices(contents.devices, trace) : null, types.rows.length ? opTypes(types.rows) : null,
        contents.collectives.length ? collectives(contents.collectives) : null,
        names ? h('section', { class: 'section' }, h('h2', null, 'Other slices of the host, by name'), names.root) : null);
    return { ready: names?.update(route.params), update: (next) => names?.update(next.params), destroy: () => names?.destroy() };
}

/** @param {string} title @param {...(HTMLElement | null)} parts */
const section = (title, ...parts) => h('section', { class: 'section' }, h('h2', null, title), ...parts);

/** @param {Contents} contents @param {Trace} trace */
function origin(contents, trace) {
    const { device_activities: work, linked } = contents.links;
    return figures([
        ['Format', fmt.formatWord(contents.format)], ['Recorder', contents.recorder ?? 'PyTorch profiler'],
        ...(contents.format_version ? [/** @type {[string, string]} */ (['Version', contents.format_version])] : []),
        ['Device work', fmt.int(work)], ['With its launch in the file', work ? `${fmt.int(linked)} (${fmt.share(linked / work)})` : '–'],
        ['File', fmt.bytes(trace.size_bytes)],
    ]);
}

/** @param {Contents} contents */
function records({ roles }) {
    const lines = Object.entries(roles).map(([role, { count, total_ns: total }]) => [ROLES[role] ?? role, fmt.int(count), total ? fmt.time(total) : '–']);
    return section('What was read', lines.length ? plainTable('Records by role', ['Records', 'Number', 'Total time'], lines, 1) : h('p', { class: 'quiet' }, 'No record of a time: figures only.'));
}

/** @param {Contents} contents */
function left({ skipped }) {
    const lines = skipped.map(({ what, count, reason }) => [what, reason, fmt.int(count)]);
    return section('What was left out, or read otherwise', lines.length ? plainTable('Records left out', ['What', 'Why', 'Number'], lines, 2) : h('p', { class: 'quiet' }, 'Nothing.'));
}

/** @param {DeviceContents[]} list @param {Trace} trace */
function devices(list, trace) {
    const word = fmt.deviceWord(trace.device_type);
    const lines = list.map((of) => [fmt.deviceName(`${word}${of.device}`), fmt.int(of.activities), ...[of.window_ns, of.busy_ns, of.idle_ns, of.computation_ns, of.communication_ns, of.exposed_communication_ns, of.free_ns].map((ns) => fmt.time(ns))]);
    return section('Each device', plainTable('Time of each device', ['Device', 'Work', 'Window', 'Busy', 'Idle', 'Computation', 'Communication', 'Exposed', 'Free'], lines, 1));
}

/** @param {{name: string | null, core: string | null, calls: number, total_ns: number, mean_ns: number, min_ns: number, max_ns: number}[]} rows */
function opTypes(rows) {
    return section('Kernels by op type and core', plainTable('Kernels by op type and core', ['Op type', 'Core', 'Calls', 'Total', 'Mean', 'Shortest', 'Longest'],
        rows.map((row) => [row.name ?? '–', row.core ?? '–', fmt.int(row.calls), ...[row.total_ns, row.mean_ns, row.min_ns, row.max_ns].map((ns) => fmt.time(ns))]), 2));
}

/** @param {Collective[]} list */
function collectives(list) {
    const shown = list.slice(0, COLLECTIVES_SHOWN);
    return section('Collectives as the recorder measured them',
        plainTable('Collectives', ['Name', 'Start', 'Elapsed', 'Transit', 'Wait', 'Synchronisation', 'Idle'],
            shown.map((row) => [row.name, ...[row.start_ns, row.elapse_ns, row.transit_ns, row.wait_ns, row.synchronization_ns, row.idle_ns].map((ns) => fmt.time(ns))]), 1),
        list.length > shown.length ? h('p', { class: 'quiet' }, `The first ${shown.length} of ${fmt.int(list.length)}.`) : null);
}

/** @param {Trace} trace */
function nameTable(trace) {
    return rowTable({
        id: String(trace.id),
        view: 'names',
        caption: 'Other slices of the host, by name',
        noun: () => ['name', 'names'],
        search: 'Search names',
        columnsFor: () => [
            { key: 'name', label: 'Name', kind: 'name', width: 320, priority: 0 },
            { key: 'calls', label: 'Slices', kind: 'int', width: 88, priority: 1 },
            { key: 'total_ns', label: 'Total', kind: 'time', width: 104, priority: 1, help: 'Overlaps counted twice' },
            { key: 'mean_ns', label: 'Mean', kind: 'time', width: 96, priority: 2 },
            { key: 'min_ns', label: 'Shortest', kind: 'time', width: 96, priority: 3 },
            { key: 'max_ns', label: 'Longest', kind: 'time', width: 96, priority: 3 },
        ],
        defaultSort: () => ['total_ns', 'desc'],
        detail: (row) => h('div', null, fullName(row.name), figures([['Slices', fmt.int(row.calls)], ['Total', fmt.time(row.total_ns)]])),
        emptyText: (q) => (q ? `No name matches “${q}”.` : 'No slice.'),
    });
}
