/** All workers of a span beside each other: what of their communication is hidden, what is waiting, who comes last. */

import { h, fill } from '../../lib/dom.js';
import { go, runHref, setParams, traceHref } from '../../app/router.js';
import { empty, skeleton } from '../../lib/states.js';
import { boardOf } from '../runs/board.js';
import { distributedAnswers } from './answers.js';
import { workerBars } from './bars.js';
import { MEAN, ORDERS, OUTSIDE, inOrder, workerTimes } from './figures.js';
import { deviceMap } from './map.js';
import { operationsTable } from './operations.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** Workers that are named where they do not agree; the list of all stands below. */
const NAMED = 6;

const RULE = 'Counted as collectives: nccl:*, gloo:* and the like, kernels such as ncclDevKernel_*, and slices with a “Collective name”';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const spans = h('div', { class: 'choice' });
    const body = h('div', { class: 'distributed-body' }, skeleton('figures', 'block', 'rows'));
    fill(root, h('div', { class: 'comparison-head' },
        h('div', { class: 'view-head' }, h('h1', { 'data-tip': RULE, tabindex: '0' }, 'Distributed'), h('div', { class: 'view-tools' }, spans))), body);
    const shown = boardOf(body, {
        query: (params) => ({ span: params.get('span') }),
        ask: (query) => api.distributed(route.id, query, signal),
        board(data) {
            fillSpans(spans, data);
            if (data.workers.length) return board(body, data);
            fill(body, nothing(route.id));
            return null;
        },
        nothing: (said) => nothing(route.id, said),
    });
    return { ready: shown.update(route.params), update: (next) => shown.update(next.params), destroy: shown.destroy };
}

/** @param {HTMLElement} box @param {Distributed} data */
function fillSpans(box, { spans, span }) {
    const list = h('select', { class: 'input select', 'aria-label': 'Span', onchange: () => setParams({ span: list.value, step: null, workers: null }) },
        spans.map((value) => h('option', { value: String(value) }, `Span ${value}`)));
    list.value = String(span);
    fill(box, spans.length > 1 ? list : null);
}

/** @param {HTMLElement} root @param {Distributed} data */
function board(root, data) {
    let hidden = /** @type {string[]} */ ([]);
    const outside = data.wait.rows.some(({ step }) => step === null);
    const figures = h('div');
    const onToggle = (/** @type {string} */ part) => setParams({ hide: (hidden.includes(part) ? hidden.filter((item) => item !== part) : [...hidden, part]).join(',') }, { replace: true });
    const shared = {
        onToggle,
        onRange: (/** @type {number} */ from, /** @type {number} */ to) => setParams({ workers: `${from + 1}-${to + 1}` }),
        onWorker: (/** @type {DistributedWorker} */ worker) => go(traceHref(worker.trace)),
    };
    const overlap = workerBars({ ...shared, title: 'Computation and communication', help: 'The parts of a step exclude each other: striped is both at once',
        parts: ['computation', 'overlap', 'communication', 'other'], emptyText: 'No step time was recorded.' });
    const wait = workerBars({ ...shared, title: 'Transfer and waiting', help: 'Of the communication: data flows only when the last worker has arrived, until then the others wait',
        parts: ['transfer', 'wait'], emptyText: `No collective in this step${outside ? '; there are some outside of all steps' : ''}.` });
    const steps = h('select', { class: 'input select', 'aria-label': 'Step', 'data-filter': 'step', onchange: () => setParams({ step: steps.value }) },
        h('option', { value: MEAN }, data.overlap.steps.length === 1 ? 'The one step' : `Mean of ${fmt.plural(data.overlap.steps.length, 'step')}`),
        data.overlap.steps.length > 1 ? data.overlap.steps.map((step) => h('option', { value: step }, stepName(step))) : null,
        outside ? h('option', { value: OUTSIDE }, 'Outside of all steps') : null);
    const orders = h('select', { class: 'input select', 'aria-label': 'Order of the workers', 'data-filter': 'by', onchange: () => setParams({ by: orders.value === ORDERS[0].value ? null : orders.value, workers: null }) },
        ORDERS.map(({ value, label }) => h('option', { value }, label)));
    const sight = h('p', { class: 'sight' });
    const operations = operationsTable(data);
    fill(root,
        disagreement(data),
        h('div', { class: 'table-tools' }, steps, data.workers.length > 1 ? orders : null, sight),
        figures,
        h('div', { class: 'worker-charts' }, overlap.root, data.workers.length > 1 || data.wait.rows.length ? wait.root : null),
        operations.root,
        deviceMap(data));
    let drawn = '';

    return {
        /** @param {URLSearchParams} params */
        update(params) {
            operations.update(params);
            const step = params.get('step') ?? MEAN;
            const order = ORDERS.find(({ value }) => value === params.get('by'))?.value ?? ORDERS[0].value;
            const range = rangeOf(params.get('workers'), data.workers.length);
            hidden = params.get('hide')?.split(',').filter(Boolean) ?? [];
            const wanted = JSON.stringify([step, order, range, hidden]);
            if (wanted === drawn) return undefined;
            drawn = wanted;
            steps.value = step;
            orders.value = order;
            fill(sight, range ? [`Workers ${range[0] + 1} to ${range[1] + 1} of ${fmt.int(data.workers.length)} `,
                h('button', { class: 'button small', type: 'button', onclick: () => setParams({ workers: null }) }, 'Show all')] : null);
            const times = inOrder(workerTimes(data, step), order);
            fill(figures, distributedAnswers(data, times, when(data, step)));
            return Promise.all([overlap.show(times, range, hidden), wait.show(times, range, hidden)]);
        },
        destroy() {
            overlap.destroy();
            wait.destroy();
            operations.destroy();
        },
    };
}

