/** The colours that mean something, the same on charts, canvases and in tables; and what is reckoned with colours. */

import { token } from '../app/theme.js';

/** The fixed colour of a role. @param {string} role */
export const roleColour = (role) => token(`--role-${role.replaceAll('_', '-')}`) || token('--role-other');

/** How many different colours lists of names get. */
export const CATEGORIES = 12;

/** @param {number} index */
export const categoryColour = (index) => token(`--cat-${(index % CATEGORIES) + 1}`);

/** Red, green and blue, 0..255. @param {string} colour "#rrggbb" */
export const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

/** @param {string} a "#rrggbb" @param {string} b @param {number} part of b, 0..1 */
export function mix(a, b, part) {
    const other = channels(b);
    return `#${channels(a).map((value, at) => Math.round(value * (1 - part) + other[at] * part).toString(16).padStart(2, '0')).join('')}`;
}

/** Black or white, whichever reads on this colour. @param {string} colour "#rrggbb" */
export function inkOn(colour) {
    const linear = channels(colour).map((value) => (value / 255) ** 2.2);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.18 ? '#101312' : '#ffffff';
}

/** Shades of a colour, to tell apart names that share it: how far they go to white and to black. */
const SHADE_STEPS = [0, 0.18, -0.14, 0.34, -0.26, 0.09, -0.07, 0.26];

/** One of the shades of a colour. @param {string} colour "#rrggbb" @param {number} seed a whole number that the name decides */
export function shadeBy(colour, seed) {
    const step = SHADE_STEPS[seed % SHADE_STEPS.length];
    return step < 0 ? mix(colour, '#000000', -step) : mix(colour, '#ffffff', step);
}
