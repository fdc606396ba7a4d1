/** Flame graph: time by Python line, module or operator, merged over threads and steps; of two traces by what changed. */

import { h, fill, debounce } from '../../lib/dom.js';
import { diffHref, setParams, traceHref } from '../../app/router.js';
import { segmented } from '../../table/rowtable.js';
import { hasView } from '../../app/trace_views.js';
import { showFailure } from '../../lib/states.js';
import { picker } from '../../lib/picker.js';
import { timelineHref } from '../timeline/links.js';
import { sourceLink } from '../stacks/frames.js';
import { flameCanvas } from './graph.js';
import { labelOf } from './draw.js';
import { deviceWord } from '../../lib/fmt.js';
import { searchWord } from '../../lib/names.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const VIEWS = [{ value: 'python', label: 'Python' }, { value: 'module', label: 'Modules' }, { value: 'operator', label: 'Operators' }];
/** The tables that list the nodes of a kind. @type {Record<string, string>} */
const TABLES = { kernel: 'kernels', operator: 'operators', module: 'modules' };

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    const hasDevice = trace.device_type !== 'CPU';
    const device = deviceWord(trace.device_type);
    const heaviest = hasDevice ? 'device' : 'host';
    /** What is known of nodes, also of those that a zoom left behind. @type {Map<string, {label: string, parent: string | null}>} */
    const known = new Map();
    let shown = '';

    const by = segmented('Nodes', VIEWS, (value) => setParams({ by: value === 'python' ? null : value, under: null, at: null }));
    const weight = hasDevice ? segmented('Width shows', [{ value: 'device', label: device }, { value: 'host', label: 'Host' }], (value) => setParams({ weight: value === heaviest ? null : value, under: null, at: null })) : null;
    const libraries = h('input', { type: 'checkbox', onchange: () => setParams({ libraries: libraries.checked ? 'shown' : null, under: null, at: null }) });
    const step = h('input', { class: 'input flame-step', type: 'number', min: '1', placeholder: 'all', 'aria-label': 'Step', onchange: () => setParams({ step: step.value || null, under: null, at: null }) });
    const search = h('input', { class: 'input search', type: 'search', 'aria-label': 'Search the flame graph', placeholder: 'Search the flame graph', autocomplete: 'off', spellcheck: 'false', oninput: debounce(() => setParams({ q: search.value || null }, { replace: true }), 200) });
    const matched = h('span', { class: 'quiet', role: 'status' });
    const folded = h('a', { class: 'button', download: '' }, 'Folded stacks');
    const crumbs = h('nav', { class: 'tree-path', 'aria-label': 'Zoomed to' });
    const links = h('p', { class: 'flame-links' });
    const against = h('div', { class: 'flame-against' });
    const note = h('p', { class: 'quiet' });
    const failure = h('div', { class: 'flame-failure' });
    const graph = flameCanvas({ zoom: (id) => setParams({ under: id, at: id }), out: () => zoomOut(), choose: (id) => setParams({ at: id }, { replace: true }) });

    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Flame graph')),
        h('div', { class: 'table-tools' }, by.root, weight?.root, h('label', { class: 'check' }, libraries, ' Library frames'), h('label', { class: 'check' }, 'Step ', step), search, matched, h('div', { class: 'tools-end' }, folded)),
        against, crumbs, graph.line, links, failure, graph.root, note);

    function zoomOut() {
        const { under } = Object.fromEntries(new URLSearchParams(location.hash.split('?')[1] ?? ''));
        const parent = under ? known.get(under)?.parent : null;
        if (under) setParams({ under: parent && known.get(parent)?.parent ? parent : null, at: under });
    }

    /** @param {URLSearchParams} params */
    function queryOf(params) {
        return {
            by: params.get('by') ?? 'python', weight: params.get('weight') ?? heaviest, libraries: params.get('libraries') ?? 'folded',
            step: params.get('step'), under: params.get('under'), against: params.get('against'),
        };
    }

    /** @param {import('./draw.js').FlameGraph} data */
    function learn(data) {
        data.nodes.forEach((node) => {
            const parent = node.parent === null ? known.get(node.id)?.parent ?? null : data.nodes[node.parent].id;
            if (node.kind !== 'other') known.set(node.id, { label: labelOf(node), parent });
        });
    }

    /** @param {string | null} under */
    function paintCrumbs(under) {
        /** @type {string[]} */
        const path = [];
        for (let id = under; id && known.get(id)?.parent && path.length < 1100; id = known.get(id)?.parent ?? null) path.unshift(id);
        crumbs.hidden = !under;
        fill(crumbs, h('ol', null, h('li', null, h('button', { class: 'link', type: 'button', onclick: () => setParams({ under: null, at: under }) }, 'All')),
            path.slice(-6).map((id) => h('li', null, id === under ? h('span', { 'aria-current': 'true' }, known.get(id)?.label) : h('button', { class: 'link', type: 'button', onclick: () => setParams({ under: id, at: id }) }, known.get(id)?.label)))));
    }

    /** @param {import('./draw.js').FlameGraph} data @param {string | null} at */
    function paintLinks(data, at) {
        const node = data.nodes.find(({ id, kind }) => id === at && kind !== 'other' && kind !== 'root');
        const view = node ? TABLES[node.kind] : '';
        const word = node?.kind === 'module' ? node.name.replace(/^nn\.Module: /, '') : node?.name ?? '';
        links.hidden = !node;
        if (!node) return;
        const parts = [
            hasView(trace, 'timeline') ? h('a', { href: timelineHref(trace.id, node.name) }, 'Show in timeline') : null,
            view && hasView(trace, view) ? h('a', { href: traceHref(trace.id, view, { q: searchWord(word) }) }, `In the ${view.slice(0, -1)} table`) : null,
            sourceLink(node.name, 'Source'),
        ].filter(Boolean);
        fill(links, parts.map((part, index) => [index ? ' · ' : '', part]));
    }

    /** @param {string | null} id */
    async function paintAgainst(id) {
        const others = await otherTraces();
        const held = against.contains(document.activeElement);
        fill(against,
            picker({
                label: 'Compare with', value: id ?? '', placeholder: others.length ? 'Choose a trace' : 'No other trace',
                options: others.map((other) => ({ value: String(other.id), label: `${other.run}, ${fmt.traceName(other)}`, note: other.file_name })),
                onPick: (value) => setParams({ against: value, under: null, at: null }),
            }),
            id ? h('p', { class: 'quiet' }, h('span', { class: 'flame-more' }, 'Red'), ' takes longer here than there, ', h('span', { class: 'flame-less' }, 'green'), ' less. ',
                h('a', { href: diffHref({ base: id, candidate: trace.id }) }, 'What changed'), ' ',
                h('button', { class: 'button small', type: 'button', onclick: () => setParams({ against: null, under: null, at: null }) }, 'Stop comparing')) : null);
        if (held) against.querySelector('input')?.focus();
    }

    /** @type {Promise<Trace[]> | undefined} */
    let listed;

    /** Traces with events, those of the same run first. */
    async function otherTraces() {
        listed ??= api.call('traces', { query: { limit: 1000 }, signal }).then(({ traces }) => traces);
        const able = (await listed).filter((other) => other.id !== trace.id && hasView(other, 'flame'));
        return [...able.filter(({ run }) => run === trace.run), ...able.filter(({ run }) => run !== trace.run)];
    }

    /** @param {URLSearchParams} params */
    async function update(params) {
        const query = queryOf(params);
        by.show(query.by);
        weight?.show(query.weight);
        libraries.checked = query.libraries === 'shown';
        step.value = query.step ?? '';
        if (document.activeElement !== search) search.value = params.get('q') ?? '';
        folded.setAttribute('href', api.apiUrl(`traces/${trace.id}/flame-graph`, { ...query, format: 'folded' }));
        const wanted = JSON.stringify(query);
        try {
            if (wanted !== shown) {
                const data = await api.call(`traces/${trace.id}/flame-graph`, { query, signal });
                shown = wanted;
                state = data;
                learn(data);
                graph.show(data, params.get('at'));
                paintCrumbs(query.under);
                fill(failure);
                fill(note, data.nodes[0].total_ns + (data.nodes[0].against_total_ns ?? 0) === 0 ? 'No time of this kind is known.' : data.nodes.some((/** @type {{kind: string}} */ { kind }) => kind === 'other') ? `The heaviest of ${fmt.plural(data.node_count, 'node')}; zoom in to see what “other” holds.` : '');
                await paintAgainst(query.against);
            }
            if (state) paintLinks(state, params.get('at'));
            matched.textContent = graph.search(params.get('q') ?? '');
        } catch (error) {
            if (!api.isAbort(error)) showFailure(failure, error, () => update(params));
        }
    }
    /** @type {import('./draw.js').FlameGraph | null} */
    let state = null;
    return { ready: update(route.params), update: (next) => update(next.params), destroy: () => graph.destroy() };
}
