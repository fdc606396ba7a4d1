/** Collectives of a run: how long data flows, who waits for whom, what of it other kernels hide. */

import { h, fill } from '../../lib/dom.js';
import { runViewHref, setParams } from '../../app/router.js';
import { empty, skeleton } from '../../lib/states.js';
import { segmented } from '../../table/rowtable.js';
import { boardOf } from '../runs/board.js';
import { spanChoice } from '../runs/spans.js';
import { warnings } from '../runs/ranks.js';
import { collectiveAnswers } from './answers.js';
import { instanceTable, overlapTable, summaryTable } from './tables.js';
import { expertMap } from './experts.js';
import * as api from './api.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const run = route.id;
    const body = h('div', { class: 'run-view' }, skeleton('figures', 'rows'));
    const tools = h('div', { class: 'view-tools' });
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Collectives'), tools), body);
    const clocks = segmented('Clocks', [{ value: 'aligned', label: 'Aligned clocks' }, { value: 'raw', label: 'As recorded' }], (value) => setParams({ clock: value === 'raw' ? value : null }));
    const spans = spanChoice(run, route.params.get('span'), signal).then((choice) => fill(tools, choice, clocks.root), () => fill(tools, clocks.root));
    const shown = boardOf(body, {
        query: (params) => ({ clock: params.get('clock'), span: params.get('span') }),
        ask: (query) => api.collectives(run, { ...query, limit: 1 }, signal),
        board: (data, query) => board(body, run, query, data),
        nothing,
    });

    /** @param {URLSearchParams} params */
    function update(params) {
        clocks.show(params.get('clock') ?? 'aligned');
        return Promise.all([spans, shown.update(params)]);
    }
    return { ready: update(route.params), update: (next) => update(next.params), destroy: shown.destroy };
}

/** @param {HTMLElement} body @param {string} run @param {api.Chosen} chosen @param {api.Collectives} data */
function board(body, run, chosen, data) {
    if (data.total === 0) {
        fill(body, nothing());
        return null;
    }
    const summary = summaryTable(run, data.summary);
    const instances = instanceTable(run, chosen);
    const overlap = overlapTable(run, data.overlap);
    const experts = data.experts && expertMap(data.experts);
    fill(body,
        collectiveAnswers(data),
        h('div', null, warnings(data), chosen.clock === 'raw' ? h('p', { class: 'quiet' }, 'Times are those of each rank\u2019s own clock: skew and waiting hold the difference of the clocks. ',
            h('a', { href: runViewHref(run, 'clock', { span: chosen.span }) }, 'How far they are apart')) : null),
        h('section', { class: 'section' }, h('h2', null, 'By kind, group and size'), summary.root),
        h('section', { class: 'section', id: 'instances' }, h('h2', null, 'Each collective'), instances.root),
        h('section', { class: 'section' }, h('h2', null, 'What other kernels hide, by rank'), overlap.root),
        experts?.root);
    experts?.repaint();
    return {
        /** @param {URLSearchParams} params */
        update(params) {
            summary.update(params);
            overlap.update(params);
            return instances.update(params);
        },
        destroy() {
            [summary, instances, overlap, experts].forEach((part) => part?.destroy());
        },
    };
}

/** @param {string} [said] by the server */
function nothing(said) {
    return empty('No collectives to show', said ? h('p', null, said) : null,
        h('p', null, 'Profile every rank over the same steps with ', h('code', null, 'activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]'), ' and upload all of them to one run.'));
}
