/** The picture of blocks over time: what of a window's answer stands where, also while the window moves on. */

import { h } from '../../lib/dom.js';
import { token } from '../../app/theme.js';
import { CATEGORIES, categoryColour } from '../../lib/colours.js';
import { sharpContext } from '../../lib/canvas.js';
import { hashOf } from '../../lib/names.js';

/**
 * @typedef {{first: number[], end: number[], bytes: number[], low: number[], frame: number[], frames: string[], first_event: number, end_event: number,
 *     low_bytes: number, high_bytes: number, events: number, top_bytes: number, total: number, in_window: number, shade_columns: number, shades: number[]}} Lives
 * @typedef {{from: number, to: number, low: number, high: number}} Span events across, bytes upwards
 */

/** The shades as a picture, a point a cell. @param {Lives} lives */
export function shadePicture({ shades, shade_columns: columns }) {
    if (shades.length === 0) return null;
    const rows = shades.length / columns;
    const picture = h('canvas', { width: columns, height: rows });
    const context = picture.getContext('2d');
    if (!context) return null;
    context.fillStyle = token('--cat-other');
    shades.forEach((percent, at) => {
        if (percent === 0) return;
        context.globalAlpha = 0.15 + 0.006 * percent;
        context.fillRect(at % columns, rows - 1 - Math.floor(at / columns), 1, 1);
    });
    return picture;
}

/** Places of blocks by the colour of their source line, which is the same in each window. @param {Lives} lives @returns {number[][]} */
export function sortByColour(lives) {
    const colours = lives.frames.map((name) => hashOf(name) % CATEGORIES);
    /** @type {number[][]} */
    const places = Array.from({ length: CATEGORIES }, () => []);
    lives.frame.forEach((number, at) => places[colours[number]].push(at));
    return places;
}

/** Left, top, width and height of a block. @param {Lives} of @param {number} at @param {Span} span @param {number} width @param {number} height */
function place(of, at, span, width, height) {
    const across = width / (span.to - span.from), up = height / (span.high - span.low);
    const left = Math.max(-1, (Math.max(0, of.first[at]) - span.from) * across);
    const right = Math.min(width + 1, (Math.min(of.end[at], of.events) - span.from) * across);
    const bottom = Math.min(height + 1, height - (of.low[at] - span.low) * up);
    const top = Math.max(-1, height - (of.low[at] + of.bytes[at] - span.low) * up);
    return [left, top, right - left, bottom - top];
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{lives: Lives, span: Span, shades: HTMLCanvasElement | null, byColour: number[][], chosen: number}} picture chosen: -1: none
 */
export function paintBlocks(canvas, { lives, span, shades, byColour, chosen }) {
    const sharp = sharpContext(canvas);
    if (!sharp) return;
    const { context, width, height } = sharp;
    if (shades) {
        const across = width / (span.to - span.from), up = height / (span.high - span.low);
        context.imageSmoothingEnabled = false;
        context.drawImage(shades, (lives.first_event - span.from) * across, height - (lives.high_bytes - span.low) * up,
            (lives.end_event - lives.first_event) * across, (lives.high_bytes - lives.low_bytes) * up);
    }
    for (const [colour, list] of byColour.entries()) {
        context.fillStyle = categoryColour(colour);
        for (const at of list) {
            const [left, top, wide, tall] = place(lives, at, span, width, height);
            if (wide < -0.5 || tall < 0 || left > width || top > height || left + wide < 0 || top + tall < 0) continue;
            context.fillRect(left, top, Math.max(0.5, wide > 4 ? wide - 0.5 : wide), Math.max(0.5, tall > 4 ? tall - 0.5 : tall));
        }
    }
    if (chosen < 0) return;
    const [left, top, wide, tall] = place(lives, chosen, span, width, height);
    context.strokeStyle = token('--ink');
    context.lineWidth = 2;
    context.strokeRect(left, top, Math.max(2, wide), Math.max(2, tall));
}

/** The block at a point of the canvas, the last taken of several; -1: none. @param {HTMLCanvasElement} canvas @param {Lives} lives @param {Span} span @param {number} x @param {number} y */
export function blockUnder(canvas, lives, span, x, y) {
    return lives.first.findLastIndex((_, at) => {
        const [left, top, wide, tall] = place(lives, at, span, canvas.clientWidth, canvas.clientHeight);
        return x >= left && x <= left + Math.max(1, wide) && y >= top && y <= top + Math.max(1, tall);
    });
}
