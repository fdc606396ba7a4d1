/**
 * Colours of slices: a role of the device has its own colour as everywhere on the page, in a shade that the name decides;
 * what runs on the CPU has a shade within the hues of its category. So neighbours differ, and a name looks the same in every trace.
 */

import { roleColour, inkOn, mix, shadeBy } from '../../../lib/colours.js';
import { token, isDark } from '../../../app/theme.js';
import { shorten, hashOf } from '../../../lib/names.js';
import { readFrame } from '../../../lib/frames.js';

/** Roles that are drawn in shades of the page's colour for them. */
const PLAIN = ['kernel', 'memcpy', 'memset', 'communication', 'dataloader'];
/** Degrees of the colour circle, how far a name may go from them, and saturation. @type {Record<string, [number, number, number]>} */
const FAMILIES = {
    cpu_op: [197, 24, 52], operator: [197, 24, 52], runtime: [146, 18, 40], python_function: [265, 26, 34], user_annotation: [34, 14, 58], gpu_user_annotation: [34, 14, 58],
    cuda_sync: [146, 18, 30], overhead: [8, 10, 42],
};
const NO_FAMILY = 24;
/** Items that stand for many slices fade into the ground by how much of their time is empty. */
const SHADES = 5;
/** What a search does not mean. */
const DIM = 0.2;
const NAMESPACES = /^(?:\w+::)+(?=\w)/;

/** @typedef {{fill: string, ink: string, shades: string[], dim: string, text: string, brief: string}} Look text: the name as it is drawn; brief: without its namespaces, where room is short */

/** Spread further than the hash, so that names which differ by a digit look different. @param {string} text */
function seedOf(text) {
    const hash = hashOf(text);
    const mixed = Math.imul(hash ^ (hash >>> 15), 2246822507);
    return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** @param {number} hue @param {number} saturation 0..100 @param {number} lightness 0..100 */
function hex(hue, saturation, lightness) {
    const [s, l] = [saturation / 100, lightness / 100];
    const a = s * Math.min(l, 1 - l);
    const channel = (/** @type {number} */ n) => {
        const k = (n + hue / 30) % 12;
        return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1)))).toString(16).padStart(2, '0');
    };
    return `#${channel(0)}${channel(8)}${channel(4)}`;
}

/** @param {TimelineLabel} label */
function fillOf({ name, category, role }) {
    if (category === 'idle') return token(`--idle-${role.replaceAll('_', '-')}`);
    if (PLAIN.includes(role)) return shadeBy(roleColour(role), seedOf(name));
    const key = role === 'runtime' ? 'runtime' : category.toLowerCase();
    const [hue, reach, saturation] = FAMILIES[key] ?? (role === 'cpu_exec' ? FAMILIES.cpu_op : [seedOf(category) % 360, 12, NO_FAMILY]);
    const seed = seedOf(name);
    const around = hue + reach * (((seed & 0xff) / 0x7f) - 1);
    const lightness = ((seed >>> 8) & 0xff) / 0xff;
    return isDark() ? hex((around + 360) % 360, saturation * 0.8, 26 + 14 * lightness) : hex((around + 360) % 360, saturation, 68 + 17 * lightness);
}

export class Colours {
    constructor() {
        /** @type {WeakMap<TimelineLabel, Look>} */
        this.looks = new WeakMap();
        this.reload();
    }

    /** Another theme. */
    reload() {
        this.looks = new WeakMap();
        this.ground = token('--bg');
        this.tokens = Object.fromEntries(['--bg', '--sunk', '--hover', '--raised', '--line', '--line-strong', '--ink', '--ink-2', '--ink-3', '--accent', '--accent-soft', '--accent-ink', '--font', '--cat-1', '--cat-3', '--cat-2', '--cat-7', '--role-kernel', '--rail-bg']
            .map((name) => [name, token(name)]));
    }

    /** @param {string} name of a token that canvas needs */
    of(name) {
        return this.tokens?.[name] ?? '';
    }

    /** @param {TimelineLabel} label @returns {Look} */
    look(label) {
        const known = this.looks.get(label);
        if (known) return known;
        const fill = fillOf(label);
        const ground = this.ground ?? '#ffffff';
        const { short, hint } = shorten(label.name);
        const text = readFrame(label.name) ? `${short}  ${hint}` : short;
        const made = {
            fill, ink: inkOn(fill), text, brief: text.replace(NAMESPACES, ''), dim: mix(ground, fill, DIM),
            shades: Array.from({ length: SHADES }, (_, index) => mix(ground, fill, 0.35 + (0.65 * index) / (SHADES - 1))),
        };
        this.looks.set(label, made);
        return made;
    }
}

/** @param {Look} look @param {number} share 0..1 of its time that is busy */
export const shadeOf = (look, share) => look.shades[Math.max(0, Math.min(SHADES - 1, Math.floor(share * SHADES)))];
