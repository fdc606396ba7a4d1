/**
 * A tree in the long table: rows unfold by the right arrow key and fold by the left one, which then goes to the parent;
 * Enter opens a row in place as everywhere.
 */

import { h, icon, announce } from '../lib/dom.js';
import { VirtualTable, ROW } from './table.js';
import { bodyCell } from './table_cells.js';
import { nameText } from './columns.js';

/** @typedef {import('./treerows.js').TreeNode} TreeNode */

/** Deeper levels are told by a number instead of more room. */
const DEEPEST = 14;

/**
 * @typedef {import('./table.js').TableSettings & {
 *   tree: import('./treerows.js').TreeRows,
 *   load?: (node: TreeNode) => Promise<void>,
 *   more?: (node: TreeNode) => Promise<void>,
 *   onFold?: () => void,
 *   onError?: (error: unknown) => void,
 *   marked: (row: Row) => boolean,
 *   nameNode?: (row: Row) => any,
 * }} TreeSettings
 *     load: brings a branch; more: brings the siblings that a row stands for; onError: where that fails;
 *     onFold: after the user has folded or unfolded
 */

export class TreeTable extends VirtualTable {
    /** @param {Omit<TreeSettings, 'rows' | 'sort' | 'order' | 'onSort' | 'chosen'>} settings */
    constructor(settings) {
        super({ ...settings, rows: settings.tree, chosen: null, sort: '', order: '', onSort: () => {} });
        this.of = settings;
        this.tree = settings.tree;
        this.table.setAttribute('role', 'treegrid');
        this.table.classList.add('tree-table');
    }

    /** @param {number} index @param {Row} row */
    line(index, row) {
        const node = this.tree.visible[index];
        const marked = this.of.marked(row);
        const line = h('tr', {
            'aria-rowindex': index + 2, 'aria-level': node.level, 'aria-expanded': node.count ? String(node.unfolded) : null, 'aria-selected': marked ? 'true' : null,
            class: [this.open.has(index) ? 'opened' : '', marked ? 'marked' : '', node.rest ? 'rest' : ''].join(' ').trim() || null,
        });
        if (node.rest) line.append(h('th', { scope: 'row', class: 'kind-name', colspan: this.shown.length }, this.handle(index, node)));
        else line.append(...this.shown.map((column) => (column.kind === 'name' ? h('th', { scope: 'row', class: 'kind-name' }, this.handle(index, node)) : bodyCell(column, row, this.units, undefined))));
        return line;
    }

    /** @param {number} index @param {TreeNode} node */
    handle(index, node) {
        const twist = h('span', { class: node.unfolded ? 'twist unfolded' : 'twist', 'aria-hidden': 'true', onclick: (/** @type {Event} */ event) => {
            if (node.count === 0) return;
            event.stopPropagation();
            this.focusRow(index);
            this.fold(node, !node.unfolded);
        } }, node.count ? icon('chevron') : null);
        const inside = node.count ? `, ${node.count} inside` : '';
        const button = h('button', {
            class: 'row-toggle', type: 'button', 'data-tip': node.row.name, 'data-row': index, tabindex: index === this.cursor ? '0' : '-1',
            'aria-expanded': node.rest ? null : String(this.open.has(index)), onclick: () => this.act(index),
        }, twist, node.level > DEEPEST ? h('span', { class: 'level', 'aria-hidden': 'true' }, String(node.level)) : null,
        node.rest ? h('span', null, node.row.name) : (this.of.nameNode ?? ((/** @type {Row} */ row) => nameText(row.name)))(node.row),
        h('span', { class: 'visually-hidden' }, `, level ${node.level}${inside}`));
        button.style.setProperty('--level', String(Math.min(DEEPEST, node.level) - 1));
        return button;
    }

    /** @param {number} index */
    act(index) {
        const node = this.tree.visible[index];
        if (node?.rest) {
            this.focusRow(index);
            this.bring(node, () => this.of.more?.(node));
        } else this.toggle(index);
    }

    /** @param {TreeNode} node @param {() => Promise<void> | undefined} work */
    async bring(node, work) {
        const line = this.drawn.get(this.tree.visible.indexOf(node));
        line?.setAttribute('aria-busy', 'true');
        try {
            await work();
        } catch (error) {
            this.of.onError?.(error);
        }
        line?.removeAttribute('aria-busy');
        this.change();
    }

    /** @param {TreeNode} node @param {boolean} unfolded */
    async fold(node, unfolded) {
        if (unfolded && !node.children) await this.bring(node, () => this.of.load?.(node));
        node.unfolded = unfolded && node.children !== null;
        this.change();
        announce(`${node.row.name} ${node.unfolded ? 'unfolded' : 'folded'}`);
        this.of.onFold?.();
    }

    /** Other rows are unfolded now: opened rows and the keyboard stay with their nodes. */
    change() {
        const before = this.tree.visible;
        const opened = [...this.open].map(([index, entry]) => ({ node: before[index], entry }));
        /** @type {TreeNode | null} */
        let current = before[this.cursor] ?? null;
        const hadFocus = this.body.contains(document.activeElement) && document.activeElement?.classList.contains('row-toggle');
        this.tree.refresh();
        const places = new Map(this.tree.visible.map((node, index) => [node, index]));
        this.open = new Map(opened.flatMap(({ node, entry }) => {
            const index = places.get(node);
            return index === undefined ? [] : [[index, entry]];
        }));
        while (current && !places.has(current)) current = current.parent;
        this.cursor = current ? (places.get(current) ?? 0) : 0;
        this.units.learn(this.settings.columns, this.tree.visible.flatMap(({ row, rest }) => (rest ? [] : [row])));
        this.layout();
        if (hadFocus) this.focusRow(this.cursor);
    }

    /** Draws the rows anew: others are marked. */
    repaint() {
        const hadFocus = this.body.contains(document.activeElement) && document.activeElement?.classList.contains('row-toggle');
        this.layout();
        if (hadFocus) this.focusRow(this.cursor);
    }

    /** Rows that are taken away to be drawn anew must not move what is in sight. */
    layout() {
        const { scrollTop } = this.root;
        super.layout();
        if (this.root.scrollTop === scrollTop) return;
        this.root.scrollTop = scrollTop;
        this.draw();
    }

    /** Brings a node into sight, unfolding what is above it. @param {TreeNode} node */
    bringIntoSight(node) {
        this.tree.uncover(node);
        this.change();
        const index = this.tree.visible.indexOf(node);
        if (index < 0) return;
        const top = index * ROW + this.openedBefore(index);
        const { scrollTop, clientHeight } = this.root;
        if (top < scrollTop || top + 2 * ROW > scrollTop + clientHeight) this.root.scrollTop = Math.max(0, top - clientHeight / 3);
        this.cursor = index;
        this.repaint();
    }

    /** @param {KeyboardEvent} event */
    onKey(event) {
        const row = event.target instanceof HTMLElement && event.target.classList.contains('row-toggle') ? Number(event.target.dataset.row) : -1;
        // The keyboard is where it was put, by whatever means.
        if (row >= 0 && row !== this.cursor) this.focusRow(row);
        const node = this.tree.visible[this.cursor];
        if (row < 0 || !node || (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft')) {
            super.onKey(event);
            return;
        }
        event.preventDefault();
        if (event.key === 'ArrowRight') {
            if (node.unfolded) this.focusRow(this.cursor + 1);
            else if (node.count) this.fold(node, true);
        } else if (node.unfolded) this.fold(node, false);
        else if (node.parent) this.focusRow(this.tree.visible.indexOf(node.parent));
    }
}
