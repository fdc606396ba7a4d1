/** Notes that people pinned to what a view shows: windows of the timeline, kernels, operators. All who open it see them. */

import { h, fill, icon, toast } from '../lib/dom.js';
import { current, traceHref } from './router.js';
import { call, isAbort, runPath } from '../lib/api.js';
import { searchWord } from '../lib/names.js';
import * as fmt from '../lib/fmt.js';

/** @typedef {'window' | 'kernel' | 'operator'} Kind */

const VIEWS = { window: 'timeline', kernel: 'kernels', operator: 'operators' };
/** Of the trace, and of its run. @param {number} id @param {AbortSignal} signal @returns {Promise<{notes: Note[]}>} */
const notesOf = (id, signal) => call(`traces/${id}/notes`, { signal });

/** @param {string} run @param {{kind: string, text: string, name?: string, trace?: number, start_ns?: number, end_ns?: number}} body @returns {Promise<Note>} */
export const pinNote = (run, body) => call(`${runPath(run)}/notes`, { method: 'POST', body });

/**
 * Stands below the head of a view.
 * @param {Trace} trace
 * @param {Kind} kind
 * @param {AbortSignal} signal
 * @param {() => [number, number] | null} [window] of the timeline: what is selected or in sight
 */
export function pinnedNotes(trace, kind, signal, window = () => null) {
    const root = h('section', { class: 'pinned-notes', 'aria-label': 'Notes' });
    const list = h('ul', { class: 'note-list' });
    const add = h('button', { class: 'link-button', type: 'button', onclick: openForm }, icon('pin'), kind === 'window' ? 'Pin a note to this window' : `Pin a note to ${kind === 'kernel' ? 'a kernel' : 'an operator'}`);
    const form = h('form', { class: 'note-form', hidden: true, onsubmit: save });
    fill(root, list, h('p', null, add), form);
    load();

    async function load() {
        try {
            const { notes } = await notesOf(trace.id, signal);
            fill(list, notes.filter((note) => note.kind === kind).map(noteLine));
        } catch (error) {
            if (!isAbort(error)) fill(list, h('li', { class: 'quiet' }, 'The notes cannot be read now.'));
        }
    }

    /** @param {Note} note */
    function noteLine(note) {
        return h('li', { class: 'pinned-note' },
            h('a', { href: hrefOf(trace, note), class: 'note-of' }, note.kind === 'window' ? windowText(note.start_ns ?? 0, note.end_ns ?? 0) : note.name),
            h('span', { class: 'note' }, note.text),
            h('span', { class: 'quiet' }, [note.author, fmt.date(note.created_at_s), note.trace === null ? 'the whole run' : null].filter(Boolean).join(', ')),
            h('button', { class: 'icon-button', type: 'button', 'aria-label': `Remove the note “${note.text.slice(0, 60)}”`, title: 'Remove', onclick: () => remove(note) }, icon('close')));
    }

    /** @param {Note} note */
    async function remove(note) {
        try {
            await call(`${runPath(note.run)}/notes/${note.id}`, { method: 'DELETE' });
            await load();
            add.focus();
        } catch (error) {
            toast(error instanceof Error ? error.message : String(error));
        }
    }

    function openForm() {
        const range = window();
        if (kind === 'window' && !range) {
            toast('Select a range or zoom in first');
            return;
        }
        form.hidden = false;
        fill(form,
            kind === 'window' && range ? h('p', null, windowText(...range))
                : h('label', { class: 'field' }, kind === 'kernel' ? 'Kernel, its whole name' : 'Operator', h('input', { class: 'input wide', name: 'name', required: true, maxlength: '8000', autocomplete: 'off', value: current().params.get('q') ?? '' })),
            h('label', { class: 'field' }, 'Note', h('textarea', { class: 'input wide', name: 'text', required: true, maxlength: '4000', rows: '2' })),
            kind === 'window' ? null : h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'whole', checked: true }), ' For every trace of this run'),
            h('div', { class: 'actions' }, h('button', { class: 'button primary', type: 'submit' }, 'Pin'),
                h('button', { class: 'button', type: 'button', onclick: closeForm }, 'Cancel')));
        const first = form.querySelector('input[name="name"]') ?? form.querySelector('textarea');
        if (first instanceof HTMLElement) first.focus();
    }

    function closeForm() {
        form.hidden = true;
        add.focus();
    }

    /** @param {Event} event */
    async function save(event) {
        event.preventDefault();
        const field = (/** @type {string} */ name) => /** @type {HTMLInputElement | null} */ (form.querySelector(`[name="${name}"]`));
        const range = kind === 'window' ? window() : null;
        try {
            await pinNote(trace.run, {
                kind, text: (field('text')?.value ?? '').replace(/\s+/g, ' ').trim(),
                ...(range ? { trace: trace.id, start_ns: Math.round(range[0]), end_ns: Math.round(range[1]) } : { name: field('name')?.value ?? '' }),
                ...(kind !== 'window' && !field('whole')?.checked ? { trace: trace.id } : {}),
            });
            closeForm();
            await load();
            toast('Note pinned');
        } catch (error) {
            toast(error instanceof Error ? error.message : String(error));
        }
    }
    return root;
}

/** @param {number} start @param {number} end */
const windowText = (start, end) => `${fmt.moment(start)}, ${fmt.time(end - start)} long`;

/** Where the thing is that a note is about. @param {Trace} trace @param {Note} note */
function hrefOf(trace, note) {
    const view = VIEWS[/** @type {Kind} */ (note.kind)];
    const [start, end] = [note.start_ns ?? 0, note.end_ns ?? 0];
    return note.kind === 'window' ? traceHref(trace.id, view, { start: String(start), end: String(end), sel: `${start}-${end}`, tab: 'range' })
        : traceHref(trace.id, view, { q: searchWord(note.name ?? '') });
}
