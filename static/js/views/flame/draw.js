/** Where the bars of a flame graph stand, their colours and their picture. */

import { token } from '../../app/theme.js';
import { paintBars, THINNEST } from '../../charts/bars.js';
import { categoryColour, roleColour, shadeBy, mix, CATEGORIES } from '../../lib/colours.js';
import { readFrame } from '../../lib/frames.js';
import { hashOf, shorten } from '../../lib/names.js';

/**
 * @typedef {{id: string, parent: number | null, depth: number, name: string, kind: string, library: boolean, total_ns: number, self_ns: number, calls: number,
 *     against_total_ns?: number, against_self_ns?: number, against_calls?: number}} FlameNode
 * @typedef {{by: string, weight: string, step: number | null, steps: number, node_count: number, against?: number, against_steps?: number, nodes: FlameNode[]}} FlameGraph
 * @typedef {import('../../charts/bars.js').Bar} Bar
 */

/** Height of a level, in CSS pixels. */
export const BAR = 20;
/** Browsers draw nothing on a canvas higher than 32,767 points, of which some screens have three to a CSS pixel. */
const LEVELS_MAX = 500;

/** Time per step where both sides have steps, else in all. @param {FlameGraph} graph */
export function perStep(graph) {
    const both = graph.against !== undefined && graph.steps > 0 && (graph.against_steps ?? 0) > 0;
    return both ? [1 / graph.steps, 1 / (graph.against_steps ?? 1)] : [1, 1];
}

/** How wide a node is: of two traces the sum. @param {FlameGraph} graph @returns {(node: FlameNode) => number} */
function widthOf(graph) {
    const [own, other] = perStep(graph);
    return (node) => node.total_ns * own + (node.against_total_ns ?? 0) * other;
}

/** Parents stand before their children. @param {FlameGraph} graph @returns {Bar[]} */
export function layout(graph) {
    const width = widthOf(graph);
    const whole = Math.max(1, width(graph.nodes[0]));
    const left = new Float64Array(graph.nodes.length);
    /** @type {Bar[]} */
    const bars = [];
    graph.nodes.forEach((node, index) => {
        const from = node.parent === null ? 0 : left[node.parent];
        const to = from + width(node) / whole;
        left[index] = from;
        if (node.parent !== null) left[node.parent] = to;
        if (to - from >= THINNEST && node.depth < LEVELS_MAX) bars.push({ index, depth: node.depth, from, to: Math.min(1, to) });
    });
    return bars;
}

/** What a bar says: the function first, so that it survives. @param {FlameNode} node */
export function labelOf(node) {
    if (node.kind === 'root') return 'all';
    if (node.kind === 'other') return 'other';
    const frame = readFrame(node.name);
    return frame ? `${frame.func}  ${frame.place}` : shorten(node.name).short;
}

/** Files and modules have a colour each, whatever the trace. @param {FlameNode} node */
function ownColour(node) {
    const shade = (/** @type {string} */ group) => shadeBy(categoryColour(hashOf(group) % CATEGORIES), hashOf(node.name));
    if (node.kind === 'kernel') return roleColour('kernel');
    if (node.kind === 'call') return roleColour('runtime');
    if (node.kind === 'operator') return shadeBy(roleColour('cpu_exec'), hashOf(node.name));
    if (node.kind === 'module') return shade(node.name.replace(/_\d+$/, ''));
    if (node.kind === 'python') return shade(readFrame(node.name)?.path ?? node.name);
    return token('--cat-other');
}

/** How much longer a node takes than in the other trace, -1 (gone) to 1 (new). @param {FlameGraph} graph @param {FlameNode} node */
export function change(graph, node) {
    const [own, other] = perStep(graph);
    const [now, before] = [node.total_ns * own, (node.against_total_ns ?? 0) * other];
    return now + before === 0 ? 0 : (now - before) / Math.max(now, before);
}

/** @param {FlameGraph} graph @param {FlameNode} node */
function colourOf(graph, node) {
    const ground = token('--bg');
    if (graph.against !== undefined) {
        const by = change(graph, node);
        return mix(token('--cat-other'), token(by > 0 ? '--slower' : '--faster'), Math.min(1, Math.abs(by) * 2));
    }
    const colour = ownColour(node);
    return node.library ? mix(colour, ground, 0.55) : colour;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{graph: FlameGraph, bars: Bar[], at: number, found: Set<number> | null}} picture at: the chosen node, -1: none; found: what a search matches
 */
export function paintFlame(canvas, { graph, bars, at, found }) {
    const ground = token('--bg');
    paintBars(canvas, {
        bars, at, height: BAR, font: 11, inset: 4, named: 24, label: (index) => labelOf(graph.nodes[index]),
        colour: (index) => {
            const own = colourOf(graph, graph.nodes[index]);
            return found && !found.has(index) ? mix(own, ground, 0.8) : own;
        },
    });
}
