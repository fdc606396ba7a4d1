/** What stays while views change: the rail (pickers, views) and the bar (path, link, upload, theme). */

import { h, fill, icon, byId, copy, announce } from '../lib/dom.js';
import { forgetAnswers } from '../lib/once.js';
import { picker } from '../lib/picker.js';
import { current as here, go, runHref, runViewHref, traceHref } from './router.js';
import { findRuns, firstRuns } from '../lib/all_runs.js';
import * as api from '../lib/api.js';
import * as fmt from '../lib/fmt.js';
import * as session from './session.js';
import * as theme from './theme.js';
import { runCompareHref, traceCompareHref } from '../views/comparison/compare_links.js';
import { PLACES, isTraceView, ofRun, paintViews } from './rail.js';
import { RUN_VIEWS, isRunView } from './run_views.js';
import { TRACE_VIEWS, homeView, hasView } from './trace_views.js';

/** Parameters that name something of one trace alone: another worker or span does not have it. */
const OF_ONE_TRACE = ['event', 'with', 'shift_ns', 'collapsed', 'expanded', 'top', 'thread', 'node', 'at', 'zoom', 'launch', 'companion', 'open', 'row'];

/** @type {Run[]} */
let runs = [];
/** How many there are: `runs` are the first. */
let runTotal = 0;
/** With all of its traces where one of them is shown, else with a page of them. @type {OpenRun | null} */
let run = null;

/** @param {{onUpload: () => void}} actions */
export function start({ onUpload }) {
    const themeButton = h('button', { class: 'icon-button', type: 'button', onclick: theme.toggle });
    const nameTheme = () => {
        const next = theme.isDark() ? 'light' : 'dark';
        themeButton.setAttribute('aria-label', `Use the ${next} theme`);
        themeButton.title = `Use the ${next} theme`;
        fill(themeButton, icon(theme.isDark() ? 'sun' : 'moon'));
    };
    nameTheme();
    theme.onTheme(nameTheme);
    const menu = h('button', {
        class: 'icon-button menu-button', type: 'button', 'aria-label': 'Runs and views', 'aria-controls': 'rail', 'aria-expanded': 'false',
        onclick: () => setDrawer(!byId('frame').classList.contains('drawer-open')),
    }, icon('menu'));
    fill(byId('bar'), menu,
        h('nav', { class: 'path', id: 'path', 'aria-label': 'Path' }),
        h('div', { class: 'bar-actions' },
            h('a', { class: 'button quiet-button', id: 'compare', href: '#/compare', title: 'Compare with another trace' },
                icon('compare'), h('span', { class: 'wide-only' }, 'Compare')),
            h('button', { class: 'button quiet-button', type: 'button', id: 'copy-link', onclick: () => copy(location.href, 'Link copied') },
                icon('link'), h('span', { class: 'wide-only' }, 'Copy link')),
            h('button', { class: 'button primary', type: 'button', id: 'upload', onclick: onUpload },
                icon('upload'), h('span', { class: 'wide-only' }, 'Upload')),
            themeButton));
    session.show(byId('session'));
    document.addEventListener('keydown', (event) => {
        if (event.key === 'Escape') setDrawer(false);
    });
    byId('content').addEventListener('pointerdown', () => setDrawer(false));
}

/** On narrow screens the rail is a drawer. @param {boolean} open */
function setDrawer(open) {
    byId('frame').classList.toggle('drawer-open', open);
    document.querySelector('.menu-button')?.setAttribute('aria-expanded', String(open));
    if (open) byId('rail').querySelector('input')?.focus();
}

/** Runs and traces may have changed (upload, deletion): the next `show` asks again. */
export function forget() {
    forgetAnswers();
    runs = [];
    run = null;
}

