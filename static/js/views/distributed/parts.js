/** The parts of a worker's time: words, colours and patterns, in charts and keys. */

import { h } from '../../lib/dom.js';
import { roleColour } from '../../lib/colours.js';
import { token } from '../../app/theme.js';

/** @typedef {import('./figures.js').Part} Part */

/** @type {Record<Part, {label: string, text: string}>} */
export const PART_WORDS = {
    computation: { label: 'Computation', text: 'Kernels other than collectives run, no communication' },
    overlap: { label: 'Overlap', text: 'Communication while kernels run: hidden behind computation' },
    communication: { label: 'Communication', text: 'Communication while no other kernel runs: exposed' },
    other: { label: 'Other', text: 'Neither: copies, host work, idle' },
    transfer: { label: 'Transfer', text: 'Data flows: as long as the shortest of all workers took' },
    wait: { label: 'Waiting', text: 'For the workers that arrive later' },
};

/** Stripes say what is both, or empty: no colour has to. @param {string} ground @param {string} line @param {number} width */
function stripes(ground, line, width) {
    const tile = document.createElement('canvas');
    tile.width = 8;
    tile.height = 8;
    const ctx = tile.getContext('2d');
    if (!ctx) return line;
    ctx.fillStyle = ground;
    ctx.fillRect(0, 0, 8, 8);
    ctx.strokeStyle = line;
    ctx.lineWidth = width;
    ctx.beginPath();
    for (const at of [-8, 0, 8]) {
        ctx.moveTo(at, 8);
        ctx.lineTo(at + 8, 0);
    }
    ctx.stroke();
    return ctx.createPattern(tile, 'repeat') ?? line;
}

/** How a part is filled. @param {Part} part @returns {string | CanvasPattern} */
export function partFill(part) {
    switch (part) {
        case 'computation': return roleColour('kernel');
        case 'overlap': return stripes(roleColour('kernel'), roleColour('communication'), 3);
        case 'other': return roleColour('other');
        case 'wait': return stripes(token('--bg'), roleColour('communication'), 1.6);
        default: return roleColour('communication');
    }
}

/** Around a part that is mostly empty. */
export const waitOutline = () => roleColour('communication');

/** @param {Part} part */
export const partSwatch = (part) => h('span', { class: `swatch part-${part}`, 'aria-hidden': 'true' });

/** The parts of a chart as buttons, which take one off it. @param {Part[]} parts @param {(part: Part) => void} onToggle */
export function partSwitch(parts, onToggle) {
    const buttons = parts.map((part) => h('button', { class: 'side-button', type: 'button', 'data-part': part, 'data-tip': PART_WORDS[part].text, onclick: () => onToggle(part) },
        h('span', { class: 'side-name' }, partSwatch(part), h('span', { class: 'side-text' }, PART_WORDS[part].label))));
    return {
        root: h('div', { class: 'side-key', role: 'group', 'aria-label': 'Parts shown' }, buttons),
        /** @param {string[]} hidden */
        show(hidden) {
            buttons.forEach((button, index) => button.setAttribute('aria-pressed', String(!hidden.includes(parts[index]))));
        },
    };
}
