/**
 * What is in sight of a pane's tracks, and when to ask for what is missing of it: zooms are powers of two, and windows
 * tiles of TILE_PX pixels. What a tile holds is told by who asks for it: `data` slices of a trace, `ranks/lanes` lines.
 */

export const TILE_PX = 1024;
const COARSEST = 44;
/** Between two looks at what is missing. */
const PAUSE_MS = 60;

/** @typedef {{columns: LaneColumns, from: number, to: number}} Piece what to draw between two times */

/** @param {number} z */
export const tileNs = (z) => TILE_PX * 2 ** z;

/** @param {number} nsPerPixel */
export const zoomFor = (nsPerPixel) => Math.max(0, Math.min(COARSEST, Math.floor(Math.log2(Math.max(1, nsPerPixel)))));

export class Sight {
    /** @param {TimelineTracks} answer @param {{onData: () => void, onError: (error: unknown) => void}} events */
    constructor(answer, { onData, onError }) {
        this.answer = answer;
        this.onData = onData;
        this.onError = onError;
        /** Of the slices among the pieces. @type {TimelineLabel[]} */
        this.labels = [];
        /** @type {Map<string, number>} */
        this.numbers = new Map();
        /** The largest value of a counter's lane so far, "track lane". @type {Map<string, [number, number]>} */
        this.extent = new Map();
        /** Tracks whose items are all at hand: what a zoom shows of them. @type {Map<number, (z: number) => LaneColumns>} */
        this.own = new Map();
        this.clock = 0;
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        this.timer = undefined;
        /** What is looked at: times of this trace, and the tracks in sight. @type {{start: number, end: number, z: number, tracks: number[]}} */
        this.sight = { start: answer.start_ns, end: answer.end_ns, z: COARSEST, tracks: [] };
        // The picture of the whole, which stands in for everything.
        this.base = zoomFor((answer.end_ns - answer.start_ns) / TILE_PX);
        this.held = true;
        this.gone = false;
    }

    /** @param {number} start @param {number} end @param {number} width in CSS pixels @param {number[]} tracks */
    look(start, end, width, tracks) {
        this.clock += 1;
        const z = Math.min(this.base, zoomFor((end - start) / width));
        const { sight } = this;
        const same = sight.z === z && sight.start === start && sight.end === end && sight.tracks.length === tracks.length && sight.tracks.every((track, at) => track === tracks[at]);
        this.sight = { start, end, z, tracks };
        if (same || this.timer !== undefined) return;
        // The first look is answered at once.
        this.timer = setTimeout(() => {
            this.timer = undefined;
            this.fetchMissing();
        }, this.held ? 0 : PAUSE_MS);
        this.held = false;
    }

    /** The tiles of a zoom that reach into a span of time and hold something. @param {number} z @param {number} start @param {number} end */
    range(z, start, end) {
        const size = tileNs(z);
        const first = Math.floor(Math.max(start, this.answer.start_ns) / size);
        const last = Math.floor(Math.min(end, this.answer.end_ns) / size);
        return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
    }

    /** Asks for what is in sight and not at hand. */
    fetchMissing() {}

    /** @param {TimelineLabel} label */
    number(label) {
        const key = `${label.name}\n${label.category}\n${label.role}`;
        let number = this.numbers.get(key);
        if (number === undefined) {
            number = this.labels.push(label) - 1;
            this.numbers.set(key, number);
        }
        return number;
    }

    /** Whether a closer look would show nothing more. @param {number} _z @param {number} _at @param {number} track */
    known(_z, _at, track) {
        return this.own.has(track);
    }

    /**
     * What there is to draw of a track, from left to right.
     * @param {number} track @param {number} start @param {number} end @param {number} z
     * @returns {Piece[]}
     */
    pieces(track, start, end, z) {
        const columnsAt = this.own.get(track);
        return columnsAt ? [{ columns: columnsAt(z), from: start, to: end }] : [];
    }

    destroy() {
        this.gone = true;
        clearTimeout(this.timer);
    }
}
