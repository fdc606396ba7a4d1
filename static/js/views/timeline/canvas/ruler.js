/** Two rulers on top: time, and the steps; the grid that they lay over the lanes. */

import * as fmt from '../../../lib/fmt.js';

/** Heights in CSS pixels. */
export const TIME_RULER = 24;
export const STEP_RULER = 22;
const TICK_PX = 120;
const NARROW_TICK_PX = 90;
/** The lines of steps that are closer than this are faint. */
const CLOSE_STEP_PX = 40;

/** @param {number} span @param {number} width */
function tickStep(span, width) {
    const rough = span / Math.max(2, width / (width < 500 ? NARROW_TICK_PX : TICK_PX));
    const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
    return Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough);
}

/** Texts of ticks, which stay the same while the view moves. @type {Map<string, string>} */
const tickTexts = new Map();
const TEXTS_KEPT = 1000;

/** As precise as the ticks are close. @param {number} ns @param {number} step @param {fmt.TimeUnit} unit */
function tickText(ns, step, unit) {
    const key = `${ns} ${step} ${unit.name}`;
    let text = tickTexts.get(key);
    if (text === undefined) {
        if (tickTexts.size > TEXTS_KEPT) tickTexts.clear();
        const digits = Math.max(0, Math.ceil(-Math.log10(step / unit.ns) - 1e-9));
        text = `${fmt.num(ns / unit.ns, digits).replace('-', '−')}${fmt.NBSP}${unit.name}`;
        tickTexts.set(key, text);
    }
    return text;
}

/** Times of the ticks in sight. @param {import('../viewport.js').Viewport} view */
function ticks(view) {
    const step = tickStep(view.span, view.width);
    // Not −0.
    const first = Math.ceil(view.start / step) * step + 0;
    return { step, times: Array.from({ length: Math.max(0, Math.floor((view.end - first) / step) + 1) }, (_, index) => first + index * step) };
}

/** Lines of the ticks and of the steps, below everything. @param {import('./draw.js').Scene} scene */
export function paintGrid({ context, ratio, width, height, top, view, colours, panes }) {
    const line = Math.max(1, Math.round(ratio));
    context.fillStyle = colours.of('--line');
    for (const ns of ticks(view).times) context.fillRect(Math.round((ns - view.start) / view.span * width), top, line, height - top);
    const [{ answer, shift }] = panes;
    const steps = stepsIn(answer.steps, view.start - shift, view.end - shift, view.span / view.width);
    context.fillStyle = colours.of(steps.length * CLOSE_STEP_PX > view.width ? '--line' : '--line-strong');
    for (const { start_ns: start } of steps) {
        context.fillRect(Math.round((start + shift - view.start) / view.span * width), top, line, height - top);
    }
}

/** Steps in sight; where they are closer than a few pixels only some. @param {TimelineStep[]} steps @param {number} start @param {number} end @param {number} nsPerPixel */
export function stepsIn(steps, start, end, nsPerPixel) {
    /** @type {TimelineStep[]} */
    const list = [];
    let last = -Infinity;
    for (const step of steps) {
        if (step.end_ns < start || step.start_ns > end || step.start_ns - last < 4 * nsPerPixel) continue;
        last = step.start_ns;
        list.push(step);
    }
    return list;
}

/**
 * @param {import('./draw.js').Scene} scene
 * @param {number | null} at the time under the pointer
 * @param {Float64Array} found times of matches, which may be too short to be seen in the lanes
 */
export function paintTimeRuler({ context, ratio, width, view, colours, texts }, at, found) {
    const tall = Math.round(TIME_RULER * ratio);
    context.fillStyle = colours.of('--rail-bg');
    context.fillRect(0, 0, width, tall);
    texts.use(context, ratio, colours.of('--font'));
    context.fillStyle = colours.of('--ink-2');
    const unit = fmt.timeUnit(Math.max(Math.abs(view.start), Math.abs(view.end)));
    const { step, times } = ticks(view);
    for (const ns of times) {
        const text = tickText(ns, step, unit);
        const x = Math.round((ns - view.start) / view.span * width);
        context.fillRect(x, tall - Math.round(6 * ratio), Math.max(1, Math.round(ratio)), Math.round(6 * ratio));
        if (x + 4 * ratio + texts.width(context, text) < width) context.fillText(text, x + 4 * ratio, tall / 2);
    }
    context.fillStyle = colours.of('--line-strong');
    context.fillRect(0, tall - 1, width, 1);
    context.fillStyle = colours.of('--cat-2');
    let last = -1;
    for (const ns of found) {
        if (ns < view.start || ns > view.end) continue;
        const x = Math.round((ns - view.start) / view.span * width);
        if (x === last) continue;
        context.fillRect(x, tall - Math.round(5 * ratio), Math.max(1, Math.round(1.5 * ratio)), Math.round(5 * ratio));
        last = x;
    }
    if (at === null) return;
    context.fillStyle = colours.of('--accent');
    context.fillRect(Math.round((at - view.start) / view.span * width), 0, Math.max(1, Math.round(ratio)), tall);
}

/**
 * The steps of a trace in a band of the picture.
 * @param {import('./draw.js').Scene} scene @param {import('../model.js').Pane} pane @param {number} top @param {number} tall
 */
export function paintSteps({ context, ratio, width, view, colours, texts }, { answer, shift }, top, tall) {
    context.save();
    context.beginPath();
    context.rect(0, top, width, tall);
    context.clip();
    context.fillStyle = colours.of('--rail-bg');
    context.fillRect(0, top, width, tall);
    texts.use(context, ratio, colours.of('--font'));
    for (const { name, start_ns: start, end_ns: end } of stepsIn(answer.steps, view.start - shift, view.end - shift, view.span / view.width)) {
        const x = Math.round((start + shift - view.start) / view.span * width);
        const edge = Math.max(x + 1, Math.round((end + shift - view.start) / view.span * width));
        context.fillStyle = colours.of('--accent-soft');
        context.fillRect(x, top + ratio, Math.max(1, edge - x - Math.round(ratio)), tall - 3 * ratio);
        context.fillStyle = colours.of('--accent');
        context.fillRect(x, top + ratio, Math.max(1, Math.round(ratio)), tall - 3 * ratio);
        const from = Math.max(0, x) + 6 * ratio;
        const text = texts.fit(context, stepWord(name), Math.min(edge, width) - from - 4 * ratio);
        if (text && edge - x > 16 * ratio) context.fillText(text, from, top + tall / 2);
    }
    context.fillStyle = colours.of('--line-strong');
    context.fillRect(0, top + tall - 1, width, 1);
    context.restore();
}

/** Some traces number their steps, others name them. @param {string} name */
export const stepWord = (name) => (/^\d+$/.test(name) ? `Step ${name}` : name);
