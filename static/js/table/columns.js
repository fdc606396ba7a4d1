/** Which columns a table shows, in which units, and how a cell prints its figure. */

import { h, fill, nameParts } from '../lib/dom.js';
import { menu } from '../lib/menu.js';
import { shorten } from '../lib/names.js';
import * as fmt from '../lib/fmt.js';

/** On a phone a name gets this much, where a wide table gives it the width of its column. */
const NAME_NARROW = 140;

/**
 * The columns that fit, most important first; the order of the table stays.
 * @param {Column[]} columns
 * @param {number} width of the table's box
 * @param {string[] | null} chosen by the user: then all of those, and the box scrolls
 */
export function visibleColumns(columns, width, chosen) {
    if (chosen) return columns.filter((column) => column.kind === 'name' || chosen.includes(column.key));
    const name = columns.find(({ kind }) => kind === 'name')?.width ?? 0;
    let left = width - (width < 600 ? Math.min(name, NAME_NARROW) : name);
    const fitting = new Set();
    for (const column of [...columns].sort((a, b) => a.priority - b.priority)) {
        if (column.kind === 'name') fitting.add(column);
        else if (column.width <= left) {
            fitting.add(column);
            left -= column.width;
        } else break;
    }
    return columns.filter((column) => fitting.has(column));
}

/** One unit of time, or of size, for columns that are read together, so that their figures compare by eye; it only ever grows. */
export class Units {
    constructor() {
        /** @type {Map<string, number>} */
        this.max = new Map();
    }

    /** @param {Column[]} columns @param {Row[]} rows */
    learn(columns, rows) {
        for (const column of columns.filter(({ kind }) => ['time', 'delta', 'size', 'share'].includes(kind))) {
            const family = column.family ?? column.key;
            this.max.set(family, rows.reduce((max, row) => Math.max(max, Math.abs(valueOf(column, row) ?? 0)), this.max.get(family) ?? 0));
        }
    }

    /** @param {Column} column */
    of(column) {
        return fmt.columnUnit(this.max.get(column.family ?? column.key) ?? 0);
    }

    /** @param {Column} column */
    ofSize(column) {
        return fmt.byteUnit(this.max.get(column.family ?? column.key) ?? 0);
    }

    /** How much of its cell a bar fills: the largest share of the table all of it, the largest difference a half. @param {Column} column @param {number} value */
    bar(column, value) {
        if (column.kind === 'delta') return Math.abs(value) / (2 * (this.max.get(column.family ?? column.key) || 1));
        const most = column.key === 'share' ? (this.max.get('share') ?? 1) : 1;
        return most > 0 ? Math.min(1, value / most) : 0;
    }
}

/** @param {Column} column @param {Row} row */
export const valueOf = (column, row) => (column.value ? column.value(row) : row[column.key]);

/**
 * The text of a figure, without its unit where the head of the column names it.
 * @param {Column} column @param {Row} row @param {Units} units
 * @returns {string}
 */
export function cellText(column, row, units) {
    const value = valueOf(column, row);
    if (value === null || value === undefined || value === '') return '–';
    if (column.print) return column.print(value);
    switch (column.kind) {
        case 'int': return fmt.int(value);
        case 'time': return fmt.timeIn(value, units.of(column));
        case 'size': return fmt.bytesIn(value, units.ofSize(column));
        case 'delta': return fmt.signed(value / units.of(column).ns, units.of(column).digits);
        case 'share': return fmt.share(value);
        case 'pct': return fmt.num(value, 1);
        case 'num': return fmt.num(value, 1);
        case 'bool': return value ? 'Yes' : 'No';
        default: return String(value);
    }
}

/**
 * A name, shortened; the whole of it stands in the title and in the opened row.
 * @param {string} name
 */
export function nameText(name) {
    const { short, hint } = shorten(name);
    return nameParts(short, hint);
}

/**
 * A button that opens a list of columns to tick.
 * @param {Column[]} columns
 * @param {() => string[]} shown keys of the columns now in the table
 * @param {(keys: string[] | null) => void} onChange null: back to those that fit
 */
export function columnChooser(columns, shown, onChange) {
    const { root, close } = menu('Columns', 'Columns', (list) => {
        const now = shown();
        const change = () => onChange([...list.querySelectorAll('input')].filter((box) => box.checked).map((box) => box.value));
        const boxes = columns.filter(({ kind }) => kind !== 'name').map((column) => {
            const box = h('input', { type: 'checkbox', value: column.key, checked: now.includes(column.key), onchange: change });
            return h('label', { class: 'menu-item' }, box, column.label);
        });
        fill(list, boxes, h('button', { class: 'button small', type: 'button', onclick: () => {
            onChange(null);
            close();
        } }, 'Reset columns'));
        list.querySelector('input')?.focus({ preventScroll: true });
        list.scrollIntoView({ block: 'nearest' });
    });
    return root;
}
