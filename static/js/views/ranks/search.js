/** Search over all ranks, folded or not: collectives of the run, and events of each rank. */

import { h, fill, announce } from '../../lib/dom.js';
import { searchBox } from '../../table/rowtable.js';
import { plainTable } from '../../table/detail_parts.js';
import { nameText } from '../../table/columns.js';
import { isAbort, ApiError } from '../../lib/api.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** Collectives that are marked; rows of each list. */
const MOST = 2000;
const ROWS = 100;
/** Ranks of a request, and hits of a rank that are marked. */
const RANKS = 128;
const HITS = 20;
/** A match is shown with so much around it, of its length. */
const ROOM = 4;

/** @typedef {{start: number, end: number}} Match */

/** @param {RankCollectiveRow} row @returns {Match} */
const ofCollective = ({ start_ns: start, skew_ns: skew, transfer_ns: transfer }) => ({ start, end: start + skew + transfer });

/** @param {api.RankHit} hit @returns {Match[]} */
const ofHit = ({ start_ns: start, dur_ns: dur }) => (start === null ? [] : [{ start, end: start + (dur ?? 0) }]);

/**
 * @param {HTMLElement} box @param {string} run @param {string | null} span
 * @param {{show: (start: number, end: number) => void, light: (lit: import('../timeline/canvas/draw.js').Lit | null, found: Float64Array<ArrayBuffer>) => void, startOfView: () => number,
 *          leave: () => void, ranks: () => number[], unfold: (rank: number) => void}} around ranks: in the order of the page
 * @param {AbortSignal} signal
 */
export function rankSearch(box, run, span, { show, light, startOfView, leave, ranks, unfold }, signal) {
    const note = h('p', { class: 'table-note', hidden: true });
    const input = searchBox('Search all ranks', note);
    input.root.addEventListener('keydown', (event) => event.key === 'Enter' && (step(1), leave()));
    let asked = '';
    /** By time. @type {Match[]} */
    let matches = [];
    let stop = new AbortController();
    signal.addEventListener('abort', () => stop.abort());

    const wide = ({ start, end } = /** @type {Match} */ ({})) => ROOM * (end - start + 1);
    const zoom = (/** @type {Match} */ match) => show(match.start - wide(match), match.end + wide(match));

    /** To the next or previous match. @param {1 | -1} way */
    function step(way) {
        const from = startOfView();
        const left = (/** @type {Match} */ match) => match.start - wide(match);
        const next = way > 0 ? matches.find((match) => left(match) > from + 1) : matches.findLast((match) => left(match) < from - 1);
        if (next) zoom(next);
    }

    /** @param {string} q @param {Match[]} found */
    function mark(q, found) {
        matches = found.sort((a, b) => a.start - b.start);
        const word = q.toLowerCase();
        light((_, label) => label.name.toLowerCase().includes(word), Float64Array.from(matches, ({ start }) => start));
    }

    /** @param {string} q */
    async function update(q) {
        input.show(q);
        if (q === asked) return;
        asked = q;
        stop.abort();
        stop = new AbortController();
        if (!q) {
            matches = [];
            light(null, new Float64Array(0));
            return;
        }
        try {
            await find(q, stop.signal);
        } catch (error) {
            if (isAbort(error)) return;
            if (!(error instanceof ApiError)) throw error;
            fill(note, error.message);
            note.hidden = false;
        }
    }

    /** Collectives first, which one answer tells; then rank after rank, late ones first. @param {string} q @param {AbortSignal} now */
    async function find(q, now) {
        const answer = await api.search(run, { span, q, limit: MOST }, now);
        note.hidden = true;
        const { rows } = answer;
        /** @type {api.RankHits[]} */
        const found = [];
        const pattern = /^\/.+\/$/.test(q);
        const all = pattern ? [] : ranks();
        const places = { collectives: h('div'), events: h('div') };
        fill(box, places.events, places.collectives);
        fill(places.collectives, rows.length ? collectives(answer, zoom) : null);
        for (let done = 0; done < all.length;) {
            fill(places.events, eventsTable(found, done, all.length, goTo));
            mark(q, [...rows.map(ofCollective), ...found.flatMap(({ hits }) => hits.flatMap(ofHit))]);
            const part = all.slice(done, done + RANKS);
            const more = await api.events(run, { span, q, ranks: part.join(','), limit: HITS }, now);
            found.push(...more.rows);
            done += more.searched;
        }
        fill(places.events, pattern ? h('p', { class: 'quiet' }, 'A pattern is looked for in collectives alone, a text in the events of every rank.') : eventsTable(found, all.length, all.length, goTo));
        mark(q, [...rows.map(ofCollective), ...found.flatMap(({ hits }) => hits.flatMap(ofHit))]);
        announce(pattern ? fmt.plural(answer.total, 'collective') : summary(found, all.length, all.length));
    }

    /** Unfolds it where its first match is. @param {api.RankHits} row */
    function goTo({ rank, hits }) {
        const [first] = hits.flatMap(ofHit);
        unfold(rank);
        if (first) zoom(first);
    }

    return { root: h('div', { class: 'tl-search' }, input.root, note), update, step, destroy: () => {
        input.cancel();
        stop.abort();
    } };
}

