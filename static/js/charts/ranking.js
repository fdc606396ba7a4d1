/** A doughnut, or bars, and the ranked list of the parts: a name leads to what it names, its colour hides it. The list is the table for screen readers. */

import { h, fill, nameParts } from '../lib/dom.js';
import { doughnut } from './charts.js';
import { categoryColour, CATEGORIES } from '../lib/colours.js';
import { onTheme } from '../app/theme.js';
import { shorten } from '../lib/names.js';
import { token } from '../app/theme.js';
import * as fmt from '../lib/fmt.js';

export const OTHER = 'Other';

/** A name keeps its colour through the charts of a view; only where two of one chart would share it, one gives way. */
export function colourBook() {
    /** @type {Map<string, number>} */
    const book = new Map();
    /** @param {string[]} names of one chart */
    return (names) => {
        const taken = new Set();
        return names.map((name) => {
            if (name === OTHER) return () => token('--cat-other');
            if (!book.has(name)) book.set(name, book.size);
            let index = (book.get(name) ?? 0) % CATEGORIES;
            for (let turn = 0; taken.has(index) && turn < CATEGORIES; turn += 1) index = (index + 1) % CATEGORIES;
            taken.add(index);
            return () => categoryColour(index);
        });
    };
}

/**
 * The N largest and the rest as one.
 * @param {{name: string, value: number}[]} items
 * @param {number} count
 * @param {number} total of all, also of those not in `items`
 * @param {ReturnType<typeof colourBook>} colours
 * @returns {import('./charts.js').Slice[]}
 */
export function topSlices(items, count, total, colours) {
    const ranked = items.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
    const top = ranked.slice(0, count);
    const rest = total - top.reduce((sum, { value }) => sum + value, 0);
    // Rounding may leave a few nanoseconds that are nobody's.
    if (ranked.length > count || rest > total * 1e-6) top.push({ name: OTHER, value: Math.max(0, rest) });
    const colour = colours(top.map(({ name }) => name));
    return top.map(({ name, value }, index) => ({ name, value, share: total ? value / total : 0, colour: colour[index] }));
}

/**
 * @param {{title: string, help?: string, print: (value: number) => string,
 *          emptyText: string, href: (name: string) => string | null, off?: () => string[], onToggle?: (name: string) => void, bars?: boolean}} settings
 *     href: where a part leads; off, onToggle: parts that are left out, and what a click on the colour of one does; bars: in the list, instead of a doughnut
 */
export function ranking({ title, help, print, emptyText, href, off = () => [], onToggle, bars = false }) {
    const canvas = h('canvas', { role: 'img', 'aria-label': `${title}: the table beside it has the figures` });
    const centre = bars ? h('span', { class: 'ranking-total' }) : h('p', { class: 'ring-total', 'aria-hidden': 'true' });
    const list = h('tbody');
    const table = h('table', { class: 'ranking-list' },
        h('caption', { class: 'visually-hidden' }, title),
        h('colgroup', null, h('col'), bars ? h('col', { class: 'col-bar' }) : null, h('col', { class: 'col-value' }), h('col', { class: 'col-share' })),
        h('thead', { class: 'visually-hidden' }, h('tr', null, h('th', { scope: 'col' }, 'Part'), bars ? h('td') : null, h('th', { scope: 'col' }, 'Value'), h('th', { scope: 'col' }, 'Share'))),
        list);
    const body = h('div', { class: 'ranking-body' }, bars ? null : h('div', { class: 'ring' }, canvas, centre), table);
    const none = h('p', { class: 'quiet', hidden: true }, emptyText);
    const root = h('section', { class: bars ? 'ranking bars' : 'ranking' }, h('h3', { 'data-tip': help }, title, bars ? [' ', centre] : null), body, none);
    /** @type {import('./charts.js').Slice[]} */
    let slices = [];
    let total = 0;
    /** @type {Promise<import('./charts.js').LiveChart> | undefined} */
    let live;

    function paintList() {
        const hidden = off();
        const most = slices.reduce((max, { name, value }) => (hidden.includes(name) ? max : Math.max(max, value)), 0);
        fill(list, slices.map((slice) => {
            const { short, hint } = shorten(slice.name);
            const shown = !hidden.includes(slice.name);
            const swatch = h('span', { class: 'swatch', 'aria-hidden': 'true' });
            const to = href(slice.name);
            return h('tr', { class: shown ? null : 'off' },
                h('th', { scope: 'row' }, h('span', { class: 'legend' },
                    onToggle ? h('button', {
                        class: 'swatch-button', type: 'button', 'aria-pressed': String(shown), 'aria-label': `Show ${slice.name}`, 'data-tip': shown ? 'Hide' : 'Show', 'data-part': slice.name,
                        onclick: () => onToggle(slice.name),
                    }, swatch) : swatch,
                    h(to ? 'a' : 'span', { class: 'part-name', href: to, 'data-tip': slice.name, 'data-name': slice.name }, nameParts(short, hint)))),
                bars ? h('td', { class: 'ranking-bar', 'aria-hidden': 'true' }, barOf(shown && most > 0 ? slice.value / most : 0, to)) : null,
                h('td', null, print(slice.value)),
                h('td', null, fmt.share(slice.share)));
        }));
        colourList();
    }

    function colourList() {
        [...list.rows].forEach((row, index) => row.querySelectorAll('.swatch, .ranking-bar span').forEach((mark) => mark instanceof HTMLElement && mark.style.setProperty('--c', slices[index].colour())));
    }

    const endTheme = onTheme(colourList);

    return {
        root,
        /** @param {import('./charts.js').Slice[]} next @param {number} sum */
        show(next, sum) {
            slices = next;
            total = sum;
            const nothing = slices.every(({ value }) => value === 0);
            none.hidden = !nothing;
            body.hidden = nothing;
            if (nothing) return;
            // The button in focus is rebuilt with its list.
            const focused = document.activeElement?.closest('.ranking') === root ? document.activeElement.getAttribute('data-part') : null;
            paintList();
            if (focused) [...list.querySelectorAll('button')].find((button) => button.dataset.part === focused)?.focus();
            fill(centre, print(total));
            if (bars) return;
            if (live) live.then((chart) => chart.refresh());
            else live = doughnut(canvas, { slices: () => slices, off, print, total: () => total });
        },
        repaint: paintList,
        destroy() {
            endTheme();
            live?.then((chart) => chart.destroy());
        },
    };
}

/** The name before it is the link for keyboard and screen reader. @param {number} share of the longest bar @param {string | null} href */
function barOf(share, href) {
    const bar = h('span');
    bar.style.setProperty('--w', `${100 * share}%`);
    return href ? h('a', { href, tabindex: '-1' }, bar) : bar;
}
