/** Elements from data. Data becomes text nodes here and nowhere markup. */

import { begin, during } from '../app/activity.js';

const SVG = 'http://www.w3.org/2000/svg';

/** Line icons on a 16 px grid, drawn with the text's colour. */
const ICONS = {
    upload: 'M8 11V2.5M4.5 6 8 2.5 11.5 6M2.5 11v2.5h11V11',
    link: 'M6.5 9.5l3-3M7 4.5l1.6-1.6a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.6 1.6a2.8 2.8 0 0 1-4-4L5 7.5',
    sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8 13 13M13 3l-1.2 1.2M4.2 11.8 3 13',
    moon: 'M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1z',
    menu: 'M2 4h12M2 8h12M2 12h12',
    copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
    close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
    chevron: 'M6 3.5 10.5 8 6 12.5',
    down: 'M3.5 6 8 10.5 12.5 6',
    compare: 'M5.5 3 2.5 6l3 3M2.5 6h9M10.5 7l3 3-3 3M13.5 10h-9',
    pin: 'M5 2.5h6M6 2.5V7L4 9.5h8L10 7V2.5M8 9.5V14',
    table: 'M2 3h12v10H2zM2 6.5h12M2 10h12M6.5 3v10',
};

/**
 * `h('a', {href, class: 'x', onclick}, 'text', node)`: null, undefined and false are left out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any> | null} [props]
 * @param {...any} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(props ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
        else if (key === 'value' || key === 'checked' || key === 'disabled') Reflect.set(node, key, value);
        else node.setAttribute(key === 'className' ? 'class' : key, value === true ? '' : String(value));
    }
    append(node, children);
    return node;
}

/**
 * @param {Node} parent
 * @param {any[]} children
 */
function append(parent, children) {
    for (const child of children) {
        if (child === null || child === undefined || child === false) continue;
        if (Array.isArray(child)) append(parent, child);
        else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
    }
}

/**
 * Replaces everything inside a node.
 * @param {Element} parent
 * @param {...any} children
 */
export function fill(parent, ...children) {
    parent.replaceChildren();
    append(parent, children);
}

/** @param {keyof typeof ICONS} name */
export function icon(name) {
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', '0 0 16 16');
    svg.setAttribute('class', 'icon');
    svg.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', ICONS[name]);
    svg.appendChild(path);
    return svg;
}

/** Characters at the end of a name that stay when its middle goes: heads and tails tell names apart. */
const TAIL = 14;

/** What every module and every backward function has before its name. */
const KIND = /^(?:nn\.Module|autograd::engine::evaluate_function): /;

/** The style sheet has a width for each of these numbers of characters. @param {number} characters */
const room = (characters) => Math.min(64, Math.max(16, Math.ceil(characters / 8) * 8));

/**
 * A name in parts of which one after the other goes when room is short: namespaces first, then template
 * arguments, then the end of the hint, then the middle of the word itself, never the number at its end.
 * @param {string} text
 * @param {string} [hint]
 */
export function nameParts(text, hint = '') {
    // In cutlass::Kernel<cutlass_80_tensorop_…> the lone argument is the name.
    const lone = /^[^<]*<(?=[\w:]{9,}>$)/.exec(text)?.[0].length ?? 0;
    // "aten::conv2d (aten::empty)": what stands in brackets behind a name is no part of it.
    const angle = text.slice(lone).search(/[<>]| \(/);
    const plain = angle > 0 ? text.slice(0, lone + angle) : text;
    const from = lone || Math.max(KIND.exec(plain)?.[0].length ?? 0, plain.includes('::') ? plain.lastIndexOf('::') + 2 : 0);
    const word = plain.slice(from);
    const whole = angle < 0 || lone > 0;
    const end = whole ? word.length - (/_\d+$/.exec(word)?.[0].length ?? 0) : word.length;
    const cut = whole && end > 2 * TAIL ? end - TAIL : end;
    const part = (/** @type {string} */ name, /** @type {string} */ value) => (value ? h('span', { class: name }, value) : null);
    // A hint may lose its end before the name loses its head.
    const full = text.length + hint.length / 2;
    return h('span', { class: `name space-${room(full)} args-${room(lone ? full : full - from)}` },
        part('name-space', plain.slice(0, from)), part('name-word', word.slice(0, cut)), part('name-tail', word.slice(cut, end)), part('name-number', word.slice(end)),
        part('name-args', text.slice(plain.length)), part('name-hint', hint && ` ${hint}`));
}

/**
 * The element of the page's skeleton with this id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
    const node = document.getElementById(id);
    if (!node) throw new Error(`no element #${id}`);
    return node;
}

/**
 * Says something to screen readers without showing it.
 * @param {string} text
 */
export function announce(text) {
    byId('live').textContent = text;
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let toastTimer;

/**
 * A short word at the edge of the page that goes by itself.
 * @param {string} text
 */
export function toast(text) {
    const node = byId('toast');
    node.textContent = text;
    node.classList.add('shown');
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => node.classList.remove('shown'), 2200);
}

/**
 * @param {string} text
 * @param {string} what said in the toast: "Link copied"
 */
export function copy(text, what) {
    return during(write(text, what));
}

/** A colour in a key. @param {string} colour as the style sheet takes it */
export function swatch(colour) {
    const mark = h('span', { class: 'swatch', 'aria-hidden': 'true' });
    mark.style.setProperty('--c', colour);
    return mark;
}

/** A command to run, with what copies it. @param {string} line */
export const command = (line) => h('div', { class: 'command' }, h('code', null, line),
    h('button', { class: 'button small', type: 'button', onclick: () => copy(line, 'Command copied') }, icon('copy'), 'Copy'));

/** @param {string} text @param {string} what */
async function write(text, what) {
    try {
        await navigator.clipboard.writeText(text);
        toast(what);
    } catch {
        // Pages on plain http have no clipboard API: the old way through a selection still works there.
        const area = h('textarea', { class: 'visually-hidden', value: text });
        (document.querySelector('dialog[open]') ?? document.body).append(area);
        area.select();
        toast(document.execCommand('copy') ? what : 'Copying is not allowed here');
        area.remove();
    }
}

/**
 * Runs once the calls have paused; `cancel` drops what waits, which must not reach the place where the user is by then.
 * @template {(...args: any[]) => void} F
 * @param {F} run
 * @param {number} ms
 * @returns {((...args: Parameters<F>) => void) & {cancel: () => void}}
 */
export function debounce(run, ms) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    /** @type {(() => void) | undefined} */
    let end;
    const cancel = () => {
        clearTimeout(timer);
        end?.();
        end = undefined;
    };
    /** @param {Parameters<F>} args */
    const call = (...args) => {
        clearTimeout(timer);
        end ??= begin();
        timer = setTimeout(() => {
            const over = end;
            end = undefined;
            run(...args);
            over?.();
        }, ms);
    };
    return Object.assign(call, { cancel });
}