/** @param {api.RankHits[]} found @param {number} done @param {number} total ranks */
function summary(found, done, total) {
    const count = found.reduce((sum, { matches }) => sum + (matches ?? 0), 0);
    const text = `${found.some((row) => row.matches_is_lower_bound) ? 'More than ' : ''}${fmt.plural(count, 'event')} in ${fmt.plural(found.filter(({ matches }) => matches !== null).length, 'rank')}`;
    return done < total ? `${text}, ${fmt.int(done)} of ${fmt.plural(total, 'rank')} searched` : text;
}

/** @param {api.RankHits[]} found @param {number} done @param {number} total @param {(row: api.RankHits) => void} goTo */
function eventsTable(found, done, total, goTo) {
    const gone = found.filter(({ matches }) => matches === null).length;
    const listed = found.filter(({ hits }) => hits.length > 0).slice(0, ROWS);
    return [h('div', { class: 'tl-title' }, h('h2', { class: 'tl-name', tabindex: '-1' }, summary(found, done, total))),
        gone > 0 ? h('p', { class: 'quiet' }, `The events of ${fmt.plural(gone, 'rank')} are not kept: upload them again.`) : null,
        listed.length === 0 ? null : plainTable(`Ranks with a match${listed.length < found.length - gone ? `, the first ${ROWS}` : ''}`, ['Rank', 'Matches', 'First', 'Start', 'Duration'], listed.map((row) => [
            h('button', { class: 'function-name', type: 'button', 'data-tip': 'Unfolds it and goes to its first match', onclick: () => goTo(row) }, `Rank ${row.rank}`),
            `${row.matches_is_lower_bound ? 'over ' : ''}${fmt.int(row.matches ?? 0)}`, nameText(row.hits[0].name), row.hits[0].start_ns === null ? '–' : fmt.moment(row.hits[0].start_ns),
            row.hits[0].dur_ns === null ? 'instant' : fmt.time(row.hits[0].dur_ns)]), 1)];
}

/** @param {{rows: RankCollectiveRow[], total: number}} answer @param {(match: Match) => void} zoom */
function collectives({ rows, total }, zoom) {
    return h('section', { class: 'tl-part' }, h('h3', null, `${fmt.plural(total, 'collective')} ${total === 1 ? 'matches' : 'match'}`),
        plainTable('Collectives that match', ['Collective', 'Group', 'Start', 'Skew', 'Transfer'], rows.slice(0, ROWS).map((row) => [
            h('button', { class: 'function-name', type: 'button', onclick: () => zoom(ofCollective(row)) }, row.name), row.group ?? '–', fmt.moment(row.start_ns), fmt.time(row.skew_ns), fmt.time(row.transfer_ns)]), 2));
}