/**
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export async function show(route, signal) {
    setDrawer(false);
    const known = isTraceView(route) ? (whole(run)?.trace_list.find((trace) => String(trace.id) === route.id) ?? null) : null;
    paint(route, known);
    const coming = known ? Promise.resolve(known) : findTrace(route, signal);
    // Awaited below, where its failure is told.
    coming.catch(() => {});
    if (runs.length === 0) ({ runs, total: runTotal } = await firstRuns(signal));
    // Other runs can be chosen even where this trace is not to be had.
    paint(route, known);
    const trace = await coming;
    if (!signal.aborted) paint(route, trace);
}

/** Nothing of a run whose traces are not all there. @param {OpenRun | null} of */
const whole = (of) => (of && of.trace_list.length >= of.traces ? of : null);

/** The trace that the route shows, with its run's others at hand. @param {Route} route @param {AbortSignal} signal */
async function findTrace(route, signal) {
    if (ofRun(route)) {
        if (run?.name !== route.id) run = await api.runPage(route.id, signal);
        return null;
    }
    if (!isTraceView(route)) {
        run = null;
        return null;
    }
    const trace = await api.trace(route.id, signal);
    run = await api.run(trace.run, signal);
    return trace;
}

/** @param {Route} route @param {Trace | null} trace */
function paint(route, trace) {
    const focused = document.activeElement?.closest('.picker-label, .picker')?.querySelector('input')?.getAttribute('data-picker');
    paintPath(route, trace);
    rebuild(byId('views'), [route.view, trace, run], () => paintViews(byId('views'), route, trace, run));
    byId('compare').setAttribute('href', trace ? traceCompareHref(trace) : ofRun(route) && run ? runCompareHref(run) : '#/diff');
    rebuild(byId('pickers'), [route.view, runs, run, trace], () => {
        const pickers = [runPicker(route)];
        if (run && trace) pickers.push(...tracePickers(run.trace_list, trace, route.view));
        else if (run && isRunView(route.view)) pickers.push(workerPicker(run));
        fill(byId('pickers'), pickers);
    });
    // A choice rebuilds the pickers; the keyboard stays where it was.
    if (focused) document.querySelector(`[data-picker="${focused}"]`)?.closest('.picker')?.querySelector('input')?.focus();
}

/** What each box was built from. @type {WeakMap<HTMLElement, any[]>} */
const builtFrom = new WeakMap();

/** An answer that changes nothing does not close a list, or lose a focus, under the user's hands. @param {HTMLElement} box @param {any[]} from @param {() => void} build */
function rebuild(box, from, build) {
    if (builtFrom.get(box)?.every((item, index) => item === from[index])) return;
    builtFrom.set(box, from);
    build();
}

/** @param {Route} route */
function runPicker(route) {
    const current = run && route.view !== 'runs' ? run.name : '';
    const options = (/** @type {Run[]} */ some) => some.map((item) => ({ value: item.name, label: item.name, note: fmt.plural(item.traces, 'trace') }));
    return named('run', picker({
        label: 'Run',
        value: current,
        placeholder: 'Choose a run',
        options: options(runs),
        find: runTotal > runs.length ? { count: runTotal, ask: async (text) => options(await findRuns(text)) } : undefined,
        onPick: (name) => openRun(name, route.view),
    }));
}

/** A run of one trace opens that trace in the view one is in. @param {string} name @param {string} view */
async function openRun(name, view) {
    const chosen = runs.find((item) => item.name === name);
    if (view === 'distributed' && chosen?.views.includes(view)) return go(runViewHref(name, view));
    if (chosen?.traces !== 1) return go(runHref(name));
    const full = await api.run(name);
    const [only] = full.trace_list;
    return go(only ? traceHref(only.id, viewFor(only, view)) : runHref(name));
}

