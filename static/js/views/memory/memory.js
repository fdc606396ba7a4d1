/** Memory: how much a device needed at most and why, the curve of it, and what operators and blocks took in a window of time. */

import { h, fill } from '../../lib/dom.js';
import { empty, showFailure, skeleton } from '../../lib/states.js';
import { memoryAnswers } from './answers.js';
import { memoryCounters } from './counters.js';
import { memoryCurve } from './curve.js';
import { memoryBlocks } from './blocks.js';
import { operatorTable, eventTable } from './tables.js';
import { deviceChoice, windowOf } from './window.js';
import * as api from '../../lib/api.js';
import { recordAdvice, recordWith } from '../../lib/record_advice.js';
import * as fmt from '../../lib/fmt.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    if (!trace.views.includes('memory')) return mountWithout(root, trace, signal);
    const [first, { devices: curves }] = await Promise.all([api.memory(route.id, { limit: 1 }, signal), api.memoryCurve(route.id, signal)]);
    const fallback = first.device ?? '';
    const deviceOf = (/** @type {URLSearchParams} */ params) => first.devices.find(({ device }) => device === params.get('device'))?.device ?? fallback;
    const also = (/** @type {URLSearchParams} */ params) => ({ device: deviceOf(params), ...windowQuery(params) });

    /** Some profilers sum up the memory of a device and record no block: Ascend's has a curve of its own. @param {string} device */
    const hasRecords = (device) => !trace.format.startsWith('ascend') && curves.some((curve) => curve.device === device);

    const choice = deviceChoice(first.devices, fallback);
    const answers = h('div', null, skeleton('figures'));
    const blocks = h('div', { class: 'pair' });
    const curve = memoryCurve(curves, trace, signal);
    const counters = await memoryCounters(trace, signal);
    const operators = operatorTable(trace, also);
    const events = eventTable(trace, also);
    const notes = [h('p', { class: 'quiet' }), h('p', { class: 'quiet' })];
    const eventSection = h('section', { class: 'section' }, h('div', { class: 'section-head' }, h('h2', null, 'Blocks'), notes[1]), events.root);
    fill(root,
        h('div', { class: 'view-head' }, h('h1', null, 'Memory'), choice.root),
        answers, curve.root, counters?.root, blocks,
        h('section', { class: 'section' }, h('div', { class: 'section-head' }, h('h2', null, 'Operators'), notes[0]), operators.root),
        eventSection);

    let shown = '';
    /** What is of the device and not of the window. @param {string} device */
    async function showDevice(device) {
        if (device === shown) return;
        shown = device;
        try {
            const [data, largest] = await Promise.all([
                device === fallback ? first : api.memory(route.id, { limit: 1, device }, signal),
                hasRecords(device) ? api.rows(route.id, 'memory/events', { limit: 1, sort: 'size_bytes', order: 'desc', device }, signal) : null]);
            if (device !== shown) return;
            fill(answers, memoryAnswers(trace, data, /** @type {MemoryBlock | undefined} */ (/** @type {unknown} */ (largest?.rows[0])), curves.find((item) => item.device === device)));
            const found = memoryBlocks(data);
            blocks.hidden = !found;
            fill(blocks, found);
            // Records of old profilers have no addresses: allocations cannot be paired with releases.
            const none = !largest?.total;
            events.root.hidden = none;
            fill(notes[1], none ? (largest ? 'These records name no addresses, so blocks cannot be told apart: profile with a newer PyTorch.' : 'This profiler records no blocks.') : notes[0].textContent);
        } catch (error) {
            shown = '';
            showFailure(answers, error, () => showDevice(device));
        }
    }

    /** @param {URLSearchParams} params */
    function update(params) {
        const device = deviceOf(params);
        choice.show(device);
        const text = windowText(params);
        fill(notes[0], text);
        if (!events.root.hidden) fill(notes[1], text);
        return Promise.all([showDevice(device), curve.update(device, params), operators.update(params), hasRecords(device) ? events.update(params) : null, counters?.draw()]);
    }
    return {
        ready: update(route.params),
        update: (next) => update(next.params),
        destroy() {
            curve.destroy();
            counters?.destroy();
            operators.destroy();
            events.destroy();
        },
    };
}

/** Without records: the counters, where the profiler sampled some. @param {HTMLElement} root @param {Trace} trace @param {AbortSignal} signal @returns {Promise<Mounted>} */
async function mountWithout(root, trace, signal) {
    const counters = await memoryCounters(trace, signal);
    const option = trace.format === 'chrome-trace' ? 'profile_memory=True' : await recordAdvice(trace, 'memory', signal);
    const record = recordWith(option);
    if (!counters) {
        fill(root, h('h1', null, 'Memory'), empty('No memory records in this trace', record));
        return {};
    }
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Memory')), counters.root,
        h('p', { class: 'quiet' }, 'This file holds sums over time and no single allocation, so no operator or block is known.'), record);
    return { ready: counters.draw(), destroy: counters.destroy };
}

/** @param {URLSearchParams} params @returns {Record<string, string | null>} */
function windowQuery(params) {
    const { start, end } = windowOf(params);
    return { start_ns: start === null ? null : String(start), end_ns: end === null ? null : String(end) };
}

/** @param {URLSearchParams} params */
function windowText(params) {
    const { start, end } = windowOf(params);
    if (start === null && end === null) return 'of the whole recording';
    if (end === null) return `from ${fmt.time(start)} on`;
    return start === null ? `until ${fmt.time(end)}` : `from ${fmt.time(start)} to ${fmt.time(end)}`;
}
