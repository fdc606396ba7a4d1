/**
 * Paints launches side by side, each as wide as it is long. Where many share a pixel, the pixel's column is divided
 * between them, so that a hundred thousand launches show the mixture and nothing of it is left out.
 */

import { categoryColour, CATEGORIES, inkOn, mix } from '../../lib/colours.js';
import { sharpContext } from '../../lib/canvas.js';
import { token } from '../../app/theme.js';
import { CLASSES, classColour } from './classes.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./launches.js').Launches} Launches */
/** @typedef {'class' | 'kernel' | 'tensor' | 'dram' | 'sm'} StripColour */
/** @typedef {{from: number, to: number}} Span of the line of time, in nanoseconds */

/** Shades of a use: enough that neighbours blend. */
export const SHADES = 16;
/** Launches this wide are kept apart by a line, and those wide enough carry their name. */
const APART = 5;
const NAMED = 64;
export const AXIS = 20;

/** Nothing measured is the last shade. @param {number} value 0..1 or NaN */
const shade = (value) => (Number.isNaN(value) ? SHADES : Math.min(SHADES - 1, Math.floor(value * SHADES)));

/** From little to full use, then not measured. @returns {string[]} */
export function shadeColours() {
    const [low, high] = [token('--use-none'), token('--use-full')];
    const list = Array.from({ length: SHADES }, (_, index) => mix(low, high, index / (SHADES - 1)));
    return [...list, token('--use-unknown')];
}

/** @param {Launches} launches @param {StripColour} by @returns {{of: (at: number) => number, colours: string[]}} */
function palette(launches, by) {
    if (by === 'kernel') {
        const { rank } = launches;
        return { of: (at) => Math.min(CATEGORIES, rank[launches.name[at]]), colours: [...Array.from({ length: CATEGORIES }, (_, index) => categoryColour(index)), token('--cat-other')] };
    }
    if (by === 'class') return { of: (at) => launches.use[at], colours: CLASSES.map((_, index) => classColour(index)) };
    const values = launches[by];
    return { of: (at) => shade(values[at]), colours: shadeColours() };
}

/**
 * How much of each pixel's column each colour takes, in nanoseconds: `columns` rows of `colours` figures.
 * @param {Launches} launches
 * @param {Span} span
 * @param {number} columns
 * @param {(at: number) => number} colourOf
 * @param {number} colours
 */
export function divide(launches, { from, to }, columns, colourOf, colours) {
    const sums = new Float64Array(columns * colours);
    const width = (to - from) / columns;
    for (let at = launches.at(from); at < launches.count && launches.begin[at] < to; at += 1) {
        const begin = Math.max(from, launches.begin[at]);
        const end = Math.min(to, launches.begin[at + 1]);
        const colour = colourOf(at);
        const last = Math.min(columns - 1, Math.floor((end - from) / width));
        for (let column = Math.floor((begin - from) / width); column <= last; column += 1) {
            const part = Math.min(end, from + (column + 1) * width) - Math.max(begin, from + column * width);
            if (part > 0) sums[column * colours + colour] += part;
        }
    }
    return sums;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{launches: Launches, span: Span, by: StripColour, lit: (name: number) => boolean, anyLit: boolean, at: number,
 *          label: (name: number) => string}} picture
 *     lit: kernels whose rows are open, the others are then faint; at: the chosen launch, -1: none
 */
export function paintStrip(canvas, { launches, span, by, lit, anyLit, at, label }) {
    const sharp = sharpContext(canvas);
    if (!sharp) return;
    const { context, width, height } = sharp;
    const { of, colours } = palette(launches, by);
    const tall = height - AXIS;
    // Twice the colours: as they are, and faint.
    const count = colours.length;
    const sums = divide(launches, span, width, (launch) => of(launch) + (anyLit && !lit(launches.name[launch]) ? count : 0), 2 * count);
    const wide = (span.to - span.from) / width;
    for (let column = 0; column < width; column += 1) {
        let top = 0;
        for (let index = 0; index < 2 * count; index += 1) {
            const part = sums[column * 2 * count + index];
            if (part <= 0) continue;
            context.globalAlpha = index >= count ? 0.22 : 1;
            context.fillStyle = colours[index % count];
            context.fillRect(column, top, 1, (part / wide) * tall);
            top += (part / wide) * tall;
        }
    }
    context.globalAlpha = 1;
    paintWide(context, launches, span, width, tall, label, (launch) => colours[of(launch)], (launch) => anyLit && !lit(launches.name[launch]));
    paintAxis(context, span, width, tall);
    if (at >= 0) paintChosen(context, launches, span, width, tall, at);
}

/**
 * @param {CanvasRenderingContext2D} context @param {Launches} launches @param {Span} span @param {number} width @param {number} tall
 * @param {(name: number) => string} label @param {(launch: number) => string} colourOf @param {(launch: number) => boolean} faint
 */
function paintWide(context, launches, span, width, tall, label, colourOf, faint) {
    const scale = width / (span.to - span.from);
    context.font = `12px ${token('--font')}`;
    context.textBaseline = 'middle';
    for (let launch = launches.at(span.from); launch < launches.count && launches.begin[launch] < span.to; launch += 1) {
        const x = (launches.begin[launch] - span.from) * scale;
        const w = launches.duration(launch) * scale;
        if (w >= APART) {
            context.fillStyle = token('--bg');
            context.fillRect(Math.round(x), 0, 1, tall);
        }
        const [left, right] = [Math.max(0, x), Math.min(width, x + w)];
        if (right - left < NAMED) continue;
        context.save();
        context.beginPath();
        context.rect(left, 0, right - left - 4, tall);
        context.clip();
        context.fillStyle = faint(launch) ? token('--ink-2') : inkOn(colourOf(launch));
        context.fillText(label(launches.name[launch]), left + 6, tall / 2);
        context.restore();
    }
}

/** @param {CanvasRenderingContext2D} context @param {Span} span @param {number} width @param {number} tall */
function paintAxis(context, span, width, tall) {
    const rough = (span.to - span.from) / Math.max(2, width / 110);
    const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
    const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough);
    const unit = fmt.timeUnit(span.to);
    const digits = Math.max(0, Math.ceil(-Math.log10(step / unit.ns) - 1e-9));
    context.fillStyle = token('--ink-2');
    context.strokeStyle = token('--line-strong');
    context.font = `12px ${token('--font')}`;
    context.textBaseline = 'top';
    context.beginPath();
    for (let tick = Math.ceil(span.from / step) * step; tick <= span.to; tick += step) {
        const x = Math.round(((tick - span.from) / (span.to - span.from)) * width) + 0.5;
        context.moveTo(x, tall);
        context.lineTo(x, tall + 4);
        const text = `${fmt.num(tick / unit.ns, digits)} ${unit.name}`;
        const wide = context.measureText(text).width;
        context.fillText(text, Math.max(0, Math.min(width - wide, x - wide / 2)), tall + 6);
    }
    context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {Launches} launches @param {Span} span @param {number} width @param {number} tall @param {number} at */
function paintChosen(context, launches, span, width, tall, at) {
    const scale = width / (span.to - span.from);
    const x = (launches.begin[at] - span.from) * scale;
    const w = Math.max(3, launches.duration(at) * scale);
    context.strokeStyle = token('--bg');
    context.lineWidth = 4;
    context.strokeRect(x - 0.5, 1.5, w + 1, tall - 3);
    context.strokeStyle = token('--ink');
    context.lineWidth = 2;
    context.strokeRect(x - 0.5, 1.5, w + 1, tall - 3);
}
