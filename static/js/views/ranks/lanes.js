/**
 * Folded ranks: windows of their lanes as tiles of pixels. A tile is a canvas with a line a rank, so that a frame copies a
 * line of it for each rank in sight; only those are asked for. While a tile is on its way a coarser one stands in for it.
 */

import { isAbort } from '../../lib/api.js';
import { channels } from '../../lib/colours.js';
import { Sight, TILE_PX, tileNs, zoomFor } from '../timeline/sight.js';
import * as api from './api.js';

const AT_ONCE = 4;
/** Ranks of one request. */
const RANKS = 128;
/** Tiles that stay; those of the whole run always do. */
const KEPT = 24;
const MOST = 9;

/** Layers of a lane and their colours. @type {['busy' | 'transfer' | 'wait', string][]} */
export const LAYERS = [['busy', '--role-kernel'], ['transfer', '--role-communication'], ['wait', '--slower']];

/** @typedef {{z: number, at: number, canvas: HTMLCanvasElement, lines: Map<number, number>, levels: Map<number, api.Levels>, asked: Set<number>, used: number}} Tile lines: of the canvas, by rank */

export class RankLanes extends Sight {
    /** @param {string} run @param {string | null} span @param {TimelineTracks} answer whose tracks are ranks @param {{onData: () => void, onError: (error: unknown) => void}} events */
    constructor(run, span, answer, events) {
        super(answer, events);
        this.run = run;
        this.span = span;
        /** @type {Map<string, Tile>} */
        this.drawn = new Map();
        this.running = 0;
        this.stop = new AbortController();
        /** Colours as numbers: of the ground, then of the layers. @type {number[][] | null} */
        this.colours = null;
    }

    fetchMissing() {
        if (this.gone) return;
        const { start, end, z, tracks } = this.sight;
        const wanted = [...this.range(z, start, end).map((at) => [z, at]), ...this.range(this.base, this.answer.start_ns, this.answer.end_ns).map((at) => [this.base, at])];
        for (const [zoom, at] of wanted) {
            const tile = this.tile(zoom, at);
            const missing = tracks.filter((rank) => !tile.asked.has(rank)).slice(0, RANKS);
            if (missing.length === 0) continue;
            if (this.running >= AT_ONCE) return;
            this.bringRanks(tile, missing).catch((error) => isAbort(error) || this.onError(error));
        }
    }

    /** @param {number} z @param {number} at */
    tile(z, at) {
        const key = `${z} ${at}`;
        let tile = this.drawn.get(key);
        if (!tile) {
            const canvas = document.createElement('canvas');
            canvas.width = TILE_PX;
            canvas.height = Math.max(1, this.answer.tracks.length);
            tile = { z, at, canvas, lines: new Map(), levels: new Map(), asked: new Set(), used: this.clock };
            this.drawn.set(key, tile);
            this.drop();
        }
        tile.used = this.clock;
        return tile;
    }

    /** @param {Tile} tile @param {number[]} ranks */
    async bringRanks(tile, ranks) {
        ranks.forEach((rank) => tile.asked.add(rank));
        this.running += 1;
        try {
            const start = tile.at * tileNs(tile.z);
            const { rows } = await api.levels(this.run, { span: this.span, start_ns: start, end_ns: start + tileNs(tile.z), width_px: TILE_PX, ranks: ranks.join(',') }, this.stop.signal);
            for (const row of rows) {
                tile.levels.set(row.rank, row);
                this.line(tile, row);
            }
            this.onData();
        } catch (error) {
            ranks.forEach((rank) => tile.asked.delete(rank));
            throw error;
        } finally {
            this.running -= 1;
        }
        this.fetchMissing();
    }

    /** Colours of a rank as a line of the tile's canvas. @param {Tile} tile @param {api.Levels} row */
    line(tile, row) {
        const context = tile.canvas.getContext('2d');
        if (!context || !this.colours) return;
        const image = context.createImageData(TILE_PX, 1);
        const [ground, ...layers] = this.colours;
        for (let x = 0; x < row.busy.length; x += 1) {
            const shares = LAYERS.map(([layer]) => (row[layer].charCodeAt(x) - 48) / MOST);
            const sum = shares[0] + shares[1] + shares[2];
            const scale = sum > 1 ? 1 / sum : 1;
            for (let k = 0; k < 3; k += 1) {
                image.data[4 * x + k] = ground[k] * Math.max(0, 1 - sum) + scale * (shares[0] * layers[0][k] + shares[1] * layers[1][k] + shares[2] * layers[2][k]);
            }
            image.data[4 * x + 3] = 255;
        }
        const line = tile.lines.get(row.rank) ?? tile.lines.size;
        tile.lines.set(row.rank, line);
        context.putImageData(image, 0, line);
    }

    /** The theme is another: every line anew. @param {(name: string) => string} colour */
    recolour(colour) {
        this.colours = ['--sunk', ...LAYERS.map(([, name]) => name)].map((name) => channels(colour(name)));
        for (const tile of this.drawn.values()) for (const row of tile.levels.values()) this.line(tile, row);
    }

    drop() {
        const old = [...this.drawn].filter(([, tile]) => tile.z !== this.base).sort(([, a], [, b]) => a.used - b.used);
        old.slice(0, Math.max(0, old.length - KEPT)).forEach(([key]) => this.drawn.delete(key));
    }

    /** The tile that has a rank then, the finest from a zoom on. @param {number} z @param {number} at @param {number} rank */
    finest(z, at, rank) {
        for (let up = 0; z + up <= this.base; up += 1) {
            const tile = this.drawn.get(`${z + up} ${Math.floor(at / 2 ** up)}`);
            if (tile?.lines.has(rank)) return tile;
        }
        return null;
    }

    /** @param {import('../timeline/canvas/draw.js').Scene} scene @param {TimelineRow} row @param {number} y */
    paint(scene, row, y) {
        const { context, ratio, view } = scene;
        const rank = row.track?.id ?? -1;
        const tall = Math.max(1, Math.round((row.height - 2) * ratio));
        const scale = scene.width / view.span;
        const z = Math.min(this.base, zoomFor(view.span / view.width));
        context.imageSmoothingEnabled = false;
        for (const at of this.range(z, view.start, view.end)) {
            const tile = this.finest(z, at, rank);
            const [from, to] = [Math.max(view.start, at * tileNs(z), this.answer.start_ns), Math.min(view.end, (at + 1) * tileNs(z), this.answer.end_ns)];
            if (!tile || to <= from) continue;
            tile.used = this.clock;
            const [begin, pixel] = [tile.at * tileNs(tile.z), 2 ** tile.z];
            const left = Math.round((from - view.start) * scale);
            const right = Math.max(left + 1, Math.round((to - view.start) * scale));
            context.drawImage(tile.canvas, (from - begin) / pixel, tile.lines.get(rank) ?? 0, (to - from) / pixel, 1, left, y + Math.round(ratio), right - left, tall);
        }
    }

    /** Shares of the layers at a time. @param {number} rank @param {number} ns @returns {number[] | null} */
    sharesAt(rank, ns) {
        const { z } = this.sight;
        const tile = this.finest(z, Math.floor(ns / tileNs(z)), rank);
        const row = tile?.levels.get(rank);
        if (!tile || !row) return null;
        const x = Math.floor((ns - tile.at * tileNs(tile.z)) / 2 ** tile.z);
        return x >= 0 && x < row.busy.length ? LAYERS.map(([layer]) => (row[layer].charCodeAt(x) - 48) / MOST) : null;
    }

    destroy() {
        super.destroy();
        this.stop.abort();
    }
}
