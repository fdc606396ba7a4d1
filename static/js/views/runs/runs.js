/** Runs: what has been uploaded, newest first. */

import { h, fill, icon, debounce, command } from '../../lib/dom.js';
import { diffHref, go, setParams, runHref } from '../../app/router.js';
import { canDiff } from '../comparison/compare_links.js';
import { sparkline } from './sparkline.js';
import { empty, showFailure, skeleton } from '../../lib/states.js';
import { deleteRun } from './run_actions.js';
import { pinButton } from './pin.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const PAGE = 100;

/** Fields in which the server can order runs, and the order one wants first. @type {Record<string, 'asc' | 'desc'>} */
const SORTS = { name: 'asc', traces: 'desc', size_bytes: 'desc', uploaded_at: 'desc' };

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    let params = route.params;
    let abort = new AbortController();
    /** @type {Run[]} */
    let runs = [];
    let total = 0;
    let isLeast = false;

    const send = debounce(() => setParams({ q: search.value.trim() }, { replace: true }), 150);
    const search = h('input', {
        class: 'input search', type: 'search', 'aria-label': 'Search runs', placeholder: 'Search runs', value: params.get('q') ?? '', autocomplete: 'off',
        spellcheck: 'false', oninput: send,
    });
    const count = h('p', { class: 'table-count', role: 'status' });
    const filters = h('div', { class: 'run-filters' });
    const compare = h('button', { class: 'button primary', type: 'button', disabled: true, onclick: compareTicked }, 'Compare');
    /** Runs that are ticked, the first one first. @type {string[]} */
    let ticked = [];
    const list = h('div', { class: 'runs' }, skeleton('rows'));
    const head = h('div', { class: 'view-head' }, h('h1', null, 'Runs'), h('div', { class: 'view-tools' }, search, count, compare));
    fill(root, head, filters, list);
    signal.addEventListener('abort', () => abort.abort());

    /** The older of two is the base. */
    function compareTicked() {
        const [base, candidate] = runs.filter(({ name }) => ticked.includes(name)).sort((a, b) => a.uploaded_at.localeCompare(b.uploaded_at) || (a.figures.trace_id ?? 0) - (b.figures.trace_id ?? 0));
        go(diffHref({ base: base.figures.trace_id ?? '', candidate: candidate.figures.trace_id ?? '' }));
    }

    /** A third takes the place of the first. @param {string} name @param {boolean} on */
    function tick(name, on) {
        ticked = [...ticked.filter((other) => other !== name), ...(on ? [name] : [])].slice(-2);
        list.querySelectorAll('input[data-run]').forEach((box) => { /** @type {HTMLInputElement} */ (box).checked = ticked.includes(/** @type {HTMLElement} */ (box).dataset.run ?? ''); });
        showTicked();
    }

    function showTicked() {
        compare.disabled = ticked.length < 2;
        fill(compare, ticked.length < 2 ? 'Tick two to compare' : 'What changed');
        compare.classList.toggle('primary', ticked.length === 2);
        compare.title = ticked.length < 2 ? 'Tick two runs' : `${ticked.join(' and ')}: what changed`;
    }

    /** What of the address the server is asked for. */
    const asked = () => ({ q: params.get('q'), tag: params.get('tag'), project: params.get('project'), ...order(), limit: PAGE });

    async function load() {
        abort.abort();
        abort = new AbortController();
        try {
            const { signal: current } = abort;
            const answer = await api.runs({ ...asked(), offset: 0 }, current);
            if (current.aborted) return;
            runs = answer.runs;
            total = answer.total;
            isLeast = answer.total_is_least;
            paint();
        } catch (error) {
            showFailure(list, error, load);
        }
    }

    /** @param {Event} event */
    async function more(event) {
        const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
        // A second press would fetch the same page again.
        button.disabled = true;
        const { signal: current } = abort;
        try {
            const answer = await api.runs({ ...asked(), offset: runs.length }, current);
            if (current.aborted) return;
            runs = [...runs, ...answer.runs];
            total = answer.total;
            isLeast = answer.total_is_least;
            paint();
        } catch (error) {
            showFailure(list, error, load);
        }
    }

    function order() {
        const sort = params.get('sort') ?? 'uploaded_at';
        return { sort, order: params.get('order') ?? SORTS[sort] ?? 'desc' };
    }

    function paint() {
        const only = params.get('tag') ?? params.get('project');
        const q = params.get('q') ?? only;
        fill(filters, ['tag', 'project'].filter((key) => params.get(key)).map((key) => h('button', { class: 'chip filter', type: 'button', title: 'Show all again', onclick: () => setParams({ [key]: null }) }, `${key}: ${params.get(key)}`, icon('close'))));
        filters.hidden = !only;
        ticked = ticked.filter((name) => runs.some((run) => run.name === name));
        compare.hidden = runs.filter(canCompare).length < 2;
        showTicked();
        fill(count, q ? `${isLeast ? 'At least ' : ''}${fmt.plural(total, 'run')} ${total === 1 ? 'matches' : 'match'}` : fmt.plural(total, 'run'));
        search.hidden = total === 0 && !q;
        count.hidden = search.hidden;
        if (total === 0) fill(list, q ? empty('No run matches', h('p', null, only ? 'No run has this tag, project and name.' : `“${q}” is in no name and no tag.`)) : firstUpload());
        else fill(list, runTable(runs, order(), ticked, tick), total > runs.length || isLeast ? h('button', { class: 'button', type: 'button', onclick: more }, `Show ${isLeast ? PAGE : Math.min(PAGE, total - runs.length)} more`) : null);
    }

    return {
        ready: load(),
        update(next) {
            params = next.params;
            if (document.activeElement !== search) search.value = params.get('q') ?? '';
            return load();
        },
        destroy() {
            send.cancel();
            abort.abort();
        },
    };
}

