/** Names of what is in sight, left of the lanes; each folds what it names. Only those in sight are in the page. */

import { h, fill, icon } from '../../../lib/dom.js';
import { COUNTER_LANE } from '../model.js';

/** The first series stands below the name of its track. */
const SERIES_TOP = 18;
/** What a counter calls its only series when there is nothing to tell. */
const NAMELESS = 'value';
/** From this height on a name may take two lines. */
const TWO_LINES = 36;

/**
 * @param {HTMLElement} box
 * @param {(row: TimelineRow) => void} onToggle
 */
export function heads(box, onToggle) {
    /** @type {Map<string, {node: HTMLElement, row: TimelineRow}>} */
    const shown = new Map();

    /** @param {TimelineRow} row */
    function build(row) {
        if (row.kind === 'trace') return h('div', { class: 'tl-head tl-head-trace' }, h('span', { class: 'tl-head-name' }, row.label), h('span', { class: 'tl-head-note' }, row.note));
        const whole = row.note ? `${row.label}, ${row.note}` : row.label;
        return h('div', { class: `tl-head tl-head-${row.kind}` }, h('button', {
            class: 'tl-fold', type: 'button', 'aria-expanded': String(!row.collapsed), 'data-key': row.key, 'data-tip': whole,
            'aria-label': `${whole}, ${row.kind === 'process' ? 'process' : (row.track?.lanes ?? 1) === 1 ? '1 lane' : `${row.track?.lanes} lanes`}`,
            onclick: () => onToggle(shown.get(row.key)?.row ?? row),
        }, icon('chevron'), h('span', { class: 'tl-head-name' }, row.label)), (row.track?.series ?? []).filter((name, _, all) => all.length > 1 || name !== NAMELESS).map((name, lane) => {
            const series = h('span', { class: 'tl-series', 'data-tip': name }, name);
            series.style.top = `${lane * COUNTER_LANE + SERIES_TOP}px`;
            return series;
        }));
    }

    return {
        /** @param {TimelineRow[]} rows @param {import('../viewport.js').Viewport} view */
        show(rows, view) {
            const keys = new Set(rows.map(({ key }) => key));
            for (const [key, { node }] of shown) {
                if (keys.has(key)) continue;
                node.remove();
                shown.delete(key);
            }
            rows.forEach((row, index) => {
                let known = shown.get(row.key);
                if (!known) {
                    known = { node: build(row), row };
                    shown.set(row.key, known);
                }
                if (known.row.collapsed !== row.collapsed) known.node.querySelector('button')?.setAttribute('aria-expanded', String(!row.collapsed));
                known.row = row;
                known.node.classList.toggle('tl-folded', row.collapsed);
                known.node.classList.toggle('tl-tall', row.height >= TWO_LINES && row.track?.kind !== 'counter');
                known.node.style.height = `${row.height}px`;
                known.node.style.transform = `translateY(${view.y(row)}px)`;
                known.node.classList.toggle('tl-pinned', row.pinned);
                // In the order of the lanes, for the keyboard; nothing that stands right is moved.
                if (box.children[index] !== known.node) box.insertBefore(known.node, box.children[index] ?? null);
            });
        },
        forget() {
            shown.clear();
            fill(box);
        },
    };
}
