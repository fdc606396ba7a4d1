/** The pipeline of a training job: what its stages leave idle, and what the job would take without stragglers. */

import { h, fill } from '../../lib/dom.js';
import { empty, failure, skeleton } from '../../lib/states.js';
import { ApiError, isAbort, runPage } from '../../lib/api.js';
import { pipelineAnswers, stageBars, stageTable } from './stages.js';
import { whatIfParts } from './what_if.js';
import { lanes } from './lanes.js';
import { hasOperations } from '../../app/run_views.js';
import { boardOf } from '../runs/board.js';
import * as api from './api.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const run = route.id;
    const body = h('div', { class: 'run-view' }, skeleton('figures', 'block', 'rows'));
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Pipeline')), body);
    const shown = boardOf(body, {
        query: () => null,
        ask: () => answersOf(run, signal),
        board: (answers) => (answers ? board(body, run, ...answers, signal) : without(body)),
        nothing,
    });
    return { ready: shown.update(route.params), update: (next) => shown.update(next.params), destroy: shown.destroy };
}

/**
 * A run says by itself that it has no operations; one whose operations make no pipeline answers neither: it is asked once.
 * @param {string} run @param {AbortSignal} signal @returns {Promise<[api.Pipeline, api.WhatIf | ApiError] | null>}
 */
async function answersOf(run, signal) {
    if (!hasOperations(await runPage(run, signal))) return null;
    const data = await api.pipeline(run, signal);
    return [data, await api.whatIf(run, signal).catch(unlessAsked)];
}

/** What cannot be simulated says so in its place. @param {unknown} error @returns {ApiError} */
function unlessAsked(error) {
    if (isAbort(error) || !(error instanceof ApiError)) throw error;
    return error;
}

/** @param {HTMLElement} body @param {string} run @param {api.Pipeline} data @param {api.WhatIf | ApiError} whatIf @param {AbortSignal} signal */
function board(body, run, data, whatIf, signal) {
    const table = stageTable(run, data);
    const drawn = lanes(run, data, !(whatIf instanceof ApiError), signal);
    fill(body,
        pipelineAnswers(data, whatIf instanceof ApiError ? null : whatIf),
        stageBars(data),
        drawn.root,
        whatIf instanceof ApiError ? h('section', { class: 'section' }, h('h2', null, 'Without stragglers'), whatIf.status === 422 ? h('p', { class: 'quiet' }, `The job cannot be simulated: ${whatIf.message}`) : failure(whatIf)) : whatIfParts(whatIf),
        h('section', { class: 'section' }, h('h2', null, 'Each stage, step and replica'), table.root));
    return {
        /** @param {URLSearchParams} params */
        update(params) {
            table.update(params);
            return drawn.update(params);
        },
        destroy() {
            table.destroy();
            drawn.destroy();
        },
    };
}

/** @param {HTMLElement} body @returns {null} */
function without(body) {
    fill(body, nothing('No trace of this run names operations, and no table of them is uploaded: upload operations.csv with the columns dp_rank, stage, rank, step, optype, start_ts, duration, seq_id, mc, gmc, mb_id.'));
    return null;
}

/** @param {string} said by the server */
function nothing(said) {
    return empty('No pipeline to show', h('p', null, said),
        h('p', null, 'Traces of torch.distributed.pipelining name their operations by themselves; those of Megatron-LM and DeepSpeed with ', h('code', null, 'with_stack=True'), '.'),
        h('p', null, 'Times in ', h('code', null, 'operations.csv'), ' are seconds.'));
}
