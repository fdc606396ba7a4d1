/** Counters as areas: the value that holds, and how far it went within what a pixel shows. */

import { firstAfter } from '../data.js';
import * as fmt from '../../../lib/fmt.js';

const AREAS = ['--cat-1', '--cat-3', '--cat-2', '--cat-7'];
const HEADROOM = 0.1;

/** What a name says of bytes, to be printed as such. */
const BYTES = /memory|bytes|alloc|reserved/i;

/** @param {TimelineTrack} track @param {number} lane @param {number} value */
export const counterText = (track, lane, value) => (BYTES.test(`${track.label} ${track.series?.[lane] ?? ''}`) ? fmt.bytes(value) : fmt.metric(value));

/**
 * @param {import('./draw.js').Scene} scene @param {TimelineRow} row @param {import('../sight.js').Piece[]} pieces
 * @param {number} lane @param {number} top @param {number} bottom
 */
export function paintCounter(scene, row, pieces, lane, top, bottom) {
    const { context, ratio, view, panes, colours, texts } = scene;
    const { tiles, shift } = panes[row.pane];
    const [low, high] = tiles.extent.get(`${row.track?.id} ${lane}`) ?? [0, 1];
    const tall = bottom - top - ratio;
    const scale = scene.width / view.span;
    const begin = view.start - shift;
    const y = (/** @type {number} */ value) => bottom - ratio - ((value - low) / (Math.max(1e-9, high - low) * (1 + HEADROOM))) * tall;
    const colour = colours.of(AREAS[lane % AREAS.length]);
    context.fillStyle = colours.of('--line');
    context.fillRect(0, bottom - ratio, scene.width, ratio);
    context.fillStyle = colour;
    /** From, to and height of what holds; x, top and height of how far it went. @type {number[]} */
    const levels = [];
    /** @type {number[]} */
    const spreads = [];
    for (const { columns, from, to } of pieces) {
        const { start, end, points, offsets } = columns;
        if (!points || lane + 1 >= offsets.length) continue;
        const [left, right] = [(from - begin) * scale, (to - begin) * scale];
        for (let at = firstAfter(columns, lane, from); at < offsets[lane + 1] && start[at] <= to; at += 1) {
            const x = Math.round(Math.max(left, (start[at] - begin) * scale));
            const edge = Math.round(Math.min(right, (end[at] - begin) * scale));
            const level = Math.round(y(points.last[at]));
            const before = levels.length - 3;
            if (before >= 0 && levels[before + 2] === level && levels[before + 1] === x) levels[before + 1] = edge;
            else if (edge > x) levels.push(x, edge, level);
            const peak = Math.round(y(points.max[at]));
            const valley = Math.round(y(points.min[at]));
            if (valley > peak) spreads.push(x, peak, valley - peak);
        }
    }
    context.globalAlpha = 0.34;
    for (let at = 0; at < levels.length; at += 3) context.fillRect(levels[at], levels[at + 2], levels[at + 1] - levels[at], bottom - ratio - levels[at + 2]);
    context.globalAlpha = 0.55;
    for (let at = 0; at < spreads.length; at += 3) context.fillRect(spreads[at], spreads[at + 1], ratio, spreads[at + 2]);
    context.globalAlpha = 1;
    const line = Math.max(1, Math.round(ratio * 1.5));
    for (let at = 0; at < levels.length; at += 3) context.fillRect(levels[at], levels[at + 2], levels[at + 1] - levels[at], line);
    if (!row.track || tall < 24 * ratio || high === low) return;
    const text = counterText(row.track, lane, high);
    context.globalAlpha = 0.8;
    context.fillStyle = colours.of('--bg');
    context.fillRect(4 * ratio, top + ratio, texts.width(context, text) + 6 * ratio, 14 * ratio);
    context.globalAlpha = 1;
    context.fillStyle = colours.of('--ink-2');
    context.fillText(text, 7 * ratio, top + 8.5 * ratio);
}
