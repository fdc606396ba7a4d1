/** A run: its traces by worker and span, its note and tags. */

import { h, fill, icon } from '../../lib/dom.js';
import { runViewHref, setParams, traceHref } from '../../app/router.js';
import { homeView } from '../../app/trace_views.js';
import { canDiff, hasCycles, runCompareHref } from '../comparison/compare_links.js';
import { deleteRun, deleteTrace, saveRun } from './run_actions.js';
import { pinButton } from './pin.js';
import { rankVerdict } from './ranks.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** Traces that are listed at first: a thousand rows take longer than all else of the page. */
const LISTED = 100;

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 */
export async function mount(root, route, signal) {
    const run = await api.run(route.id, signal);
    const facts = h('div', { class: 'run-facts' });
    showFacts(facts, run);
    const list = h('div');
    const ranks = run.trace_list.length > 1 && run.views.includes('distributed') ? rankVerdict(run.name, null, signal) : null;
    const only = run.trace_list.length === 1 ? run.trace_list[0] : null;
    fill(root,
        h('div', { class: 'view-head' }, h('h1', null, run.name), h('div', { class: 'view-tools' },
            only ? h('a', { class: 'button primary', href: traceHref(only.id, homeView(only)) }, `Open ${homeView(only)}`) : null,
            run.views.includes('distributed') ? h('a', { class: 'button', href: runViewHref(run.name, 'distributed') }, 'Distributed') : null,
            run.trace_list.filter((trace) => canDiff(trace) || hasCycles(trace)).length > 1 ? h('a', { class: 'button', href: runCompareHref(run) }, 'Compare two') : null,
            h('button', { class: 'button', type: 'button', onclick: () => editFacts(facts, run) }, 'Edit note and tags'),
            pinButton(run, 'words'),
            h('button', { class: 'button danger-text', type: 'button', onclick: () => deleteRun(run) }, 'Delete run'))),
        ranks?.root,
        facts,
        list);
    // The verdict is on the screen before the list is built: a hundred rows take longer than it.
    if (ranks) await ranks.ready.then(painted);
    /** @param {Route} of */
    const update = ({ params }) => fill(list, traceTable(run.trace_list, params));
    update(route);
    return {
        update,
        destroy: () => ranks?.destroy(),
    };
}

const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

/** @param {HTMLElement} box @param {Run} run */
function showFacts(box, run) {
    fill(box,
        h('p', { class: 'quiet' }, [run.project && `project ${run.project}`, fmt.plural(run.traces, 'trace'), fmt.plural(run.workers, 'worker'), fmt.bytes(run.size_bytes), run.device_types.join(', '),
            `uploaded ${fmt.ago(run.uploaded_at)}`].filter(Boolean).join(' · ')),
        run.tags.length ? h('p', null, run.tags.map((tag) => h('span', { class: 'tag' }, tag))) : null,
        run.note ? h('p', { class: 'note' }, run.note) : null);
}

/** @param {HTMLElement} box @param {Run} run */
function editFacts(box, run) {
    const tags = h('input', { class: 'input wide', id: 'edit-tags', type: 'text', value: run.tags.join(', '), autocomplete: 'off' });
    const note = h('textarea', { class: 'input wide', id: 'edit-note', rows: '3', value: run.note });
    fill(box, h('form', {
        class: 'edit', onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            const list = tags.value.split(',').map((tag) => tag.trim()).filter(Boolean);
            saveRun(run.name, { tags: [...new Set(list)], note: note.value.trim() });
        },
        onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && showFacts(box, run),
    },
    h('label', { class: 'field', for: 'edit-tags' }, 'Tags (comma-separated)', tags),
    h('label', { class: 'field', for: 'edit-note' }, 'Note', note),
    h('div', { class: 'actions' },
        h('button', { class: 'button primary', type: 'submit' }, 'Save'),
        h('button', { class: 'button', type: 'button', onclick: () => showFacts(box, run) }, 'Cancel'))));
    tags.focus();
}

/** @param {Trace[]} traces @param {URLSearchParams} params */
function traceTable(traces, params) {
    // The worker stands once, before its spans.
    const { compare } = new Intl.Collator('en', { numeric: true });
    const all = [...traces].sort((a, b) => compare(a.worker, b.worker) || a.span - b.span);
    const sorted = params.get('all') === '1' ? all : all.slice(0, LISTED);
    return [h('table', { class: 'run-table' }, h('caption', { class: 'visually-hidden' }, 'Traces'),
        h('thead', null, h('tr', null, ['Worker', 'Span', 'Type', 'Device', 'Steps', 'Events', 'Duration', 'Size'].map((label) =>
            h('th', { scope: 'col', class: `${label === 'Worker' ? 'kind-name' : label === 'Device' || label === 'Type' ? 'kind-text' : 'kind-int'} col-${label.toLowerCase()}` }, label)),
        h('th', { scope: 'col' }, 'State'), h('th', { scope: 'col', class: 'col-actions' }, h('span', { class: 'visually-hidden' }, 'Delete')))),
        h('tbody', null, sorted.map((trace, index) => h('tr', null,
            h('th', { scope: 'row', class: 'kind-name col-worker' }, h('a', { class: 'run-name', href: traceHref(trace.id, homeView(trace)), title: trace.file_name,
                'aria-label': `${trace.worker}, span ${trace.span}` }, index > 0 && sorted[index - 1].worker === trace.worker ? h('span', { class: 'same' }, trace.worker) : trace.worker)),
            h('td', { class: 'kind-int col-span' }, fmt.int(trace.span)),
            h('td', { class: 'col-type' }, fmt.formatWord(trace.format)),
            h('td', { class: 'col-device' }, trace.device_type || '–'),
            h('td', { class: 'kind-int col-steps' }, fmt.int(trace.steps || null)),
            h('td', { class: 'kind-int col-events' }, fmt.int(trace.events || null)),
            h('td', { class: 'kind-int col-duration' }, fmt.time(trace.duration_ns || null)),
            h('td', { class: 'kind-int col-size' }, fmt.bytes(trace.size_bytes)),
            h('td', null, trace.warnings.length ? h('span', { class: 'chip warn' }, fmt.plural(trace.warnings.length, 'warning')) : h('span', { class: 'chip good' }, 'sound')),
            h('td', { class: 'col-actions' }, h('button', { class: 'icon-button', type: 'button', 'aria-label': `Delete ${trace.worker}, span ${trace.span}`, title: 'Delete',
                onclick: () => deleteTrace(trace) }, icon('close'))))))),
    sorted.length < all.length ? h('p', null, h('button', { class: 'button', type: 'button', onclick: () => setParams({ all: '1' }) }, `Show all ${fmt.plural(all.length, 'trace')}`)) : null];
}
