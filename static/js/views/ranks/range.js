/** What every rank did in a range of time. */

import { h, fill } from '../../lib/dom.js';
import { plainTable } from '../../table/detail_parts.js';
import { showFailure, skeleton } from '../../lib/states.js';
import { isAbort } from '../../lib/api.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** Ranks that are listed. */
const ROWS = 100;

/** @param {HTMLElement} box @param {string} run @param {string | null} span @param {{clear: () => void, unfold: (rank: number) => void}} around */
export function rankRange(box, run, span, { clear, unfold }) {
    let stop = new AbortController();

    /** @param {[number, number]} marked */
    async function show(marked) {
        const [start, end] = marked;
        stop.abort();
        stop = new AbortController();
        const head = h('div', { class: 'tl-title' }, h('h2', { class: 'tl-name', tabindex: '-1' }, `${fmt.time(end - start)} from ${fmt.moment(start)}, every rank`),
            h('div', { class: 'tl-title-tools' }, h('button', { class: 'button small', type: 'button', onclick: clear }, 'Clear')));
        fill(box, head, skeleton('figures'));
        try {
            const { rows } = await api.levels(run, { span, start_ns: start, end_ns: end, width_px: 1 }, stop.signal);
            const sorted = [...rows].sort((a, b) => a.wait_ns - b.wait_ns).slice(0, ROWS);
            fill(box, head, sorted.length < rows.length ? h('p', { class: 'quiet' }, `The ${ROWS} ranks that wait least of ${fmt.int(rows.length)}.`) : null,
                plainTable('Ranks in the range, those that wait least first', ['Rank', 'Device busy', 'Communication', 'Waits'], sorted.map((row) => [
                    h('button', { class: 'function-name', type: 'button', onclick: () => unfold(row.rank) }, `Rank ${row.rank}`), fmt.time(row.busy_ns), fmt.time(row.transfer_ns), fmt.time(row.wait_ns)]), 1));
        } catch (error) {
            if (isAbort(error)) return;
            const place = h('div', null);
            fill(box, head, place);
            showFailure(place, error, () => show(marked));
        }
    }
    return { show, stop: () => stop.abort() };
}
