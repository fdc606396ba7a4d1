/** A call stack as a list: innermost first, each run of frames of libraries folded into one line. */

import { h } from '../../lib/dom.js';
import { readFrame } from '../../lib/frames.js';
import { sourceHref } from '../../lib/source.js';
import * as fmt from '../../lib/fmt.js';

/** Lines above this are one button away. */
const LINES = 12;

/** @typedef {{name: string, kind?: string, choose?: () => void}} StackPart kind: what stands before it, `operator`; choose: goes to it */

/** Of names, innermost first. @param {string[]} names */
export const frameBox = (names) => stackBox(names.map((name) => ({ name })));

/** @param {StackPart[]} parts innermost first */
export function stackBox(parts) {
    const list = h('ol', { class: 'frames' });
    const leaf = builtInLine(parts);
    const lines = fold(leaf ? parts.slice(1) : parts).map((run) => (run.length > 1 || isLibrary(run[0]) ? foldedLine(run) : stackLine(run[0])));
    if (leaf) lines.unshift(leaf);
    list.append(...lines.slice(0, LINES));
    const rest = lines.slice(LINES);
    const more = rest.length ? h('button', { class: 'button small', type: 'button', onclick: () => {
        list.append(...rest);
        more?.remove();
    } }, `${fmt.int(rest.length)} more`) : null;
    return h('div', { class: 'stack-box' }, list, more);
}

/** A leaf without a file has its caller's line: the nearest one of a file. @param {StackPart[]} parts */
function builtInLine(parts) {
    const frame = parts.length && !parts[0].kind ? readFrame(parts[0].name) : null;
    if (!frame?.builtIn) return null;
    const caller = parts.find(({ name, kind }) => !kind && readFrame(name)?.line);
    return caller ? stackLine(parts[0], caller.name) : null;
}

/** @param {StackPart} part */
const isLibrary = (part) => !part.kind && Boolean(readFrame(part.name)?.library);

/** Runs of library frames, and all others alone. @param {StackPart[]} parts */
function fold(parts) {
    /** @type {StackPart[][]} */
    const runs = [];
    for (const part of parts) {
        const last = runs[runs.length - 1];
        if (last && isLibrary(part) && isLibrary(last[0])) last.push(part);
        else runs.push([part]);
    }
    return runs;
}

/** To the line of a frame of the program, where the server knows the way. @param {string} name @param {string} text */
export function sourceLink(name, text) {
    const frame = readFrame(name);
    const href = frame && !frame.library ? sourceHref(frame.path, frame.line) : '';
    return href ? h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, text) : null;
}

/** @param {StackPart} part @param {string} [at] the frame whose line stands beside the name */
function stackLine({ name, kind, choose }, at = name) {
    const word = (kind ? null : readFrame(name))?.func ?? name;
    const place = kind ?? readFrame(at)?.place ?? '';
    const label = choose ? h('button', { class: 'link frame-name', type: 'button', onclick: choose }, word) : h('span', { class: 'frame-name' }, word);
    return h('li', { title: name }, label, ' ', (kind ? null : sourceLink(at, place)) ?? h('span', { class: 'quiet' }, place));
}

/** @param {StackPart[]} run */
function foldedLine(run) {
    const words = [...new Set(run.map(({ name }) => readFrame(name)?.path.split('/')[0].replace(/\.py$/, '') || 'built-in'))];
    const shown = words.slice(0, 3).join(', ') + (words.length > 3 ? ' …' : '');
    const line = h('li', { class: 'frames-folded' }, h('button', { class: 'link quiet', type: 'button', 'aria-expanded': 'false', onclick: open }, `${fmt.plural(run.length, 'library frame')}: ${shown}`));
    function open() {
        const lines = run.map((part) => stackLine(part));
        line.replaceWith(...lines);
        lines[0].tabIndex = -1;
        lines[0].focus();
    }
    return line;
}

/** Both profilers of PyTorch have the option. @param {Trace} trace */
export const noStacks = ({ format }) => h('p', { class: 'quiet' }, 'No call stacks', /^(chrome-trace|ascend)/.test(format) ? [': profile with ', h('code', null, 'with_stack=True')] : null, '.');
