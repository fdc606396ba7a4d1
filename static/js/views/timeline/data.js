/**
 * Windows of a trace, kept as tiles: at zoom z a pixel is 2^z nanoseconds, and a tile is TILE_PX of them wide, so that
 * panning and zooming meet the same tiles again. Only tracks in sight are asked for. While a tile is on its way, a
 * coarser or finer one stands in for it, stretched.
 */

import { isAbort } from '../../lib/api.js';
import { Sight, TILE_PX, tileNs } from './sight.js';

/** Coarser tiles are looked for so far, finer ones are not worth it beyond that. */
const FINER = 2;
const AT_ONCE = 4;
/** On either side, so that panning does not wait. */
const OVERSCAN_SCREENS = 3;
/** Slices kept: about 30 bytes each. */
const KEPT = 2e6;

/** @typedef {{z: number, at: number, start: number, end: number, tracks: Map<number, LaneColumns | null>, items: number, used: number}} Tile null: nothing there */
/** @typedef {import('./sight.js').Piece} Piece */
/** @typedef {{tile: Tile, tracks: Set<number>, stop: AbortController}} Asked */

export class Tiles extends Sight {
    /**
     * @param {string} id of the trace
     * @param {TimelineTracks} answer
     * @param {import('./api.js').WindowReader} reader
     * @param {{onData: () => void, onError: (error: unknown) => void}} events
     */
    constructor(id, answer, reader, events) {
        super(answer, events);
        this.id = id;
        this.reader = reader;
        /** @type {Map<string, Tile>} */
        this.tiles = new Map();
        /** @type {Map<string, Asked[]>} */
        this.asked = new Map();
    }

