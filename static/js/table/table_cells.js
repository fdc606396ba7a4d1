/** Cells of the long table. */

import { h, icon } from '../lib/dom.js';
import { cellText, nameText, valueOf } from './columns.js';

/** @typedef {import('./columns.js').Units} Units */

/**
 * @param {Column} column
 * @param {Units} units
 * @param {string} order the present one, '' when the table is sorted by another column
 * @param {(next: string) => void} onSort
 */
export function headCell(column, units, order, onSort) {
    const next = order ? (order === 'desc' ? 'asc' : 'desc') : firstOrder(column);
    const name = column.kind === 'time' || column.kind === 'delta' ? units.of(column).name : column.kind === 'size' ? units.ofSize(column).name : '';
    const unit = name ? h('span', { class: 'unit' }, name) : null;
    const label = [column.label, unit && ' ', unit];
    return h('th', {
        scope: 'col', class: `kind-${column.kind}`,
        'aria-sort': order ? (order === 'desc' ? 'descending' : 'ascending') : null,
    }, column.sortable === false ? h('span', { class: 'head-text', 'data-tip': column.help }, label)
        : h('button', { class: 'sort', type: 'button', 'data-sort': column.key, 'data-tip': column.help, onclick: () => onSort(next) }, label));
}

/** Figures are looked at from the largest, texts from A. @param {Column} column */
const firstOrder = (column) => (column.kind === 'name' || column.kind === 'text' ? 'asc' : 'desc');

/**
 * @param {Column} column
 * @param {Row} row
 * @param {Units} units
 * @param {{open: boolean, current: boolean, index: number, act: () => void, href: string | null} | undefined} toggle of rows that open or lead somewhere
 */
export function bodyCell(column, row, units, toggle) {
    if (column.kind === 'name') return nameCell(String(valueOf(column, row) ?? ''), toggle);
    const cell = h('td', { class: `kind-${column.kind}` }, cellText(column, row, units));
    if (column.kind === 'share' || column.kind === 'delta') cell.style.setProperty('--w', `${100 * units.bar(column, valueOf(column, row) ?? 0)}%`);
    if (column.bar) {
        cell.classList.add('barred');
        cell.style.setProperty('--w', `${100 * Math.max(0, Math.min(1, column.bar(row)))}%`);
    }
    if (column.kind === 'delta') cell.classList.toggle('less', (valueOf(column, row) ?? 0) < 0);
    if (column.kind === 'text') cell.dataset.tip = cell.textContent ?? '';
    return cell;
}

/** @param {string} name @param {Parameters<typeof bodyCell>[3]} toggle */
function nameCell(name, toggle) {
    const text = nameText(name);
    if (!toggle) return h('th', { scope: 'row', class: 'kind-name', 'data-tip': name }, text);
    // One row is in the tab order, the one the arrow keys left.
    const shared = { class: 'row-toggle', 'data-tip': name, 'data-row': toggle.index, tabindex: toggle.current ? '0' : '-1' };
    return h('th', { scope: 'row', class: 'kind-name' }, toggle.href ? h('a', { ...shared, href: toggle.href }, text)
        : h('button', { ...shared, type: 'button', 'aria-expanded': String(toggle.open), onclick: toggle.act }, icon('chevron'), text));
}

/** @param {Column[]} columns the one of names takes what the others leave */
export const widthsOf = (columns) => columns.map((column) => {
    const col = h('col');
    if (column.kind !== 'name') col.style.width = `${column.width}px`;
    return col;
});

/** @param {number} columns @param {string} text */
export const emptyLine = (columns, text) => h('tr', null, h('td', { class: 'table-empty', colspan: columns }, text));

/**
 * Stands below a row that is open. Its height is known when it is drawn, and changes when its own data has come.
 * @param {number} columns @param {HTMLElement} content @param {() => void} onHeight
 */
export function detailLine(columns, content, onHeight) {
    const node = h('tr', { class: 'detail' }, h('td', { colspan: columns }, h('div', { class: 'detail-box' }, content)));
    const line = { height: 0, node };
    new ResizeObserver(() => {
        if (!node.isConnected) return;
        line.height = node.offsetHeight;
        onHeight();
    }).observe(node);
    return line;
}

/** Stands for a row that is on its way. @param {number} index @param {number} columns */
export function waitingLine(index, columns) {
    const line = h('tr', { 'aria-rowindex': index + 2, class: 'waiting' }, h('td', { colspan: columns }, '…'));
    line.dataset.waiting = 'yes';
    return line;
}

/** Takes the height of rows that are not drawn. */
export function spacer() {
    return h('tr', { class: 'spacer', 'aria-hidden': 'true' }, h('td'));
}

/** @param {HTMLElement} node @param {number} height */
export function setHeight(node, height) {
    node.hidden = height <= 0;
    if (node.firstElementChild instanceof HTMLElement) node.firstElementChild.style.height = `${Math.max(0, height)}px`;
}
