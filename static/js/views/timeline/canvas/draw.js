/** The lanes of the tracks in sight, painted in pixels of the screen: rectangles never blur and a slice is never thinner than one. */

import { firstAfter } from '../data.js';
import { zoomFor } from '../sight.js';
import { rowsInSight } from '../model.js';
import { shadeOf } from './colours.js';
import { paintCounter } from './counter.js';

/** Whether a slice is meant; many: it stands for several, and has the number of one. @typedef {(pane: number, label: TimelineLabel, event: number, start: number, end: number, many: boolean) => boolean} Lit */

/**
 * @typedef {{
 *   context: CanvasRenderingContext2D, ratio: number, width: number, height: number, top: number,
 *   view: import('../viewport.js').Viewport, rows: TimelineRow[], panes: import('../model.js').Pane[],
 *   colours: import('./colours.js').Colours, texts: Texts,
 *   lit: Lit | null,
 * }} Scene
 *     width, height, top: in pixels of the screen, top is below the rulers; lit: what a search means, or the critical path; null: neither
 */

/** In CSS pixels: slices from this width on are kept apart by a line, and from that on they are named. */
const APART = 3;
const NAMED = 26;
const PAD = 4;
const FONT = 11;
const MARK = 5;

/** Names as they fit; each is measured once. */
export class Texts {
    constructor() {
        /** @type {Map<string, number>} */
        this.widths = new Map();
        /** @type {Map<string, string>} */
        this.cuts = new Map();
        this.font = '';
    }

    /** @param {CanvasRenderingContext2D} context @param {number} ratio @param {string} family */
    use(context, ratio, family) {
        const font = `${FONT * ratio}px ${family}`;
        if (font !== this.font) {
            this.widths.clear();
            this.cuts.clear();
            this.font = font;
        }
        context.font = font;
        context.textBaseline = 'middle';
    }

    /** @param {CanvasRenderingContext2D} context @param {string} text */
    width(context, text) {
        let width = this.widths.get(text);
        if (width === undefined) {
            width = context.measureText(text).width;
            this.widths.set(text, width);
        }
        return width;
    }

    /** @param {CanvasRenderingContext2D} context @param {string} text @param {number} room in pixels of the screen */
    fit(context, text, room) {
        const width = this.width(context, text);
        if (width <= room) return text;
        let count = Math.floor((room / width) * text.length);
        if (count < 2) return '';
        const key = `${count} ${text}`;
        let cut = this.cuts.get(key);
        if (cut === undefined) {
            // The characters that stay may be the wide ones.
            do cut = `${text.slice(0, count)}…`;
            while (context.measureText(cut).width > room && --count > 1);
            this.cuts.set(key, cut);
        }
        return cut;
    }
}

/** @param {Scene} scene */
export function paintLanes(scene) {
    const { context, ratio, view, rows, panes, colours, texts, width, height, top } = scene;
    context.save();
    context.beginPath();
    context.rect(0, top, width, height - top);
    context.clip();
    /** x, y, room and text of each name, by ink. @type {Map<string, {x: number, y: number, text: string}[]>} */
    const names = new Map();
    texts.use(context, ratio, colours.of('--font'));
    // Rows that stay are painted over those that scroll below them.
    const sight = rowsInSight(rows, view);
    const scrolling = sight.findIndex(({ pinned }) => !pinned);
    const order = scrolling <= 0 ? sight : [...sight.slice(scrolling), ...sight.slice(0, scrolling)];
    let covered = view.pinned === 0;
    const write = () => {
        for (const [ink, list] of names) {
            context.fillStyle = ink;
            for (const { x, y, text } of list) context.fillText(text, x, y);
        }
        names.clear();
    };
    for (const row of order) {
        if (row.pinned && !covered) {
            write();
            covered = true;
            context.fillStyle = colours.of('--bg');
            context.fillRect(0, top, width, Math.round(view.pinned * ratio));
        }
        const y = Math.round(top + view.y(row) * ratio);
        if (row.kind !== 'track') {
            context.fillStyle = colours.of(row.kind === 'trace' ? '--hover' : '--sunk');
            context.fillRect(0, y, width, Math.round(row.height * ratio));
            continue;
        }
        const pane = panes[row.pane];
        if (pane.tiles.paint) {
            pane.tiles.paint(scene, row, y);
            continue;
        }
        const z = Math.min(pane.tiles.base, zoomFor(view.span / view.width));
        const pieces = pane.tiles.pieces(row.track?.id ?? 0, view.start - pane.shift, view.end - pane.shift, z);
        const lanes = Math.max(1, row.track?.lanes ?? 1);
        for (let lane = 0; lane < lanes; lane += 1) {
            const laneTop = Math.round(top + (view.y(row) + lane * row.laneHeight) * ratio);
            const laneBottom = Math.round(top + (view.y(row) + (lane + 1) * row.laneHeight) * ratio);
            if (laneBottom < top || laneTop > height) continue;
            if (row.track?.kind === 'counter') paintCounter(scene, row, pieces, lane, laneTop, laneBottom);
            else paintSlices(scene, row, pieces, lane, laneTop, Math.max(1, laneBottom - laneTop - (row.laneHeight > 6 ? Math.round(ratio) : 0)), names);
        }
    }
    write();
    if (view.pinned > 0) {
        context.fillStyle = colours.of('--line-strong');
        context.fillRect(0, top + Math.round(view.pinned * ratio) - Math.round(ratio), width, Math.round(ratio));
    }
    context.restore();
}

