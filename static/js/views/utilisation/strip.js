/** The launches in their order, each as wide as it is long: phases, repeats and stragglers of an iteration at a glance. */

import { h, fill, debounce, nameParts } from '../../lib/dom.js';
import { chartPanel, walkable } from '../../charts/chartpanel.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import { showFailure } from '../../lib/states.js';
import { shorten } from '../../lib/names.js';
import { keepPainted } from '../../lib/canvas.js';
import { CLASSES } from './classes.js';
import { paintStrip, AXIS } from './strip_draw.js';
import { stripKeys } from './strip_keys.js';
import { launchTable } from './launch_table.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./launches.js').Launches} Launches */
/** @typedef {import('./strip_draw.js').StripColour} StripColour */

/** Launches that stay in sight when one zooms in. */
const FEWEST = 4;
/** A drag over less is a click. */
const DRAG_PX = 5;

/**
 * @param {KernelUse} data
 * @param {{id: string, onKernel: (name: string) => void}} place
 */
export function strip(data, { id, onKernel }) {
    /** @type {Launches | undefined} */
    let launches;
    /** First and last launch in sight; null: all. @type {[number, number] | null} */
    let window_ = null;
    let at = -1;
    let hovered = -1;
    /** @type {Set<string>} */
    let chosen = new Set();
    let frame = 0;
    /** @type {number | null} where a drag began, in pixels */
    let dragFrom = null;

    const uses = /** @type {StripColour[]} */ (['tensor', 'dram', 'sm']).filter((use) => data[/** @type {'tensor'} */ (use)] !== null);
    const choices = /** @type {StripColour[]} */ (uses.length ? ['class', 'kernel', ...uses] : ['kernel']);
    let by = choices[0];
    const words = { class: 'Class', kernel: 'Kernel', tensor: 'Tensor', dram: 'DRAM', sm: 'SM' };
    const canvas = h('canvas', { class: 'strip-canvas' });
    const band = h('div', { class: 'strip-band', hidden: true });
    const line = h('p', { class: 'strip-line' });
    const keys = h('p', { class: 'use-keys' });
    const status = h('div', { class: 'quiet', role: 'status' }, 'Reading launches …');
    const colours = uses.length ? segmented('Colour by', choices.map((value) => ({ value, label: words[value] })),
        (value) => setParams({ colour: value === choices[0] ? null : value })) : null;
    const button = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {() => void} */ act) => h('button', { class: 'button small', type: 'button', 'aria-label': name, title: name, onclick: act }, sign);
    const zooms = h('div', { class: 'strip-zoom' }, button('−', 'Zoom out', () => zoom(2)), button('+', 'Zoom in', () => zoom(0.5)), button('Fit', 'Fit all launches', () => show(null)));
    const box = h('div', { class: 'strip' }, h('div', { class: 'strip-box' }, canvas, band), line, keys, status);
    const panel = chartPanel({ title: 'Launches in order', help: 'Each launch as wide as it is long, without the gaps between them', tools: [colours?.root, zooms],
        chart: box, table: () => launchTable(id, data, chosen.size === 1 ? [...chosen][0] : '') });
    const walk = walkable(canvas, {
        label: 'Launches in order', count: () => launches?.count ?? 0, text: (index) => text(index), step: 25,
        show: (index) => choose(index), act: (index) => launches && onKernel(launches.names[launches.name[index]]),
        onKey: (event) => {
            if (event.key === '+' || event.key === '=') zoom(0.5);
            else if (event.key === '-') zoom(2);
            else if (event.key === '0') show(null);
            else return false;
            return true;
        },
    });
    /** The launch as the address last named it. */
    let seen = '';
    const remember = debounce(() => {
        seen = at < 0 ? '' : String(at + 1);
        setParams({ launch: seen }, { replace: true });
    }, 250);

    const span = () => {
        const [first, last] = window_ ?? [0, (launches?.count ?? 1) - 1];
        return { from: launches?.begin[first] ?? 0, to: Math.max(launches?.begin[last + 1] ?? 1, (launches?.begin[first] ?? 0) + 1) };
    };

    function paint() {
        if (!launches || launches.count === 0) return;
        const known = launches;
        const lit = new Set([...chosen].map((name) => known.ids.get(name)));
        paintStrip(canvas, { launches, span: span(), by, at: hovered >= 0 ? hovered : at, anyLit: chosen.size > 0, lit: (name) => lit.has(name),
            label: (name) => shorten(known.names[name]).short });
    }

    /** @param {number} index */
    function text(index) {
        if (!launches) return '';
        return `Launch ${fmt.int(index + 1)} of ${fmt.int(launches.count)}: ${launches.names[launches.name[index]]}, ${figures(index).join(', ')}`;
    }

    /** @param {number} index */
    function figures(index) {
        if (!launches) return [];
        const known = launches;
        return [fmt.time(known.duration(index)), ...uses.map((use) => {
            const value = known[/** @type {'tensor'} */ (use)][index];
            return `${words[use]} ${Number.isNaN(value) ? '–' : fmt.share(value)}`;
        }), ...(uses.length ? [CLASSES[known.use[index]].label] : [])];
    }

    /** The launch under the pointer or the keyboard, in words under the strip. */
    function tell() {
        const index = hovered >= 0 ? hovered : at;
        if (!launches || index < 0) {
            fill(line, h('span', { class: 'quiet' }, 'Point at a launch, or walk with the arrow keys; drag to zoom.'));
            return;
        }
        const name = launches.names[launches.name[index]];
        fill(line, h('span', { class: 'quiet' }, `Launch ${fmt.int(index + 1)}`),
            h('button', { class: 'link strip-name', type: 'button', 'data-tip': name, onclick: () => onKernel(name) }, nameParts(shorten(name).short)),
            h('span', { class: 'strip-figures' }, figures(index).join(' · ')));
    }

    /** @param {number} index */
    function choose(index) {
        at = index;
        hovered = -1;
        const [first, last] = window_ ?? [0, Infinity];
        // The strip follows the keyboard.
        if (window_ && (at < first || at > last)) {
            const count = last - first;
            const from = Math.max(0, Math.min((launches?.count ?? 1) - 1 - count, at - Math.floor(count / 2)));
            show([from, from + count]);
        }
        walk.set(at);
        tell();
        paint();
        remember();
    }

    /** @param {[number, number] | null} next */
    function show(next) {
        const last = (launches?.count ?? 1) - 1;
        const all = !next || (next[0] <= 0 && next[1] >= last);
        setParams({ win: all || !next ? null : `${Math.max(0, next[0]) + 1}-${Math.min(last, next[1]) + 1}` }, { replace: true });
    }

    /** About the chosen launch, else about the middle. @param {number} factor */
    function zoom(factor) {
        if (!launches) return;
        const [first, last] = window_ ?? [0, launches.count - 1];
        const inSight = at >= first && at <= last;
        const centre = inSight ? at : (first + last) / 2;
        const count = Math.max(FEWEST, (last - first + 1) * factor);
        const from = Math.round(centre - count * ((centre - first) / Math.max(1, last - first)));
        const begin = Math.max(0, Math.min(from, launches.count - Math.round(count)));
        show([begin, Math.min(launches.count - 1, begin + Math.round(count) - 1)]);
    }

    /** @param {PointerEvent} event */
    const pixel = (event) => Math.max(0, Math.min(canvas.clientWidth, event.clientX - canvas.getBoundingClientRect().left));
    /** @param {number} x */
    const launchAt = (x) => {
        const { from, to } = span();
        return launches ? launches.at(Math.min(to - 1, from + (x / Math.max(1, canvas.clientWidth)) * (to - from))) : -1;
    };

    canvas.addEventListener('pointermove', (event) => {
        if (!launches) return;
        hovered = launchAt(pixel(event));
        if (dragFrom !== null) {
            const [a, b] = [Math.min(dragFrom, pixel(event)), Math.max(dragFrom, pixel(event))];
            band.hidden = b - a < DRAG_PX;
            band.style.left = `${a}px`;
            band.style.width = `${b - a}px`;
        }
        tell();
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(paint);
    });
    canvas.addEventListener('pointerleave', () => {
        hovered = -1;
        tell();
        paint();
    });
    canvas.addEventListener('pointerdown', (event) => {
        if (event.button !== 0) return;
        dragFrom = pixel(event);
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointerup', (event) => {
        if (dragFrom === null || !launches) return;
        const [a, b] = [Math.min(dragFrom, pixel(event)), Math.max(dragFrom, pixel(event))];
        dragFrom = null;
        band.hidden = true;
        if (b - a < DRAG_PX) choose(launchAt(b));
        else show([launchAt(a), launchAt(b)]);
    });
    canvas.addEventListener('pointercancel', () => {
        dragFrom = null;
        band.hidden = true;
    });
    canvas.addEventListener('dblclick', () => show(null));
    const stopPainting = keepPainted(canvas, paint, () => {
        paintKeys();
        paint();
    });

    function paintKeys() {
        if (launches) stripKeys(keys, launches, by, words[by]);
    }

    return {
        root: panel.root,
        /** @param {number} part @param {number} total */
        progress(part, total) {
            fill(status, `Reading launches: ${fmt.int(part)} of ${fmt.int(total)} …`);
        },
        /** @param {unknown} error @param {() => void} retry */
        fail: (error, retry) => showFailure(status, error, retry),
        /** @param {Launches} list @param {URLSearchParams} params */
        show(list, params) {
            launches = list;
            status.hidden = true;
            canvas.style.height = `${84 + AXIS}px`;
            this.update(params, chosen);
            paintKeys();
            tell();
        },
        /** @param {URLSearchParams} params @param {Set<string>} names the kernels whose rows are open */
        update(params, names) {
            const others = [...names].join('\n') !== [...chosen].join('\n');
            chosen = names;
            by = choices.find((choice) => choice === params.get('colour')) ?? choices[0];
            colours?.show(by);
            if (!launches) return;
            window_ = range(params.get('win'), launches.count);
            // What the keyboard chose since then is not in the address yet.
            const named = params.get('launch') ?? '';
            if (named !== seen) {
                seen = named;
                at = /^\d+$/.test(named) ? Math.min(Number(named), launches.count) - 1 : -1;
                walk.set(at);
                tell();
            }
            paintKeys();
            paint();
            if (others) panel.repaint();
        },
        destroy() {
            remember.cancel();
            cancelAnimationFrame(frame);
            stopPainting();
        },
    };
}

/** "101-200", from 1, as positions from 0. @param {string | null} text @param {number} count @returns {[number, number] | null} */
function range(text, count) {
    const [, first, last] = /^(\d+)-(\d+)$/.exec(text ?? '') ?? [];
    const [from, to] = [Number(first) - 1, Number(last) - 1];
    return first && from >= 0 && from <= to && to < count ? [from, to] : null;
}
