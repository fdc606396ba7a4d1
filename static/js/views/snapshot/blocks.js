/** Blocks over time: a rectangle a block, from the event that took it to the one that gave it back, where its address lies. Its window is in the URL. */

import { h, fill } from '../../lib/dom.js';
import { setParams } from '../../app/router.js';
import { isAbort, call } from '../../lib/api.js';
import { keepPainted } from '../../lib/canvas.js';
import { during } from '../../app/activity.js';
import { blockUnder, paintBlocks, shadePicture, sortByColour } from './draw.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./draw.js').Lives} Lives */
/** @typedef {import('./draw.js').Span} Span */

/** Rectangles that one picture has at most; what else is in the window is a shade. */
const DRAWN = 8000;
const REST_MS = 200;
const [ZOOM, STEP] = [1.5, 0.15];

/** @param {string | null} text @returns {Span | null} */
function spanOf(text) {
    const [, from, to, low, high] = (/^(\d{1,15})-(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? []).map(Number);
    return from < to && low < high ? { from, to, low, high } : null;
}

/** Keeps a range of this length inside 0 to `whole`, in whole numbers. @param {number} from @param {number} length @param {number} whole */
function inside(from, length, whole) {
    const long = Math.min(Math.max(1, Math.round(length)), Math.max(1, whole));
    const start = Math.round(Math.min(Math.max(0, from), Math.max(0, whole - long)));
    return [start, start + long];
}

/** @param {Trace} trace @param {AbortSignal} signal */
export function blocksOverTime(trace, signal) {
    /** @type {Lives | null} */
    let lives = null;
    /** @type {Span} */
    let span = { from: 0, to: 1, low: 0, high: 1 };
    /** @type {HTMLCanvasElement | null} */
    let shades = null;
    /** @type {number[][]} */
    let byColour = [];
    let device = '';
    let chosen = -1;
    let frame = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let resting;
    let asked = new AbortController();
    const canvas = h('canvas', { class: 'snapshot-blocks', tabindex: '0', role: 'application', 'aria-roledescription': 'chart', 'aria-label': 'Blocks over time', 'aria-describedby': 'snapshot-blocks-keys' });
    const says = h('p', { class: 'strip-line', 'aria-live': 'polite' });
    const where = h('p', { class: 'quiet' });
    const button = (/** @type {string} */ text, /** @type {() => void} */ onclick) => h('button', { class: 'button small', type: 'button', onclick }, text);
    const whole = button('Fit', showAll);
    const root = h('section', { class: 'section' },
        h('div', { class: 'section-head' }, h('h2', null, 'Blocks over time'), h('div', { class: 'tools-end' }, button('Zoom in', () => zoom(1 / ZOOM)), button('Zoom out', () => zoom(ZOOM)), whole)),
        canvas, says, where,
        h('p', { class: 'quiet', id: 'snapshot-blocks-keys' }, 'Drag to pan, Ctrl+scroll to zoom (with Shift: events only). Keys: arrows, + and −, 0 for all, N and P for the next and previous block. A colour is a source line; grey are blocks too small or too many to draw.'));

    function build() {
        byColour = lives ? sortByColour(lives) : [];
        shades = lives && shadePicture(lives);
    }

    function paint() {
        frame = 0;
        if (!lives) return;
        paintBlocks(canvas, { lives, span, shades, byColour, chosen });
        canvas.dataset.frames = String(Number(canvas.dataset.frames ?? 0) + 1);
    }
    const repaint = () => { frame ||= requestAnimationFrame(paint); };

    function tell() {
        if (!lives) return;
        whole.disabled = isWhole();
        canvas.dataset.span = [span.from, span.to, span.low, span.high].join('-');
        const drawn = lives.first.length < lives.in_window ? `, ${fmt.int(lives.first.length)} of them drawn one by one` : '';
        fill(where, `${fmt.plural(lives.in_window, 'block')} of ${fmt.int(lives.total)}${drawn}. Events ${fmt.int(span.from)} to ${fmt.int(span.to)} of ${fmt.int(lives.events)}, bytes ${fmt.bytes(span.low)} to ${fmt.bytes(span.high)} of ${fmt.bytes(lives.top_bytes)}, by address.`);
        if (chosen < 0) fill(says, h('span', { class: 'quiet' }, 'Point at a block.'));
        else fill(says, h('span', { class: 'strip-name', title: lives.frames[lives.frame[chosen]] }, lives.frames[lives.frame[chosen]]), h('span', { class: 'strip-figures' }, figures(lives, chosen)));
    }

    /** @param {Lives} of @param {number} at */
    function figures(of, at) {
        const from = of.first[at] < 0 ? 'before the recording' : `event ${fmt.int(of.first[at])}`;
        return `${fmt.bytes(of.bytes[at])} · ${from} to ${of.end[at] > of.events ? 'the end' : `event ${fmt.int(of.end[at])}`}`;
    }

    /** @param {Span} next what is shown at once; the address and the blocks follow when it rests */
    function show(next) {
        if (!lives) return;
        const [from, to] = inside(next.from, next.to - next.from, lives.events);
        const [low, high] = inside(next.low, next.high - next.low, lives.top_bytes);
        span = { from, to, low, high };
        repaint();
        tell();
        clearTimeout(resting);
        resting = setTimeout(rest, REST_MS);
    }

    function showAll() {
        if (lives) show({ from: 0, to: lives.events, low: 0, high: lives.top_bytes });
    }

    const isWhole = () => !lives || (span.from === 0 && span.low === 0 && span.to >= lives.events && span.high >= lives.top_bytes);

    function rest() {
        resting = undefined;
        if (!lives || signal.aborted) return;
        setParams({ blocks: isWhole() ? null : [span.from, span.to, span.low, span.high].join('-') }, { replace: true });
    }

    /** @param {number} by @param {number} x where it stays, 0..1 @param {number} y from below @param {boolean} onlyEvents */
    function zoom(by, x = 0.5, y = 0.5, onlyEvents = false) {
        const wide = (span.to - span.from) * by, tall = (span.high - span.low) * (onlyEvents ? 1 : by);
        const [from, low] = [span.from + (span.to - span.from) * x - wide * x, span.low + (span.high - span.low) * y - tall * y];
        show({ from, to: from + wide, low, high: low + tall });
    }

    /** @param {number} x in widths of the window @param {number} y in heights, upwards @param {Span} [of] */
    function move(x, y, of = span) {
        const [dx, dy] = [(of.to - of.from) * x, (of.high - of.low) * y];
        show({ from: of.from + dx, to: of.to + dx, low: of.low + dy, high: of.high + dy });
    }

    /** @param {MouseEvent} event */
    const spot = ({ offsetX, offsetY }) => [offsetX / Math.max(1, canvas.clientWidth), 1 - offsetY / Math.max(1, canvas.clientHeight)];
    /** @type {{x: number, y: number, span: Span} | null} */
    let drag = null;
    canvas.addEventListener('pointerdown', (event) => {
        const [x, y] = spot(event);
        drag = { x, y, span };
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointerup', () => { drag = null; });
    canvas.addEventListener('pointercancel', () => { drag = null; });
    canvas.addEventListener('pointermove', (event) => {
        const [x, y] = spot(event);
        if (drag) move(drag.x - x, drag.y - y, drag.span);
        else if (lives) choose(blockUnder(canvas, lives, span, event.offsetX, event.offsetY));
    });
    canvas.addEventListener('wheel', (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const [x, y] = spot(event);
        zoom(1.002 ** (event.deltaY || event.deltaX), x, y, event.shiftKey);
    }, { passive: false });

    /** @param {number} next */
    function choose(next) {
        if (next === chosen) return;
        chosen = next;
        tell();
        repaint();
    }

    /** @type {Record<string, () => void>} */
    const keys = {
        ArrowLeft: () => move(-STEP, 0), ArrowRight: () => move(STEP, 0), ArrowUp: () => move(0, STEP), ArrowDown: () => move(0, -STEP),
        '+': () => zoom(1 / ZOOM), '=': () => zoom(1 / ZOOM), '-': () => zoom(ZOOM), 0: showAll,
        n: () => choose(Math.min(chosen + 1, (lives?.first.length ?? 0) - 1)), p: () => choose(Math.max(chosen - 1, 0)),
    };
    canvas.addEventListener('keydown', (event) => {
        const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!act) return;
        event.preventDefault();
        act();
    });
    const stopPainting = keepPainted(canvas, repaint, () => {
        build();
        repaint();
    });

    /** @param {Span | null} wanted */
    async function load(wanted) {
        asked.abort();
        asked = new AbortController();
        canvas.setAttribute('aria-busy', 'true');
        const next = await call(`traces/${trace.id}/memory-snapshot/lives`, { signal: AbortSignal.any([signal, asked.signal]), query: {
            limit: DRAWN, device, first_event: wanted?.from, end_event: wanted?.to, low_bytes: wanted?.low, high_bytes: wanted?.high } });
        lives = /** @type {Lives} */ (next);
        // Who moved on meanwhile stays there: what is there comes next.
        if (!resting) span = wanted ?? { from: 0, to: Math.max(1, lives.events), low: 0, high: Math.max(1, lives.top_bytes) };
        chosen = -1;
        canvas.removeAttribute('aria-busy');
        build();
        tell();
        repaint();
    }

    let loaded = '';
    return {
        root,
        /** @param {URLSearchParams} params @param {string} of the device */
        async update(params, of) {
            const key = `${of} ${params.get('blocks') ?? ''}`;
            if (key === loaded) return;
            loaded = key;
            device = of;
            clearTimeout(resting);
            resting = undefined;
            try {
                await during(load(spanOf(params.get('blocks'))));
            } catch (error) {
                if (isAbort(error)) return;
                loaded = '';
                throw error;
            }
        },
        destroy() {
            clearTimeout(resting);
            cancelAnimationFrame(frame);
            asked.abort();
            stopPainting();
        },
    };
}
