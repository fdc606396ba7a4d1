/** One glance at the memory of a device: how much at most, what is still held, the largest block. */

import { h } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { timelineSpan } from '../timeline/links.js';
import * as fmt from '../../lib/fmt.js';

/** About the moment of the peak, in the timeline. */
const AROUND_NS = 5e6;

/** @param {Trace} trace @param {MemoryAnswer} data @param {MemoryBlock | undefined} largest @param {MemoryCurve | undefined} curve */
export function memoryAnswers(trace, data, largest, curve) {
    const device = data.devices.find((item) => item.device === data.device);
    if (!device) return null;
    return h('dl', { class: 'answers memory-answers' }, peak(trace, device, curve), held(device, data), largest ? block(largest) : null, reserved(device), allocated(data));
}

/** @param {Trace} trace @param {MemoryDevice} device @param {MemoryCurve | undefined} curve */
function peak(trace, { device, peak_bytes: bytes, peak_ns: at }, curve) {
    const when = (/** @type {number} */ ns) => timelineSpan(trace, ns - AROUND_NS, ns + AROUND_NS, fmt.time(ns));
    if (bytes !== null) return answer(`Peak on ${fmt.deviceName(device)}`, fmt.byteParts(bytes), [at === null ? 'allocated' : ['allocated, at ', when(at)]], 'first');
    if (!curve?.since_start) return answer(`Peak on ${fmt.deviceName(device)}`, ['–', ''], ['This PyTorch version does not record totals: upgrade PyTorch.'], 'first');
    return answer(`Peak on ${fmt.deviceName(device)}`, fmt.byteParts(curve.peak[1]), ['above what was in use when the recording began, at ', when(curve.peak[0])], 'first');
}

/** What blocks say is less than the total where some were allocated before the recording. @param {MemoryDevice} device @param {MemoryAnswer} data */
function held({ allocated_end_bytes: bytes }, { unreleased: { count, size_bytes: size } }) {
    if (bytes === null && count === 0) return null;
    const blocks = count === 0 ? 'every block allocated here was released' : bytes === null ? `in ${fmt.plural(count, 'block')} not released`
        : `of it ${fmt.bytes(size)} in ${fmt.plural(count, 'block')} allocated here`;
    return answer('In use at end', fmt.byteParts(bytes ?? size), [blocks]);
}

/** @param {MemoryBlock} largest */
function block(largest) {
    return answer('Largest block', fmt.byteParts(largest.size_bytes), [h('span', { class: 'answer-name', 'data-tip': largest.name, tabindex: '0' }, largest.name),
        h('span', { class: 'answer-more' }, largest.duration_ns === null ? 'for longer than was recorded' : `for ${fmt.time(largest.duration_ns)}`)]);
}

/** @param {MemoryDevice} device */
function reserved({ reserved_peak_bytes: bytes, peak_bytes: used }) {
    if (!bytes) return null;
    const more = used === null ? '' : `, ${fmt.share((bytes - used) / bytes)} of it more than the peak`;
    return answer('Peak reserved', fmt.byteParts(bytes), [`by the allocator${more}`]);
}

/** @param {MemoryAnswer} data */
function allocated({ sums }) {
    return answer('Total allocated', fmt.byteParts(sums?.self_allocated_bytes ?? 0), [`in ${fmt.plural(sums?.self_allocations ?? 0, 'allocation')} by operators`]);
}
