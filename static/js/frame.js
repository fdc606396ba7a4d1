/** What stays while views change: the rail (pickers, views) and the bar (path, link, upload, theme). */

import { h, fill, icon, byId, copy, announce } from './dom.js';
import { picker } from './picker.js';
import { go, runHref, traceHref } from './router.js';
import * as api from './api.js';
import * as fmt from './fmt.js';
import * as theme from './theme.js';

/** Views of a trace that this page draws, in the order of the rail. */
export const TRACE_VIEWS = [
    { view: 'overview', label: 'Overview' },
    { view: 'operators', label: 'Operators' },
    { view: 'kernels', label: 'Kernels' },
];

/** @type {Run[]} */
let runs = [];
/** @type {(Run & {trace_list: Trace[]}) | null} */
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
            h('button', { class: 'button quiet-button', type: 'button', id: 'copy-link', onclick: () => copy(location.href, 'Link copied') },
                icon('link'), h('span', { class: 'wide-only' }, 'Copy link')),
            h('button', { class: 'button primary', type: 'button', id: 'upload', onclick: onUpload },
                icon('upload'), h('span', { class: 'wide-only' }, 'Upload')),
            themeButton));
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
    paint(route, null);
    if (runs.length === 0) runs = (await api.runs({ limit: 1000, sort: 'name', order: 'asc' }, signal)).runs;
    // Other runs can be chosen even where this trace is not to be had.
    paint(route, null);
    const trace = await findTrace(route, signal);
    if (!signal.aborted) paint(route, trace);
}

/** The trace that the route shows, with its run's others at hand. @param {Route} route @param {AbortSignal} signal */
async function findTrace(route, signal) {
    const known = run?.trace_list.find((trace) => String(trace.id) === route.id);
    if (route.view === 'run') {
        if (run?.name !== route.id) run = await api.run(route.id, signal);
        return null;
    }
    if (!isTraceView(route)) {
        run = null;
        return null;
    }
    if (known) return known;
    const trace = await api.trace(route.id, signal);
    run = await api.run(trace.run, signal);
    return trace;
}

/** @param {Route} route */
const isTraceView = (route) => !['runs', 'run', 'unknown'].includes(route.view);

/** @param {Route} route @param {Trace | null} trace */
function paint(route, trace) {
    const focused = document.activeElement?.closest('.picker-label, .picker')?.querySelector('input')?.getAttribute('data-picker');
    paintPath(route, trace);
    paintViews(route, trace);
    const pickers = [runPicker(route)];
    if (run && trace) pickers.push(...tracePickers(run.trace_list, trace, route.view));
    fill(byId('pickers'), pickers);
    // A choice rebuilds the pickers; the keyboard stays where it was.
    if (focused) document.querySelector(`[data-picker="${focused}"]`)?.closest('.picker')?.querySelector('input')?.focus();
}

/** @param {Route} route */
function runPicker(route) {
    const current = run && route.view !== 'runs' ? run.name : '';
    return named('run', picker({
        label: 'Run',
        value: current,
        placeholder: 'Choose a run',
        options: runs.map((item) => ({ value: item.name, label: item.name, note: fmt.plural(item.traces, 'trace') })),
        onPick: (name) => openRun(name, route.view),
    }));
}

/** A run of one trace opens that trace in the view one is in. @param {string} name @param {string} view */
async function openRun(name, view) {
    const chosen = runs.find((item) => item.name === name);
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
    const open = (next) => next && go(traceHref(next.id, viewFor(next, view)));
    return [
        named('worker', picker({
            label: 'Worker',
            value: trace.worker,
            options: workers.map((name) => ({
                value: name, label: name, note: fmt.plural(traces.filter((item) => item.worker === name).length, 'span'),
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

/** @param {string} name @param {HTMLElement} node */
function named(name, node) {
    node.querySelector('input')?.setAttribute('data-picker', name);
    return node;
}

/** The same view where the other trace has it. @param {Trace} trace @param {string} view */
const viewFor = (trace, view) => (trace.views.includes(view) ? view : 'overview');

/** @param {Route} route @param {Trace | null} trace */
function paintViews(route, trace) {
    const views = TRACE_VIEWS.filter(({ view }) => trace && (view === 'overview' || trace.views.includes(view) || view === route.view));
    fill(byId('views'), trace ? h('ul', { class: 'view-list' }, views.map(({ view, label }) => h('li', null,
        h('a', { href: traceHref(trace.id, view), 'aria-current': view === route.view ? 'page' : null }, label)))) : null);
    byId('views').hidden = !trace;
}

/** @param {Route} route @param {Trace | null} trace */
function paintPath(route, trace) {
    /** @type {{text: string, href: string}[]} */
    const parts = [{ text: 'Runs', href: '#/' }];
    const runName = trace?.run ?? (route.view === 'run' ? route.id : '');
    if (runName) parts.push({ text: runName, href: runHref(runName) });
    if (trace) {
        parts.push({ text: `${trace.worker}, span ${trace.span}`, href: traceHref(trace.id) });
        const label = TRACE_VIEWS.find(({ view }) => view === route.view)?.label;
        if (label) parts.push({ text: label, href: route.href });
    }
    const title = parts.length > 1 ? parts.slice(1).map((part) => part.text).reverse().join(' · ') : 'Runs';
    document.title = `${title} · Kinetoscope`;
    announce(title);
    fill(byId('path'), h('ol', null, parts.map((part, index) => h('li', null, h('a', {
        href: part.href, title: part.text, 'aria-current': index === parts.length - 1 ? 'page' : null,
    }, part.text)))));
}
