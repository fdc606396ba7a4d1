/** Rows that came in one answer: sorted, searched and filtered in the page, shown by the same long table. */

import { hashOf } from '../lib/names.js';

/** Texts run from A, figures by size; what is not known stands last, whichever way. */
const collator = new Intl.Collator('en', { numeric: true });

/**
 * @param {any} a
 * @param {any} b
 * @param {1 | -1} way
 */
function compareValues(a, b, way) {
    const [noA, noB] = [a === null || a === undefined, b === null || b === undefined];
    if (noA || noB) return Number(noA) - Number(noB);
    return way * (typeof a === 'number' ? a - b : collator.compare(String(a), String(b)));
}

/**
 * What a search means: the text, whatever its case, or between slashes a pattern.
 * @param {string} q
 * @returns {((text: string) => boolean) | null} null: the pattern does not compile
 */
export function matcher(q) {
    if (q.length > 2 && q.startsWith('/') && q.endsWith('/')) {
        try {
            const pattern = new RegExp(q.slice(1, -1));
            return (text) => pattern.test(text);
        } catch {
            return null;
        }
    }
    const wanted = q.toLowerCase();
    return (text) => text.toLowerCase().includes(wanted);
}

/** @implements {RowSource} */
export class LocalRows {
    /** @param {Row[]} all in their own order, which breaks ties */
    constructor(all) {
        this.all = all;
        this.rows = all;
        this.total = all.length;
        this.onRows = () => {};
    }

    /**
     * @param {(row: Row) => boolean} keep
     * @param {(row: Row) => any} value to sort by
     * @param {string} order
     */
    select(keep, value, order) {
        const way = order === 'asc' ? 1 : -1;
        this.rows = this.all.filter(keep).sort((a, b) => compareValues(value(a), value(b), way));
        this.total = this.rows.length;
    }

    /** @param {number} index */
    row(index) {
        return this.rows[index];
    }

    has() {
        return true;
    }

    ensure() {}
}

/** A few letters for a long text, so that an address can name a row. @param {string} text */
export const shortKey = (text) => hashOf(text).toString(36);
