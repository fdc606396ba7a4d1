/** Runs: what has been uploaded, newest first. */

import { h, fill, icon, debounce, copy } from '../../lib/dom.js';
import { setParams, runHref } from '../../app/router.js';
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

    const send = debounce(() => setParams({ q: search.value.trim() }, { replace: true }), 150);
    const search = h('input', {
        class: 'input search', type: 'search', 'aria-label': 'Search runs', placeholder: 'Search runs', value: params.get('q') ?? '', autocomplete: 'off',
        spellcheck: 'false', oninput: send,
    });
    const count = h('p', { class: 'table-count', role: 'status' });
    const list = h('div', { class: 'runs' }, skeleton('rows'));
    const head = h('div', { class: 'view-head' }, h('h1', null, 'Runs'), h('div', { class: 'view-tools' }, search, count));
    fill(root, head, list);
    signal.addEventListener('abort', () => abort.abort());

    async function load() {
        abort.abort();
        abort = new AbortController();
        try {
            const { signal: current } = abort;
            const answer = await api.runs({ q: params.get('q'), ...order(), limit: PAGE, offset: 0 }, current);
            if (current.aborted) return;
            runs = answer.runs;
            total = answer.total;
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
            const answer = await api.runs({ q: params.get('q'), ...order(), limit: PAGE, offset: runs.length }, current);
            if (current.aborted) return;
            runs = [...runs, ...answer.runs];
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
        const q = params.get('q');
        fill(count, q ? `${fmt.plural(total, 'run')} ${total === 1 ? 'matches' : 'match'}` : fmt.plural(total, 'run'));
        search.hidden = total === 0 && !q;
        count.hidden = search.hidden;
        if (total === 0) fill(list, q ? empty('No run matches', h('p', null, `Nothing is called “${q}”. Only names are searched.`)) : firstUpload());
        else fill(list, runTable(runs, order()), total > runs.length ? h('button', { class: 'button', type: 'button', onclick: more }, `Show ${Math.min(PAGE, total - runs.length)} more`) : null);
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

/** @param {Run[]} runs @param {{sort: string, order: string}} order */
function runTable(runs, order) {
    /** @param {string} key @param {string} label @param {string} kind */
    const sortable = (key, label, kind) => {
        const active = order.sort === key;
        const next = active ? (order.order === 'desc' ? 'asc' : 'desc') : SORTS[key];
        return h('th', { scope: 'col', class: kind, 'aria-sort': active ? (order.order === 'desc' ? 'descending' : 'ascending') : null },
            h('button', { class: 'sort', type: 'button', onclick: () => setParams({ sort: key, order: next }) }, label));
    };
    const hasProjects = runs.some(({ project }) => project !== '');
    return h('table', { class: 'run-table' }, h('caption', { class: 'visually-hidden' }, 'Runs'),
        h('thead', null, h('tr', null, sortable('name', 'Run', 'kind-name'), hasProjects ? h('th', { scope: 'col', class: 'col-device' }, 'Project') : null,
            h('th', { scope: 'col', class: 'col-device' }, 'Device'),
            h('th', { scope: 'col', class: 'kind-int col-workers' }, 'Workers'), sortable('traces', 'Traces', 'kind-int col-traces'),
            sortable('size_bytes', 'Size', 'kind-int col-size'), sortable('uploaded_at', 'Uploaded', 'kind-int col-when'),
            h('th', { scope: 'col', class: 'col-actions' }, h('span', { class: 'visually-hidden' }, 'Pin, delete')))),
        h('tbody', null, runs.map((run) => h('tr', null,
            h('th', { scope: 'row', class: 'kind-name' }, h('a', { class: 'run-name', href: runHref(run.name) }, run.name),
                run.tags.map((tag) => h('span', { class: 'tag' }, tag)), run.note ? h('p', { class: 'run-note' }, run.note) : null),
            hasProjects ? h('td', { class: 'col-device' }, run.project) : null,
            h('td', { class: 'col-device' }, run.device_types.join(', ')),
            h('td', { class: 'kind-int col-workers' }, fmt.int(run.workers)),
            h('td', { class: 'kind-int col-traces' }, fmt.int(run.traces)),
            h('td', { class: 'kind-int col-size' }, fmt.bytes(run.size_bytes)),
            h('td', { class: 'kind-int col-when' }, h('time', { datetime: run.uploaded_at, title: fmt.date(run.uploaded_at) }, fmt.ago(run.uploaded_at))),
            h('td', { class: 'col-actions' }, pinButton(run, 'icon'), h('button', { class: 'icon-button', type: 'button', 'aria-label': `Delete run ${run.name}`, title: 'Delete',
                onclick: () => deleteRun(run) }, icon('close')))))));
}

/** Nothing yet: say how the first trace gets here. */
function firstUpload() {
    const line = `curl -T worker0.pt.trace.json.gz ${new URL('./api/v1/runs/my-run/traces/', document.baseURI).href.replace(/#.*$/, '')}`;
    return empty('No traces yet',
        h('p', null, 'Drop a file that the PyTorch profiler wrote anywhere on this page, or send it from where it lies:'),
        h('div', { class: 'command' }, h('code', null, line),
            h('button', { class: 'button small', type: 'button', onclick: () => copy(line, 'Command copied') }, icon('copy'), 'Copy')),
        h('p', { class: 'quiet' }, 'Record one with ', h('code', null, 'torch.profiler.profile(on_trace_ready=tensorboard_trace_handler("./log"))'), '.'),
        h('p', { class: 'quiet' }, 'Also taken in, by what they hold: kernel tables of Nsight Compute and Nsight Systems, cycles and counters as CSV, comparison reports.'));
}
