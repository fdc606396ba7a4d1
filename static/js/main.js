/** Starts the page: theme, frame, upload, and the one view that the hash names. */

import { byId, fill } from './lib/dom.js';
import * as router from './app/router.js';
import * as theme from './app/theme.js';
import * as frame from './app/frame.js';
import { startUpload } from './upload/upload.js';
import { startTips } from './lib/tips.js';
import { skeleton, showFailure, empty } from './lib/states.js';
import { isAbort } from './lib/api.js';
import { during } from './app/activity.js';

/** @typedef {{mount: (root: HTMLElement, route: Route, signal: AbortSignal) => Promise<Mounted | void>}} ViewModule */

/** @type {Record<string, () => Promise<ViewModule>>} */
const VIEWS = {
    runs: () => import('./views/runs/runs.js'),
    run: () => import('./views/runs/run.js'),
    api: () => import('./views/service/api_page.js'),
    webhooks: () => import('./views/service/webhooks.js'),
    nodes: () => import('./views/service/nodes.js'),
    newest: () => import('./views/runs/newest.js'),
    distributed: () => import('./views/distributed/distributed.js'),
    collectives: () => import('./views/collectives/collectives.js'),
    ranks: () => import('./views/ranks/ranks.js'),
    clock: () => import('./views/clock/clock.js'),
    pipeline: () => import('./views/pipeline/pipeline.js'),
    overview: () => import('./views/overview/overview.js'),
    timeline: () => import('./views/timeline/timeline.js'),
    idle: () => import('./views/idle/idle.js'),
    efficiency: () => import('./views/efficiency/efficiency.js'),
    serving: () => import('./views/serving/serving.js'),
    slices: () => import('./views/slices/slices.js'),
    contents: () => import('./views/contents/contents.js'),
    sql: () => import('./views/sql/sql.js'),
    operators: () => import('./views/operators/operators.js'),
    kernels: () => import('./views/kernels/kernels.js'),
    utilisation: () => import('./views/utilisation/utilisation.js'),
    cycles: () => import('./views/cycles/cycles.js'),
    memory: () => import('./views/memory/memory.js'),
    snapshot: () => import('./views/snapshot/snapshot.js'),
    execution: () => import('./views/execution/execution.js'),
    modules: () => import('./views/modules/modules.js'),
    flame: () => import('./views/flame/flame.js'),
    calls: () => import('./views/calltree/calltree.js'),
    compare: () => import('./views/comparison/compare.js'),
    history: () => import('./views/history/history.js'),
    diff: () => import('./views/diff/diff.js'),
    comparisons: () => import('./views/comparison/comparisons.js'),
    report: () => import('./views/comparison/comparison.js'),
    comparison: () => import('./views/comparison/comparison.js'),
};

const content = byId('content');
/** @type {Mounted | void} */
let mounted;
let mountedKey = '';
/** A view that is still being built takes the newest parameters when it stands. */
let building = false;
let leaving = new AbortController();
/** Where each place was scrolled to, for the way back. @type {Map<string, number>} */
const scrolled = new Map();
let place = '';

/** @param {unknown} error of a view, which shows its own failures: what is left is that the user went elsewhere */
const unlessLeft = (error) => {
    if (!isAbort(error)) throw error;
};

/** @param {Route} route */
const open = (route) => during(show(route).catch(unlessLeft));

/** @param {Route} route */
async function show(route) {
    const key = `${route.view} ${route.id}`;
    if (key === mountedKey && (building || mounted?.update)) {
        place = route.href;
        await mounted?.update?.(route);
        return;
    }
    scrolled.set(place, window.scrollY);
    place = route.href;
    mounted?.destroy?.();
    mounted = undefined;
    leaving.abort();
    leaving = new AbortController();
    const { signal } = leaving;
    const first = mountedKey === '';
    mountedKey = key;
    // The rail has its own data; a failure there is shown by the view, which asks for the same.
    during(frame.show(route, signal)).catch((error) => isAbort(error) || console.warn(String(error)));
    building = true;
    window.scrollTo(0, 0);
    const view = await mountView(route, signal);
    if (signal.aborted) {
        view?.destroy?.();
        return;
    }
    mounted = view;
    building = false;
    const ready = Promise.resolve(view?.ready).catch(unlessLeft);
    if (!first && !document.activeElement?.closest('.rail, .view')) content.focus({ preventScroll: true });
    // Parameters may have changed while the view was loading.
    if (place !== route.href) await show(router.current());
    await ready;
    // Not under the hands of a user who has scrolled by now.
    if (!signal.aborted && window.scrollY === 0) window.scrollTo(0, scrolled.get(route.href) ?? 0);
}

/** @param {Route} route @param {AbortSignal} signal @returns {Promise<Mounted | void>} */
async function mountView(route, signal) {
    const load = VIEWS[route.view];
    const root = document.createElement('div');
    root.className = `view view-${route.view}`;
    fill(content, root);
    if (!load) {
        fill(root, empty('Page not found', 'Nothing is at this address. ', anchor('#/', 'See all runs')));
        return;
    }
    fill(root, skeleton('title', 'figures', 'block', 'rows'));
    try {
        const view = await load();
        if (!signal.aborted) return await view.mount(root, route, signal);
    } catch (error) {
        showFailure(root, error, () => reload());
    }
    return undefined;
}

/** @param {string} href @param {string} text */
function anchor(href, text) {
    const link = document.createElement('a');
    link.href = href;
    link.textContent = text;
    return link;
}

/** Draws the present place anew, with fresh data. */
function reload() {
    mountedKey = `${mountedKey} `;
    frame.forget();
    open(router.current());
}

/** Data is gone or renamed; `href` where the place that shows it is gone with it. @param {Event} event */
function onChange(event) {
    const href = event instanceof CustomEvent ? event.detail?.href : null;
    frame.forget();
    if (href && href !== location.hash) router.go(href);
    else reload();
}

/** Only lists of runs and traces change by an upload; a trace being read must not jump. @param {string} run */
function uploaded(run) {
    const { view, id } = router.current();
    if (view === 'runs' || (view === 'run' && id === run)) reload();
    else frame.forget();
}

/** "/" goes to the search of the view, as in most tools one keeps open all day. @param {KeyboardEvent} event */
function onKey(event) {
    const typing = event.target instanceof HTMLElement && event.target.closest('input, textarea, select, dialog');
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const search = content.querySelector('input[type="search"]');
    if (!(search instanceof HTMLInputElement)) return;
    event.preventDefault();
    search.focus();
    search.select();
}

history.scrollRestoration = 'manual';
theme.start();
const upload = startUpload({ onDone: uploaded });
frame.start({ onUpload: () => upload.choose() });
startTips();
document.addEventListener('keydown', onKey);
document.addEventListener('kinetoscope:changed', onChange);
// A fragment link to an element would change the route.
byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    content.focus();
});
router.onRoute(open);
router.start();
