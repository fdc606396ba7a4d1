/** Where the bars of nested modules stand, and their picture. */

import { token } from '../../app/theme.js';
import { sharpContext } from '../../lib/canvas.js';
import { inkOn } from '../../lib/colours.js';
import { totalOf } from './tree.js';

/** @typedef {{index: number, depth: number, from: number, to: number}} Bar from, to: 0..1 of the width */

/** Height of a level, in CSS pixels. */
export const BAR = 26;
/** Browsers draw nothing on a canvas higher than 32,767 points, of which some screens have three to a CSS pixel. What lies deeper shows by zooming. */
const LEVELS_MAX = 400;
/** Narrower parts of the width are nowhere to be seen. */
const THINNEST = 1 / 20000;
/** In CSS pixels: bars this wide are kept apart by a line, and those wide enough carry their name. */
const APART = 3;
const NAMED = 34;

/**
 * Modules of one name and id share their figures, so those in a module may take more than itself: they then share its width.
 * @param {import('./tree.js').ModuleTree} tree
 * @param {number} zoom the module that takes the whole width, -1: all at the top
 * @param {import('./tree.js').Measure} by
 * @returns {Bar[]} parents before what is in them
 */
export function layout(tree, zoom, by) {
    /** @type {Bar[]} */
    const bars = [];
    const time = (/** @type {number} */ index) => Math.max(0, totalOf(tree.rows[index], by));
    const place = (/** @type {number[]} */ list, /** @type {number} */ whole, /** @type {number} */ depth, /** @type {number} */ from, /** @type {number} */ to) => {
        const sum = list.reduce((total, index) => total + time(index), 0);
        const scale = (to - from) / Math.max(whole, sum, 1);
        let left = from;
        for (const index of list) {
            const right = left + time(index) * scale;
            if (right - left >= THINNEST) bars.push({ index, depth, from: left, to: Math.min(1, right) });
            left = right;
        }
    };
    place(zoom < 0 ? tree.roots : [zoom], 0, 0, 0, 1);
    for (let next = 0; next < bars.length; next += 1) {
        const { index, depth, from, to } = bars[next];
        if (depth + 1 < LEVELS_MAX) place(tree.children[index], time(index), depth + 1, from, to);
    }
    return bars;
}

/** As much of the end as there is room for: ends tell modules of one kind apart. @param {CanvasRenderingContext2D} context @param {string} text @param {number} room */
function fitEnd(context, text, room) {
    if (context.measureText(text).width <= room) return text;
    let [low, high] = [0, text.length];
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (context.measureText(`…${text.slice(-middle)}`).width <= room) low = middle;
        else high = middle - 1;
    }
    return low > 0 ? `…${text.slice(-low)}` : '';
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{bars: Bar[], at: number, name: (index: number) => string, colour: (index: number) => string}} picture at: the chosen module, -1: none
 */
export function paintIcicle(canvas, { bars, at, name, colour }) {
    const sharp = sharpContext(canvas);
    if (!sharp) return;
    const { context, width } = sharp;
    context.font = `12px ${token('--font')}`;
    context.textBaseline = 'middle';
    const ground = token('--bg');
    for (const { index, depth, from, to } of bars) {
        const [left, top, wide] = [from * width, depth * BAR, (to - from) * width];
        const fill = colour(index);
        context.fillStyle = fill;
        context.fillRect(left, top, Math.max(0.5, wide - (wide > APART ? 1 : 0)), BAR - 1);
        if (wide < NAMED) continue;
        context.save();
        context.beginPath();
        context.rect(left, top, wide - 5, BAR);
        context.clip();
        context.fillStyle = inkOn(fill);
        context.fillText(fitEnd(context, name(index), wide - 11), left + 6, top + BAR / 2);
        context.restore();
    }
    const chosen = bars.find(({ index }) => index === at);
    if (!chosen) return;
    const [left, top, wide] = [chosen.from * width, chosen.depth * BAR, Math.max(3, (chosen.to - chosen.from) * width - 1)];
    context.strokeStyle = ground;
    context.lineWidth = 4;
    context.strokeRect(left + 1.5, top + 1.5, wide - 3, BAR - 4);
    context.strokeStyle = token('--ink');
    context.lineWidth = 2;
    context.strokeRect(left + 1, top + 1, wide - 2, BAR - 3);
}
