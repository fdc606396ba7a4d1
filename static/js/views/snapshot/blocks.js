/** Blocks over time: a rectangle a block, stacked where there is room, from the event that took it to the one that gave it back. */

import { h } from '../../lib/dom.js';
import { sharpContext } from '../../lib/canvas.js';
import { categoryColour } from '../../lib/colours.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {{first: number[], end: number[], bytes: number[], frame: number[], frames: string[], total: number, left_out_bytes: number}} Lives */
/** @typedef {{from: number, to: number, low: number, bytes: number, frame: number}} Box */

/**
 * The lowest place with room for each block, in the order in which they were taken.
 * @param {Lives} lives @returns {{boxes: Box[], top: number, last: number}}
 */
export function stack(lives) {
    const order = lives.first.map((_, at) => at).sort((a, b) => lives.first[a] - lives.first[b]);
    /** @type {Box[]} */
    const boxes = [];
    /** @type {Box[]} by place */
    let live = [];
    let top = 0, last = 1;
    for (const at of order) {
        const from = lives.first[at];
        live = live.filter((box) => box.to > from);
        let low = 0, place = 0;
        while (place < live.length && live[place].low - low < lives.bytes[at]) {
            low = live[place].low + live[place].bytes;
            place++;
        }
        const box = { from, to: lives.end[at], low, bytes: lives.bytes[at], frame: lives.frame[at] };
        live.splice(place, 0, box);
        boxes.push(box);
        top = Math.max(top, low + box.bytes);
        last = Math.max(last, box.to);
    }
    return { boxes, top, last };
}

/** @param {Lives} lives */
export function blocksOverTime(lives) {
    const { boxes, top, last } = stack(lives);
    const canvas = h('canvas', { class: 'snapshot-blocks', role: 'img', 'aria-label': `${fmt.plural(boxes.length, 'block')} over ${fmt.plural(last, 'event')}, up to ${fmt.bytes(top)}` });
    const says = h('p', { class: 'quiet', 'aria-live': 'polite' }, hint());
    function hint() {
        const rest = lives.total > boxes.length ? ` of ${fmt.int(lives.total)}: the largest` : '';
        return `${fmt.plural(boxes.length, 'block')}${rest}. Left to right: events; a colour is a source line.`;
    }
    const place = (/** @type {Box} */ box, /** @type {number} */ width, /** @type {number} */ height) => {
        const x = (Math.max(0, box.from) / last) * width;
        const tall = (box.bytes / (top || 1)) * height;
        return { x, y: height - (box.low / (top || 1)) * height - tall, width: Math.max(0.5, (Math.min(box.to, last) / last) * width - x), height: Math.max(0.5, tall) };
    };
    function paint() {
        const drawing = sharpContext(canvas);
        if (!drawing) return;
        for (const box of boxes) {
            const at = place(box, drawing.width, drawing.height);
            drawing.context.fillStyle = categoryColour(box.frame);
            drawing.context.fillRect(at.x, at.y, at.width, at.height);
        }
    }
    canvas.addEventListener('pointermove', ({ offsetX, offsetY }) => {
        const found = boxes.findLast((box) => {
            const at = place(box, canvas.clientWidth, canvas.clientHeight);
            return offsetX >= at.x && offsetX <= at.x + at.width && offsetY >= at.y && offsetY <= at.y + at.height;
        });
        says.textContent = found ? `${fmt.bytes(found.bytes)}  ${lives.frames[found.frame]}` : hint();
    });
    const watch = new ResizeObserver(paint);
    watch.observe(canvas);
    return { root: h('section', { class: 'section' }, h('h2', null, 'Blocks over time'), canvas, says), paint, destroy: () => watch.disconnect() };
}
