/** Rows of the stacked timeline: a line a rank, in the order that is chosen; below an unfolded one its own tracks. */

import { layout } from '../timeline/model.js';
import * as fmt from '../../lib/fmt.js';

/** In CSS pixels. */
const LINE = 20;

/** @param {RankLaneRow} row @returns {TimelineTrack} */
export const trackOf = ({ rank, residual_ns: residual, confidence }) => ({
    id: rank, kind: 'rank', process: '', pid: null, tid: null, lanes: 1, members: 1, items: 0, first_ns: 0, end_ns: 0, busy_ns: 0,
    label: `Rank ${rank}${residual === null || confidence === 'reference' ? '' : ` ±${fmt.time(residual)}`}`,
});

/** @param {RankLaneRow[]} rows @param {string} by */
export function inOrder(rows, by) {
    if (by === 'rank') return [...rows].sort((a, b) => a.rank - b.rank);
    // Who waits least is late: the others wait for it.
    return [...rows].sort((a, b) => (a.wait_ns ?? Infinity) - (b.wait_ns ?? Infinity) || a.rank - b.rank);
}

/** "r5" */
export const rankKey = (/** @type {number} */ rank) => `r${rank}`;

/**
 * @param {() => {ranks: RankLaneRow[], panes: Map<number, number>, open: Set<number>}} chosen panes: by rank, of those whose tracks are there
 * @returns {typeof layout}
 */
export const arrangement = (chosen) => (panes, toggled, order, room) => {
    const { ranks, panes: own, open } = chosen();
    /** @type {TimelineRow[]} */
    const rows = [];
    let top = 0;
    for (const rank of ranks) {
        const track = trackOf(rank);
        const pane = open.has(rank.rank) ? own.get(rank.rank) : undefined;
        rows.push({ kind: 'track', key: rankKey(rank.rank), pane: 0, track, label: track.label, note: `confidence ${rank.confidence}, waits ${rank.wait_ns === null ? 'unknown' : fmt.time(rank.wait_ns)}`,
            top, height: LINE, laneHeight: LINE, collapsed: !open.has(rank.rank), pinned: false });
        top += LINE;
        if (pane === undefined) continue;
        const made = layout(panes, toggled, order, room, pane);
        for (const row of made.rows) rows.push({ ...row, top: row.top + top, pinned: false });
        top += made.height;
    }
    return { rows, height: top, pinned: 0 };
};
