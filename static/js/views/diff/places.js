/** What a node of two call trees laid side by side is called: by its name, its step, its neighbours. */

import * as fmt from '../../lib/fmt.js';

export const ROOT = '0';
/** What the server calls several siblings, and none. */
const SEVERAL = 'CompositeNodes';
export const BLANK = 'Blank';
/** Characters of a neighbour's name. */
const BRIEF = 28;

/** @param {DiffSide} side */
const sideText = ({ name, nodes }) => (name === SEVERAL ? fmt.plural(nodes, 'node') : name === BLANK ? 'nothing' : name);

/** Both if they differ. @param {string} a @param {string} b */
const both = (a, b) => (a === b || !b ? a : a ? `${a} / ${b}` : b);

/** What stands on both sides, or on each. @param {DiffNode | DiffChild} node */
export const nodeName = ({ path, base, candidate }) => (path === ROOT ? 'Whole thread' : both(sideText(base), sideText(candidate)));

/** @param {DiffSide} side */
const sideSteps = ({ first_step: first, last_step: last }) => (!first || first === last ? first ?? '' : `${first} to ${last}`);

/** The step of a node, or its steps, if that of its siblings is another. @param {DiffNode} parent @param {DiffChild} child */
function stepWords({ base, candidate }, child) {
    const many = [base, candidate].some((side) => side.first_step !== side.last_step);
    return many ? both(sideSteps(child.base), sideSteps(child.candidate)) : '';
}

/** @param {DiffChild} child */
const isMatched = ({ base, candidate }) => ![base.name, candidate.name].some((name) => name === SEVERAL || name === BLANK);

/** Its whole name stands in a row of its own. @param {DiffChild} child */
function briefName(child) {
    const name = nodeName(child);
    return name.length > BRIEF ? `${name.slice(0, BRIEF - 1)}…` : name;
}

/** @param {DiffChild | null} before @param {DiffChild | null} after */
function betweenWords(before, after) {
    if (before && after) return `between ${briefName(before)} and ${briefName(after)}`;
    return before ? `after ${briefName(before)}` : after ? `before ${briefName(after)}` : '';
}

/** @param {DiffChild[]} siblings @returns {Map<DiffChild, string>} those without a name of both sides: between which they stand */
function neighboursOf(siblings) {
    /** @type {(DiffChild | null)[]} */
    const next = [];
    for (let at = siblings.length - 1, after = null; at >= 0; at -= 1) {
        next[at] = after;
        if (isMatched(siblings[at])) after = siblings[at];
    }
    /** @type {Map<DiffChild, string>} */
    const words = new Map();
    let before = null;
    for (const [at, child] of siblings.entries()) {
        if (isMatched(child)) before = child;
        else words.set(child, betweenWords(before, next[at]));
    }
    return words;
}

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @typedef {{place: string, named: boolean}} Place named: it is followed by the node's name, and may be ''; else it stands for it */

/**
 * Where each child stands: its step, where the level has several, and between which siblings, if it has no name of both sides; the how
 * manieth there, as modules are alike.
 * @param {DiffNode} node
 * @returns {Map<DiffChild, Place>}
 */
export function placesOf(node) {
    const neighbours = neighboursOf(node.children);
    /** @type {Map<string, DiffChild[]>} */
    const alike = new Map();
    for (const child of node.children) {
        const words = [stepWords(node, child), neighbours.get(child) ?? ''].filter(Boolean).join(': ');
        const list = alike.get(words) ?? [];
        list.push(child);
        alike.set(words, list);
    }
    return new Map([...alike].flatMap(([words, list]) => list.map((child, at) => {
        const named = !neighbours.get(child);
        return [child, { named, place: words && !named && list.length > 1 ? `${capital(words)}, ${at + 1} of ${list.length}` : capital(words) }];
    })));
}
