/** Where the bars of nested modules stand, and their picture. */

import { paintBars, THINNEST } from '../../charts/bars.js';
import { totalOf } from './tree.js';

/** @typedef {import('../../charts/bars.js').Bar} Bar */

/** Height of a level, in CSS pixels. */
export const BAR = 26;
/** Browsers draw nothing on a canvas higher than 32,767 points, of which some screens have three to a CSS pixel. What lies deeper shows by zooming. */
const LEVELS_MAX = 400;

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
    paintBars(canvas, { bars, at, height: BAR, font: 12, inset: 6, named: 34, colour, label: (index, context, room) => fitEnd(context, name(index), room) });
}
