/** Comparisons: what has been compared, newest first. */

import { h, fill, icon, debounce } from '../../lib/dom.js';
import { setParams, comparisonHref } from '../../app/router.js';
import { empty, showFailure, skeleton } from '../../lib/states.js';
import { deleteComparison } from './actions.js';
import { cyclesText, labelText, roleText, scoreText, titleOf, verdictChip } from './sides.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const PAGE = 100;

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    let q = route.params.get('q') ?? '';
    let abort = new AbortController();
    /** @type {ComparisonItem[]} */
    let items = [];
    let total = 0;

    const send = debounce(() => setParams({ q: search.value.trim() }, { replace: true }), 150);
    const search = h('input', {
        class: 'input search', type: 'search', 'aria-label': 'Search comparisons', placeholder: 'Search comparisons', value: q, autocomplete: 'off', spellcheck: 'false', oninput: send,
    });
    const count = h('p', { class: 'table-count', role: 'status' });
    const list = h('div', { class: 'runs' }, skeleton('rows'));
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Comparisons'), h('div', { class: 'view-tools' }, search, count,
        h('a', { class: 'button primary', href: '#/compare' }, 'Compare'))), list);
    signal.addEventListener('abort', () => abort.abort());

    /** @param {number} offset */
    async function load(offset) {
        abort.abort();
        abort = new AbortController();
        try {
            const answer = await api.comparisons({ q, limit: PAGE, offset }, abort.signal);
            items = offset ? [...items, ...answer.comparisons] : answer.comparisons;
            total = answer.total;
            paint();
        } catch (error) {
            showFailure(list, error, () => load(offset));
        }
    }

    function paint() {
        fill(count, q ? `${fmt.plural(total, 'comparison')} ${total === 1 ? 'matches' : 'match'}` : fmt.plural(total, 'comparison'));
        search.hidden = total === 0 && !q;
        count.hidden = search.hidden;
        if (total === 0) fill(list, q ? empty('No comparison matches', h('p', null, `Nothing is called “${q}”.`)) : nothingYet());
        else fill(list, itemTable(items), total > items.length ? h('button', { class: 'button', type: 'button', onclick: () => load(items.length) }, `Show ${Math.min(PAGE, total - items.length)} more`) : null);
    }

    return {
        ready: load(0),
        update(next) {
            q = next.params.get('q') ?? '';
            if (document.activeElement !== search) search.value = q;
            return load(0);
        },
        destroy() {
            send.cancel();
            abort.abort();
        },
    };
}

/** @param {ComparisonItem[]} items */
function itemTable(items) {
    return h('table', { class: 'run-table' }, h('caption', { class: 'visually-hidden' }, 'Comparisons, newest first'),
        h('thead', null, h('tr', null,
            h('th', { scope: 'col', class: 'kind-name' }, 'Comparison'), h('th', { scope: 'col' }, 'Verdict'),
            h('th', { scope: 'col', class: 'kind-int' }, 'Top score'), h('th', { scope: 'col', class: 'kind-int col-cycles' }, 'Cycles'),
            h('th', { scope: 'col', class: 'kind-int col-pairs' }, 'Pairs'), h('th', { scope: 'col', class: 'kind-int col-when' }, 'Created'),
            h('th', { scope: 'col', class: 'col-actions' }, h('span', { class: 'visually-hidden' }, 'Delete')))),
        h('tbody', null, items.map((item) => h('tr', null,
            h('th', { scope: 'row', class: 'kind-name' }, h('a', { class: 'run-name', href: comparisonHref(item.id) }, titleOf(item)),
                item.trace_id === null ? null : h('span', { class: 'tag' }, 'uploaded report'),
                h('p', { class: 'run-note' }, [item.labels.map(labelText).join(' against '), roleText(item), cyclesText(item.kind)].filter(Boolean).join(', '))),
            h('td', null, verdictChip(item.verdict)),
            h('td', { class: 'kind-int' }, scoreText(item.top_score)),
            h('td', { class: 'kind-int col-cycles' }, `${fmt.int(item.base_cycles)} / ${fmt.int(item.candidate_cycles)}`),
            h('td', { class: 'kind-int col-pairs' }, fmt.int(item.pairs)),
            h('td', { class: 'kind-int col-when' }, h('time', { datetime: item.created_at, title: fmt.date(item.created_at) }, fmt.ago(item.created_at))),
            h('td', { class: 'col-actions' }, h('button', { class: 'icon-button', type: 'button', 'aria-label': `Delete ${titleOf(item)}`, title: 'Delete',
                onclick: () => deleteComparison(item) }, icon('close')))))));
}

function nothingYet() {
    return empty('Nothing compared yet',
        h('p', null, 'Two recordings of the same program, a baseline and a candidate: what changed significantly?'),
        h('p', null, h('a', { href: '#/compare' }, 'Choose two sides'), ', or upload a comparison report.'));
}