/** @param {Run} run */
const canCompare = (run) => canDiff(run) && run.figures.trace_id !== null;

/** @param {Run[]} runs @param {{sort: string, order: string}} order @param {string[]} ticked @param {(name: string, on: boolean) => void} onTick */
function runTable(runs, order, ticked, onTick) {
    /** @param {string} key @param {string} label @param {string} kind */
    const sortable = (key, label, kind) => {
        const active = order.sort === key;
        const next = active ? (order.order === 'desc' ? 'asc' : 'desc') : SORTS[key];
        return h('th', { scope: 'col', class: kind, 'aria-sort': active ? (order.order === 'desc' ? 'descending' : 'ascending') : null },
            h('button', { class: 'sort', type: 'button', onclick: () => setParams({ sort: key, order: next }) }, label));
    };
    const hasProjects = runs.some(({ project }) => project !== '');
    return h('table', { class: 'run-table' }, h('caption', { class: 'visually-hidden' }, 'Runs'),
        h('thead', null, h('tr', null, h('th', { scope: 'col', class: 'col-tick' }, h('span', { class: 'visually-hidden' }, 'Compare')), sortable('name', 'Run', 'kind-name'), hasProjects ? h('th', { scope: 'col', class: 'col-device' }, 'Project') : null,
            h('th', { scope: 'col', class: 'kind-int col-step' }, 'Step'), h('th', { scope: 'col', class: 'col-spark' }, h('span', { class: 'visually-hidden' }, 'Step times')),
            h('th', { scope: 'col', class: 'col-device' }, 'Device'), h('th', { scope: 'col', class: 'kind-int col-busy' }, 'Utilisation'),
            h('th', { scope: 'col', class: 'kind-int col-workers' }, 'Workers'), sortable('traces', 'Traces', 'kind-int col-traces'),
            sortable('size_bytes', 'Size', 'kind-int col-size'), sortable('uploaded_at', 'Uploaded', 'kind-int col-when'),
            h('th', { scope: 'col', class: 'col-actions' }, h('span', { class: 'visually-hidden' }, 'Pin, delete')))),
        h('tbody', null, runs.map((run) => h('tr', null,
            h('td', { class: 'col-tick' }, h('input', { type: 'checkbox', 'data-run': run.name, 'aria-label': `Compare ${run.name}`, checked: ticked.includes(run.name), disabled: !canCompare(run),
                title: canCompare(run) ? 'Tick two runs to see what changed' : 'No profiler trace to compare', onchange: (/** @type {Event} */ event) => onTick(run.name, /** @type {HTMLInputElement} */ (event.target).checked) })),
            h('th', { scope: 'row', class: 'kind-name' }, h('a', { class: 'run-name', href: runHref(run.name) }, run.name),
                run.tags.map((tag) => h('button', { class: 'tag', type: 'button', title: 'Only runs with this tag', onclick: () => setParams({ tag }) }, tag)), run.note ? h('p', { class: 'run-note' }, run.note) : null),
            hasProjects ? h('td', { class: 'col-device' }, run.project ? h('button', { class: 'tag', type: 'button', title: 'Only runs of this project', onclick: () => setParams({ project: run.project }) }, run.project) : '') : null,
            h('td', { class: 'kind-int col-step' }, fmt.time(run.figures.step_ns)), h('td', { class: 'col-spark' }, sparkline(run.figures.step_times_ns)),
            h('td', { class: 'col-device' }, run.figures.device ?? run.device_types.join(', ')), h('td', { class: 'kind-int col-busy' }, fmt.share(run.figures.utilisation)),
            h('td', { class: 'kind-int col-workers' }, fmt.int(run.workers)),
            h('td', { class: 'kind-int col-traces' }, fmt.int(run.traces)),
            h('td', { class: 'kind-int col-size' }, fmt.bytes(run.size_bytes)),
            h('td', { class: 'kind-int col-when' }, h('time', { datetime: run.uploaded_at, title: fmt.date(run.uploaded_at) }, fmt.ago(run.uploaded_at))),
            h('td', { class: 'col-actions' }, pinButton(run, 'icon'), h('button', { class: 'icon-button', type: 'button', 'aria-label': `Delete run ${run.name}`, title: 'Delete',
                onclick: () => deleteRun(run) }, icon('close')))))));
}

/** Nothing yet: say how the first trace gets here. */
function firstUpload() {
    const server = new URL('.', document.baseURI).href.replace(/\/$/, '');
    return empty('No traces yet',
        h('p', null, 'Drop a file that the PyTorch profiler wrote anywhere on this page, or send it from where it lies:'),
        command(`curl -T worker0.pt.trace.json.gz ${server}/api/v1/runs/my-run/traces/`),
        h('p', null, 'From a training script: fetch the client of this server once, and give its handler to the profiler. It uploads beside the training.'),
        command(`curl -O ${server}/kinetoscope.py`),
        command(`torch.profiler.profile(on_trace_ready=kinetoscope.handler('${server}', run='my-run'))`),
        h('p', { class: 'quiet' }, 'Also taken in, by what they hold: recordings of Ascend, Nsight Systems, rocprofv3, rocmProfileData, XLA and Perfetto; memory snapshots and timelines of PyTorch; stacks of speedscope, Proton and flamegraph.pl; kernel tables of Nsight Compute and Nsight Systems; operations, cycles and counters as CSV; comparison reports.'));
}
