/** The canvas with its rulers and the names beside it: paints when something changed, once a frame. */

import { h, fill } from '../../../lib/dom.js';
import { begin } from '../../../app/activity.js';
import { onTheme } from '../../../app/theme.js';
import { layout, rowsInSight } from '../model.js';
import { Viewport } from '../viewport.js';
import { Colours } from './colours.js';
import { Texts, paintLanes } from './draw.js';
import { TIME_RULER, STEP_RULER, paintGrid, paintSteps, paintTimeRuler } from './ruler.js';
import { paintHover, paintRange, paintSelection } from './flows.js';
import { counterText } from './counter.js';
import { itemAt, placeOf, sampleAt } from '../pick.js';
import { heads } from './heads.js';
import * as fmt from '../../../lib/fmt.js';

/** Tracks this far above and below what is in sight are asked for, too. */
const SPARE_PX = 240;
const MOST_PIXELS = 2;

/** @typedef {import('../pick.js').Item} Item */
/** @typedef {import('../model.js').Pane} Pane */

/**
 * @param {{onCollapse: (key: string) => void, onView: () => void, arrangement?: typeof layout, say?: (row: TimelineRow, ns: number) => [string, string] | null}} events
 *     onView: time or place in sight changed; arrangement: of the rows; say: what a row is then, where no slice and no counter is
 */
