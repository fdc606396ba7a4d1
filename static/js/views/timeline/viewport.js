/** The range of time in sight: bounds, panning, zooming, what one opens on. */

import { holdsSlices, rowsInSight } from './model.js';

/** Nothing is closer together than this. */
const SHORTEST_NS = 20;
/** How much wider than the trace the view may get. */
const WIDEST = 1.25;
const MARGIN = 0.005;
/** Of the whole: slices that take less are what one opens on, as beside counters that began earlier. */
const NARROW = 0.5;
/** Of the time of all slices: so is device work that takes less. */
const TINY = 0.05;

/** The recorder's span of all it recorded, and tracks with nothing but instants, such as the end of its window, say nothing of how long the work took. @param {TimelineTrack} track */
const isMark = ({ kind, busy_ns: busy, process, label }) => kind === 'thread' && (busy === 0 || (process === 'Spans' && label.startsWith('PyTorch Profiler')));

/** With some room on either side. @param {number} from @param {number} to @returns {[number, number]} */
const padded = (from, to) => [from - (to - from) * MARGIN, to + (to - from) * MARGIN];

/**
 * From the first to the last of what stands on some tracks; null: nothing does.
 * @param {import('./model.js').Pane[]} panes @param {(track: TimelineTrack) => boolean} which @returns {[number, number] | null}
 */
function extent(panes, which) {
    const times = panes.flatMap(({ answer, shift }) => answer.tracks.filter((track) => track.items > 0 && which(track)).map((track) => [track.first_ns + shift, track.end_ns + shift]));
    return times.length ? [Math.min(...times.map(([from]) => from)), Math.max(...times.map(([, to]) => to))] : null;
}

/** The part of time in sight, in nanoseconds of the common clock, across a width in CSS pixels. */
export class Viewport {
    constructor() {
        this.start = 0;
        this.end = 1;
        this.width = 1;
        this.top = 0;
        this.height = 1;
        /** The height of the rows that stay, above those that scroll. */
        this.pinned = 0;
        /** The whole of what there is. */
        this.from = 0;
        this.to = 1;
        /** The same without marks of the recorder. */
        this.work = [0, 1];
        /** What one opens on: the whole, or slices or device work where they are a small part of it. */
        this.home = [0, 1];
    }

    /** All of it counts. @param {number} from @param {number} to */
    boundTo(from, to) {
        [this.from, this.to] = [from, to];
        this.work = this.home = [from, to];
    }

    /** @param {import('./model.js').Pane[]} panes */
    bound(panes) {
        this.from = Math.min(...panes.map(({ answer, shift }) => answer.start_ns + shift));
        this.to = Math.max(this.from + SHORTEST_NS, ...panes.map(({ answer, shift }) => answer.end_ns + shift));
        const all = extent(panes, (track) => !isMark(track));
        this.work = all && all[1] > all[0] ? all : [this.from, this.to];
        const whole = this.work[1] - this.work[0];
        const slices = extent(panes, (track) => holdsSlices(track) && !isMark(track)) ?? this.work;
        const streams = extent(panes, ({ kind }) => kind === 'stream');
        const near = streams && streams[1] - streams[0] < (slices[1] - slices[0]) * TINY ? streams : slices;
        this.home = near[1] > near[0] && near[1] - near[0] < whole * NARROW ? near : this.work;
    }

    /** Where a row stands below the rulers, in CSS pixels. @param {TimelineRow} row */
    y(row) {
        return row.pinned ? row.top : this.pinned + row.top - this.top;
    }

    /** The row at a height below the rulers. @param {TimelineRow[]} rows @param {number} y @returns {{row: TimelineRow, within: number} | null} */
    rowAt(rows, y) {
        const row = rowsInSight(rows, this).find((item) => item.pinned === (y < this.pinned) && this.y(item) <= y && y < this.y(item) + item.height);
        return row ? { row, within: y - this.y(row) } : null;
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
        this.show(...padded(this.work[0], this.work[1]));
    }

    open() {
        this.show(...padded(this.home[0], this.home[1]));
    }

    get isAll() {
        return this.isAt(this.work[0], this.work[1]);
    }

    get isOpen() {
        return this.isAt(this.home[0], this.home[1]);
    }

    /** @param {number} from @param {number} to */
    isAt(from, to) {
        const [start, end] = padded(from, to);
        return Math.abs(this.start - start) < 1 && Math.abs(this.end - end) < 1;
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
