/** Rows at hand as a file of comma separated values, as the API writes them. */

import { h } from './dom.js';
import { valueOf } from '../table/columns.js';

/** @param {any} value */
function field(value) {
    if (value === null || value === undefined) return '';
    // A spreadsheet would take such a text for a formula; a number it is to take for one.
    const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Every column under its key, figures in the units of the API. @param {Column[]} columns @param {Row[]} rows */
export const csvText = (columns, rows) => [columns.map(({ key }) => field(key)), ...rows.map((row) => columns.map((column) => field(valueOf(column, row))))]
    .map((line) => `${line.join(',')}\r\n`).join('');

/** @param {string} name @param {string} text */
export function saveCsv(name, text) {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    h('a', { href: url, download: name }).click();
    // The browser reads it after this turn.
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}
