/** Choosing two sides to compare. The choice is the address, so that it can be shared before it is made. */

import { h, fill, icon } from '../../lib/dom.js';
import { current, setParams, go, comparisonHref, diffHref } from '../../app/router.js';
import { segmented } from '../../table/rowtable.js';
import { empty } from '../../lib/states.js';
import { canDiff, hasCycles } from './compare_links.js';
import { sideChooser, sideBody, textField } from './compare_side.js';
import { SIDES, SIDE_WORDS } from './sides.js';
import { allRuns } from '../../lib/all_runs.js';
import * as api from '../../lib/api.js';

const KINDS = [{ value: '', label: 'Every kind' }, { value: 'step', label: 'Steps' }, { value: 'prefill', label: 'Prefill' }, { value: 'decode', label: 'Decode' },
    { value: 'layer', label: 'Layers' }];

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const runs = await allRuns(signal);
    const head = h('div', { class: 'view-head' }, h('h1', null, 'Compare cycles'), h('div', { class: 'view-tools' }, h('a', { class: 'button', href: diffHref({}) }, 'What changed'), h('a', { class: 'button', href: '#/comparisons' }, 'All comparisons')));
    if (!runs.some(hasCycles)) {
        fill(root, head, nothingToCompare());
        return {};
    }
    const sides = SIDES.map((side) => sideChooser(side, runs, signal));
    const kinds = segmented('Kind of cycles', KINDS, (kind) => setParams({ kind }, { replace: true }));
    const title = textField('title', 'Title', { type: 'text', maxlength: '200', placeholder: 'from the names of the runs' });
    const problem = h('div', { class: 'compare-problem' });
    const button = h('button', { class: 'button primary', type: 'submit' }, 'Compare');
    const diff = h('a', { class: 'button', hidden: true, title: 'Environment, step, operators and kernels of the two traces' }, 'What changed');
    fill(root, head, h('form', { class: 'compare-form', onsubmit: submit },
        h('p', { class: 'lead' }, 'What changed significantly? Both sides need repeated cycles: steps, requests, turns of a serving loop.'),
        h('div', { class: 'compare-sides' }, sides[0].root,
            h('button', { class: 'icon-button swap', type: 'button', 'aria-label': 'Swap sides', title: 'Swap sides', onclick: swap }, icon('compare')), sides[1].root),
        h('div', { class: 'compare-more' },
            h('div', { class: 'field' }, h('span', null, 'Cycles'), kinds.root),
            title.root),
        problem,
        h('div', { class: 'actions' }, button, diff)));

    /** Nothing typed reaches the address any more by itself. */
    function stop() {
        title.cancel();
        sides.forEach((side) => side.cancel());
    }

    /** @param {Event} event */
    async function submit(event) {
        event.preventDefault();
        const texts = Object.assign(title.text(), ...sides.map((side) => side.texts()));
        stop();
        setParams(texts, { replace: true });
        const { params } = current();
        const open = SIDES.find((side) => !params.get(side));
        if (open) {
            say(`${SIDE_WORDS[open]} is not chosen`, `Choose a run with cycles as the ${open}.`);
            return;
        }
        button.disabled = true;
        fill(button, 'Comparing …');
        fill(problem);
        try {
            const made = await api.compare(bodyOf(params));
            if (!signal.aborted) go(comparisonHref(made.id));
        } catch (error) {
            if (signal.aborted) return;
            const answer = error instanceof api.ApiError ? error.problem : { title: 'Something broke in the page', status: 0, detail: String(error) };
            say(answer.title, answer.detail ?? '', hint(answer.status, params));
        } finally {
            button.disabled = false;
            fill(button, 'Compare');
        }
    }

    /** @param {string} what @param {string} detail @param {string} [more] */
    function say(what, detail, more) {
        fill(problem, h('div', { class: 'failure', role: 'alert' }, h('h2', null, what), detail ? h('p', null, detail) : null, more ? h('p', { class: 'quiet' }, more) : null));
    }

    /** @param {URLSearchParams} params */
    function show(params) {
        kinds.show(params.get('kind') ?? '');
        title.show(params);
        return Promise.all([...sides.map((side) => side.show(params)), offerDiff(diff, params, signal)]);
    }

    return {
        ready: show(route.params),
        update(next) {
            fill(problem);
            return show(next.params);
        },
        destroy: stop,
    };
}

/** Two traces with operators can be laid beside each other without cycles. @param {HTMLAnchorElement} link @param {URLSearchParams} params @param {AbortSignal} signal */
async function offerDiff(link, params, signal) {
    const ids = SIDES.map((side) => params.get(side) ?? '');
    link.hidden = true;
    if (!ids.every((id) => /^\d+$/.test(id))) return;
    const traces = await Promise.allSettled(ids.map((id) => api.trace(id, signal)));
    const able = traces.every((answer) => answer.status === 'fulfilled' && canDiff(answer.value));
    // Another choice may have been made by now.
    if (!able || SIDES.some((side, index) => current().params.get(side) !== ids[index])) return;
    link.href = diffHref({ base: ids[0], candidate: ids[1] });
    link.hidden = false;
}

/** What was the base becomes the candidate, with all that was said about it. */
function swap() {
    const { params } = current();
    const names = ['', '_label', '_pid'];
    setParams(Object.fromEntries(names.flatMap((name) => [[`base${name}`, params.get(`candidate${name}`)], [`candidate${name}`, params.get(`base${name}`)]])));
}

/** @param {URLSearchParams} params @returns {Record<string, any>} */
function bodyOf(params) {
    const pid = (/** @type {string} */ name) => (params.get(name) ? Number(params.get(name)) : undefined);
    const labels = SIDES.map((side) => params.get(`${side}_label`) ?? '');
    return {
        base: sideBody(params.get('base') ?? ''),
        candidate: sideBody(params.get('candidate') ?? ''),
        base_pid: pid('base_pid'),
        candidate_pid: pid('candidate_pid'),
        kind: params.get('kind') ?? undefined,
        labels: labels.some(Boolean) ? labels.map((label, index) => label || SIDES[index]) : undefined,
        title: params.get('title') ?? undefined,
    };
}

/** What can be done about it on this page, behind what the server says. @param {number} status @param {URLSearchParams} params */
function hint(status, params) {
    if (status === 404) return 'It may have been deleted: choose again.';
    if (status >= 500 || status === 0) return 'Nothing was stored: try again.';
    if (params.get('base_pid') || params.get('candidate_pid')) return 'Leave the process fields empty to compare every pair of processes.';
    if (params.get('kind')) return 'Choose “Every kind” to compare whatever cycles both sides have.';
    return '';
}

function nothingToCompare() {
    return empty('No trace has cycles yet',
        h('p', null, 'A comparison needs what repeats. In a training loop, mark each step:'),
        h('div', { class: 'command' }, h('code', null, 'with torch.profiler.profile(…) as prof: … prof.step()')),
        h('p', null, 'Or upload perf-data tables (*_perf_data.csv), or a trace of a serving loop: the function that repeats is found, or named with ', h('code', null, '?marker=FUNCTION'), ' at the upload.'));
}
