/** What lies over the lanes: the chosen slice, arrows to what it leads to and comes from, the chosen range. */

import { rowOf } from '../model.js';

/** Farther away arrows only show their direction. */
const FAR = 20000;
const ARROWS = 64;
const HEAD = 7;
const SOFT = 0.16;

/** @typedef {import('./draw.js').Scene} Scene */

/**
 * Where a slice stands, in pixels of the screen; one of a folded process stands on its name.
 * @param {Scene} scene @param {number} pane @param {TimelinePlace} place
 */
export function boxOf({ rows, panes, view, width, ratio, top }, pane, place) {
    if (place.track === null || !panes[pane]) return null;
    const row = rowOf(rows, pane, place.track);
    if (!row) return null;
    const x = (/** @type {number} */ ns) => Math.max(-FAR, Math.min(width + FAR, ((ns + panes[pane].shift - view.start) / view.span) * width));
    const [y, tall] = row.track ? [view.y(row) + (place.lane ?? 0) * row.laneHeight, row.laneHeight] : [view.y(row), row.height];
    const left = x(place.start_ns);
    return { left, right: Math.max(left + ratio, x(place.start_ns + (place.dur_ns ?? 0))), top: top + y * ratio, bottom: top + (y + tall) * ratio, from: top + (row.pinned ? 0 : view.pinned * ratio) };
}

/** @param {Scene} scene @param {TimelineSelection | null} selection */
export function paintSelection(scene, selection) {
    const box = selection?.place ? boxOf(scene, selection.pane, selection.place) : null;
    if (!selection || !box) return;
    const { context, ratio, colours, width, height, top } = scene;
    context.save();
    context.beginPath();
    context.rect(0, top, width, height - top);
    context.clip();
    for (const flow of selection.detail?.flows.slice(0, ARROWS) ?? []) {
        const other = boxOf(scene, selection.pane, flow);
        if (!other) continue;
        if (flow.direction === 'out') arrow(scene, box, other, flow.kind);
        else arrow(scene, other, box, flow.kind);
    }
    // What has scrolled below the rows that stay is not drawn on them.
    context.beginPath();
    context.rect(0, box.from, width, height - box.from);
    context.clip();
    const [x, y, w, h] = [Math.max(-4 * ratio, Math.round(box.left)), Math.round(box.top), 0, Math.round(box.bottom - box.top)];
    const wide = Math.max(3 * ratio, Math.min(width + 8 * ratio, Math.round(box.right)) - x) + w;
    context.strokeStyle = colours.of('--bg');
    context.lineWidth = 4 * ratio;
    context.strokeRect(x, y, wide, h);
    context.strokeStyle = colours.of('--ink');
    context.lineWidth = 2 * ratio;
    context.strokeRect(x, y, wide, h);
    context.restore();
}

/** @typedef {{left: number, right: number, top: number, bottom: number, from: number}} Box from: above this its row is covered */

/** From the end of a slice to the beginning of another. @param {Scene} scene @param {Box} from @param {Box} to @param {string} kind */
function arrow({ context, ratio, colours }, from, to, kind) {
    const x = from.right <= to.left ? from.right : from.left;
    const [y, endX, endY] = [(from.top + from.bottom) / 2, to.left, (to.top + to.bottom) / 2];
    const bend = Math.max(24 * ratio, Math.min(160 * ratio, Math.abs(endX - x) / 2));
    const colour = colours.of(kind === 'launch' ? '--accent' : kind === 'fwdbwd' ? '--cat-2' : '--ink-2');
    const path = () => {
        context.beginPath();
        context.moveTo(x, y);
        context.bezierCurveTo(x + bend, y, endX - bend, endY, endX - ratio, endY);
        context.stroke();
    };
    context.strokeStyle = colours.of('--bg');
    context.lineWidth = 4 * ratio;
    path();
    context.strokeStyle = colour;
    context.lineWidth = 1.75 * ratio;
    path();
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(endX, endY);
    context.lineTo(endX - HEAD * ratio, endY - 0.55 * HEAD * ratio);
    context.lineTo(endX - HEAD * ratio, endY + 0.55 * HEAD * ratio);
    context.fill();
}

/** @param {Scene} scene @param {TimelinePlace | null} place @param {number} pane */
export function paintHover(scene, place, pane) {
    const box = place ? boxOf(scene, pane, place) : null;
    if (!box || box.bottom <= box.from) return;
    const { context, ratio, colours, width } = scene;
    const left = Math.max(-4 * ratio, Math.round(box.left));
    const y = Math.max(box.from, Math.round(box.top));
    context.strokeStyle = colours.of('--ink');
    context.lineWidth = ratio;
    context.strokeRect(left + 0.5, y + 0.5, Math.max(2 * ratio, Math.min(width + 4 * ratio, Math.round(box.right)) - left - ratio), Math.round(box.bottom) - y - ratio);
}

/** What is outside of it is faint. @param {Scene} scene @param {[number, number] | null} range on the common clock */
export function paintRange({ context, ratio, colours, width, height, view, top }, range) {
    if (!range) return;
    const [left, right] = range.map((ns) => Math.round(Math.max(-10, Math.min(width + 10, ((ns - view.start) / view.span) * width))));
    context.fillStyle = colours.of('--accent');
    context.globalAlpha = SOFT;
    context.fillRect(left, 0, right - left, top);
    context.fillStyle = colours.of('--bg');
    context.globalAlpha = 0.55;
    context.fillRect(0, top, left, height - top);
    context.fillRect(right, top, width - right, height - top);
    context.globalAlpha = 1;
    context.fillStyle = colours.of('--accent');
    context.fillRect(left, 0, Math.max(1, Math.round(1.5 * ratio)), height);
    context.fillRect(right - Math.round(1.5 * ratio), 0, Math.max(1, Math.round(1.5 * ratio)), height);
}
