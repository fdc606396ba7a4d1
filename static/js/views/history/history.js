/** History: metrics over uploads, and where they changed. */

import { h, fill, command } from '../../lib/dom.js';
import { setParams } from '../../app/router.js';
import { empty, failure, showFailure, skeleton } from '../../lib/states.js';
import { isAbort } from '../../lib/api.js';
import { filterBar } from './filters.js';
import { chosenBar, chosenOf } from './chosen.js';
import { historyChart, shownOf } from './chart.js';
import { changeTable } from './tables.js';
import { metricWords } from './words.js';
import * as api from './api.js';

/** @typedef {import('./chart.js').Shown} Shown */

const METRIC = 'step_time';
/** Charts of one address; each costs the server a search. */
const CHARTS = 12;
const FILTERS = ['project', 'run', 'device', 'tag'];

/** @param {URLSearchParams} params @returns {string[]} */
function metricsOf(params) {
    const given = [...new Set(params.getAll('metric').filter(Boolean))].slice(0, CHARTS);
    return given.length > 0 ? given : [METRIC];
}

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const filters = filterBar();
    const bar = chosenBar();
    const body = h('div', { class: 'history-body' }, skeleton('block', 'rows'));
    let abort = new AbortController();
    let asked = '';
    /** @type {Shown[]} */
    let all = [];
    /** @type {ReturnType<typeof historyChart>[]} */
    let charts = [];
    let { params } = route;
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'History')), filters.root, body);
    signal.addEventListener('abort', () => abort.abort());

    /** One metric's series, or why there is none. @param {string} metric @param {AbortSignal} now @returns {Promise<Shown | Error>} */
    async function load(metric, now) {
        const query = { metric, ...api.filtersOf(params) };
        try {
            const [series, changes] = await Promise.all([api.series(query, now), api.changes({ ...query, ...api.rulesOf(params) }, now)]);
            return shownOf(series, changes);
        } catch (error) {
            if (isAbort(error) || !(error instanceof Error)) throw error;
            return error;
        }
    }

    async function loadAll() {
        abort.abort();
        abort = new AbortController();
        const { signal: now } = abort;
        const metrics = metricsOf(params);
        const choices = api.metrics(api.filtersOf(params), now).catch(() => ({ metrics: [] }));
        try {
            const answers = await Promise.all(metrics.map((metric) => load(metric, now)));
            const offered = await choices;
            if (now.aborted) return;
            filters.offer(offered.metrics, metrics);
            paint(metrics, answers);
            await mark();
        } catch (error) {
            if (!now.aborted) showFailure(body, error, loadAll);
        }
    }

    /** @param {string[]} metrics @param {(Shown | Error)[]} answers */
    function paint(metrics, answers) {
        charts.forEach((chart) => chart.destroy());
        charts = [];
        all = answers.flatMap((answer) => (answer instanceof Error ? [] : [answer]));
        filters.know(all[0]?.series.rows ?? []);
        if (all.length > 0 && all[0].series.total === 0) {
            fill(body, FILTERS.some((key) => params.get(key)) ? noneMatches() : nothingYet());
            return;
        }
        all = all.filter(({ points }) => points.length > 0);
        const panels = answers.map((answer, at) => {
            if (answer instanceof Error) return h('section', { class: 'section panel' }, h('h2', null, metricWords(metrics[at]).short), failure(answer, loadAll));
            if (answer.points.length === 0) return h('section', { class: 'section panel' }, h('h2', null, metricWords(metrics[at]).short), withoutValue(metrics[at]));
            const chart = historyChart(answer);
            charts.push(chart);
            return chart.root;
        });
        fill(body, all.length > 0 ? bar.root : null, h('div', { class: panels.length > 1 ? 'history-charts several' : 'history-charts' }, panels),
            all.length > 0 ? h('section', { class: 'section' }, h('h2', null, 'Changes'), changeTable(all), params.has('p') ? null
                : h('p', { class: 'quiet' }, 'By chance at most about one steady series in 20 shows a change, however long it is.')) : null);
    }

    /** Shows what is chosen. */
    async function mark() {
        const traces = chosenOf(params);
        bar.paint((all[0]?.series.rows ?? []).filter(({ trace }) => traces.includes(trace)));
        await Promise.all(charts.map((chart) => chart.update(traces)));
    }

    /** @param {Route} next */
    async function update(next) {
        ({ params } = next);
        filters.paint(params, metricsOf(params));
        const question = JSON.stringify([metricsOf(params), api.filtersOf(params), api.rulesOf(params)]);
        if (question === asked) {
            await mark();
            return;
        }
        asked = question;
        await loadAll();
    }

    return {
        ready: update(route),
        update,
        destroy() {
            abort.abort();
            charts.forEach((chart) => chart.destroy());
        },
    };
}

/** @param {string} metric */
function withoutValue(metric) {
    return h('p', { class: 'quiet' }, metric === METRIC
        ? 'No trace of these runs has steps: profile with a schedule and call prof.step() after each one.'
        : 'No trace of these runs has this metric. Choose another one.');
}

function noneMatches() {
    return empty('No run matches', h('p', null, 'No run that you may read has this project, name, device and all of these tags.'),
        h('p', null, h('button', { class: 'button', type: 'button', onclick: () => setParams(Object.fromEntries(FILTERS.map((key) => [key, null]))) }, 'All runs')));
}

/** Nothing yet: say how runs get here with what their order is told by. */
function nothingYet() {
    const server = new URL('.', document.baseURI).href.replace(/\/$/, '');
    const lines = [`curl -O ${server}/kinetoscope.py`, `python3 kinetoscope.py upload --url ${server} --run my-run --tag branch=main worker0.pt.trace.json.gz`];
    return empty('No history yet',
        h('p', null, 'Every run that is uploaded is a point. Send them with the client of this server, which adds tags that order and filter them:'),
        lines.map(command),
        h('p', { class: 'quiet' }, 'Or from the training script: ', h('code', null, `on_trace_ready=kinetoscope.handler('${server}', run='my-run', tags={'branch': 'main'})`), '.'));
}
