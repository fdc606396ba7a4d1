/** Two traces by their call trees: what was matched with what, level by level, and the operators below each node. */

import { h, fill, icon } from '../../lib/dom.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import { showFailure, skeleton } from '../../lib/states.js';
import { SIDES, SIDE_WORDS, sideName } from '../comparison/sides.js';
import { BLANK, ROOT, nodeName, placesOf } from './places.js';
import { changeText, deltaText, diffTable, measuresOf } from './rows.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const PAGE = 200;

/** @typedef {'total_ns' | 'host_ns'} Time */

/**
 * @param {Sides<string>} traces
 * @param {string} device "GPU"
 * @param {AbortSignal} signal
 */
export function treeDiff(traces, device, signal) {
    /** Levels once fetched, by path. @type {Map<string, DiffNode>} */
    const known = new Map();
    const crumbs = h('nav', { class: 'crumb-line', 'aria-label': 'Place in the tree' });
    const level = h('div', null, skeleton('rows'));
    const operators = h('section', { class: 'section tree-operators' });
    const times = segmented('Time of a node', [{ value: 'total_ns', label: `${device} or host` }, { value: 'host_ns', label: 'Host' }], (value) => setParams({ time: value === 'total_ns' ? null : value }));
    const orders = segmented('Order', [{ value: '', label: 'Largest change first' }, { value: 'place', label: 'In order' }], (value) => setParams({ by: value }));
    const root = h('div', { class: 'diff-body' },
        h('section', { class: 'section panel' }, h('div', { class: 'section-head' },
            h('h2', { 'data-tip': 'Modules, optimizers, data loaders, steps and backward passes of the same name are matched, in their order; what is between them is laid side by side' }, 'By call tree'),
            h('div', { class: 'panel-tools' }, orders.root, times.root)), crumbs, level), operators);
    /** @type {ReturnType<typeof diffTable> | undefined} */
    let table;
    let path = '';
    let drawn = '';
    let turn = 0;
    let moved = false;

    /** @param {string} at */
    async function fetchNode(at) {
        const node = known.get(at) ?? await api.diffTree(traces.base, traces.candidate, at, signal);
        known.set(at, node);
        return node;
    }

    /** @param {string} next @param {Time} time @param {string} order @param {URLSearchParams} params */
    async function show(next, time, order, params) {
        turn += 1;
        const mine = turn;
        const above = ancestors(next);
        try {
            const nodes = await Promise.all([...above, next].map(fetchNode));
            if (mine !== turn) return;
            const node = nodes[nodes.length - 1];
            paintCrumbs(nodes);
            paintLevel(node, time, order);
            if (path !== next) paintOperators(node);
            path = next;
            table?.update(params);
        } catch (error) {
            drawn = '';
            path = '';
            if (mine === turn) {
                fill(operators);
                showFailure(level, error, () => show(next, time, order, params));
            }
        }
    }

    /** @param {DiffNode[]} nodes from the root down */
    function paintCrumbs(nodes) {
        fill(crumbs, h('ol', { class: 'crumbs' }, nodes.map((node, index) => h('li', null, index === nodes.length - 1
            ? h('span', { 'aria-current': 'true' }, nodeName(node))
            : h('button', { class: 'link', type: 'button', onclick: () => descend(node.path) }, nodeName(node))))));
    }

    /** @param {string} to */
    function descend(to) {
        moved = true;
        setParams({ path: to === ROOT ? null : to, row: null });
    }

    /** @param {DiffNode} node @param {Time} time @param {string} order */
    function paintLevel(node, time, order) {
        const children = [...node.children];
        if (order === '') children.sort((a, b) => Math.abs(deltaOf(b, time)) - Math.abs(deltaOf(a, time)));
        let count = PAGE;
        const paint = () => fill(level, children.length ? levelTable(children.slice(0, count), children, node, time) : h('p', { class: 'quiet' }, 'Nothing below this node was matched. Its operators are listed here:'),
            children.length > count ? h('p', null, h('button', { class: 'button small', type: 'button', onclick: () => {
                count += PAGE;
                paint();
            } }, `Show ${Math.min(PAGE, children.length - count)} more of ${fmt.int(children.length - count)}`)) : null);
        paint();
        if (!moved) return;
        // Whoever went down by keyboard goes on from the first child, or from the way back.
        moved = false;
        const target = level.querySelector('.tree-child') ?? crumbs.querySelector('button');
        if (target instanceof HTMLElement) target.focus();
    }

    /** @param {DiffChild[]} shown @param {DiffChild[]} all @param {DiffNode} node @param {Time} time */
    function levelTable(shown, all, node, time) {
        const most = all.reduce((max, child) => Math.max(max, child.base[time], child.candidate[time]), 1);
        const unit = fmt.timeUnit(Math.max(node.base[time], node.candidate[time], most));
        const places = placesOf(node);
        return h('table', { class: 'tree-level' }, h('caption', { class: 'visually-hidden' }, `Below ${nodeName(node)}`),
            h('thead', null, h('tr', null, h('th', { scope: 'col', class: 'col-name' }, fmt.plural(all.length, 'node')),
                h('th', { scope: 'col' }, h('span', { class: 'side-key' }, SIDES.map((side) => sideName(side, SIDE_WORDS[side])))),
                SIDES.map((side) => h('th', { scope: 'col', class: 'col-value' }, SIDE_WORDS[side])), h('th', { scope: 'col', class: 'col-value' }, 'Δ'), h('th', { scope: 'col', class: 'col-change' }, 'Change'))),
            h('tbody', null, shown.map((child) => h('tr', null,
                h('th', { scope: 'row', class: 'col-name' }, childName(child, /** @type {import('./places.js').Place} */ (places.get(child)))),
                h('td', null, h('span', { class: 'tree-bars', 'aria-hidden': 'true' }, SIDES.map((side) => bar(side, child[side], time, most)))),
                SIDES.map((side) => h('td', { class: 'col-value' }, child[side].name === BLANK ? '–' : fmt.time(child[side][time], unit))),
                h('td', { class: 'col-value' }, deltaText(deltaOf(child, time), unit)),
                h('td', { class: 'col-change' }, changeText(child.base[time] > 0 ? deltaOf(child, time) / child.base[time] : null))))));
    }

    /** @param {DiffChild} child @param {import('./places.js').Place} at */
    function childName(child, { place, named }) {
        const own = nodeName(child);
        const name = h('span', { class: 'tree-name' }, named ? [place && `${place}: `, own] : [place, h('span', { class: 'quiet' }, ` (${own})`)]);
        // A node without children has operators, which are worth a look too.
        return h('button', { class: 'tree-child', type: 'button', 'data-path': child.path, onclick: () => descend(child.path) }, child.children ? icon('chevron') : h('span', { class: 'tree-none', 'aria-hidden': 'true' }), name);
    }

    /** @param {DiffNode} node */
    function paintOperators(node) {
        table?.destroy();
        const rows = operatorRows(node);
        const hasDevice = rows.some((row) => row.base_device_ns > 0 || row.candidate_device_ns > 0);
        const measures = measuresOf('operators', device, hasDevice, 'total');
        table = diffTable(rows, { table: 'operators', by: measures[0], measures, per: 'total', file: `diff-${traces.base}-${traces.candidate}-node-${node.path}.csv`, links: { base: Number(traces.base), candidate: Number(traces.candidate) } });
        fill(operators, h('h2', null, `Operators in ${nodeName(node)}`), table.root);
    }

    return {
        root,
        /** @param {URLSearchParams} params */
        async update(params) {
            const next = params.get('path') ?? ROOT;
            const time = params.get('time') === 'host_ns' ? 'host_ns' : 'total_ns';
            const order = params.get('by') === 'place' ? 'place' : '';
            times.show(time);
            orders.show(order);
            const wanted = [next, time, order].join(' ');
            if (wanted === drawn) return table?.update(params);
            drawn = wanted;
            return show(next, time, order, params);
        },
        destroy() {
            turn += 1;
            table?.destroy();
        },
    };
}

