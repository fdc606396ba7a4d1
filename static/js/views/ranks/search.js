/** Search over all ranks: collectives of the run, and slices of the ranks that are unfolded. */

import { h, fill, announce } from '../../lib/dom.js';
import { searchBox } from '../../table/rowtable.js';
import { plainTable } from '../../table/detail_parts.js';
import { isAbort, ApiError } from '../../lib/api.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** Matches that are marked, and those of them that are listed. */
const MOST = 2000;
const ROWS = 100;
/** A match is shown with so much around it, of its length. */
const ROOM = 4;

/**
 * @param {HTMLElement} box @param {string} run @param {string | null} span
 * @param {{show: (start: number, end: number) => void, light: (lit: import('../timeline/canvas/draw.js').Lit | null, found: Float64Array<ArrayBuffer>) => void, startOfView: () => number, leave: () => void}} around
 * @param {AbortSignal} signal
 */
export function collectiveSearch(box, run, span, { show, light, startOfView, leave }, signal) {
    const note = h('p', { class: 'table-note', hidden: true });
    const input = searchBox('Search collectives', note);
    input.root.addEventListener('keydown', (event) => event.key === 'Enter' && (step(1), leave()));
    let asked = '';
    /** @type {RankCollectiveRow[]} */
    let rows = [];

    const zoom = (/** @type {RankCollectiveRow} */ row) => {
        const wide = ROOM * (row.skew_ns + row.transfer_ns + 1);
        show(row.start_ns - wide, row.start_ns + row.skew_ns + row.transfer_ns + wide);
    };

    /** To the next or previous match. @param {1 | -1} way */
    function step(way) {
        const from = startOfView();
        const wide = (/** @type {RankCollectiveRow} */ row) => row.start_ns - ROOM * (row.skew_ns + row.transfer_ns + 1);
        const next = way > 0 ? rows.find((row) => wide(row) > from + 1) : rows.findLast((row) => wide(row) < from - 1);
        if (next) zoom(next);
    }

    /** @param {string} q */
    async function update(q) {
        input.show(q);
        if (q === asked) return;
        asked = q;
        if (!q) {
            rows = [];
            light(null, new Float64Array(0));
            return;
        }
        try {
            const answer = await api.search(run, { span, q, limit: MOST }, signal);
            if (q !== asked) return;
            note.hidden = true;
            ({ rows } = answer);
            const word = q.toLowerCase();
            light((_, label) => label.name.toLowerCase().includes(word), Float64Array.from(rows, (row) => row.start_ns));
            const text = `${fmt.plural(answer.total, 'collective')} ${answer.total === 1 ? 'matches' : 'match'}`;
            announce(text);
            fill(box, h('div', { class: 'tl-title' }, h('h2', { class: 'tl-name', tabindex: '-1' }, text)), h('p', { class: 'quiet' }, 'Slices of unfolded ranks are lit, too.'),
                plainTable('Collectives that match', ['Collective', 'Group', 'Start', 'Skew', 'Transfer'], rows.slice(0, ROWS).map((row) => [
                    h('button', { class: 'function-name', type: 'button', onclick: () => zoom(row) }, row.name), row.group ?? '–', fmt.moment(row.start_ns), fmt.time(row.skew_ns), fmt.time(row.transfer_ns)]), 2));
        } catch (error) {
            if (isAbort(error)) return;
            if (!(error instanceof ApiError)) throw error;
            fill(note, error.message);
            note.hidden = false;
        }
    }
    return { root: h('div', { class: 'tl-search' }, input.root, note), update, step, destroy: () => input.cancel() };
}