/** @param {Trace[]} traces @param {Trace} trace @param {string} view */
function tracePickers(traces, trace, view) {
    const workers = [...new Set(traces.map((item) => item.worker))];
    const spans = traces.filter((item) => item.worker === trace.worker);
    /** @param {Trace | undefined} next */
    const open = (next) => next && go(traceHref(next.id, viewFor(next, view), keptParams(viewFor(next, view) === view)));
    return [
        named('worker', picker({
            label: 'Worker',
            value: trace.worker,
            options: workers.map((name) => ({
                value: name, label: shownName(traces, name), note: fmt.plural(traces.filter((item) => item.worker === name).length, 'span'),
            })),
            onPick: (name) => open(traces.find((item) => item.worker === name && item.span === trace.span) ??
                traces.find((item) => item.worker === name)),
        })),
        named('span', picker({
            label: 'Span',
            value: String(trace.id),
            options: spans.map((item) => ({ value: String(item.id), label: String(item.span), note: fmt.plural(item.steps, 'step') })),
            onPick: (id) => open(spans.find((item) => String(item.id) === id)),
        })),
    ];
}

/** With the rank of its first trace. @param {Trace[]} traces @param {string} name of a worker */
const shownName = (traces, name) => fmt.worker(traces.find(({ worker }) => worker === name) ?? { worker: name });

/** Window, search, sort and grouping hold for another worker, too. @param {boolean} sameView @returns {Record<string, string>} */
const keptParams = (sameView) => Object.fromEntries(sameView ? [...here().params].filter(([name]) => !OF_ONE_TRACE.includes(name)) : []);

/** From all workers to one, in the same span. @param {OpenRun} of */
function workerPicker(of) {
    let traces = of.trace_list;
    const ofSpan = () => traces.filter(({ span }) => String(span) === (here().params.get('span') ?? String(traces[0]?.span)));
    const options = () => [...new Set(traces.map(({ worker }) => worker))].map((name) => ({ value: name, label: shownName(traces, name) }));
    return named('worker', picker({
        label: 'Worker',
        value: '',
        placeholder: 'All workers',
        options: options(),
        more: whole(of) ? undefined : { count: of.workers, ask: async () => {
            traces = (await api.run(of.name)).trace_list;
            return options();
        } },
        onPick: (name) => {
            const next = [...ofSpan(), ...traces].find(({ worker }) => worker === name);
            if (next) go(traceHref(next.id, homeView(next)));
        },
    }));
}

/** @param {string} name @param {HTMLElement} node */
function named(name, node) {
    node.querySelector('input')?.setAttribute('data-picker', name);
    return node;
}

/** The same view where the other trace has it. @param {Trace} trace @param {string} view */
const viewFor = (trace, view) => (hasView(trace, view) ? view : homeView(trace));

/** @param {Route} route @param {Trace | null} trace */
function paintPath(route, trace) {
    const place = PLACES[1].views.includes(route.view) ? PLACES[1] : PLACES[0];
    /** @type {{text: string, href: string}[]} */
    const parts = [{ text: place.label, href: place.href }];
    if (route.view === 'api') parts.push({ text: 'API', href: route.href });
    if (route.view === 'webhooks') parts.push({ text: 'Webhooks', href: route.href });
    if (route.view === 'nodes') parts.push({ text: 'Nodes', href: route.href });
    if (route.view === 'compare') parts.push({ text: 'Compare', href: route.href });
    if (route.view === 'report') parts.push({ text: `Comparison ${route.id}`, href: route.href });
    if (route.view === 'diff') parts.push({ text: 'What changed', href: route.href });
    const runName = trace?.run ?? (ofRun(route) ? route.id : '');
    if (runName) parts.push({ text: runName, href: runHref(runName) });
    const ofAll = RUN_VIEWS.find(({ view }) => view === route.view);
    if (ofAll) parts.push({ text: ofAll.label, href: route.href });
    if (trace) {
        parts.push({ text: fmt.traceName(trace), href: traceHref(trace.id, homeView(trace)) });
        const label = TRACE_VIEWS.find(({ view }) => view === route.view)?.label;
        if (label) parts.push({ text: label, href: route.href });
    }
    const title = parts.length > 1 ? parts.slice(1).map((part) => part.text).reverse().join(' · ') : place.label;
    document.title = `${title} · Kinetoscope`;
    announce(title);
    fill(byId('path'), h('ol', null, parts.map((part, index) => h('li', null, h('a', {
        href: part.href, title: part.text, 'aria-current': index === parts.length - 1 ? 'page' : null,
    }, part.text)))));
}
