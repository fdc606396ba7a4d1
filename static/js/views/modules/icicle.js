/** Modules as nested bars: as wide as their time, below what they are in. A click or Enter zooms into one. */

import { h, fill, nameParts, swatch } from '../../lib/dom.js';
import { categoryColour, CATEGORIES, shadeBy } from '../../lib/colours.js';
import { hashOf } from '../../lib/names.js';
import { setParams } from '../../app/router.js';
import { keepPainted } from '../../lib/canvas.js';
import { totalOf, selfOf, pathTo, typeOf, indexIn } from './tree.js';
import { layout, paintIcicle, BAR } from './icicle_draw.js';
import { barPointer, barKeys } from '../../charts/bars.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./tree.js').ModuleTree} ModuleTree */
/** @typedef {import('./tree.js').Measure} Measure */

/**
 * @param {ModuleTree} tree
 * @param {{device: string | null, tools: any[], onChoose: (index: number) => void}} settings
 */
export function icicle(tree, { device, tools, onChoose }) {
    /** @type {Measure} */
    let by = 'host';
    let zoom = -1;
    let at = -1;
    /** @type {import('./icicle_draw.js').Bar[]} */
    let bars = [];
    /** @type {Map<string, number>} */
    let ranks = new Map();
    const canvas = h('canvas', { class: 'icicle', tabindex: '0', role: 'slider', 'aria-label': 'Modules as nested bars', 'aria-valuemin': '1', 'aria-valuemax': Math.max(1, tree.rows.length) });
    const crumbs = h('nav', { class: 'tree-path', 'aria-label': 'Zoomed to' });
    const line = h('p', { class: 'strip-line' });
    const keys = h('p', { class: 'use-keys' });
    const nothing = h('p', { class: 'quiet', hidden: true }, 'No time of this kind is known.');
    const root = h('section', { class: 'section panel' },
        h('div', { class: 'section-head' }, h('h2', { 'data-tip': 'Each bar is as wide as the time of its module; what is empty below it is its own. Click to zoom in; arrow keys walk, Enter zooms in, Escape out' }, 'Where the time goes'), h('div', { class: 'panel-tools' }, tools)),
        crumbs, canvas, nothing, line, keys);

    const pointer = barPointer(canvas, BAR, {
        bars: () => bars, tell, paint,
        click: (index) => {
            if (index >= 0) zoomTo(index === zoom ? parentOf(zoom) : index);
        },
    });

    /** The largest types have the colours of lists, the others one that their name decides. @param {string} type */
    const typeColour = (type) => {
        const place = ranks.get(type) ?? CATEGORIES;
        const seed = hashOf(type);
        return place < CATEGORIES ? categoryColour(place) : shadeBy(categoryColour(seed % CATEGORIES), 1 + ((seed >>> 8) % 3));
    };

    /** @param {number} index */
    const colourOf = (index) => {
        return typeColour(typeOf(tree.rows[index].name));
    };

    function paint() {
        paintIcicle(canvas, { bars, at: pointer.or(at), name: (index) => tree.rows[index].name, colour: colourOf });
    }

    /** Types with most time of their own come first. */
    function rank() {
        /** @type {Map<string, number>} */
        const times = new Map();
        for (const row of tree.rows) times.set(typeOf(row.name), (times.get(typeOf(row.name)) ?? 0) + selfOf(row, by));
        ranks = new Map([...times].sort(([, a], [, b]) => b - a).map(([type], place) => [type, place]));
    }

    function paintKeys() {
        const shown = [...ranks.keys()].filter((type) => bars.some(({ index }) => typeOf(tree.rows[index].name) === type));
        fill(keys, shown.slice(0, CATEGORIES).map((type) => h('span', { class: 'use-class' }, swatch(typeColour(type)), type)));
    }

    /** @param {number} index */
    function figures(index) {
        const row = tree.rows[index];
        const whole = zoom >= 0 ? totalOf(tree.rows[zoom], by) : tree.roots.reduce((sum, top) => sum + totalOf(tree.rows[top], by), 0);
        return [`${by === 'device' ? device : 'host'} ${fmt.time(totalOf(row, by))}`, `self ${fmt.time(selfOf(row, by))}`,
            ...(whole > 0 ? [`${fmt.share(totalOf(row, by) / whole)} of ${zoom >= 0 ? tree.rows[zoom].name : 'all'}`] : []), fmt.plural(row.occurrences, 'call')];
    }

    function tell() {
        const index = pointer.or(at);
        const { name } = tree.rows[index] ?? { name: '' };
        canvas.setAttribute('aria-valuenow', String(Math.max(1, index + 1)));
        canvas.setAttribute('aria-valuetext', index < 0 ? 'Modules as nested bars: arrow keys walk through them' : `${pathTo(tree, index).map((part) => tree.rows[part].name).join(', in it ')}: ${figures(index).join(', ')}`);
        if (index < 0) fill(line, h('span', { class: 'quiet' }, 'Point at a module, or walk with the arrow keys; click or Enter zooms in, Escape out.'));
        else fill(line, h('span', { class: 'strip-name', 'data-tip': name }, nameParts(name)), h('span', { class: 'strip-figures' }, figures(index).join(' · ')));
    }

    function paintCrumbs() {
        const path = zoom < 0 ? [] : pathTo(tree, zoom);
        crumbs.hidden = path.length === 0;
        fill(crumbs, h('ol', null, (path.length ? [-1, ...path] : []).map((index) => h('li', null, index === zoom ? h('span', { 'aria-current': 'true' }, tree.rows[index].name)
            : h('button', { class: 'link', type: 'button', onclick: () => zoomTo(index) }, index < 0 ? 'All modules' : tree.rows[index].name)))));
    }

    /** @param {number} index */
    function zoomTo(index) {
        setParams({ zoom: index < 0 ? null : index, at: index < 0 ? (at < 0 ? null : at) : index });
        // The crumb that had the focus may be gone.
        if (!document.activeElement || document.activeElement === document.body) canvas.focus({ preventScroll: true });
        return true;
    }

    /** @param {number} index */
    const parentOf = (index) => tree.rows[index].parent ?? -1;

    barKeys(canvas, {
        bars: () => bars,
        at: () => (bars.some(({ index }) => index === at) ? at : -1),
        parent: (index) => (index === zoom ? -1 : parentOf(index)),
        children: (index) => tree.children[index],
        siblings: (index) => (index === zoom ? [index] : parentOf(index) < 0 ? tree.roots : tree.children[parentOf(index)]),
        choose: (index) => {
            pointer.forget();
            if (index >= 0) onChoose(index);
        },
        zoom: () => at >= 0 && zoomTo(at),
        out: () => zoom >= 0 && zoomTo(parentOf(zoom)),
    });

    const stopPainting = keepPainted(canvas, paint, () => {
        paintKeys();
        paint();
    });

    return {
        root,
        /** @param {URLSearchParams} params @param {Measure} measure */
        update(params, measure) {
            const nextZoom = indexIn(params.get('zoom'), tree);
            const others = bars.length === 0 || measure !== by || nextZoom !== zoom;
            by = measure;
            zoom = nextZoom;
            at = indexIn(params.get('at'), tree);
            if (others) {
                rank();
                bars = layout(tree, zoom, by);
                nothing.hidden = bars.length > 0;
                canvas.hidden = bars.length === 0;
                canvas.style.height = `${BAR * (1 + bars.reduce((max, { depth }) => Math.max(max, depth), 0))}px`;
                paintCrumbs();
                paintKeys();
            }
            pointer.forget();
            tell();
            paint();
        },
        destroy() {
            pointer.stop();
            stopPainting();
        },
    };
}
