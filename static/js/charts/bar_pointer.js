/** Pointing at the bars of a canvas whose rows are levels: which bar lies under the pointer, painted once a frame. */

/** @typedef {{index: number, depth: number, from: number, to: number}} Bar positions are shares of the width */

/**
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
