/** Starts the page: theme, frame, upload, and the one view that the hash names. */

import { byId, fill } from './dom.js';
import * as router from './router.js';
import * as theme from './theme.js';
import * as frame from './frame.js';
import { startUpload } from './upload.js';
import { startTips } from './tips.js';
import { skeleton, showFailure, empty } from './states.js';
import { isAbort } from './api.js';

/** @typedef {{mount: (root: HTMLElement, route: Route, signal: AbortSignal) => Promise<Mounted | void>}} ViewModule */

/** @type {Record<string, () => Promise<ViewModule>>} */
const VIEWS = {
    runs: () => import('./views/runs.js'),
    run: () => import('./views/run.js'),
    overview: () => import('./views/overview.js'),
    operators: () => import('./views/operators.js'),
    kernels: () => import('./views/kernels.js'),
};

const content = byId('content');
/** @type {Mounted | void} */
let mounted;
let mountedKey = '';
let leaving = new AbortController();
/** Where each place was scrolled to, for the way back. @type {Map<string, number>} */
const scrolled = new Map();
let place = '';

/** @param {Route} route */
async function show(route) {
    const key = `${route.view} ${route.id}`;
    if (key === mountedKey && mounted?.update) {
        place = route.href;
        mounted.update(route);
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
    frame.show(route, signal).catch((error) => isAbort(error) || console.warn(String(error)));
    await mountView(route, signal, key);
    if (signal.aborted) return;
    window.scrollTo(0, scrolled.get(route.href) ?? 0);
    if (!first && !document.activeElement?.closest('.rail')) content.focus({ preventScroll: true });
}

/** @param {Route} route @param {AbortSignal} signal @param {string} key */
async function mountView(route, signal, key) {
    const load = VIEWS[route.view];
    const root = document.createElement('div');
    root.className = `view view-${route.view}`;
    fill(content, root);
    if (!load) {
        fill(root, empty('No such page', 'The address names nothing that this page can show. ', anchor('#/', 'See all runs')));
        return;
    }
    fill(root, skeleton('title', 'figures', 'block', 'rows'));
    try {
        const view = await load();
        if (signal.aborted) return;
        const answer = await view.mount(root, route, signal);
        if (signal.aborted) answer?.destroy?.();
        else mounted = answer;
        // Parameters may have changed while the view was loading.
        const now = router.current();
        if (!signal.aborted && now.href !== route.href && `${now.view} ${now.id}` === key) mounted?.update?.(now);
    } catch (error) {
        showFailure(root, error, () => reload());
    }
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
    show(router.current());
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
document.addEventListener('kinetoscope:changed', reload);
// A fragment link to an element would change the route.
byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    content.focus();
});
router.onRoute(show);
router.start();
