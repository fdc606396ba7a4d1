/** A canvas that is drawn by hand. */

import { onTheme } from '../app/theme.js';

/**
 * Paints a canvas whenever its size or the theme changes, and a first time once it has a size.
 * @param {HTMLCanvasElement} canvas
 * @param {() => void} paint
 * @param {() => void} [repaint] for another theme: where colours are kept
 * @returns {() => void} stops
 */
export function keepPainted(canvas, paint, repaint = paint) {
    const sizes = new ResizeObserver(paint);
    sizes.observe(canvas);
    const stopTheme = onTheme(repaint);
    return () => {
        sizes.disconnect();
        stopTheme();
    };
}

/**
 * Empties the canvas and gives it as many points as its place on the screen has; its units are CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @returns {{context: CanvasRenderingContext2D, width: number, height: number} | null} null where there is nothing to draw on
 */
export function sharpContext(canvas) {
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    const context = canvas.getContext('2d');
    if (!context || width === 0) return null;
    context.scale(ratio, ratio);
    return { context, width, height };
}
