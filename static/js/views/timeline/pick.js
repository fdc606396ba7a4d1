/** Which slice is under a point, and which are its neighbours: among what is drawn, else by asking. */

import { firstAfter } from './data.js';
import { zoomFor } from './sight.js';
import { holdsSlices } from './model.js';

/** How far beside a slice, in CSS pixels, still means it. */
const NEAR_PX = 3;
/** A walk asks for so many screens at first, then for ever more. */
const WALK_SCREENS = 4;
const WALK_FACTOR = 16;
const WALK_PX = 4096;

/** @typedef {import('./model.js').Pane} Pane */
/** @typedef {{pane: number, track: number, lane: number, event: number, label: TimelineLabel, start: number, end: number, instant: boolean, count: number, busy: number | null}} Item times of its own trace */
/** @typedef {{pane: number, track: TimelineTrack, lane: number, value: number, min: number, max: number}} Sample of a counter */

/** @param {number} pane @param {number} track @param {number} lane @param {TimelineLabel[]} labels @param {LaneColumns} columns @param {number} at @returns {Item} */
const itemOf = (pane, track, lane, labels, columns, at) => ({
    pane, track, lane, event: columns.event[at], label: labels[columns.label[at]], start: columns.start[at], end: columns.end[at],
    instant: columns.instant?.[at] === 1, count: columns.count?.[at] ?? 1, busy: columns.busy?.[at] ?? null,
});

/** @param {Item} item @returns {TimelinePlace} */
export const placeOf = (item) => ({ event: item.event, name: item.label.name, track: item.track, lane: item.lane, start_ns: item.start, dur_ns: item.instant ? null : item.end - item.start });

/** @param {import('./viewport.js').Viewport} view @param {Pane} pane */
const zoomOf = (view, pane) => Math.min(pane.tiles.base, zoomFor(view.span / view.width));

/**
 * @param {import('./viewport.js').Viewport} view @param {Pane[]} panes @param {TimelineRow} row @param {number} lane
 * @param {number} ns on the common clock
 * @returns {Item | null}
 */
export function itemAt(view, panes, row, lane, ns) {
    if (!row.track) return null;
    const pane = panes[row.pane];
    const time = ns - pane.shift;
    const near = (NEAR_PX * view.span) / view.width;
    /** @type {Item | null} */
    let best = null;
    let distance = near;
    for (const { columns } of pane.tiles.pieces(row.track.id, time - near, time + near, zoomOf(view, pane))) {
        if (lane + 1 >= columns.offsets.length || columns.points) continue;
        for (let at = firstAfter(columns, lane, time - near); at < columns.offsets[lane + 1] && columns.start[at] <= time + near; at += 1) {
            const away = Math.max(0, columns.start[at] - time, time - columns.end[at]);
            if (best && away >= distance) continue;
            best = itemOf(row.pane, row.track.id, lane, pane.tiles.labels, columns, at);
            distance = away;
        }
    }
    return best;
}

/** The value of a counter that holds then. @param {import('./viewport.js').Viewport} view @param {Pane[]} panes @param {TimelineRow} row @param {number} lane @param {number} ns @returns {Sample | null} */
export function sampleAt(view, panes, row, lane, ns) {
    if (row.track?.kind !== 'counter') return null;
    const pane = panes[row.pane];
    const time = ns - pane.shift;
    for (const { columns } of pane.tiles.pieces(row.track.id, time, time + 1, zoomOf(view, pane))) {
        const { points } = columns;
        if (!points || lane + 1 >= columns.offsets.length) continue;
        const at = firstAfter(columns, lane, time);
        if (at < columns.offsets[lane + 1] && columns.start[at] <= time) return { pane: row.pane, track: row.track, lane, value: points.last[at], min: points.min[at], max: points.max[at] };
    }
    return null;
}

/** All items of a lane of a window, by time. @param {number} pane @param {number} track @param {number} lane @param {TimelineLabel[]} labels @param {LaneColumns} columns */
function itemsOf(pane, track, lane, labels, columns) {
    if (lane + 1 >= columns.offsets.length || columns.points) return [];
    return Array.from({ length: columns.offsets[lane + 1] - columns.offsets[lane] }, (_, index) => itemOf(pane, track, lane, labels, columns, columns.offsets[lane] + index));
}

