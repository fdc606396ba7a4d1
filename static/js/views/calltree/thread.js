/** The tree of one thread: search, the path to the chosen call, rows. */

import { h, fill } from '../../lib/dom.js';
import { TreeTable } from '../../table/treetable.js';
import { treeSearch } from '../../table/treesearch.js';
import { setParams } from '../../app/router.js';
import { isAbort } from '../../lib/api.js';
import { skeleton } from '../../lib/states.js';
import { CallBranches } from './branches.js';
import { callColumns, callDetail } from './row.js';
import { nameText } from '../../table/columns.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @param {Trace} trace @param {CallThread} thread @param {AbortSignal} signal */
export function callThread(trace, thread, signal) {
    const branches = new CallBranches(trace.id, thread.thread, signal);
    let params = new URLSearchParams();
    /** @type {CallMatches} */
    let matches = { rows: [], total: 0 };
    let searched = '';
    let started = false;
    /** The chosen call, -1: none. */
    let at = -1;
    const parentTime = (/** @type {Row} */ row) => branches.nodes.get(row.parent)?.row.duration_ns ?? thread.end_ns - thread.start_ns;
    const table = new TreeTable({
        caption: 'Calls', columns: callColumns(trace, parentTime), tree: branches.rows, emptyText: 'No calls on this thread.',
        load: (node) => branches.load(node), more: (node) => branches.more(node), onError: complain,
        marked: (row) => row.node === at, nameNode: (row) => [nameText(row.name), row.partner ? h('span', { class: 'has-partner', 'aria-hidden': 'true' }, '⇄') : null], detail: (row) => callDetail(trace, /** @type {any} */ (row)),
        onToggle: () => table.open.has(table.cursor) && setParams({ node: table.tree.visible[table.cursor].row.node }, { replace: true }),
    });
    const search = treeSearch({ label: 'Search calls', onStep: step });
    const path = h('nav', { class: 'tree-path', 'aria-label': 'Path to the chosen call', hidden: true });
    const box = h('div', { class: 'table-box' }, skeleton('rows'));
    const root = h('div', { class: 'row-table' }, h('div', { class: 'table-tools' }, search.root), search.note, path, box);

    /** @param {unknown} error */
    function complain(error) {
        if (!isAbort(error)) search.complain(error instanceof Error ? error.message : String(error));
    }

    const place = () => matches.rows.findIndex(({ node }) => node === at);

    /** @param {1 | -1} way */
    function step(way) {
        const { length } = matches.rows;
        if (length === 0) return;
        const here = place();
        // From a call that is no match to the next one in the order of the tree.
        const behind = matches.rows.findIndex(({ node }) => node > at);
        const next = here >= 0 ? here + way : way > 0 ? (behind < 0 ? 0 : behind) : (behind < 0 ? length : behind) - 1;
        setParams({ node: matches.rows[(next + length) % length].node }, { replace: true });
    }

    function tell() {
        const here = place();
        const reach = matches.total > matches.rows.length ? `, the first ${fmt.int(matches.rows.length)} of them one by one` : '';
        search.tell(searched ? `${here < 0 ? '' : `${fmt.int(here + 1)} of `}${fmt.plural(matches.total, 'match', 'matches')}${reach}` : fmt.plural(thread.nodes - 1, 'call'), matches.rows.length > 0);
    }

    /** @param {string} q */
    async function find(q) {
        searched = q;
        search.complain(null);
        /** @type {CallMatches} */
        let found = { rows: [], total: 0 };
        try {
            if (q) found = await api.findCalls(trace.id, thread.thread, q, signal);
        } catch (error) {
            if (q === searched) complain(error);
        }
        if (q !== searched) return;
        matches = found;
        const named = Number(params.get('node') ?? -1);
        if (matches.rows.length && !matches.rows.some(({ node }) => node === named)) setParams({ node: matches.rows[0].node }, { replace: true });
    }

    /** @param {number} node */
    async function choose(node) {
        at = node;
        if (node < 0) {
            table.repaint();
            paintPath([]);
            return;
        }
        try {
            const found = await branches.find(node);
            if (node !== at || !found) return;
            table.bringIntoSight(found);
            const above = [];
            for (let next = found.parent; next; next = next.parent) above.unshift(next);
            paintPath([...above, found]);
        } catch (error) {
            if (node === at) complain(error);
        }
    }

    /** @param {import('../../table/treerows.js').TreeNode[]} nodes */
    function paintPath(nodes) {
        path.hidden = nodes.length < 2;
        fill(path, h('ol', null, nodes.map(({ row }, index) => h('li', null, index === nodes.length - 1 ? h('span', { 'aria-current': 'true' }, nameText(row.name))
            : h('button', { class: 'link', type: 'button', 'data-tip': row.name, onclick: () => setParams({ node: row.node }) }, nameText(row.name))))));
    }

    return {
        root,
        /** @param {URLSearchParams} next */
        async update(next) {
            params = next;
            const q = params.get('q') ?? '';
            search.show(q);
            const first = !started;
            if (first) {
                started = true;
                await branches.start();
                fill(box, table.root);
                table.change();
            }
            if (q !== searched) await find(q);
            const text = params.get('node') ?? '';
            const node = /^\d{1,10}$/.test(text) ? Number(text) : -1;
            if (node !== at) {
                await choose(node);
                // A link to a call opens it; a walk through matches only passes by.
                if (node === at && !q) open(node);
            }
            tell();
        },
        destroy() {
            search.cancel();
            table.destroy();
        },
    };

    /** @param {number} node */
    function open(node) {
        const index = table.tree.visible.findIndex(({ row }) => row.node === node);
        if (index >= 0 && !table.open.has(index)) table.toggle(index);
    }
}