export function stage({ onCollapse, onView, arrangement = layout, say = () => null }) {
    const canvas = h('canvas', { class: 'tl-canvas', tabindex: '0', role: 'application', 'aria-label': 'Timeline', 'aria-describedby': 'tl-keys', 'aria-roledescription': 'timeline' });
    const corner = h('div', { class: 'tl-corner' });
    const names = h('div', { class: 'tl-heads' });
    const tip = h('div', { class: 'tl-tip', hidden: true, 'aria-hidden': 'true' });
    const frame_ = h('div', { class: 'tl-view' }, h('div', { class: 'tl-side' }, corner, names), canvas, tip);
    const tall = h('div', { class: 'tl-whole' }, frame_);
    const scroll = h('div', { class: 'tl-scroll' }, tall);
    const column = heads(names, (row) => onCollapse(row.key));
    const view = new Viewport();
    const colours = new Colours();
    const texts = new Texts();
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));

    const state = {
        /** @type {Pane[]} */ panes: [],
        /** @type {TimelineRow[]} */ rows: [],
        /** Keys of rows that are not as they start. @type {Set<string>} */ toggled: new Set(),
        /** @type {import('../model.js').TrackOrder} */ order: 'devices',
        /** @type {TimelineSelection | null} */ selection: null,
        /** @type {[number, number] | null} */ range: null,
        /** The chosen gap of a device. @type {TimelinePlace | null} */ gap: null,
        /** @type {import('./draw.js').Lit | null} */ lit: null,
        /** Times of the matches. */ found: new Float64Array(0),
        /** @type {Item | null} */ hovered: null,
        /** @type {number | null} */ pointerNs: null,
        ruler: TIME_RULER,
    };
    let ratio = 1;
    let frame = 0;
    let frames = 0;
    let rowsChanged = true;
    /** @type {(() => void) | null} */
    let busy = null;
    /** Runs before each frame; true: goes on. @type {((time: number) => boolean) | null} */
    let motion = null;

    function invalidate() {
        if (frame) return;
        busy ??= begin();
        frame = requestAnimationFrame(paint);
    }

    function arrange() {
        const made = arrangement(state.panes, state.toggled, state.order, scroll.clientHeight);
        state.rows = made.rows;
        state.ruler = TIME_RULER + (state.panes[0]?.answer.steps.length ? STEP_RULER : 0);
        view.pinned = made.pinned;
        view.height = Math.max(1, scroll.clientHeight - state.ruler - view.pinned);
        tall.style.height = `${made.height + state.ruler + view.pinned}px`;
        corner.style.height = `${state.ruler}px`;
        rowsChanged = true;
        invalidate();
    }

    function measure() {
        ratio = Math.min(MOST_PIXELS, window.devicePixelRatio || 1);
        frame_.style.height = `${scroll.clientHeight}px`;
        view.width = Math.max(1, canvas.clientWidth);
        if (state.order === 'pinned') arrange();
        view.height = Math.max(1, scroll.clientHeight - state.ruler - view.pinned);
        canvas.width = Math.max(1, Math.round(view.width * ratio));
        canvas.height = Math.max(1, Math.round(scroll.clientHeight * ratio));
        rowsChanged = true;
        invalidate();
    }

    /** @param {number} time */
    function paint(time) {
        frame = 0;
        if (state.panes.length === 0) return;
        const goesOn = motion ? motion(time) : false;
        if (!goesOn) motion = null;
        if (view.top !== scroll.scrollTop || rowsChanged) {
            view.top = scroll.scrollTop;
            view.height = scroll.clientHeight - state.ruler - view.pinned;
            column.show(rowsInSight(state.rows, view), view);
            rowsChanged = false;
            onView();
        }
        const near = rowsInSight(state.rows, view, SPARE_PX);
        state.panes.forEach(({ tiles, shift }, pane) => {
            tiles.look(view.start - shift, view.end - shift, view.width, near.flatMap((row) => (row.pane === pane && row.track && row.track.kind !== 'idle' ? [row.track.id] : [])));
        });
        /** @type {import('./draw.js').Scene} */
        const scene = { context, ratio, width: canvas.width, height: canvas.height, top: Math.round(state.ruler * ratio), view, rows: state.rows, panes: state.panes, colours, texts, lit: state.lit };
        context.fillStyle = colours.of('--bg');
        context.fillRect(0, 0, canvas.width, canvas.height);
        paintGrid(scene);
        paintLanes(scene);
        paintOtherSteps(scene);
        paintSelection(scene, state.selection);
        if (state.gap) paintHover(scene, state.gap, 0);
        if (state.hovered) paintHover(scene, placeOf(state.hovered), state.hovered.pane);
        paintTimeRuler(scene, state.pointerNs, state.found);
        if (state.ruler > TIME_RULER) paintSteps(scene, state.panes[0], Math.round(TIME_RULER * ratio), scene.top - Math.round(TIME_RULER * ratio));
        paintRange(scene, state.range);
        tell();
        if (goesOn) invalidate();
        else {
            busy?.();
            busy = null;
        }
    }

    /** The steps of the second trace stand beside its name. @param {import('./draw.js').Scene} scene */
    function paintOtherSteps(scene) {
        for (const row of rowsInSight(state.rows, view)) {
            if (row.kind !== 'trace' || row.pane === 0) continue;
            const y = scene.top + Math.round(view.y(row) * ratio);
            if (y >= scene.top) paintSteps(scene, state.panes[row.pane], y, Math.round(row.height * ratio));
        }
    }

    /** What tests and scripts can know of the picture. */
    function tell() {
        frames += 1;
        Object.assign(scroll.dataset, { startNs: String(Math.round(view.start)), endNs: String(Math.round(view.end)), frames: String(frames) });
        const text = fmt.time(view.span);
        if (corner.textContent !== text) fill(corner, text);
    }

    /** The row and lane at a height. @param {number} y in CSS pixels of the canvas */
    function rowAt(y) {
        if (y < state.ruler) return null;
        const found = view.rowAt(state.rows, y - state.ruler);
        if (!found) return null;
        const { row, within } = found;
        return { row, lane: row.track ? Math.min(Math.max(1, row.track.lanes) - 1, Math.floor(within / row.laneHeight)) : 0 };
    }

    /** @param {number} x @param {number} y in CSS pixels of the canvas */
    function under(x, y) {
        const found = rowAt(y);
        return found ? itemAt(view, state.panes, found.row, found.lane, view.ns(x)) : null;
    }

    /** @param {number} x @param {number} y */
    function hover(x, y) {
        const found = rowAt(y);
        state.pointerNs = view.ns(x);
        state.hovered = found ? itemAt(view, state.panes, found.row, found.lane, view.ns(x)) : null;
        const sample = found && !state.hovered ? sampleAt(view, state.panes, found.row, found.lane, view.ns(x)) : null;
        const item = state.hovered;
        const said = found && !item && !sample ? say(found.row, view.ns(x)) : null;
        tip.hidden = !item && !sample && !said;
        if (said) fill(tip, h('strong', null, said[0]), h('span', null, said[1]));
        if (item) fill(tip, h('strong', null, item.label.name), h('span', null, [item.count > 1 ? `${fmt.plural(item.count, item.label.category === 'idle' ? 'gap' : 'slice')}, ${item.label.category === 'idle' ? 'idle' : 'busy'} ${fmt.time(item.busy ?? item.end - item.start)}` : item.instant ? 'instant' : fmt.time(item.end - item.start), item.label.category].filter(Boolean).join(' · ')));
        else if (sample) fill(tip, h('strong', null, sample.track.series?.[sample.lane] ?? sample.track.label), h('span', null, `${counterText(sample.track, sample.lane, sample.value)}${sample.max > sample.min ? `, from ${counterText(sample.track, sample.lane, sample.min)} to ${counterText(sample.track, sample.lane, sample.max)}` : ''}`));
        if (!tip.hidden) {
            const [left, wide] = [canvas.offsetLeft + x + 14, tip.offsetWidth];
            tip.style.transform = `translate(${Math.max(4, Math.min(left, frame_.clientWidth - wide - 8))}px, ${Math.min(y + 16, frame_.clientHeight - tip.offsetHeight - 8)}px)`;
        }
        canvas.style.cursor = y < state.ruler ? 'crosshair' : item ? 'pointer' : '';
        invalidate();
    }

    function leave() {
        state.hovered = null;
        state.pointerNs = null;
        tip.hidden = true;
        invalidate();
    }

    const sizes = new ResizeObserver(measure);
    sizes.observe(scroll);
    sizes.observe(canvas);
    scroll.addEventListener('scroll', invalidate, { passive: true });
    const stopTheme = onTheme(() => {
        colours.reload();
        invalidate();
    });

    return {
        root: scroll, canvas, state, view, invalidate, arrange, measure, under, rowAt, hover, leave, forgetHeads: column.forget,
        /** The view in time changed. */
        moved() {
            onView();
            invalidate();
        },
        /** What stands out, and when matches of a search begin. @param {import('./draw.js').Lit | null} lit @param {typeof state.found} found */
        light(lit, found) {
            Object.assign(state, { lit, found });
            invalidate();
        },
        /** @param {((time: number) => boolean) | null} run */
        animate(run) {
            motion = run;
            if (run) invalidate();
        },
        /** Brings a lane into sight. @param {TimelineRow} row @param {number} lane */
        reveal(row, lane) {
            if (row.pinned) return;
            const top = row.top + lane * row.laneHeight;
            const bottom = row.top + (lane + 1) * (row.laneHeight || row.height);
            // The panel may just have opened: the view has the height of the last frame.
            const height = scroll.clientHeight - state.ruler - view.pinned;
            if (top < scroll.scrollTop) scroll.scrollTop = Math.max(0, top - SPARE_PX / 4);
            else if (bottom > scroll.scrollTop + height) scroll.scrollTop = bottom - height + SPARE_PX / 4;
        },
        destroy() {
            cancelAnimationFrame(frame);
            busy?.();
            busy = null;
            sizes.disconnect();
            stopTheme();
        },
    };
}

/** @typedef {ReturnType<typeof stage>} Stage */
