/** Operators: where host and device time go, by name. */

import { h, fill } from '../../lib/dom.js';
import { rowTable } from '../../table/rowtable.js';
import { operatorDetail } from './detail.js';
import { owners } from './owners.js';
import { pieBoard } from '../../charts/pies.js';
import { knowsCalls } from '../../table/detail_parts.js';
import { pinnedNotes } from '../../app/pinned_notes.js';
import * as fmt from '../../lib/fmt.js';
import * as api from '../../lib/api.js';
import { recordAdvice } from '../../lib/record_advice.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    const advice = await recordAdvice(trace, 'operators', signal, 'profile with activities=[ProfilerActivity.CPU, …]');
    const device = fmt.deviceWord(trace.device_type);
    const pies = pieBoard({
        id: route.id,
        view: 'operators',
        emptyText: 'No time here.',
        charts: (first) => [first.has_device ? { key: 'device_self_ns', title: `${device} self time`, help: 'Kernels that the operator itself launched' }
            : { key: 'host_self_ns', title: 'Host self time', help: 'On the CPU, without the operators it calls' }],
    });
    const missing = h('p', { class: 'quiet' });
    const table = rowTable({
        id: route.id,
        view: 'operators',
        onRows: ({ sums }) => fill(missing, unattributed(sums)),
        caption: 'Operators',
        noun: () => ['operator', 'operators'],
        search: 'Search operators',
        groups: [{ value: 'name', label: 'Name' }, { value: 'name_shape', label: 'Name and input shape' }],
        columnsFor: (first, group) => columns(Boolean(first.has_device), group === 'name_shape', device).filter(({ key }) => knowsCalls(trace) || !/_(p\d\d|min|max)_ns$/.test(key)),
        defaultSort: (first) => [first.has_device ? 'device_self_ns' : 'host_self_ns', 'desc'],
        detail: (row, group) => operatorDetail(route.id, trace, row, group),
        emptyText: (q) => (q ? `No operator matches “${q}”.` : `No operators were recorded${advice ? `: ${advice}` : ''}.`),
    });
    const owned = trace.has_events && trace.views.includes('kernels') ? owners(trace) : null;
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Operators'), pies.control), pinnedNotes(trace, 'operator', signal), h('h2', { class: 'visually-hidden' }, 'All operators'), missing, table.root, h('h2', null, 'Largest operators'), pies.root, owned?.root);
    return {
        ready: Promise.all([pies.start(route.params, signal), table.update(route.params), owned?.update(route.params)]),
        update(next) {
            pies.update(next.params);
            return Promise.all([table.update(next.params), owned?.update(next.params)]);
        },
        destroy() {
            pies.destroy();
            table.destroy();
            owned?.destroy();
        },
    };
}

/** What the shares leave out, where that is much. @param {RowPage['sums']} sums */
function unattributed(sums) {
    const { unattributed_device_ns: ns = 0, device_ns: whole = 0 } = sums ?? {};
    const share = whole > 0 ? ns / whole : 0;
    if (share < 0.02) return null;
    return [`${fmt.time(ns)} of ${fmt.time(whole)} device time (${fmt.share(share)}) is in no row: no call of an operator launched it. `,
        h('button', { class: 'link', type: 'button', onclick: () => document.getElementById('owners')?.scrollIntoView() }, 'Whose it is')];
}

/**
 * @param {boolean} hasDevice
 * @param {boolean} hasShape
 * @param {string} device "GPU", "MLU"
 * @returns {Column[]}
 */
function columns(hasDevice, hasShape, device) {
    /** @type {Column[]} */
    const list = [
        { key: 'name', label: 'Operator', kind: 'name', width: 290, priority: 0 },
        { key: 'calls', label: 'Calls', kind: 'int', width: 68, priority: 3 },
    ];
    if (hasShape) list.push({ key: 'input_shape', label: 'Input shape', kind: 'text', width: 170, priority: 2 });
    if (hasDevice) {
        list.push(
            { key: 'device_self_ns', label: `${device} self`, kind: 'time', family: 'sum', width: 104, priority: 1, help: 'Kernels that the operator itself launched' },
            { key: 'share', label: 'Share', kind: 'share', width: 84, priority: 2, help: `Of the ${device} self time of all operators` },
            { key: 'device_total_ns', label: `${device} total`, kind: 'time', family: 'sum', width: 104, priority: 5, help: 'Kernels of the operator and of all it calls' },
            { key: 'device_p50_ns', label: `${device} p50`, kind: 'time', family: 'call', width: 92, priority: 12, help: 'Device time of a call: half of the calls take less' },
            { key: 'device_p95_ns', label: `${device} p95`, kind: 'time', family: 'call', width: 92, priority: 13, help: 'Device time of a call: 95% of the calls take less' },
            { key: 'device_p99_ns', label: `${device} p99`, kind: 'time', family: 'call', width: 92, priority: 14, help: 'Device time of a call: 99% of the calls take less' },
        );
    }
    list.push(
        { key: 'host_self_ns', label: 'Host self', kind: 'time', family: 'sum', width: 96, priority: hasDevice ? 4 : 1, help: 'On the CPU, without the operators it calls' },
        ...(hasDevice ? [] : [/** @type {Column} */ ({ key: 'share', label: 'Share', kind: 'share', width: 84, priority: 2, help: 'Of the host self time of all operators' })]),
        { key: 'host_total_ns', label: 'Host total', kind: 'time', family: 'sum', width: 96, priority: 6, help: 'On the CPU, with the operators it calls; a call inside another of its name counts in both' },
        { key: 'host_p50_ns', label: 'Host p50', kind: 'time', family: 'call', width: 96, priority: 7, help: 'A call: half of the calls take less' },
        { key: 'host_p95_ns', label: 'Host p95', kind: 'time', family: 'call', width: 96, priority: 8, help: 'A call: 95% of the calls take less' },
        { key: 'host_p99_ns', label: 'Host p99', kind: 'time', family: 'call', width: 96, priority: 9, help: 'A call: 99% of the calls take less' },
        { key: 'host_mean_ns', label: 'Host mean', kind: 'time', family: 'call', width: 104, priority: 18, help: 'A call, on average' },
        { key: 'host_min_ns', label: 'Host min', kind: 'time', family: 'call', width: 84, priority: 19, help: 'The shortest call' },
        { key: 'host_max_ns', label: 'Host max', kind: 'time', family: 'call', width: 92, priority: 20, help: 'The longest call' },
    );
    if (hasDevice && device !== 'MLU') {
        list.push(
            { key: 'tensor_core_eligible', label: 'Matrix able', kind: 'bool', width: 92, priority: 15, help: 'Can run on matrix units: Tensor Cores, Matrix Cores, Cube units' },
            { key: 'tensor_core_self_share', label: 'Matrix self', kind: 'share', width: 92, priority: 16, help: 'Part of matrix units in its own kernel time' },
            { key: 'tensor_core_total_share', label: 'Matrix total', kind: 'share', width: 92, priority: 17, help: 'Part of matrix units in the kernel time with all it calls' },
        );
    }
    return list;
}

