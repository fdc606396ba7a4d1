/** What the timeline shows: lines from top to bottom, and the part of time and of the lines that is in sight. */

/** Heights in CSS pixels. */
export const LANE = 18;
export const COUNTER_LANE = 36;
const PROCESS = 24;
const TITLE = 28;
const GAP = 5;
/** Lanes of a collapsed track share this, so that nothing of it is hidden. */
const COLLAPSED = 20;

/** Nothing is closer together than this. */
const SHORTEST_NS = 20;
/** How much wider than the trace the view may get. */
const WIDEST = 1.25;
const MARGIN = 0.005;

/**
 * A trace on the common clock: its times are shown `shift` nanoseconds later.
 * @typedef {{id: string, trace: Trace, answer: TimelineTracks, shift: number, tiles: import('./data.js').Tiles}} Pane
 */

/** The first trace is at hand anyway; names of the second one begin with this in the address. */
export const SECOND = 'w';

/** @param {number} pane */
const prefix = (pane) => (pane === 0 ? '' : SECOND);

/**
 * @param {Pane[]} panes
 * @param {Set<string>} collapsed keys of rows
 * @returns {{rows: TimelineRow[], height: number}}
 */
export function layout(panes, collapsed) {
    /** @type {TimelineRow[]} */
    const rows = [];
    let top = 0;
    /** @param {Omit<TimelineRow, 'top'>} row @param {number} gap */
    const add = (row, gap) => {
        rows.push({ ...row, top });
        top += row.height + gap;
    };
    panes.forEach(({ answer, trace }, pane) => {
        if (panes.length > 1) add({ kind: 'trace', key: `${prefix(pane)}all`, pane, track: null, label: `${trace.run}, ${trace.worker}`, note: `span ${trace.span}`, height: TITLE, laneHeight: 0, collapsed: false }, 0);
        let process = '';
        let folded = false;
        for (const track of answer.tracks) {
            if (track.process !== process) {
                process = track.process;
                const key = `${prefix(pane)}p${track.id}`;
                folded = collapsed.has(key);
                add({ kind: 'process', key, pane, track: null, label: process || 'No process', note: '', height: PROCESS, laneHeight: 0, collapsed: folded }, folded ? 0 : GAP);
            }
            if (!folded) add(trackRow(track, pane, collapsed.has(`${prefix(pane)}t${track.id}`)), GAP);
        }
    });
    return { rows, height: top };
}

/** @param {TimelineTrack} track @param {number} pane @param {boolean} collapsed @returns {Omit<TimelineRow, 'top'>} */
function trackRow(track, pane, collapsed) {
    const lane = track.kind === 'counter' ? COUNTER_LANE : LANE;
    const lanes = Math.max(1, track.lanes);
    const laneHeight = collapsed ? Math.min(lane, COLLAPSED / lanes) : lane;
    return { kind: 'track', key: `${prefix(pane)}t${track.id}`, pane, track, label: track.label, note: track.members > 1 ? `${track.members} joined` : '',
        height: Math.max(COLLAPSED, lanes * laneHeight), laneHeight, collapsed };
}

/** The rows that reach into a span of heights. @param {TimelineRow[]} rows @param {number} top @param {number} bottom */
export function rowsBetween(rows, top, bottom) {
    let [low, high] = [0, rows.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (rows[middle].top + rows[middle].height <= top) low = middle + 1;
        else high = middle;
    }
    let to = low;
    while (to < rows.length && rows[to].top < bottom) to += 1;
    return rows.slice(low, to);
}

/** The row of a track, or of the process that hides it. @param {TimelineRow[]} rows @param {number} pane @param {number} track */
export function rowOf(rows, pane, track) {
    const own = rows.find((row) => row.pane === pane && row.track?.id === track);
    if (own) return own;
    const first = (/** @type {TimelineRow} */ row) => Number(/p(\d+)$/.exec(row.key)?.[1] ?? 0);
    return rows.findLast((row) => row.pane === pane && row.kind === 'process' && first(row) <= track) ?? null;
}

/** The part of time in sight, in nanoseconds of the common clock, across a width in CSS pixels. */
export class Viewport {
    constructor() {
        this.start = 0;
        this.end = 1;
        this.width = 1;
        this.top = 0;
        this.height = 1;
        /** The whole of what there is. */
        this.from = 0;
        this.to = 1;
    }

    /** @param {Pane[]} panes */
    bound(panes) {
        this.from = Math.min(...panes.map(({ answer, shift }) => answer.start_ns + shift));
        this.to = Math.max(this.from + SHORTEST_NS, ...panes.map(({ answer, shift }) => answer.end_ns + shift));
    }

    /** @param {number} ns */
    x(ns) {
        return ((ns - this.start) / (this.end - this.start)) * this.width;
    }

    /** @param {number} x */
    ns(x) {
        return this.start + (x / this.width) * (this.end - this.start);
    }

    get span() {
        return this.end - this.start;
    }

    /** @param {number} start @param {number} end */
    show(start, end) {
        const whole = this.to - this.from;
        const span = Math.max(SHORTEST_NS, Math.min(whole * WIDEST, end - start));
        const middle = (start + end) / 2;
        // Half of the view stays on the trace.
        const begin = Math.max(this.from - span / 2, Math.min(this.to - span / 2, middle - span / 2));
        this.start = begin;
        this.end = begin + span;
    }

    all() {
        const pad = (this.to - this.from) * MARGIN;
        this.show(this.from - pad, this.to + pad);
    }

    get isAll() {
        const pad = (this.to - this.from) * MARGIN;
        return Math.abs(this.start - this.from + pad) < 1 && Math.abs(this.end - this.to - pad) < 1;
    }

    /** @param {number} ns */
    pan(ns) {
        this.show(this.start + ns, this.end + ns);
    }

    /** What is at x stays there. @param {number} x @param {number} factor of the span */
    zoom(x, factor) {
        const at = this.ns(x);
        const span = Math.max(SHORTEST_NS, Math.min((this.to - this.from) * WIDEST, this.span * factor));
        this.show(at - (x / this.width) * span, at + (1 - x / this.width) * span);
    }
}
