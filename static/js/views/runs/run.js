/** A run: its traces by worker and span, its note and tags. */

import { h, fill, icon } from '../../lib/dom.js';
import { runViewHref, traceHref } from '../../app/router.js';
import { hasRanks } from '../../app/run_views.js';
import { homeView } from '../../app/trace_views.js';
import { canDiff, hasCycles, runCompareHref } from '../comparison/compare_links.js';
import { deleteRun, deleteTrace, saveRun } from './run_actions.js';
import { showFailure } from '../../lib/states.js';
import { pinButton } from './pin.js';
import { rankVerdict } from './ranks.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 */
export async function mount(root, route, signal) {
    const run = await api.runPage(route.id, signal);
    const facts = h('div', { class: 'run-facts' });
    showFacts(facts, run);
    const list = h('div');
    const ranks = hasRanks(run) ? rankVerdict(run.name, null, signal) : null;
    const only = run.traces === 1 ? run.trace_list[0] : null;
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
    showTraces(list, run, signal);
    return { destroy: () => ranks?.destroy() };
}

/** The list, and what brings its next page. @param {HTMLElement} box @param {OpenRun} run @param {AbortSignal} signal */
function showTraces(box, run, signal) {
    let { trace_list: traces } = run;
    /** @param {Event} event */
    async function more({ currentTarget: button }) {
        // A second press would fetch the same page again.
        if (button instanceof HTMLButtonElement) button.disabled = true;
        try {
            const { trace_list: next } = await api.runPage(run.name, signal, traces.length);
            traces = [...traces, ...next];
            paint();
        } catch (error) {
            showFailure(box, error, paint);
        }
    }
    function paint() {
        const left = run.traces - traces.length;
        fill(box, traceTable(traces), left > 0 ? h('p', null, h('button', { class: 'button', type: 'button', onclick: more }, `Show ${fmt.int(Math.min(api.TRACES, left))} more`),
            h('span', { class: 'quiet' }, ` ${fmt.int(traces.length)} of ${fmt.plural(run.traces, 'trace')}, by rank`)) : null);
    }
    paint();
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

/** By rank and worker, which stands once, before its spans. @param {Trace[]} traces */
function traceTable(traces) {
    const told = traces.some(({ rank }) => rank !== null);
    const columns = ['Worker', ...(told ? ['Rank'] : []), 'Span', 'Type', 'Device', 'Steps', 'Events', 'Duration', 'Size'];
    return h('table', { class: 'run-table' }, h('caption', { class: 'visually-hidden' }, 'Traces'),
        h('thead', null, h('tr', null, columns.map((label) =>
            h('th', { scope: 'col', class: `${label === 'Worker' ? 'kind-name' : label === 'Device' || label === 'Type' ? 'kind-text' : 'kind-int'} col-${label.toLowerCase()}` }, label)),
        h('th', { scope: 'col' }, 'State'), h('th', { scope: 'col', class: 'col-actions' }, h('span', { class: 'visually-hidden' }, 'Delete')))),
        h('tbody', null, traces.map((trace, index) => h('tr', null,
            h('th', { scope: 'row', class: 'kind-name col-worker' }, h('a', { class: 'run-name', href: traceHref(trace.id, homeView(trace)), title: trace.file_name,
                'aria-label': `${trace.worker}, span ${trace.span}` }, index > 0 && traces[index - 1].worker === trace.worker ? h('span', { class: 'same' }, trace.worker) : trace.worker)),
            told ? h('td', { class: 'kind-int col-rank' }, trace.rank === null ? '–' : String(trace.rank)) : null,
            h('td', { class: 'kind-int col-span' }, fmt.int(trace.span)),
            h('td', { class: 'col-type' }, fmt.formatWord(trace.format)),
            h('td', { class: 'col-device' }, trace.device_type || '–'),
            h('td', { class: 'kind-int col-steps' }, fmt.int(trace.steps || null)),
            h('td', { class: 'kind-int col-events' }, fmt.int(trace.events || null)),
            h('td', { class: 'kind-int col-duration' }, fmt.time(trace.duration_ns || null)),
            h('td', { class: 'kind-int col-size' }, fmt.bytes(trace.size_bytes)),
            h('td', null, trace.warnings.length ? h('span', { class: 'chip warn' }, fmt.plural(trace.warnings.length, 'warning')) : h('span', { class: 'chip good' }, 'Complete')),
            h('td', { class: 'col-actions' }, h('button', { class: 'icon-button', type: 'button', 'aria-label': `Delete ${trace.worker}, span ${trace.span}`, title: 'Delete',
                onclick: () => deleteTrace(trace) }, icon('close')))))));
}
