/** One glance at a distributed step: is the communication hidden, how much of it is waiting, who comes last, do the workers agree. */

import { h } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { traceHref } from '../../app/router.js';
import { lastToArrive, sumOf } from './figures.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./figures.js').WorkerTime} WorkerTime */

/** @param {Distributed} data @param {WorkerTime[]} times of the chosen step @param {string} when in words */
export function distributedAnswers(data, times, when) {
    return h('dl', { class: 'answers distributed-answers' }, hidden(times, when), exposed(times, when), waiting(times, when), last(data, times), agreement(data));
}

/** @param {WorkerTime[]} times @param {string} when */
function hidden(times, when) {
    const overlap = sumOf(times, 'overlap');
    const all = overlap + sumOf(times, 'communication');
    if (all === 0) return answer('Communication overlap', ['–', ''], ['No communication here.'], 'first');
    const [part, whole] = [overlap / times.length, all / times.length];
    return answer('Communication overlap', fmt.shareParts(overlap / all), [`behind computation: ${ofWhole(part, whole)}, ${when}`], 'first');
}

/** @param {WorkerTime[]} times @param {string} when */
function exposed(times, when) {
    const open = sumOf(times, 'communication');
    const step = open + sumOf(times, 'computation') + sumOf(times, 'overlap') + sumOf(times, 'other');
    if (step === 0) return answer('Exposed communication', ['–', ''], ['No step time.']);
    return answer('Exposed communication', fmt.timeParts(open / times.length), [`only communication: ${fmt.share(open / step)} of the time, ${when}`], open / step > 0.2 ? 'bad' : '');
}

/** @param {WorkerTime[]} times @param {string} when */
function waiting(times, when) {
    const wait = sumOf(times, 'wait');
    const all = wait + sumOf(times, 'transfer');
    if (all === 0) return answer('Waiting', ['–', ''], ['No collective here.']);
    if (times.length === 1) return answer('Waiting', ['–', ''], ['One worker: what it waits for others is not known.']);
    return answer('Waiting', fmt.shareParts(wait / all), [`of the time in collectives: ${ofWhole(wait / times.length, all / times.length)}, ${when}`], wait / all > 0.5 ? 'bad' : '');
}

/** Both in one unit. @param {number} part @param {number} whole */
function ofWhole(part, whole) {
    const unit = fmt.timeUnit(whole);
    return `${fmt.timeParts(part, unit)[0]} of ${fmt.time(whole, unit)}`;
}

/** @param {Distributed} data @param {WorkerTime[]} times */
function last(data, times) {
    if (data.workers.length < 2) return answer('Slowest rank', ['–', ''], ['One worker: there is no other to wait for it.']);
    const found = lastToArrive(times);
    if (!found) return answer('Slowest rank', ['None', ''], ['The workers arrive at their collectives together.'], 'good');
    const { time: { worker, wait }, others } = found;
    const unit = fmt.timeUnit(others);
    return answer('Slowest rank', fmt.timeParts(others - wait), [
        h('a', { class: 'answer-name', href: traceHref(worker.trace), 'data-tip': worker.worker }, worker.worker),
        h('span', { class: 'answer-more' }, `others wait ${fmt.time(others, unit)} for it${wait > 0 ? `; it waits ${fmt.time(wait, unit)}` : ''}`)]);
}

/** @param {Distributed} data */
function agreement({ agrees, workers, devices }) {
    const nodes = new Set(workers.map(({ node }) => node).filter(Boolean)).size;
    const backends = [...new Set(workers.map(({ backend }) => backend).filter(Boolean))].join(', ');
    const place = [nodes ? `on ${fmt.plural(nodes, 'node')}` : '', devices.length ? `with ${fmt.plural(devices.length, 'device')}` : '', backends].filter(Boolean).join(', ');
    return answer(workers.length === 1 ? 'Worker' : 'Workers', [fmt.int(workers.length), ''],
        [place, h('span', { class: 'answer-more' }, workers.length === 1 ? '' : agrees ? 'all hold the same collectives' : 'they do not hold the same collectives')],
        agrees ? '' : 'warn');
}
