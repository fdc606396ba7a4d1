/** A flame graph on a canvas: point, click or Enter to zoom, arrow keys to walk, Escape to go out. */

import { h, fill } from '../../lib/dom.js';
import { keepPainted } from '../../lib/canvas.js';
import { barPointer, barKeys } from '../../charts/bars.js';
import { layout, paintFlame, labelOf, change, perStep, BAR } from './draw.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./draw.js').FlameGraph} FlameGraph */

/** @param {{zoom: (id: string) => void, out: () => void, choose: (id: string) => void}} events */
export function flameCanvas({ zoom, out, choose }) {
    /** @type {FlameGraph | null} */
    let graph = null;
    /** @type {import('./draw.js').Bar[]} */
    let bars = [];
    /** @type {number[][]} */
    let children = [];
    /** @type {Set<number> | null} */
    let found = null;
    let at = -1;
    const canvas = h('canvas', { class: 'icicle flame', tabindex: '0', role: 'slider', 'aria-label': 'Flame graph', 'aria-valuemin': '1', 'aria-valuemax': '1' });
    const line = h('p', { class: 'strip-line', 'aria-live': 'off' });
    const root = h('div', { class: 'flame-box' }, canvas);

    const pointer = barPointer(canvas, BAR, { bars: () => bars, tell, paint, click: zoomTo });

    function paint() {
        if (graph) paintFlame(canvas, { graph, bars, at: pointer.or(at), found });
    }

    /** @param {number} index */
    function figures(index) {
        if (!graph) return [];
        const node = graph.nodes[index];
        const [own, other] = perStep(graph);
        const step = own === 1 && other === 1 ? '' : ' a step';
        const whole = graph.nodes[0].total_ns;
        const list = [`${fmt.time(node.total_ns * own)}${step}`, whole > 0 ? fmt.share(node.total_ns / whole) : '', `self ${fmt.time(node.self_ns * own)}`, node.calls > 0 ? fmt.plural(node.calls, 'call') : ''];
        if (graph.against !== undefined) list.splice(1, 0, `${fmt.time((node.against_total_ns ?? 0) * other)}${step} in the other (${change(graph, node) > 0 ? '+' : ''}${fmt.share(change(graph, node))})`);
        return list.filter(Boolean);
    }

    function tell() {
        const index = pointer.or(at);
        const node = graph?.nodes[index];
        canvas.setAttribute('aria-valuenow', String(Math.max(1, index + 1)));
        canvas.setAttribute('aria-valuetext', node ? `${labelOf(node)}: ${figures(index).join(', ')}` : 'Flame graph: arrow keys walk through it');
        if (!node) fill(line, h('span', { class: 'quiet' }, 'Point at a bar, or walk with the arrow keys; click or Enter zooms in, Escape out.'));
        else fill(line, h('span', { class: 'strip-name', title: node.name }, labelOf(node)), h('span', { class: 'strip-figures' }, figures(index).join(' · ')));
    }

    /** @param {number} index */
    function zoomTo(index) {
        if (graph && index >= 0 && graph.nodes[index].kind !== 'root') {
            if (index === 0) out();
            else zoom(graph.nodes[index].id);
        }
        return true;
    }

    /** @param {number} index */
    const parentOf = (index) => graph?.nodes[index].parent ?? -1;
    barKeys(canvas, {
        bars: () => bars,
        at: () => at,
        parent: parentOf,
        children: (index) => children[index],
        siblings: (index) => children[parentOf(index)] ?? [index],
        choose: (index) => {
            pointer.forget();
            if (index < 0 || !graph) return;
            at = index;
            choose(graph.nodes[index].id);
            tell();
            paint();
        },
        zoom: () => at > 0 && zoomTo(at),
        out: () => {
            out();
            return true;
        },
    });

    const stopPainting = keepPainted(canvas, paint);

    return {
        root, line,
        /** @param {FlameGraph} next @param {string | null} id of the chosen node */
        show(next, id) {
            graph = next;
            bars = layout(next);
            children = next.nodes.map(() => []);
            next.nodes.forEach(({ parent }, index) => parent !== null && children[parent].push(index));
            at = id ? next.nodes.findIndex((node) => node.id === id && node.kind !== 'other') : -1;
            pointer.forget();
            canvas.setAttribute('aria-valuemax', String(next.nodes.length));
            canvas.style.height = `${BAR * (1 + bars.reduce((max, { depth }) => Math.max(max, depth), 0))}px`;
            tell();
            paint();
        },
        /** Marks what matches, and says how much time that is. @param {string} text */
        search(text) {
            const word = text.trim().toLowerCase();
            if (!graph || !word) {
                found = null;
                paint();
                return '';
            }
            const matches = new Set(graph.nodes.flatMap((node, index) => (node.name.toLowerCase().includes(word) ? [index] : [])));
            const inside = new Set();
            let time = 0;
            graph.nodes.forEach((node, index) => {
                const within = node.parent !== null && inside.has(node.parent);
                if (within || matches.has(index)) inside.add(index);
                if (!within && matches.has(index)) time += node.total_ns;
            });
            found = matches;
            paint();
            const whole = graph.nodes[0].total_ns;
            return `${fmt.plural(matches.size, 'match', 'matches')}, ${whole > 0 ? fmt.share(time / whole) : fmt.time(time)} of the time`;
        },
        destroy() {
            stopPainting();
            pointer.stop();
        },
    };
}
