/**
 * All state of the page is the hash: `#/traces/5/operators?group=name_shape&q=conv`.
 * Nothing else is remembered, so a copied link opens the same picture and the back button undoes a choice.
 */

import { isRunView } from './run_views.js';

/** @type {Set<(route: Route) => void>} */
const listeners = new Set();
let lastHref = '';

/** @returns {Route} */
export function current() {
    const hash = location.hash.startsWith('#/') ? location.hash.slice(2) : '';
    const [path, query = ''] = splitOnce(hash, '?');
    const parts = path.split('/').filter(Boolean).map(decode);
    const params = new URLSearchParams(query);
    const href = location.hash || '#/';
    if (parts.length === 0) return { view: 'runs', id: '', params, href };
    if (parts[0] === 'runs' && parts.length === 2) return { view: 'run', id: parts[1], params, href };
    if (parts[0] === 'runs' && parts.length === 3 && isRunView(parts[2])) return { view: parts[2], id: parts[1], params, href };
    if (parts[0] === 'traces' && parts.length >= 2) return { view: parts[2] ?? 'overview', id: parts[1], params, href };
    if (parts[0] === 'compare' && parts.length === 1) return { view: 'compare', id: '', params, href };
    if (parts[0] === 'diff' && parts.length === 1) return { view: 'diff', id: '', params, href };
    if (parts[0] === 'history' && parts.length === 1) return { view: 'history', id: '', params, href };
    if (['api', 'webhooks', 'nodes'].includes(parts[0]) && parts.length === 1) return { view: parts[0], id: '', params, href };
    if (parts[0] === 'newest' && parts.length === 1) return { view: 'newest', id: params.toString(), params, href };
    if (parts[0] === 'comparisons' && parts.length === 1) return { view: 'comparisons', id: '', params, href };
    if (parts[0] === 'comparisons' && parts.length === 2) return { view: 'report', id: parts[1], params, href };
    return { view: 'unknown', id: parts.join('/'), params, href };
}

/** @param {string} run */
export const runHref = (run) => `#/runs/${encodeURIComponent(run)}`;

/** A view of all ranks of a span of a run. @param {string} run @param {string} view @param {Record<string, string | number | null | undefined>} [params] */
export function runViewHref(run, view, params = {}) {
    const query = new URLSearchParams(Object.entries(params).flatMap(([name, value]) => (value === null || value === undefined || value === '' ? [] : [[name, String(value)]]))).toString();
    return `${runHref(run)}/${view}${query ? `?${query}` : ''}`;
}

/** Two traces by what they did. @param {Record<string, string | number>} sides base and candidate, ids or '' */
export function diffHref(sides) {
    const query = new URLSearchParams(Object.entries(sides).flatMap(([side, id]) => (id === '' ? [] : [[side, String(id)]]))).toString();
    return `#/diff${query ? `?${query}` : ''}`;
}

/**
 * @param {number | string} id
 * @param {string} [view]
 * @param {Record<string, string>} [params]
 */
export function traceHref(id, view = 'overview', params = {}) {
    const query = new URLSearchParams(params).toString();
    return `#/traces/${id}/${view}${query ? `?${query}` : ''}`;
}

/** @param {number | string} id of a comparison */
export const comparisonHref = (id) => `#/comparisons/${id}`;

/** @param {string} href begins with "#/" @param {{replace?: boolean}} [how] replace: the way back leads past this place */
export function go(href, how = {}) {
    if (href === location.hash) return;
    if (how.replace) history.replaceState(null, '', href);
    else history.pushState(null, '', href);
    notify();
}

/**
 * Changes some parameters of the present view; null and '' remove one.
 * @param {Record<string, string | number | string[] | null>} patch
 * @param {{replace?: boolean}} [how] replace: no new entry in the history, for what changes with every key
 */
export function setParams(patch, how = {}) {
    const { params } = current();
    for (const [key, value] of Object.entries(patch)) {
        params.delete(key);
        if (Array.isArray(value)) value.forEach((item) => params.append(key, item));
        else if (value !== null && value !== '') params.set(key, String(value));
    }
    const [path] = splitOnce(location.hash || '#/', '?');
    const query = params.toString();
    const href = path + (query ? `?${query}` : '');
    if (href === location.hash) return;
    if (how.replace) history.replaceState(null, '', href);
    else history.pushState(null, '', href);
    notify();
}

/** @param {(route: Route) => void} listener */
export function onRoute(listener) {
    listeners.add(listener);
}

export function start() {
    // An edited hash fires both events, a step back only the first: `notify` tells doubles apart.
    window.addEventListener('popstate', notify);
    window.addEventListener('hashchange', notify);
    notify();
}

function notify() {
    if (location.href === lastHref) return;
    lastHref = location.href;
    const route = current();
    listeners.forEach((listener) => listener(route));
}

/**
 * @param {string} text
 * @param {string} mark
 * @returns {[string, string | undefined]}
 */
function splitOnce(text, mark) {
    const at = text.indexOf(mark);
    return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** A hand-written hash may hold a stray "%". @param {string} part */
function decode(part) {
    try {
        return decodeURIComponent(part);
    } catch {
        return part;
    }
}
