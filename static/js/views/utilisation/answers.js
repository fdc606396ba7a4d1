/** One glance at a kernel table: how much time, how well used, what would go, and which kernel has most to gain. */

import { h, nameParts } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { shorten } from '../../lib/names.js';
import * as fmt from '../../lib/fmt.js';

/** @param {KernelUse} data @param {(name: string) => void} onKernel */
export function useAnswers(data, onKernel) {
    const unit = fmt.timeUnit(data.total_ns);
    const launches = `${fmt.plural(data.launches, 'launch', 'launches')} of ${fmt.plural(data.kernels, 'kernel')}`;
    const time = answer('Time in kernels', fmt.timeParts(data.total_ns, unit), [launches], 'first');
    if (data.headroom_ns === null) return h('dl', { class: 'answers use-answers' }, time, meanAnswer(data), mostToGain(data, onKernel), copies(data));
    return h('dl', { class: 'answers use-answers' }, time,
        headroom(data, unit),
        useAnswer('Tensor use', data.tensor, data.sm === null ? 'of the pipe’s peak, weighted by time' : `of the pipe’s peak; SM ${fmt.share(data.sm)}`),
        useAnswer('DRAM use', data.dram, 'of the peak throughput, weighted by time'),
        mostToGain(data, onKernel));
}

/** @param {KernelUse} data @param {fmt.TimeUnit} unit */
function headroom({ headroom_ns: ns, total_ns: total }, unit) {
    return answer('Headroom', fmt.timeParts(Number(ns), unit), [`of ${fmt.time(total, unit)} saved if every kernel ran at peak throughput`]);
}

/** @param {KernelUse} data */
const meanAnswer = ({ total_ns: total, launches }) => answer('Mean launch', launches ? fmt.timeParts(total / launches) : ['–', ''], ['time by launches']);

/** @param {KernelUse} data */
function copies({ transfers }) {
    if (transfers.length === 0) return null;
    const total = transfers.reduce((sum, item) => sum + item.total_ns, 0);
    return answer('Copies and sets', fmt.timeParts(total), [`of memory, in ${fmt.plural(transfers.reduce((sum, item) => sum + item.operations, 0), 'operation')}`]);
}

/** @param {string} label @param {number | null} value @param {string} note */
const useAnswer = (label, value, note) => (value === null ? answer(label, ['–', ''], ['Not measured.']) : answer(label, fmt.shareParts(value), [note]));

/** @param {KernelUse} data @param {(name: string) => void} onKernel */
function mostToGain({ rows, headroom_ns: all }, onKernel) {
    const byGain = all !== null;
    const gain = (/** @type {KernelUseRow} */ row) => (byGain ? (row.headroom_ns ?? 0) : row.total_ns);
    const top = rows.reduce((best, row) => (best && gain(best) >= gain(row) ? best : row), /** @type {KernelUseRow | null} */ (null));
    if (!top) return answer('Largest opportunity', ['–', ''], ['No kernels.']);
    const link = h('button', { class: 'answer-name link', type: 'button', 'data-tip': top.full_name, onclick: () => onKernel(top.name) }, nameParts(shorten(top.name).short));
    return answer(byGain ? 'Largest opportunity' : 'Longest kernel', fmt.timeParts(gain(top)),
        [link, h('span', { class: 'answer-more' }, byGain ? `of its ${fmt.time(top.total_ns)} in ${fmt.plural(top.launches, 'launch', 'launches')}` : `${fmt.share(top.share)} of the time`)]);
}
