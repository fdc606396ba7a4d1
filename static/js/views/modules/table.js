/** Modules as a tree with their figures; opened, a module's figures for each call, and where it is called. */

import { h, fill } from '../../lib/dom.js';
import { TreeTable } from '../../table/treetable.js';
import { TreeRows, treeNode } from '../../table/treerows.js';
import { treeSearch } from '../../table/treesearch.js';
import { matcher } from '../../table/localrows.js';
import { fullName, figures } from '../../table/detail_parts.js';
import { pathTo, indexIn } from './tree.js';
import { setParams, traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./tree.js').ModuleTree} ModuleTree */
/** @typedef {import('../../table/treerows.js').TreeNode} TreeNode */

/** Rows that a tree shows at first, about. */
const AT_FIRST = 24;

/** @param {Trace} trace @param {ModuleTree} tree @param {string | null} device */
export function moduleTable(trace, tree, device) {
    const rows = new TreeRows();
    /** @type {TreeNode[]} */
    const nodes = [];
    /** @type {Map<Row, number>} */
    const places = new Map();
    tree.rows.forEach((row, index) => {
        const node = treeNode(/** @type {any} */ (row), row.parent === null ? null : nodes[row.parent], tree.children[index].length);
        nodes.push(node);
        places.set(node.row, index);
        (row.parent === null ? rows.roots : (nodes[row.parent].children ??= [])).push(node);
    });
    const branches = nodes.flatMap(({ count }, index) => (count ? [index] : []));
    const usual = atFirst(nodes);
    let params = new URLSearchParams();
    let at = -1;
    /** @type {number[]} */
    let matches = [];
    const table = new TreeTable({
        caption: 'Modules', columns: columns(tree, device), tree: rows, emptyText: 'No modules.',
        marked: (row) => places.get(row) === at || matches.includes(places.get(row) ?? -1),
        detail: (row) => detail(trace, tree, device, places.get(row) ?? 0),
        onFold: () => setParams({ open: written() }, { replace: true }),
    });
    const search = treeSearch({ label: 'Search modules', onStep: step });
    const all = h('button', { class: 'button', type: 'button', onclick: () => setParams({ open: 'all' }) }, 'Unfold all');
    const none = h('button', { class: 'button', type: 'button', onclick: () => setParams({ open: 'none' }) }, 'Fold all');
    const root = h('div', { class: 'row-table' }, h('div', { class: 'table-tools' }, search.root,
        h('div', { class: 'tools-end' }, branches.length ? [all, none] : null, h('a', { class: 'button', href: api.apiUrl(`traces/${trace.id}/modules`, { format: 'csv' }), download: '' }, 'CSV'))),
    search.note, h('div', { class: 'table-box' }, table.root));

    /** What is unfolded, for the URL. */
    function written() {
        const open = branches.filter((index) => nodes[index].unfolded);
        if (open.length === usual.length && open.every((index, place) => index === usual[place])) return null;
        return open.length === 0 ? 'none' : open.length === branches.length ? 'all' : open.join('.');
    }

    /** @param {string | null} text */
    function unfold(text) {
        const open = new Set(text === null ? usual : text === 'all' ? branches : text.split('.').map((part) => indexIn(part, tree)));
        nodes.forEach((node, index) => { node.unfolded = node.count > 0 && open.has(index); });
    }

    /** @param {1 | -1} way */
    function step(way) {
        if (matches.length === 0) return;
        const here = matches.indexOf(at);
        const next = here < 0 ? (way > 0 ? 0 : matches.length - 1) : (here + way + matches.length) % matches.length;
        setParams({ at: matches[next] }, { replace: true });
    }

    function find() {
        const q = params.get('q') ?? '';
        const matches_ = q ? matcher(q) : () => false;
        search.complain(matches_ ? null : `“${q}” is not a pattern.`);
        matches = matches_ ? nodes.flatMap(({ row: { name } }, index) => (matches_(name) ? [index] : [])) : [];
        const here = matches.indexOf(at);
        search.tell(q ? `${here < 0 ? '' : `${fmt.int(here + 1)} of `}${fmt.plural(matches.length, 'match', 'matches')}` : fmt.plural(nodes.length, 'module'), matches.length > 0);
    }

    return {
        root,
        /** @param {URLSearchParams} next */
        update(next) {
            const first = table.tree.visible.length === 0;
            const other = (/** @type {string} */ name) => first || next.get(name) !== params.get(name);
            const [folds, searched, moved] = [other('open') && next.get('open') !== written(), other('q'), other('at')];
            params = next;
            at = indexIn(params.get('at'), tree);
            search.show(params.get('q') ?? '');
            if (first || folds) unfold(params.get('open'));
            find();
            // Matches are in sight, whatever is folded.
            if (searched) matches.forEach((index) => rows.uncover(nodes[index]));
            if (first || folds || searched) table.change();
            else table.repaint();
            if (moved && at >= 0) table.bringIntoSight(nodes[at]);
            else if (searched && matches.length) table.bringIntoSight(nodes[matches[0]]);
        },
        destroy() {
            search.cancel();
            table.destroy();
        },
    };
}

/** As many levels as fit a first look. @param {TreeNode[]} nodes @returns {number[]} */
function atFirst(nodes) {
    let level = 1;
    const upTo = (/** @type {number} */ deep) => nodes.filter((node) => node.level <= deep).length;
    while (upTo(level + 1) > upTo(level) && upTo(level + 1) <= AT_FIRST) level += 1;
    // A lone top says nothing.
    level = Math.max(level, 2);
    return nodes.flatMap((node, index) => (node.count && node.level < level ? [index] : []));
}

/** @param {ModuleTree} tree @param {string | null} device @returns {Column[]} */
function columns(tree, device) {
    const most = (/** @type {keyof ModuleRow} */ key) => tree.rows.reduce((max, row) => Math.max(max, Number(row[key])), 1);
    const time = (/** @type {'host_total_ns'} */ key, /** @type {string} */ label, /** @type {number} */ priority, /** @type {string} */ help, /** @type {number} */ whole) => /** @type {Column} */ ({
        key, label, kind: 'time', family: 'time', width: 118, priority, help, sortable: false, bar: (row) => row[key] / whole });
    const times = (/** @type {'host' | 'device'} */ by, /** @type {string} */ word, /** @type {number} */ priority) => {
        const whole = most(/** @type {'host_total_ns'} */ (`${by}_total_ns`));
        return [time(/** @type {any} */ (`${by}_total_ns`), `${word} total`, priority, 'With what is inside; the bar is of the longest', whole), time(/** @type {any} */ (`${by}_self_ns`), `${word} self`, priority + 1, 'Without the modules inside; the bar is of the longest total', whole)];
    };
    return [
        { key: 'name', label: 'Module', kind: 'name', width: 340, priority: 0, sortable: false },
        { key: 'occurrences', label: 'Calls', kind: 'int', width: 72, priority: 5, sortable: false },
        { key: 'operators', label: 'Operators', kind: 'int', width: 86, priority: 6, help: 'That it calls itself', sortable: false },
        ...(device ? times('device', device, 1) : []),
        ...times('host', 'Host', device ? 3 : 1),
    ];
}

/** @param {Trace} trace @param {ModuleTree} tree @param {string | null} device @param {number} index */
function detail(trace, tree, device, index) {
    const row = tree.rows[index];
    const parent = row.parent === null ? null : tree.rows[row.parent];
    const each = (/** @type {number} */ ns) => (row.occurrences ? fmt.time(ns / row.occurrences) : '–');
    /** @type {[string, string][]} */
    const pairs = [['Calls', fmt.int(row.occurrences)], ['Operators it calls', fmt.int(row.operators)], ['Module id', fmt.int(row.module_id)]];
    if (device) pairs.push([`${device} a call, of it self`, `${each(row.device_total_ns)}, ${each(row.device_self_ns)}`]);
    pairs.push(['Host a call, of it self', `${each(row.host_total_ns)}, ${each(row.host_self_ns)}`]);
    if (device && parent?.device_total_ns) pairs.push([`Of ${parent.name} on the ${device}`, fmt.share(row.device_total_ns / parent.device_total_ns)]);
    if (parent?.host_total_ns) pairs.push([`Of ${parent.name} on the host`, fmt.share(row.host_total_ns / parent.host_total_ns)]);
    const box = h('div');
    fill(box, fullName(row.name), h('p', { class: 'quiet' }, pathTo(tree, index).map((at) => tree.rows[at].name).join(' / ')), figures(pairs),
        h('p', { class: 'actions' },
            h('button', { class: 'button small', type: 'button', onclick: () => setParams({ zoom: index, at: index }) }, 'Zoom the chart to it'),
            hasView(trace, 'calls') ? h('a', { class: 'button small', href: traceHref(trace.id, 'calls', { q: row.name }) }, 'Show in call tree') : null));
    return box;
}