/** @param {string} step */
const stepName = (step) => (/^\d+$/.test(step) ? `Step ${step}` : step);

/** @param {Distributed} data @param {string} step */
function when({ overlap: { steps } }, step) {
    if (step === OUTSIDE) return 'outside of all steps, mean of the workers';
    if (step !== MEAN) return `${stepName(step).toLowerCase()}, mean of the workers`;
    return steps.length > 1 ? 'mean of workers and steps' : 'mean of the workers';
}

/** "17-32", from 1, as positions from 0. @param {string | null} text @param {number} count @returns {[number, number] | null} */
function rangeOf(text, count) {
    const [, first, last] = /^(\d+)-(\d+)$/.exec(text ?? '') ?? [];
    const [from, to] = [Number(first) - 1, Number(last) - 1];
    return first && from >= 0 && from <= to && to < count && to - from < count - 1 ? [from, to] : null;
}

/** @param {Distributed} data */
function disagreement({ agrees, workers }) {
    if (agrees || workers.length < 2) return null;
    const sorted = [...workers].sort((a, b) => a.collectives - b.collectives);
    const matched = workers.reduce((least, worker) => Math.min(least, worker.matched), Infinity);
    const apart = sorted.length > NAMED ? [...sorted.slice(0, NAMED / 2), ...sorted.slice(-NAMED / 2)] : sorted;
    return h('section', { class: 'verdict warn', 'aria-label': 'The workers do not agree' },
        h('p', null, h('strong', null, 'The workers do not hold the same collectives. '),
            matched > 0 ? `${fmt.plural(matched, 'collective')} could be laid beside each other: for these, transfer and waiting are told apart. The others count as transfer whole.`
                : 'None could be laid beside each other: all of their time counts as transfer, and waiting is not known.'),
        h('p', { class: 'quiet' }, `${apart.map(({ worker, collectives }) => `${worker} has ${fmt.int(collectives)}`).join(', ')}${sorted.length > NAMED ? ', and others between' : ''}. Did a worker end early, or was it recorded at another time?`));
}

/** @param {string} run @param {string} [said] by the server */
function nothing(run, said) {
    return empty('No communication to show', said ? h('p', null, said) : null,
        h('p', null, 'Record every worker over the same steps, with ', h('code', null, 'activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]'),
            ' while it uses torch.distributed, and upload all of them to one run.'),
        h('p', null, h('a', { href: runHref(run) }, 'Traces of this run')));
}