/**
 * @param {Scene} scene @param {TimelineRow} row @param {import('../sight.js').Piece[]} pieces
 * @param {number} lane @param {number} y @param {number} tall @param {Map<string, {x: number, y: number, text: string}[]>} names
 */
function paintSlices(scene, row, pieces, lane, y, tall, names) {
    const { context, ratio, view, panes, colours, texts, lit } = scene;
    const { tiles, shift } = panes[row.pane];
    const scale = scene.width / view.span;
    const begin = view.start - shift;
    const named = tall >= 12 * ratio;
    const gap = Math.max(1, Math.round(ratio));
    const beyond = scene.width + gap;
    const run = new Run(context, y, tall);
    let last = -Infinity;
    for (const { columns, from, to } of pieces) {
        const { start, end, label, event, count, busy, instant, offsets } = columns;
        if (lane + 1 >= offsets.length) continue;
        const [left, right] = [Math.round((from - begin) * scale), Math.round((to - begin) * scale)];
        const stop = offsets[lane + 1];
        for (let at = firstAfter(columns, lane, from); at < stop && start[at] <= to; at += 1) {
            const exact = Math.round((start[at] - begin) * scale);
            const x = Math.max(left, exact);
            const many = count !== null && count[at] > 1;
            let edge = Math.round((end[at] - begin) * scale);
            // A slice goes on in the next piece, which has it, too; what stands for many may be told apart there.
            if (many && edge > right) edge = right;
            if (edge > beyond) edge = beyond;
            if (edge <= x) edge = x + 1;
            const item = tiles.labels[label[at]];
            const shown = item && (lit === null || lit(row.pane, item, event[at], start[at], end[at], many));
            // What an item before it has covered, and the second half of one that two tiles have; a match stays in sight.
            if (!item || (edge <= last && (lit === null || !shown || edge - x > 1))) continue;
            const here = edge <= last ? x : Math.max(x, last);
            const look = colours.look(item);
            const next = !shown ? look.dim : many && busy ? shadeOf(look, busy[at] / Math.max(1, end[at] - start[at])) : look.fill;
            const wide = edge - here;
            if (instant !== null && instant[at] === 1 && wide <= MARK) {
                run.begin(next, here, here);
                paintInstant(context, here, y, tall, ratio);
                last = here + 1;
                continue;
            }
            if (wide < APART * ratio) run.add(next, here, edge);
            else run.begin(next, here, edge - gap);
            last = Math.max(last, edge);
            if (!named || wide < NAMED * ratio) continue;
            // A slice that begins left of the view keeps its name in sight.
            const textAt = Math.max(here, 0) + PAD * ratio;
            const room = Math.min(edge, scene.width) - textAt - PAD * ratio;
            if (room < (NAMED - 2 * PAD) * ratio) continue;
            const text = texts.fit(context, many && count ? `${count[at]} × ${look.brief}` : texts.width(context, look.text) <= room ? look.text : look.brief, room);
            if (!text) continue;
            const ink = shown ? (many ? colours.of('--ink') : look.ink) : colours.of('--ink-3');
            const list = names.get(ink);
            const name = { x: Math.round(textAt), y: y + tall / 2 + ratio * 0.5, text };
            if (list) list.push(name);
            else names.set(ink, [name]);
        }
    }
    run.flush();
}

/** Thin neighbours of one colour are one rectangle. */
class Run {
    /** @param {CanvasRenderingContext2D} context @param {number} y @param {number} tall */
    constructor(context, y, tall) {
        this.context = context;
        this.y = y;
        this.tall = tall;
        this.style = '';
        this.from = 0;
        this.to = 0;
    }

    /** @param {string} style @param {number} from @param {number} to */
    begin(style, from, to) {
        this.flush();
        if (style !== this.style) this.context.fillStyle = style;
        this.style = style;
        this.from = from;
        this.to = to;
    }

    /** @param {string} style @param {number} from @param {number} to */
    add(style, from, to) {
        if (style === this.style && from === this.to) this.to = to;
        else this.begin(style, from, to);
    }

    flush() {
        if (this.to > this.from) this.context.fillRect(this.from, this.y, this.to - this.from, this.tall);
        this.from = this.to;
    }
}

/** A drop: it has a place but no width. @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} tall @param {number} ratio */
function paintInstant(context, x, y, tall, ratio) {
    const half = Math.round((MARK / 2) * ratio);
    context.fillRect(x, y, Math.max(1, Math.round(ratio)), tall);
    context.fillRect(x - half, y, 2 * half + 1, Math.min(tall, half + 1));
}
