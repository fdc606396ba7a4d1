/** A chart with its title, its choices, and the key that shows its figures as a table instead. */

import { h } from '../lib/dom.js';

/**
 * @param {{title: string, help?: string, tools?: any[], chart: HTMLElement, table: () => HTMLElement}} settings
 *     table: built when it is asked for, and anew by `repaint`
 */
export function chartPanel({ title, help, tools = [], chart, table }) {
    const box = h('div', { class: 'panel-table', hidden: true });
    const key = h('button', { class: 'button small', type: 'button', 'aria-pressed': 'false', onclick: () => turn(box.hidden) }, 'As a table');
    const root = h('section', { class: 'section panel' },
        h('div', { class: 'section-head' }, h('h2', { 'data-tip': help }, title), h('div', { class: 'panel-tools' }, tools, key)), chart, box);

    /** @param {boolean} toTable */
    function turn(toTable) {
        if (toTable) box.replaceChildren(table());
        box.hidden = !toTable;
        chart.hidden = toTable;
        key.setAttribute('aria-pressed', String(toTable));
    }
    return {
        root,
        /** The figures are others now. */
        repaint() {
            if (!box.hidden) box.replaceChildren(table());
        },
    };
}

/**
 * Lets the keyboard walk through the marks of a drawing: arrows, Home and End, Enter to act. To a screen reader it is a
 * slider whose value is the mark in words.
 * @param {HTMLElement} node
 * @param {{label: string, count: () => number, text: (index: number) => string, show: (index: number) => void,
 *          act?: (index: number) => void, step?: number, onKey?: (event: KeyboardEvent, index: number) => boolean}} settings
 *     step: of Page Up and Down; onKey: whether it took the key
 */
export function walkable(node, { label, count, text, show, act, step = 10, onKey }) {
    let at = -1;
    Object.entries({ tabindex: '0', role: 'slider', 'aria-label': label, 'aria-valuemin': '1' }).forEach(([name, value]) => node.setAttribute(name, value));

    /** @param {number} index */
    function say(index) {
        at = Math.max(-1, Math.min(count() - 1, index));
        node.setAttribute('aria-valuemax', String(Math.max(1, count())));
        node.setAttribute('aria-valuenow', String(Math.max(1, at + 1)));
        node.setAttribute('aria-valuetext', at < 0 ? `${label}: arrow keys go through it` : text(at));
    }

    node.addEventListener('keydown', (event) => {
        /** @type {Record<string, number>} */
        const moves = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageDown: at + step, PageUp: at - step,
            Home: 0, End: count() - 1 };
        if (event.ctrlKey || event.metaKey || event.altKey || count() === 0) return;
        if (event.key in moves) {
            say(Math.max(0, moves[event.key]));
            show(at);
        } else if (event.key === 'Enter' && at >= 0 && act) act(at);
        else if (!onKey?.(event, at)) return;
        event.preventDefault();
    });
    say(-1);
    return {
        /** The mark that was chosen otherwise, -1: none. */
        set: say,
    };
}
