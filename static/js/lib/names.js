/**
 * Kernel names, made readable.
 *
 *   void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 3> >(int, …)
 *   -> { short: "at::native::vectorized_elementwise_kernel<4, …>", hint: "AddFunctor" }
 *
 * The hint tells apart kernels that share a template; of Python frames it is file and line. Names that are neither stay as they are.
 */

import { MODULE, readFrame } from './frames.js';

const MAX_SIMPLE_ARGUMENTS = 3;
const OPEN = '<({[';
const CLOSE = '>)}]';

/** Templates that only carry another functor, and types that say nothing about the work. */
const WRAPPERS = new RegExp('^(gpu_kernel_impl\\w*|BinaryFunctor|[AB]?UnaryFunctor|' +
    'ReduceOp|func_wrapper_t|TensorListMetadata|Array|TensorIterator\\w*|Scalar|operator|lambda|const|unsigned|signed|long|int|float|' +
    'double|char|bool|short|impl|Half|BFloat16|half|__half|memory|anonymous|namespace|true|false|void|\\d.*)$');

/** @type {Map<string, {short: string, hint: string}>} */
const cache = new Map();

/**
 * @param {string} name
 * @returns {{short: string, hint: string}}
 */
export function shorten(name) {
    let known = cache.get(name);
    if (!known) {
        known = compute(name);
        if (cache.size > 20000) cache.clear();
        cache.set(name, known);
    }
    return known;
}

/** What a search asks for by a name: the whole of one of thousands of characters would not fit into a URL. @param {string} name */
export const searchWord = (name) => name.slice(0, 200);

/** @param {string} full */
function compute(full) {
    const frame = readFrame(full);
    if (frame && frame.place !== MODULE) return { short: frame.func, hint: frame.place };
    const name = full
        .replace(/^void\s+/, '')
        .replaceAll('(anonymous namespace)::', '')
        .replace(/\s*\[clone .*\]$/, '');
    const angle = name.indexOf('<');
    const paren = name.indexOf('(');
    if (angle > 0 && (paren < 0 || angle < paren)) {
        const { args, end } = templateArguments(name, angle);
        const rest = name.slice(end);
        const member = /^::[\w:~]+/.exec(rest)?.[0] ?? '';
        return { short: `${name.slice(0, angle)}<${shownArguments(args)}>${member}`, hint: hintOf(args) };
    }
    // A call's argument list, not the "(Device -> Host)" of a copy, which follows a space, nor "enumerate(DataLoader)#next".
    if (paren > 0 && name[paren - 1] !== ' ' && !name.includes(')#')) return { short: name.slice(0, paren), hint: '' };
    return { short: name, hint: '' };
}

/**
 * @param {string} text
 * @param {number} start position of "<"
 */
function templateArguments(text, start) {
    const args = [];
    let depth = 0;
    let from = start + 1;
    let at = start;
    for (; at < text.length; at += 1) {
        const arrow = text[at] === '>' && text[at - 1] === '-';
        if (OPEN.includes(text[at])) depth += 1;
        else if (CLOSE.includes(text[at]) && !arrow) depth -= 1;
        if (depth === 0 || (depth === 1 && text[at] === ',')) {
            args.push(text.slice(from, at).trim());
            from = at + 1;
        }
        if (depth === 0) break;
    }
    return { args, end: at + 1 };
}

/** Leading plain arguments say the variant; the first complex one ends the list. @param {string[]} args */
function shownArguments(args) {
    const simple = args.findIndex((arg) => !/^[\w ]{1,24}\*?$/.test(arg) && !/^\(\w+\)\d+$/.test(arg));
    const lone = args.length === 1 && /^[\w:]{1,60}$/.test(args[0]);
    if (lone) return args[0];
    const count = Math.min(simple < 0 ? args.length : simple, MAX_SIMPLE_ARGUMENTS);
    const shown = args.slice(0, count);
    if (count < args.length) shown.push('…');
    return shown.join(', ');
}

/** The first word of a complex argument that names work, not its namespace or class: AddFunctor, threshold_kernel_impl. @param {string[]} args */
function hintOf(args) {
    for (const arg of args.filter((text) => /[<:(]/.test(text) && !/^\(\w+\)\d+$/.test(text))) {
        for (const word of arg.match(/[A-Za-z_]\w*\b(?!::)/g) ?? []) {
            if (!WRAPPERS.test(word)) return word;
        }
    }
    return '';
}

/** The beginning, where room is short. @param {string} text @param {number} most characters */
export const clip = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** A figure that depends on every character, the same everywhere: FNV-1a. @param {string} text */
export function hashOf(text) {
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    return hash >>> 0;
}
