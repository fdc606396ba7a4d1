/**
 * A long table of which only the rows in sight exist. It stays a <table> for screen readers (row numbers by
 * aria-rowindex), its heads are buttons that sort, its first cells are buttons that open a row in place.
 */

import { h, fill } from '../lib/dom.js';
import { readAhead } from './ahead.js';
import { Units, visibleColumns } from './columns.js';
import { onPrint, PRINTED } from './table_print.js';
import { headCell, bodyCell, detailLine, emptyLine, waitingLine, widthsOf, spacer, setHeight } from './table_cells.js';

/** Height of a row. */
export const ROW = 32;
/** Rows drawn above and below the sight, so that scrolling shows no gap. */
const SPARE = 12;

/**
 * @typedef {{
 *   caption: string, columns: Column[], rows: RowSource,
 *   chosen: string[] | null, sort: string, order: string,
 *   onSort: (sort: string, order: string) => void,
 *   detail?: (row: Row) => HTMLElement,
 *   href?: (row: Row) => string,
 *   onToggle?: () => void,
 *   emptyText: string,
 * }} TableSettings
 */

export class VirtualTable {
    /** @param {TableSettings} settings */
    constructor(settings) {
        this.settings = settings;
        this.units = new Units();
        /** @type {Column[]} */
        this.shown = [];
        /** Opened rows and their heights. @type {Map<number, {height: number, node: HTMLElement}>} */
        this.open = new Map();
        /** @type {Map<number, HTMLTableRowElement>} */
        this.drawn = new Map();
        this.cursor = 0;
        this.frame = 0;
        /** Where the keyboard goes as soon as the row is there; -1: nowhere. */
        this.awaited = -1;
        this.ahead = readAhead(settings.rows);
        this.head = h('thead');
        this.body = h('tbody');
        this.group = h('colgroup');
        this.above = spacer();
        this.below = spacer();
        this.table = h('table', { class: 'data-table' }, h('caption', { class: 'visually-hidden' }, settings.caption), this.group, this.head, this.body);
        this.root = h('div', { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': settings.caption }, this.table);
        this.root.addEventListener('scroll', () => this.schedule());
        this.root.addEventListener('keydown', (event) => this.onKey(event));
        this.sizes = new ResizeObserver(() => this.onResize());
        this.sizes.observe(this.root);
        this.printing = false;
        this.endPrint = onPrint(this.root, () => settings.rows.total, (printing) => {
            this.printing = printing;
            this.draw();
        });
        settings.rows.onRows = () => this.draw();
    }

    /** New rows, order or columns: draws from the top. @param {Row[]} first the first rows, for the units */
    reset(first) {
        this.units.learn(this.settings.columns, first);
        this.open.clear();
        this.cursor = 0;
        this.root.scrollTop = 0;
        this.layout();
    }

    /** @param {Partial<TableSettings>} patch */
    set(patch) {
        Object.assign(this.settings, patch);
    }

    onResize() {
        const next = visibleColumns(this.settings.columns, this.root.clientWidth, this.settings.chosen);
        if (next.length !== this.shown.length) this.layout();
        else this.schedule();
    }

    layout() {
        this.shown = visibleColumns(this.settings.columns, this.root.clientWidth, this.settings.chosen);
        this.group.replaceChildren(...widthsOf(this.shown));
        const fixed = this.shown.reduce((sum, column) => sum + (column.kind === 'name' ? 0 : column.width), 0);
        this.table.style.minWidth = `${fixed + Math.min(140, this.shown[0].width)}px`;
        const focused = this.head.contains(document.activeElement) ? document.activeElement?.getAttribute('data-sort') : null;
        fill(this.head, h('tr', { 'aria-rowindex': '1' }, this.shown.map((column) => this.headOf(column))));
        const head = focused && this.head.querySelector(`[data-sort="${focused}"]`);
        if (head instanceof HTMLElement) head.focus();
        this.table.setAttribute('aria-rowcount', String(this.settings.rows.total + 1));
        this.drawn.clear();
        const none = this.settings.rows.total === 0;
        this.body.replaceChildren(this.above, this.below);
        if (none) this.body.replaceChildren(emptyLine(this.shown.length, this.settings.emptyText));
        else this.draw();
    }

    /** @param {Column} column */
    headOf(column) {
        const { sort, order, onSort } = this.settings;
        return headCell(column, this.units, sort === column.key ? order : '', (next) => onSort(column.key, next));
    }

    schedule() {
        cancelAnimationFrame(this.frame);
        this.frame = requestAnimationFrame(() => this.draw());
    }

    /** Height of all opened rows before this one. @param {number} index */
    openedBefore(index) {
        let sum = 0;
        for (const [at, { height }] of this.open) if (at < index) sum += height;
        return sum;
    }

    /** @param {number} top in the body @returns {number} the row at that height */
    rowAt(top) {
        let index = Math.floor(top / ROW);
        // Opened rows push the others down: a few steps find the row, as few are open at once.
        for (let turn = 0; turn < 3; turn += 1) index = Math.floor((top - this.openedBefore(index)) / ROW);
        return Math.max(0, index);
    }

    /** The first and the last row to be drawn. */
    range() {
        const [top, last] = [this.root.scrollTop, this.settings.rows.total - 1];
        if (this.printing) return [0, Math.min(last, PRINTED - 1)];
        return [Math.max(0, this.rowAt(top) - SPARE), Math.min(last, this.rowAt(top + this.root.clientHeight) + SPARE)];
    }

    draw() {
        const { rows } = this.settings;
        if (rows.total === 0) return;
        const [from, to] = this.range();
        this.ahead.look(from, to);
        this.drop(from, to);
        /** @type {Node} */
        let after = this.above;
        for (let index = from; index <= to; index += 1) {
            let line = this.drawn.get(index);
            const row = rows.row(index);
            if (!line || (row && line.dataset.waiting)) {
                const fresh = row ? this.line(index, row) : waitingLine(index, this.shown.length);
                line?.replaceWith(fresh);
                line = fresh;
                this.drawn.set(index, line);
            }
            if (after.nextSibling !== line) this.body.insertBefore(line, after.nextSibling);
            after = line;
            const opened = this.open.get(index);
            if (opened) {
                if (after.nextSibling !== opened.node) this.body.insertBefore(opened.node, after.nextSibling);
                after = opened.node;
            }
        }
        setHeight(this.above, from * ROW + this.openedBefore(from));
        setHeight(this.below, (rows.total - 1 - to) * ROW + this.openedBefore(Infinity) - this.openedBefore(to + 1));
        if (this.root.contains(document.activeElement)) this.focusAwaited();
        else this.awaited = -1;
    }

    /** Takes rows out of sight away; the keyboard's place falls back to the box. @param {number} from @param {number} to */
    drop(from, to) {
        const gone = [...this.drawn].filter(([index]) => index < from || index > to);
        // Before they go: the browser lays the box out for it, and one that is too low for a moment it would scroll up.
        if (gone.some(([index, line]) => [line, this.open.get(index)?.node].some((node) => node?.contains(document.activeElement)))) this.root.focus({ preventScroll: true });
        for (const [index, line] of gone) {
            line.remove();
            this.open.get(index)?.node.remove();
            this.drawn.delete(index);
        }
    }

    /** @param {number} index @param {Row} row */
    line(index, row) {
        const { detail, href } = this.settings;
        const toggle = detail || href ? { open: this.open.has(index), current: index === this.cursor, index, act: () => this.toggle(index), href: href?.(row) ?? null } : undefined;
        return h('tr', { 'aria-rowindex': index + 2, class: this.open.has(index) ? 'opened' : null },
            this.shown.map((column) => bodyCell(column, row, this.units, toggle)));
    }

    /** Opens or closes a row in place. @param {number} index */
    toggle(index) {
        const row = this.settings.rows.row(index);
        if (!row || !this.settings.detail) return;
        const opened = this.open.get(index);
        if (opened) {
            opened.node.remove();
            this.open.delete(index);
        } else {
            this.open.set(index, detailLine(this.shown.length, this.settings.detail(row), () => this.schedule()));
        }
        this.drawn.get(this.cursor)?.querySelector('.row-toggle')?.setAttribute('tabindex', '-1');
        this.cursor = index;
        const line = this.drawn.get(index);
        line?.querySelector('.row-toggle')?.setAttribute('tabindex', '0');
        line?.classList.toggle('opened', !opened);
        line?.querySelector('.row-toggle')?.setAttribute('aria-expanded', String(!opened));
        this.draw();
        this.settings.onToggle?.();
    }

    /** Opens the row and brings it into sight. @param {number} index */
    reveal(index) {
        if (!this.open.has(index)) this.toggle(index);
        const top = index * ROW + this.openedBefore(index);
        if (top < this.root.scrollTop || top > this.root.scrollTop + this.root.clientHeight / 2) this.root.scrollTop = top;
        this.draw();
    }

    /** @param {KeyboardEvent} event */
    onKey(event) {
        const target = event.target instanceof HTMLElement ? event.target : null;
        const onRow = target?.classList.contains('row-toggle');
        if (!(this.settings.detail || this.settings.href) || (!onRow && target !== this.root)) return;
        const page = Math.max(1, Math.floor(this.root.clientHeight / ROW) - 2);
        /** @type {Record<string, number>} */
        const moves = { ArrowDown: this.cursor + 1, ArrowUp: this.cursor - 1, PageDown: this.cursor + page, PageUp: this.cursor - page,
            Home: 0, End: this.settings.rows.total - 1 };
        const isOpen = this.open.has(this.cursor);
        if (event.key in moves) this.focusRow(onRow || this.awaited >= 0 ? moves[event.key] : this.cursor);
        else if (onRow && this.settings.detail && ((event.key === 'ArrowRight' && !isOpen) || (event.key === 'ArrowLeft' && isOpen) || (event.key === 'Escape' && isOpen))) {
            this.toggle(this.cursor);
        } else return;
        event.preventDefault();
    }

    /** @param {number} index */
    focusRow(index) {
        const to = Math.max(0, Math.min(this.settings.rows.total - 1, index));
        this.drawn.get(this.cursor)?.querySelector('.row-toggle')?.setAttribute('tabindex', '-1');
        this.cursor = to;
        const top = to * ROW + this.openedBefore(to);
        const headHeight = this.head.offsetHeight;
        if (top < this.root.scrollTop) this.root.scrollTop = top;
        else if (top + ROW > this.root.scrollTop + this.root.clientHeight - headHeight) this.root.scrollTop = top + ROW - this.root.clientHeight + headHeight;
        this.draw();
        this.awaited = to;
        this.focusAwaited();
    }

    focusAwaited() {
        const button = this.drawn.get(this.awaited)?.querySelector('.row-toggle');
        if (!(button instanceof HTMLElement)) return;
        this.awaited = -1;
        button.tabIndex = 0;
        button.focus({ preventScroll: true });
    }

    /** The rows are their owner's. */
    destroy() {
        this.sizes.disconnect();
        cancelAnimationFrame(this.frame);
        this.ahead.cancel();
        this.endPrint();
    }
}
