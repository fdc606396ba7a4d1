/** A canvas that is drawn by hand. */

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
