/** The calls of one thread, brought branch by branch as they are unfolded. */

import { TreeRows, treeNode, restNode } from '../../table/treerows.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('../../table/treerows.js').TreeNode} TreeNode */

/** Calls of a branch that come at once, and that come where a call far behind is looked for. */
const PAGE = 500;
const FAR = 5000;
/** A lone call leads on to what is in it, so many times. */
const LONE = 12;

export class CallBranches {
    /** @param {number} id of the trace @param {number} thread @param {AbortSignal} signal */
    constructor(id, thread, signal) {
        this.id = id;
        this.thread = thread;
        this.signal = signal;
        this.rows = new TreeRows();
        /** @type {Map<number, TreeNode>} */
        this.nodes = new Map();
    }

    /** The calls at the top. */
    async start() {
        this.rows.roots = await this.fetch(null, 0, PAGE);
        let [lone] = this.rows.roots.length === 1 ? this.rows.roots : [];
        for (let turn = 0; lone?.count && turn < LONE; turn += 1) {
            await this.load(lone);
            lone.unfolded = true;
            [lone] = lone.children?.length === 1 ? lone.children : [];
        }
        this.rows.refresh();
    }

    /** @param {TreeNode | null} parent null: the thread's root @param {number} offset @param {number} limit @returns {Promise<TreeNode[]>} */
    async fetch(parent, offset, limit) {
        const part = await api.calls(this.id, this.thread, { node: parent?.row.node, depth: 1, offset, limit }, this.signal);
        const list = part.rows.map((row) => {
            const node = treeNode(/** @type {any} */ (row), parent, row.children);
            this.nodes.set(row.node, node);
            return node;
        });
        const rest = part.children - offset - list.length;
        if (rest > 0 && list.length) list.push(restNode(parent, rest, `${fmt.int(rest)} more calls`));
        return list;
    }

    /** @param {TreeNode} node */
    async load(node) {
        node.children ??= await this.fetch(node, 0, PAGE);
    }

    /** The calls that the last row of a branch stands for. @param {TreeNode} rest @param {number} [limit] */
    async more(rest, limit = PAGE) {
        const list = rest.parent ? rest.parent.children : this.rows.roots;
        if (!list || list[list.length - 1] !== rest) return;
        const next = await this.fetch(rest.parent, list.length - 1, limit);
        if (list[list.length - 1] === rest) list.splice(list.length - 1, 1, ...next);
    }

    /** The call with this number, brought with all that is above it; null: the thread has it not in its tree. @param {number} wanted */
    async find(wanted) {
        const known = this.nodes.get(wanted);
        if (known) return known;
        const { path } = await api.calls(this.id, this.thread, { node: wanted, depth: 1, limit: 1 }, this.signal);
        /** @type {TreeNode | null} */
        let at = null;
        for (const { node } of path.slice(1)) {
            at = await this.child(at, node);
            if (!at) return null;
        }
        return at;
    }

    /** @param {TreeNode | null} parent @param {number} wanted @returns {Promise<TreeNode | null>} */
    async child(parent, wanted) {
        if (parent) await this.load(parent);
        const list = (parent ? parent.children : this.rows.roots) ?? [];
        // Calls are numbered in the order of the tree.
        for (let last = list[list.length - 1]; last?.rest && !this.nodes.has(wanted); last = list[list.length - 1]) await this.more(last, FAR);
        return this.nodes.get(wanted) ?? null;
    }
}