/** @param {Item[]} items @param {{event: number, start: number, end: number}} of @param {1 | -1} way */
function beside(items, of, way) {
    if (way > 0) return items.find((item) => item.start >= of.end && item.event !== of.event) ?? null;
    return items.findLast((item) => item.end <= of.start && item.event !== of.event) ?? null;
}

/**
 * The slice before or behind one in its lane.
 * @param {import('./viewport.js').Viewport} view @param {Pane[]} panes @param {number} pane
 * @param {{event: number, track: number, lane: number, start: number, end: number}} of @param {1 | -1} way
 * @param {import('./api.js').WindowReader} reader @param {AbortSignal} signal
 * @returns {Promise<Item | null>}
 */
export async function neighbour(view, panes, pane, of, way, reader, signal) {
    const { tiles, answer, id } = panes[pane];
    const z = zoomOf(view, panes[pane]);
    for (let reach = view.span * WALK_SCREENS; ; reach *= WALK_FACTOR) {
        const [from, to] = way > 0 ? [of.end, of.end + reach] : [of.start - reach, of.start];
        const known = tiles.range(z, from, to).every((at) => tiles.known(z, at, of.track));
        if (known) {
            const pieces = tiles.pieces(of.track, from, to, z);
            const found = beside(pieces.flatMap(({ columns }) => itemsOf(pane, of.track, of.lane, tiles.labels, columns)), of, way);
            if (found) return found;
        } else {
            const query = { start_ns: Math.floor(Math.max(from, answer.start_ns - 1)), end_ns: Math.ceil(Math.min(to, answer.end_ns + 1)), width_px: WALK_PX, tracks: [of.track] };
            if (query.end_ns <= query.start_ns) return null;
            const { labels, tracks } = await reader.ask(id, query, signal);
            const found = beside(tracks.flatMap(({ columns }) => itemsOf(pane, of.track, of.lane, labels, columns)), of, way);
            if (found) return found;
        }
        if (way > 0 ? to > answer.end_ns : from < answer.start_ns) return null;
    }
}

/**
 * The slice in the lane above or below, or on the next track that has one there.
 * @param {import('./viewport.js').Viewport} view @param {Pane[]} panes @param {TimelineRow[]} rows @param {number} pane
 * @param {{track: number, lane: number, start: number, end: number}} of @param {1 | -1} way
 */
export function upOrDown(view, panes, rows, pane, of, way) {
    const { shift } = panes[pane];
    let index = rows.findIndex((row) => row.pane === pane && row.track?.id === of.track);
    if (index < 0) return null;
    let lane = of.lane + way;
    const [from, to] = [Math.max(of.start + shift, view.start), Math.min(of.end + shift, view.end)];
    const middle = from <= to ? (from + to) / 2 : (of.start + of.end) / 2 + shift;
    for (; index >= 0 && index < rows.length; index += way) {
        const row = rows[index];
        if (row.track && holdsSlices(row.track)) {
            for (; lane >= 0 && lane < row.track.lanes; lane += way) {
                const item = itemAt(view, panes, row, lane, middle) ?? within(view, panes, row, lane, from, to);
                if (item) return item;
            }
        }
        lane = way > 0 ? 0 : Math.max(0, (rows[index - 1]?.track?.lanes ?? 1) - 1);
    }
    return null;
}

/** The first item between two times. @param {import('./viewport.js').Viewport} view @param {Pane[]} panes @param {TimelineRow} row @param {number} lane @param {number} from @param {number} to */
export function within(view, panes, row, lane, from, to) {
    const pane = panes[row.pane];
    const track = row.track?.id ?? 0;
    for (const { columns } of pane.tiles.pieces(track, from - pane.shift, to - pane.shift, zoomOf(view, pane))) {
        if (lane + 1 >= columns.offsets.length || columns.points) continue;
        const at = firstAfter(columns, lane, from - pane.shift);
        if (at < columns.offsets[lane + 1] && columns.start[at] <= to - pane.shift) return itemOf(row.pane, track, lane, pane.tiles.labels, columns, at);
    }
    return null;
}
