/** Choosing files: drop anywhere or the button; asks for the run name, then hands each file to the tray. */

import { h, byId } from '../lib/dom.js';
import { modal } from '../lib/states.js';
import { current } from '../app/router.js';
import { addUpload } from './tray.js';
import * as fmt from '../lib/fmt.js';

/**
 * @param {{onDone: (run: string) => void}} actions onDone: a run has a new trace
 * @returns {{choose: () => void}}
 */
export function startUpload({ onDone }) {
    const input = h('input', {
        type: 'file', multiple: true, class: 'visually-hidden', id: 'file-input', tabindex: '-1', 'aria-label': 'Trace files',
        onchange: () => {
            if (input.files?.length) ask([...input.files], onDone);
            input.value = '';
        },
    });
    const veil = h('div', { class: 'drop-veil', hidden: true, 'aria-hidden': 'true' }, h('p', null, 'Drop traces, or archives of them, to upload them'));
    document.body.append(input, veil);
    listenForDrops(veil, (files) => ask(files, onDone));
    return { choose: () => input.click() };
}

/** @param {HTMLElement} veil @param {(files: File[]) => void} onFiles */
function listenForDrops(veil, onFiles) {
    // Enter and leave come for every element on the way: the page is left when they balance.
    let depth = 0;
    /** @param {DragEvent} event */
    const hasFiles = (event) => event.dataTransfer?.types.includes('Files') ?? false;
    document.addEventListener('dragenter', (event) => {
        if (!hasFiles(event)) return;
        depth += 1;
        veil.hidden = false;
    });
    document.addEventListener('dragleave', (event) => {
        if (!hasFiles(event)) return;
        depth -= 1;
        veil.hidden = depth <= 0;
    });
    document.addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault());
    document.addEventListener('drop', (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        depth = 0;
        veil.hidden = true;
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length) onFiles(files);
    });
}

/**
 * The program's name is the best guess: `worker0.1623143089861.pt.trace.json.gz` -> `worker0`.
 * @param {string} fileName
 */
export function defaultRunName(fileName) {
    const stem = fileName
        .replace(/\.(gz|zst|tgz)$/i, '')
        .replace(/(\.pt)?(\.trace)?\.(json|txt|csv|tar|sqlite|md)$/i, '')
        .replace(/\.\d{6,}$/, '');
    return stem || fileName;
}

/** @param {File[]} files @param {(run: string) => void} onDone */
function ask(files, onDone) {
    const route = current();
    const name = h('input', {
        class: 'input wide', type: 'text', id: 'run-name', required: true, maxlength: '200', autocomplete: 'off', spellcheck: 'false',
        value: route.view === 'run' ? route.id : defaultRunName(files[0].name),
    });
    const marker = h('input', { class: 'input wide', type: 'text', id: 'run-marker', maxlength: '1000', autocomplete: 'off', spellcheck: 'false' });
    const form = h('form', {
        onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            const run = name.value.trim();
            if (!run) return;
            dialog.close();
            files.forEach((file) => addUpload(file, run, onDone, { marker: marker.value.trim() }));
        },
    },
    h('label', { class: 'field', for: 'run-name' }, 'Run', name),
    h('p', { class: 'quiet' }, 'Workers of one program belong to one run, and so do the kernel tables of its kernels. Upload to an existing name to add to it. A .tar or .tar.gz may hold all ranks.'),
    h('details', { class: 'upload-more' }, h('summary', null, 'Cycles'),
        h('label', { class: 'field', for: 'run-marker' }, 'Function whose calls are the cycles', marker),
        h('p', { class: 'quiet' }, 'Only where a trace marks no steps or requests, and the function that is found by itself is not the one you want.')),
    h('ul', { class: 'file-list' }, files.slice(0, 8).map((file) => h('li', null,
        h('span', { class: 'file-name' }, file.name), h('span', { class: 'quiet' }, fmt.bytes(file.size))))),
    files.length > 8 ? h('p', { class: 'quiet' }, `and ${files.length - 8} more`) : null,
    h('div', { class: 'actions end' },
        h('button', { class: 'button', type: 'button', onclick: () => dialog.close() }, 'Cancel'),
        h('button', { class: 'button primary', type: 'submit' }, files.length === 1 ? 'Upload' : `Upload ${files.length} files`)));
    const dialog = modal('Upload traces', form);
    name.focus();
    name.select();
    // The tray is where the eye goes next.
    dialog.addEventListener('close', () => byId('upload').focus());
}
