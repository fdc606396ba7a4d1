/** A box to choose from a list: type to filter, arrow keys, Enter, Escape (the ARIA combobox pattern). */

import { h, fill, icon } from './dom.js';
import * as fmt from './fmt.js';

/** Longer lists are cut: typing narrows them faster than scrolling. */
const SHOWN = 200;

let nextId = 1;

/**
 * @param {{label: string, value: string, options: {value: string, label: string, note?: string, disabled?: boolean}[],
 *          onPick: (value: string) => void, placeholder?: string, more?: {count: number, ask: () => Promise<{value: string, label: string, note?: string}[]>},
 *          find?: {count: number, ask: (text: string) => Promise<{value: string, label: string, note?: string}[]>}}} settings
 *     more: where `options` are a part of them: how many there are, and all, which the first opening asks for
 *     find: where they are too many to bring all: how many there are, and those that hold what is typed
 */
export function picker({ label, value, options, onPick, placeholder = 'Choose', more, find }) {
    const id = `picker-${nextId++}`;
    const text = options.find((option) => option.value === value)?.label ?? (find ? value : '');
    let searches = 0;
    /** @type {typeof options} */
    let shown = [];
    let active = -1;

    const list = h('ul', { class: 'picker-list', id: `${id}-list`, role: 'listbox', 'aria-label': label, hidden: true });
    const input = h('input', {
        id, class: 'picker-input', type: 'text', role: 'combobox', value: text, placeholder, autocomplete: 'off', spellcheck: 'false',
        'aria-expanded': 'false', 'aria-controls': `${id}-list`, 'aria-autocomplete': 'list', title: text,
        onclick: () => open(''),
        oninput: () => open(input.value),
        onblur: close,
        onkeydown: onKey,
    });
    const count = h('span', { class: 'picker-count', 'aria-hidden': 'true' }, fmt.int(more?.count ?? find?.count ?? options.length));
    const root = h('div', { class: 'picker' },
        h('label', { class: 'picker-label', for: id }, label, count),
        h('div', { class: 'picker-box' }, input, icon('down')), list);

    /** @param {string} filter */
    function open(filter) {
        if (more) bringAll();
        const wanted = filter.trim().toLowerCase();
        searches += 1;
        if (find && wanted) bringFound(wanted, searches);
        show(options, wanted);
    }

    /** @param {typeof options} from @param {string} wanted in lower case */
    function show(from, wanted) {
        const found = from.filter((option) => option.label.toLowerCase().includes(wanted));
        shown = found.slice(0, SHOWN);
        active = Math.max(0, shown.findIndex((option) => option.value === value));
        if (wanted) active = shown.length ? 0 : -1;
        fill(list, shown.map((option, index) => h('li', {
            id: `${id}-${index}`, role: 'option', 'aria-selected': String(option.value === value),
            'aria-disabled': option.disabled ? 'true' : null,
            // Before the blur of the input, which would close the list.
            onmousedown: (/** @type {Event} */ event) => event.preventDefault(),
            onclick: () => pick(index),
        }, h('span', { class: 'picker-option' }, option.label), option.note ? h('span', { class: 'picker-note' }, option.note) : null)),
        found.length === 0 ? h('li', { class: 'picker-none', role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' }, 'No results') : null,
        found.length > SHOWN ? h('li', { class: 'picker-none', role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' },
            `${found.length - SHOWN} more: type to narrow`) : null);
        list.hidden = false;
        input.setAttribute('aria-expanded', 'true');
        mark();
    }

    /** @param {string} wanted @param {number} search whose answer counts while no other was begun */
    async function bringFound(wanted, search) {
        const found = await find?.ask(wanted).catch(() => null);
        if (found && search === searches && !list.hidden) show(found, wanted);
    }

    async function bringAll() {
        const ask = more?.ask;
        more = undefined;
        // Without an answer the part stays to choose from.
        options = (await ask?.().catch(() => null)) ?? options;
        if (!list.hidden) open(input.value === text ? '' : input.value);
    }

    function close() {
        list.hidden = true;
        input.value = text;
        input.setAttribute('aria-expanded', 'false');
        input.removeAttribute('aria-activedescendant');
    }

    function mark() {
        [...list.children].forEach((item, index) => item.classList.toggle('active', index === active));
        if (active < 0) return;
        input.setAttribute('aria-activedescendant', `${id}-${active}`);
        list.children[active]?.scrollIntoView({ block: 'nearest' });
    }

    /** @param {number} index */
    function pick(index) {
        const option = shown[index];
        // The note of what cannot be chosen says why.
        if (!option || option.disabled) return;
        close();
        if (option.value !== value) onPick(option.value);
    }

    /** @param {KeyboardEvent} event */
    function onKey(event) {
        const isOpen = !list.hidden;
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            if (!isOpen) {
                open('');
                return;
            }
            const step = event.key === 'ArrowDown' ? 1 : -1;
            active = shown.length ? (active + step + shown.length) % shown.length : -1;
            mark();
        } else if (event.key === 'Enter' && isOpen) {
            event.preventDefault();
            pick(active);
        } else if (event.key === 'Escape' && isOpen) {
            event.preventDefault();
            event.stopPropagation();
            close();
            input.select();
        } else if ((event.key === 'Home' || event.key === 'End') && isOpen && shown.length) {
            event.preventDefault();
            active = event.key === 'Home' ? 0 : shown.length - 1;
            mark();
        }
    }

    input.addEventListener('focus', () => input.select());
    return root;
}
