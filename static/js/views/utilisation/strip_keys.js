/** What the colours of the strip mean. */

import { h, fill, nameParts, swatch } from '../../lib/dom.js';
import { categoryColour, CATEGORIES } from '../../lib/colours.js';
import { shorten } from '../../lib/names.js';
import { token } from '../../app/theme.js';
import { CLASSES, classKey } from './classes.js';
import { shadeColours, SHADES } from './strip_draw.js';

/**
 * @param {HTMLElement} box
 * @param {import('./launches.js').Launches} launches
 * @param {import('./strip_draw.js').StripColour} by
 * @param {string} word for it
 */
export function stripKeys(box, launches, by, word) {
    if (by === 'class') fill(box, CLASSES.map((_, index) => index).filter((index) => launches.use.includes(index)).map(classKey));
    else if (by === 'kernel') fill(box, kernelKeys(launches));
    else fill(box, ramp(word));
}

/** The kernels with most time have a colour each. @param {import('./launches.js').Launches} launches */
function kernelKeys({ names, rank }) {
    const order = [...rank.keys()].sort((a, b) => rank[a] - rank[b]);
    return [...order.slice(0, CATEGORIES).map((name, index) => kernelKey(names[name], categoryColour(index))),
        order.length > CATEGORIES ? kernelKey('Others', token('--cat-other')) : null];
}

/** @param {string} name @param {string} colour */
function kernelKey(name, colour) {
    return h('span', { class: 'use-class use-kernel', 'data-tip': name }, swatch(colour), nameParts(shorten(name).short));
}

/** @param {string} word */
function ramp(word) {
    const colours = shadeColours();
    const bar = h('span', { class: 'use-ramp', 'aria-hidden': 'true' });
    bar.style.background = `linear-gradient(90deg, ${colours[0]}, ${colours[SHADES - 1]})`;
    return h('span', { class: 'use-class' }, `${word} use 0%`, bar, `100%`);
}
