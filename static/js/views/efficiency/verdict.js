/** One glance: how near the device's peaks the work ran, what has most to gain, how much of the time that covers. */

import { h } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { shorten } from '../../lib/names.js';
import { byteRate, flopRate, ofPeak, partOf, peakOf } from './words.js';
import * as fmt from '../../lib/fmt.js';

/** Of a smaller part than this the rest of the time matters more. */
const HALF = 0.5;
/** Below this part of the roofline neither bound is what holds the work up. */
const SMALL = 0.1;

/** Of the time of operators: so much without one bends the MFU. */
const PART = 0.02;

/** @param {Efficiency} data by operator */
export function verdict({ device, rows, totals, modelled_time_ns: modelled, outside_operators: outside }) {
    const known = rows.filter((row) => row.headroom_ns !== null);
    const headroom = known.reduce((sum, row) => sum + Number(row.headroom_ns), 0);
    const time = known.reduce((sum, row) => sum + row.time_ns, 0);
    const best = known.reduce((most, row) => (Number(row.headroom_ns) > Number(most?.headroom_ns ?? 0) ? row : most), /** @type {EfficiencyRow | null} */ (null));
    const share = totals.time_ns ? modelled / totals.time_ns : null;
    const lead = !device ? ['The peaks of this device are not known: FLOPs and bytes are told, but not how near its limits they ran. Start the server with ', h('code', null, '--devices FILE'), ' to name them.']
        : time === 0 ? ['No operator of this trace has a roofline.']
            : [h('strong', null, `${fmt.time(headroom)} of ${fmt.time(time)}`), ` of work with a roofline could be saved at the peaks of the ${device.name}${time < HALF * totals.time_ns ? `. Only ${fmt.share(time / totals.time_ns)} of the device time of operators has one: look at Kernels, too` : ''}. `,
                best ? ['Largest opportunity: ', h('code', { 'data-tip': best.name }, shorten(best.name ?? '').short), ` with ${fmt.time(best.headroom_ns)}, ${todo(best)}`] : 'Nothing is left to gain.'];
    return h('div', { class: 'idle-verdict' }, contradiction(device, rows, totals.mfu), h('p', { class: 'lead' }, lead),
        h('dl', { class: 'answers use-answers' },
            answer('Time with a formula', share === null ? ['–', ''] : fmt.shareParts(share), [`${fmt.time(modelled)} of ${fmt.time(totals.time_ns)}; generated kernels, collectives and the like have none`], 'first'),
            answer('Headroom', device ? fmt.timeParts(headroom) : ['–', ''], ['above the roofline, of the operators that have one']),
            answer('MFU', totals.mfu === null ? ['–', ''] : totals.mfu > 1 ? ['Impossible', ''] : fmt.shareParts(totals.mfu),
                [totals.mfu !== null && totals.mfu > 1 ? `${fmt.share(totals.mfu)} of the matrix peak: the peak or the recorded type is wrong` : `matrix FLOPs of the peak, from the first work to the last${outside.time_ns > PART * totals.time_ns ? '; at least so much: work whose launch was not recorded has none here' : ''}`], totals.mfu !== null && totals.mfu > 1 ? 'bad' : ''),
            answer('FLOPs', fmt.siParts(totals.flops, 'FLOP'), [`${fmt.si(totals.matrix_flops, 'FLOP')} of matrix units; ${fmt.si(totals.bytes, 'B')} moved at least`]),
            answer('Launch not recorded', fmt.timeParts(outside.time_ns), [`${fmt.plural(outside.events, 'event')}, in no row`])),
        device ? h('p', { class: 'quiet' }, peaks(device)) : null);
}

/** What cannot be: more than the device can do. @param {DevicePeaks | null} device @param {EfficiencyRow[]} rows @param {number | null} mfu */
function contradiction(device, rows, mfu) {
    const faster = rows.filter((row) => row.bound === 'compute' && Number(row.roofline_ratio) > 1);
    if (!device || (faster.length === 0 && !(mfu !== null && mfu > 1))) return null;
    const worst = faster.reduce((most, row) => (Number(row.roofline_ratio) > Number(most?.roofline_ratio ?? 0) ? row : most), /** @type {EfficiencyRow | null} */ (null));
    return h('p', { class: 'lead', role: 'note' }, h('strong', null, 'These figures contradict each other: '),
        worst ? [`${fmt.plural(faster.length, 'operator')} computed faster than the ${device.name} can. `, h('code', { 'data-tip': worst.name }, shorten(worst.name ?? '').short),
            ` did ${flopRate(worst.flops_per_second)}; the peak of ${worst.unit === 'matrix' ? 'matrix' : 'vector'} units is ${flopRate(peakOf(device, worst))} in ${worst.precision}. `]
            : `the matrix FLOPs are more than the ${device.name} can compute in that time. `,
        'Either the peak is wrong (name the right one with ', h('code', null, '--devices FILE'), '), or the inputs were recorded in another type than the kernels computed in.');
}

/** @param {EfficiencyRow} row */
function todo(row) {
    if (row.roofline_ratio !== null && row.roofline_ratio < SMALL) return `which ran at ${fmt.share(row.roofline_ratio)} of its roofline: calls this small do not fill the device; batch or fuse them.`;
    if (row.bound === 'memory') return 'bound by memory: fuse it with its neighbours, or move fewer bytes.';
    if (row.bound === 'compute') return 'bound by computing: larger or aligned shapes, or a lower precision.';
    return 'of shapes with different bounds: group by shape.';
}

/** @param {DevicePeaks} device */
function peaks(device) {
    const list = (/** @type {Record<string, number | null>} */ of) => Object.entries(of).filter(([, peak]) => peak !== null).map(([name, peak]) => `${name} ${flopRate(peak)}`).join(', ');
    return `Peaks without sparsity: matrix units ${list(device.matrix)}; vector units ${list(device.vector)}; memory ${byteRate(device.bandwidth_bytes_per_second)}. Source: ${device.source ?? 'not told'}.`;
}

/** Computed, of an opened row: what of the peaks its calls reached. @param {DevicePeaks | null} device @param {EfficiencyRow | Row} row @returns {[string, string][]} */
export function reached(device, row) {
    return [
        ['Of the peak', ofPeak(partOf(row.flops_per_second, peakOf(device, row)))],
        ['Of the bandwidth', ofPeak(partOf(row.bytes_per_second, device?.bandwidth_bytes_per_second))],
    ];
}