    fetchMissing() {
        if (this.gone) return;
        const { start, end, z, tracks } = this.sight;
        const side = (end - start) * OVERSCAN_SCREENS;
        const middle = (start + end) / 2 / tileNs(z) - 0.5;
        const near = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - middle) - Math.abs(b - middle);
        /** @type {[number, number][]} */
        const wanted = [...this.range(z, start, end).sort(near).map((at) => /** @type {[number, number]} */ ([z, at])),
            ...this.range(this.base, this.answer.start_ns, this.answer.end_ns).map((at) => /** @type {[number, number]} */ ([this.base, at])),
            ...this.range(z, start - side, end + side).sort(near).map((at) => /** @type {[number, number]} */ ([z, at]))];
        const keys = new Set(wanted.map(([zoom, at]) => `${zoom} ${at}`));
        for (const [key, list] of this.asked) if (!keys.has(key)) list.forEach(({ stop }) => stop.abort());
        let running = [...this.asked.values()].reduce((sum, list) => sum + list.length, 0);
        for (const [zoom, at] of wanted) {
            if (running >= AT_ONCE) return;
            if (this.request(zoom, at, tracks)) running += 1;
        }
    }

    /** @param {number} z @param {number} at @param {number[]} tracks @returns {boolean} whether anything was missing */
    request(z, at, tracks) {
        const key = `${z} ${at}`;
        const pending = this.asked.get(key) ?? [];
        const missing = tracks.filter((track) => !this.known(z, at, track) && !pending.some((asked) => asked.tracks.has(track)));
        if (missing.length === 0) return false;
        const tile = this.tiles.get(key) ?? { z, at, start: at * tileNs(z), end: (at + 1) * tileNs(z), tracks: new Map(), items: 0, used: this.clock };
        const asked = { tile, tracks: new Set(missing), stop: new AbortController() };
        this.asked.set(key, [...pending, asked]);
        this.bring(key, asked).catch((error) => (isAbort(error) ? this.fetchMissing() : this.onError(error)));
        return true;
    }

    /** @param {string} key @param {Asked} asked */
    async bring(key, asked) {
        const { tile, tracks, stop } = asked;
        try {
            const answer = await this.reader.ask(this.id, { start_ns: tile.start, end_ns: tile.end, width_px: TILE_PX, tracks: [...tracks] }, stop.signal);
            this.tiles.set(key, tile);
            const numbers = answer.labels.map((label) => this.number(label));
            tracks.forEach((track) => tile.tracks.set(track, null));
            for (const { id, columns } of answer.tracks) {
                for (let at = 0; at < columns.label.length; at += 1) columns.label[at] = numbers[columns.label[at]];
                tile.tracks.set(id, columns);
                tile.items += columns.start.length;
                if (columns.points) this.stretch(id, columns);
            }
            tile.used = this.clock;
            this.forget();
            this.onData();
        } finally {
            const left = (this.asked.get(key) ?? []).filter((other) => other !== asked);
            if (left.length) this.asked.set(key, left);
            else this.asked.delete(key);
        }
        this.fetchMissing();
    }

    /** @param {number} track @param {LaneColumns} columns of a counter */
    stretch(track, { offsets, points }) {
        if (!points) return;
        for (let lane = 0; lane + 1 < offsets.length; lane += 1) {
            const key = `${track} ${lane}`;
            let [low, high] = this.extent.get(key) ?? [0, 0];
            for (let at = offsets[lane]; at < offsets[lane + 1]; at += 1) {
                low = Math.min(low, points.min[at]);
                high = Math.max(high, points.max[at]);
            }
            this.extent.set(key, [low, high]);
        }
    }

    /** Tiles that were not looked at for longest go, never those of the whole. */
    forget() {
        let sum = 0;
        for (const tile of this.tiles.values()) sum += tile.items;
        if (sum <= KEPT) return;
        const old = [...this.tiles].filter(([, tile]) => tile.z !== this.base).sort(([, a], [, b]) => a.used - b.used);
        for (const [key, tile] of old) {
            if (sum <= KEPT) return;
            this.tiles.delete(key);
            sum -= tile.items;
        }
    }

    /** Whether a closer look would show nothing more. @param {number} z @param {number} at @param {number} track */
    known(z, at, track) {
        if (super.known(z, at, track)) return true;
        const own = this.tiles.get(`${z} ${at}`)?.tracks.get(track);
        if (own !== undefined) return true;
        const above = this.above(z, at, track);
        return above !== null && (above.columns === null || above.columns.exact);
    }

    /** The finest coarser tile that has the track. @param {number} z @param {number} at @param {number} track */
    above(z, at, track) {
        for (let up = 1; z + up <= this.base; up += 1) {
            const tile = this.tiles.get(`${z + up} ${Math.floor(at / 2 ** up)}`);
            const columns = tile?.tracks.get(track);
            if (tile && columns !== undefined) return { tile, columns };
        }
        return null;
    }

    /**
     * What there is to draw of a track, from left to right.
     * @param {number} track @param {number} start @param {number} end @param {number} z @param {number} [finer]
     * @returns {Piece[]}
     */
    pieces(track, start, end, z, finer = FINER) {
        if (this.own.has(track)) return super.pieces(track, start, end, z);
        /** @type {Piece[]} */
        const list = [];
        for (const at of this.range(z, start, end)) {
            const [from, to] = [Math.max(start, at * tileNs(z)), Math.min(end, (at + 1) * tileNs(z))];
            const tile = this.tiles.get(`${z} ${at}`);
            const own = tile?.tracks.get(track);
            if (tile && own !== undefined) {
                tile.used = this.clock;
                add(list, own, from, to);
                continue;
            }
            const above = this.above(z, at, track);
            const exact = above !== null && (above.columns === null || above.columns.exact);
            if (above) above.tile.used = this.clock;
            const below = exact || finer === 0 || z === 0 ? [] : this.pieces(track, from, to, z - 1, finer - 1).filter((piece) => piece.to > piece.from);
            const covered = below.reduce((sum, piece) => sum + piece.to - piece.from, 0);
            if (!exact && (covered >= 0.999 * (to - from) || !above)) below.forEach((piece) => add(list, piece.columns, piece.from, piece.to));
            else if (above) add(list, above.columns, from, to);
        }
        return list;
    }

    destroy() {
        super.destroy();
        this.asked.forEach((list) => list.forEach(({ stop }) => stop.abort()));
    }
}

/** Neighbours from the same columns are one piece. @param {Piece[]} list @param {LaneColumns | null} columns @param {number} from @param {number} to */
function add(list, columns, from, to) {
    if (!columns) return;
    const last = list[list.length - 1];
    if (last && last.columns === columns && last.to === from) last.to = to;
    else list.push({ columns, from, to });
}

/** The first item of a lane that ends behind a time: items of a lane follow one another. @param {LaneColumns} columns @param {number} lane @param {number} ns */
export function firstAfter(columns, lane, ns) {
    if (lane + 1 >= columns.offsets.length) return 0;
    let [low, high] = [columns.offsets[lane], columns.offsets[lane + 1]];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (columns.end[middle] < ns) low = middle + 1;
        else high = middle;
    }
    return low;
}
