/** The list of views in the rail: of all runs, of the run, of the trace. */

import { h, fill } from '../lib/dom.js';
import { diffHref, runHref, runViewHref, traceHref } from './router.js';
import { canDiff } from '../views/comparison/compare_links.js';
import { RUN_VIEWS, isRunView } from './run_views.js';
import { TRACE_VIEWS, hasView } from './trace_views.js';

/** What is not of one run. */
export const PLACES = [
    { views: ['runs', 'run', 'newest', ...RUN_VIEWS.map(({ view }) => view)], href: '#/', label: 'Runs' },
    { views: ['history'], href: '#/history', label: 'History' },
    { views: ['comparisons', 'report', 'compare', 'diff'], href: '#/comparisons', label: 'Comparisons' },
];

/** The trace that was open last, so that its views stay in the rail where its whole run is shown. @type {Trace | null} */
let recent = null;

/** @param {Route} route */
export const ofRun = ({ view }) => view === 'run' || isRunView(view);

/** @param {Route} route */
export const isTraceView = (route) => !['unknown', 'api', 'webhooks', 'nodes', ...PLACES.flatMap(({ views }) => views)].includes(route.view);

/** @typedef {{href: string, label: string, current: boolean}} RailLink */

/** @param {Route} route @param {Trace} trace @returns {RailLink[]} */
function traceLinks(route, trace) {
    const isOpen = isTraceView(route);
    const own = TRACE_VIEWS.filter(({ view }) => hasView(trace, view) || (isOpen && view === route.view))
        .map(({ view, label }) => ({ href: traceHref(trace.id, view), label, current: isOpen && view === route.view }));
    if (canDiff(trace)) own.push({ href: diffHref({ base: trace.id }), label: 'What changed', current: false });
    return own;
}

/** @param {Route} route @param {Trace | null} trace @param {OpenRun | null} run @returns {RailLink[]} */
function runLinks(route, trace, run) {
    if (!run || run.name !== (trace?.run ?? (ofRun(route) ? route.id : ''))) return [];
    const span = trace?.span ?? (ofRun(route) ? route.params.get('span') : null);
    return [{ href: runHref(run.name), label: 'Traces', current: route.view === 'run' },
        ...RUN_VIEWS.filter(({ view, when }) => when(run) || route.view === view).map(({ view, label }) => ({ href: runViewHref(run.name, view, { span }), label, current: route.view === view }))];
}

/** The same groups everywhere: all runs, this run, this trace. @param {HTMLElement} box @param {Route} route @param {Trace | null} trace @param {OpenRun | null} run */
export function paintViews(box, route, trace, run) {
    if (trace) recent = trace;
    const places = PLACES.map(({ views, href, label }) => ({ href, label, current: views.includes(route.view) && !ofRun(route) }));
    const shown = trace ?? (ofRun(route) && recent?.run === route.id ? recent : null);
    const groups = /** @type {[string, RailLink[]][]} */ ([['All runs', places], ['Run', runLinks(route, trace, run)], ['Trace', shown ? traceLinks(route, shown) : []]]);
    fill(box, groups.filter(([, links]) => links.length > 0).map(([name, links]) => h('ul', { class: 'view-list', 'aria-label': name }, links.map(({ href, label, current }) => h('li', null,
        h('a', { href, 'aria-current': current ? 'page' : null }, label))))));
}
