/** A grid of values as colours, on one canvas: pointer and keyboard go through its cells. */

import { h, fill } from '../lib/dom.js';
import { token } from '../app/theme.js';
import { keepPainted, sharpContext } from '../lib/canvas.js';
import { channels } from '../lib/colours.js';
import { walkable } from './chartpanel.js';

/** In CSS pixels: of a row; of the whole; from this size on cells are kept apart. */
const ROW = 18;
const HEIGHT = 480;
const APART = 6;
/** So many names at most stand beside it and below it. */
const ROW_NAMES = 26;
const COLUMN_NAMES = 10;

/** Names of rows or columns, of some where they are many. The text of a cell says them all. @param {string} kind @param {number} count @param {number} most @param {(index: number) => string} name */
function axis(kind, count, most, name) {
    const every = Math.max(1, Math.ceil(count / most));
    const names = [];
    for (let from = 0; from < count; from += every) {
        const span = h('span', null, name(from));
        span.style.setProperty('--n', String(Math.min(every, count - from)));
        names.push(span);
    }
    return h('div', { class: every > 1 ? `${kind} some` : kind, 'aria-hidden': 'true' }, names);
}

/**
 * @param {{label: string, rows: number, columns: number, value: (row: number, column: number) => number | null, colour: () => string,
 *          text: (row: number, column: number) => string, hint: string, act?: (row: number, column: number) => void,
 *          rowName: (row: number) => string, columnName: (column: number) => string, marked?: [number, number][]}} settings
 *     colour: the token of the largest value; act: what a click or Enter does; marked: outlined cells
 */
export function heatMap({ label, rows, columns, value, colour, text, hint, act, rowName, columnName, marked = [] }) {
    const canvas = h('canvas', { class: act ? 'heat-map acts' : 'heat-map' });
    const said = h('p', { class: 'sight', 'aria-live': 'polite' });
    const grid = document.createElement('canvas');
    let at = -1;
    canvas.style.height = `${Math.min(HEIGHT, Math.max(ROW, rows * ROW))}px`;

    /** A pixel a cell, drawn larger by `paint`: a million cells are one picture. */
    function colourCells() {
        grid.width = Math.max(1, columns);
        grid.height = Math.max(1, rows);
        const context = grid.getContext('2d');
        if (!context) return;
        const [none, full] = [channels(token('--sunk')), channels(token(colour()))];
        const image = context.createImageData(grid.width, grid.height);
        let most = 0;
        for (let r = 0; r < rows; r += 1) for (let c = 0; c < columns; c += 1) most = Math.max(most, value(r, c) ?? 0);
        for (let r = 0; r < rows; r += 1) {
            for (let c = 0; c < columns; c += 1) {
                const share = most > 0 ? Math.max(0, value(r, c) ?? 0) / most : 0;
                const to = 4 * (r * columns + c);
                for (let k = 0; k < 3; k += 1) image.data[to + k] = none[k] + (full[k] - none[k]) * share;
                image.data[to + 3] = 255;
            }
        }
        context.putImageData(image, 0, 0);
    }

    function paint() {
        const place = sharpContext(canvas);
        if (!place) return;
        const { context, width, height } = place;
        const [across, down] = [width / columns, height / rows];
        context.imageSmoothingEnabled = false;
        context.drawImage(grid, 0, 0, width, height);
        context.fillStyle = token('--bg');
        if (across > APART && down > APART) {
            for (let r = 1; r < rows; r += 1) context.fillRect(0, r * down - 1, width, 1);
            for (let c = 1; c < columns; c += 1) context.fillRect(c * across - 1, 0, 1, height);
        }
        context.lineWidth = 2;
        context.strokeStyle = token('--slower');
        for (const [r, c] of marked) context.strokeRect(c * across + 1, r * down + 1, Math.max(1, across - 3), Math.max(1, down - 3));
        if (at < 0) return;
        context.strokeStyle = token('--ink');
        context.strokeRect((at % columns) * across, Math.floor(at / columns) * down, Math.max(2, across - 1), Math.max(2, down - 1));
    }

    function repaint() {
        colourCells();
        paint();
    }

    const words = (/** @type {number} */ index) => text(Math.floor(index / columns), index % columns);

    /** @param {number} index */
    function show(index) {
        at = index;
        fill(said, index < 0 ? hint : words(index));
        paint();
    }

    /** @param {MouseEvent} event */
    function under(event) {
        const box = canvas.getBoundingClientRect();
        const column = Math.floor((event.clientX - box.left) / Math.max(1, box.width) * columns);
        const row = Math.floor((event.clientY - box.top) / Math.max(1, box.height) * rows);
        return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : -1;
    }

    const open = (/** @type {number} */ index) => act?.(Math.floor(index / columns), index % columns);
    const walk = walkable(canvas, { label, count: () => rows * columns, text: words, show, act: open, step: columns });
    canvas.addEventListener('pointermove', (event) => {
        const next = under(event);
        if (next !== at) show(next);
    });
    canvas.addEventListener('pointerleave', () => show(-1));
    canvas.addEventListener('click', (event) => {
        const index = under(event);
        walk.set(index);
        if (index >= 0) open(index);
    });
    const stop = keepPainted(canvas, paint, repaint);
    fill(said, hint);
    return {
        root: h('div', { class: 'heat-box' }, axis('heat-rows', rows, ROW_NAMES, rowName), canvas, axis('heat-columns', columns, COLUMN_NAMES, columnName)),
        said, repaint,
        destroy: stop,
    };
}