/** "0-3-1" is below "0-3", which is below "0". @param {string} path */
function ancestors(path) {
    const parts = path.split('-');
    return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('-'));
}

/** @param {DiffNode | DiffChild} node @param {Time} time */
const deltaOf = (node, time) => node.candidate[time] - node.base[time];

/** @param {import('../comparison/sides.js').Side} side @param {DiffSide} figures @param {Time} time @param {number} most */
function bar(side, figures, time, most) {
    const node = h('span', { class: `beta-bar side-${side}${figures.name === BLANK ? ' none' : ''}` });
    node.style.setProperty('--w', `${(100 * figures[time]) / most}%`);
    return node;
}

/** Operators of both sides of a node, by name. @param {DiffNode} node @returns {DiffRow[]} */
function operatorRows({ base, candidate }) {
    const fields = /** @type {(keyof DiffOperator & string)[]} */ (['calls', 'host_ns', 'host_self_ns', 'device_ns', 'device_self_ns']);
    const sides = { base: byName(base), candidate: byName(candidate) };
    return [...new Set([...sides.base.keys(), ...sides.candidate.keys()])].map((name) => {
        const [a, b] = [sides.base.get(name), sides.candidate.get(name)];
        /** @type {DiffRow} */
        const row = { name, presence: a && b ? 'both' : a ? 'removed' : 'added', change: null };
        for (const field of fields) {
            const [from, to] = [Number(a?.[field] ?? 0), Number(b?.[field] ?? 0)];
            Object.assign(row, { [`base_${field}`]: from, [`candidate_${field}`]: to, [`delta_${field}`]: to - from });
        }
        return row;
    });
}

/** @param {DiffSide} side */
const byName = ({ operators = [] }) => new Map(operators.map((operator) => [operator.name, operator]));
