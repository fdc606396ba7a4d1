/** Points and changes as tables. */

import { h, fill, icon, toast } from '../../lib/dom.js';
import { plainTable } from '../../table/detail_parts.js';
import { diffHref, traceHref } from '../../app/router.js';
import { changeText, dateOf, metricWords, nameOf, sizeText, tagsOf, verdictText } from './words.js';
import { markKnown } from './api.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./chart.js').Shown} Shown */

/** Rows of the table of points; the newest stay. */
const ROWS = 1000;

/** @param {Shown} shown */
export function pointTable({ series, points, scale, changeAt }) {
    const newest = points.slice(-ROWS);
    return h('div', { class: 'section' },
        newest.length < series.total ? h('p', { class: 'quiet' }, `The newest ${fmt.int(newest.length)} of ${fmt.int(series.total)} points that have a value.`) : null,
        plainTable(`${metricWords(series.metric).name} in order of time`, ['Run', 'Date', 'Tags', 'Change', 'Value'], newest.map((point) => {
            const change = changeAt.get(point.index);
            return [h('a', { href: traceHref(point.trace) }, nameOf(point)), dateOf(point), tagsOf(point).join(', ') || '–', change ? changeText(change, scale) : '–', scale.text(point.value)];
        }), 4));
}

/** Where the series changed, newest first. @param {Shown[]} all */
export function changeTable(all) {
    const lines = all.flatMap((shown) => shown.changes.changes.map((change) => ({ shown, change, at: shown.positions.get(change.index) })))
        .filter(({ at }) => at !== undefined)
        .sort((a, b) => b.change.index - a.change.index)
        .map(({ shown: { series, points, scale }, change, at = 0 }) => {
            const [before, point] = [points[at - 1], points[at]];
            return [
                h('a', { href: traceHref(point.trace) }, nameOf(point)), dateOf(point), ...(all.length > 1 ? [metricWords(series.metric).short] : []),
                verdictCell(point, series.metric, change),
                before ? h('a', { href: diffHref({ base: before.trace, candidate: point.trace }), 'aria-label': `What changed from ${nameOf(before)} to ${nameOf(point)}` }, 'What changed') : '–',
                scale.text(change.mean_before), scale.text(change.mean_after), sizeText(change), fmt.chance(change.p),
            ];
        });
    if (lines.length === 0) return h('p', { class: 'quiet' }, 'None of these series changed.');
    const texts = ['Since', 'Date', ...(all.length > 1 ? ['Metric'] : []), 'Verdict', 'Against the point before'];
    return plainTable('Changes, newest first', [...texts, 'Mean before', 'Mean after', 'Change', 'p'], lines, texts.length);
}

/** The verdict, with what is known of it or the way to say so. @param {import('./api.js').Point} point @param {string} metric @param {import('./api.js').Change} change */
function verdictCell(point, metric, change) {
    const word = h('span', { class: change.worse && !change.known ? 'history-worse' : change.worse ? 'history-known' : 'history-better', title: change.known ?? '' }, verdictText(change));
    if (!change.worse || change.known) return change.known ? h('span', null, word, h('span', { class: 'quiet' }, ` ${change.known}`)) : word;
    const box = h('span', { class: 'history-verdict-cell' }, word);
    const save = async (/** @type {string} */ text) => {
        try {
            await markKnown(point.run, metric, text.trim());
            document.dispatchEvent(new CustomEvent('kinetoscope:changed', { detail: {} }));
        } catch (error) {
            toast(error instanceof Error ? error.message : String(error));
        }
    };
    const ask = () => {
        const text = h('input', { class: 'input', 'aria-label': 'Why it is known', placeholder: 'Why, such as a ticket', maxlength: '4000', required: true });
        fill(box, word, h('form', { class: 'history-why', onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            save(text.value);
        } }, text, h('button', { class: 'button small', type: 'submit' }, 'Save')));
        text.focus();
    };
    box.append(h('button', { class: 'icon-button', type: 'button', 'aria-label': `Mark the change at ${nameOf(point)} as known`, title: 'Mark as known', onclick: ask }, icon('pin')));
    return box;
}
