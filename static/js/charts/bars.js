/** Bars on a canvas whose rows are levels: painted, pointed at, and walked with the keyboard. */

import { token } from '../app/theme.js';
import { sharpContext } from '../lib/canvas.js';
import { inkOn } from '../lib/colours.js';

/** @typedef {{index: number, depth: number, from: number, to: number}} Bar positions are shares of the width */

/** Narrower parts of the width are nowhere to be seen. */
export const THINNEST = 1 / 20000;
/** In CSS pixels: bars this wide are kept apart by a line. */
const APART = 3;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{bars: Bar[], at: number, height: number, font: number, inset: number, named: number, colour: (index: number) => string,
 *     label: (index: number, context: CanvasRenderingContext2D, room: number) => string}} picture
 *     at: the chosen bar, -1: none; in CSS pixels: height of a bar, size of its text, what stands before and behind it, and how wide a bar is that carries it
 */
export function paintBars(canvas, { bars, at, height, font, inset, named, colour, label }) {
    const sharp = sharpContext(canvas);
    if (!sharp) return;
    const { context, width } = sharp;
    context.font = `${font}px ${token('--font')}`;
    context.textBaseline = 'middle';
    for (const { index, depth, from, to } of bars) {
        const [left, top, wide] = [from * width, depth * height, (to - from) * width];
        const fill = colour(index);
        context.fillStyle = fill;
        context.fillRect(left, top, Math.max(0.5, wide - (wide > APART ? 1 : 0)), height - 1);
        if (wide < named) continue;
        context.save();
        context.beginPath();
        context.rect(left, top, wide - inset + 1, height);
        context.clip();
        context.fillStyle = inkOn(fill);
        context.fillText(label(index, context, wide - 2 * inset + 1), left + inset, top + height / 2);
        context.restore();
    }
    const chosen = bars.find(({ index }) => index === at);
    if (!chosen) return;
    const [left, top, wide] = [chosen.from * width, chosen.depth * height, Math.max(3, (chosen.to - chosen.from) * width - 1)];
    context.strokeStyle = token('--bg');
    context.lineWidth = 4;
    context.strokeRect(left + 1.5, top + 1.5, wide - 3, height - 4);
    context.strokeStyle = token('--ink');
    context.lineWidth = 2;
    context.strokeRect(left + 1, top + 1, wide - 2, height - 3);
}

/**
 * Arrow keys walk from bar to bar, Home and End to the first and last beside it; Enter zooms in, Escape out.
 * @param {HTMLCanvasElement} canvas
 * @param {{bars: () => Bar[], at: () => number, parent: (index: number) => number, children: (index: number) => number[], siblings: (index: number) => number[],
 *     choose: (index: number) => void, zoom: () => boolean, out: () => boolean}} on -1: none; zoom and out say whether there was something to do
 */
export function barKeys(canvas, { bars, at, parent, children, siblings, choose, zoom, out }) {
    /** Where an arrow key leads, -1: nowhere. @param {string} key */
    function target(key) {
        const start = at();
        const drawn = (/** @type {number[]} */ list) => list.filter((index) => bars().some((bar) => bar.index === index));
        if (start < 0) return bars()[0]?.index ?? -1;
        if (key === 'ArrowDown') return drawn(children(start))[0] ?? -1;
        if (key === 'ArrowUp') return parent(start);
        const beside = drawn(siblings(start));
        if (key === 'Home' || key === 'End') return beside[key === 'Home' ? 0 : beside.length - 1] ?? -1;
        return beside[beside.indexOf(start) + (key === 'ArrowRight' ? 1 : -1)] ?? -1;
    }
    canvas.addEventListener('keydown', (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (['ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) choose(target(event.key));
        else if (event.key === 'Enter' ? !zoom() : !(event.key === 'Escape' || event.key === 'Backspace') || !out()) return;
        event.preventDefault();
    });
}

/**
 * Which bar lies under the pointer; painted once a frame.
 * @param {HTMLCanvasElement} canvas
 * @param {number} barHeight in CSS pixels
 * @param {{bars: () => Bar[], tell: () => void, paint: () => void, click: (index: number) => void}} on click gets -1 beside the bars
 */
export function barPointer(canvas, barHeight, { bars, tell, paint, click }) {
    let hovered = -1;
    let frame = 0;

    /** @param {MouseEvent} event */
    function under(event) {
        const box = canvas.getBoundingClientRect();
        const [x, depth] = [(event.clientX - box.left) / Math.max(1, box.width), Math.floor((event.clientY - box.top) / barHeight)];
        return bars().find((bar) => bar.depth === depth && bar.from <= x && x < bar.to)?.index ?? -1;
    }
    canvas.addEventListener('pointermove', (event) => {
        const next = under(event);
        if (next === hovered) return;
        hovered = next;
        canvas.style.cursor = next >= 0 ? 'pointer' : '';
        tell();
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(paint);
    });
    canvas.addEventListener('pointerleave', () => {
        hovered = -1;
        tell();
        paint();
    });
    canvas.addEventListener('click', (event) => click(under(event)));
    return {
        /** The bar under the pointer, else `other`. @param {number} other */
        or: (other) => (hovered >= 0 ? hovered : other),
        /** Until the pointer moves again, it points at nothing. */
        forget: () => { hovered = -1; },
        stop: () => cancelAnimationFrame(frame),
    };
}
