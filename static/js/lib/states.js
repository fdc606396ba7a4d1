/** What stands where figures will be, are not, or cannot be. */

import { h, fill, icon } from './dom.js';
import { ApiError, isAbort } from './api.js';

/**
 * Grey shapes of what comes, so that nothing jumps when it is there.
 * @param {('title' | 'figures' | 'block' | 'rows')[]} parts
 */
export function skeleton(...parts) {
    return h('div', { class: 'loading', 'aria-busy': 'true' },
        h('p', { class: 'visually-hidden' }, 'Loading'),
        parts.map((part) => h('div', { class: `skeleton skeleton-${part}`, 'aria-hidden': 'true' })));
}

/**
 * @param {string} title
 * @param {...any} content
 */
export function empty(title, ...content) {
    return h('div', { class: 'empty' }, h('h2', null, title), content);
}

/**
 * @param {unknown} error
 * @param {() => void} [retry]
 */
export function failure(error, retry) {
    const problem = error instanceof ApiError ? error.problem : { title: 'Something broke in the page', status: 0, detail: String(error) };
    return h('div', { class: 'failure', role: 'alert' },
        h('h2', null, problem.status === 404 ? 'Not found' : problem.title),
        h('p', null, problem.detail ?? problem.title),
        problem.byte_offset === undefined ? null : h('p', { class: 'quiet' }, `At byte ${problem.byte_offset}.`),
        h('p', { class: 'actions' },
            retry ? h('button', { class: 'button', type: 'button', onclick: retry }, 'Try again') : null,
            h('a', { class: 'button', href: '#/' }, 'All runs')));
}

/**
 * Shows the error in place unless it only says that the user left.
 * @param {Element} root
 * @param {unknown} error
 * @param {() => void} [retry]
 */
export function showFailure(root, error, retry) {
    if (isAbort(error)) return;
    if (!(error instanceof ApiError)) console.error(error);
    fill(root, failure(error, retry));
}

/**
 * A box over what stays in sight, for the failure of a part of it.
 * @param {() => void} retry
 */
export function troubleBox(retry) {
    const root = h('div', { class: 'tl-trouble', hidden: true });
    const hide = () => { root.hidden = true; };
    return {
        root, hide,
        show(/** @type {unknown} */ error) {
            root.hidden = false;
            showFailure(root, error, () => {
                hide();
                retry();
            });
        },
    };
}

/**
 * A modal question; resolves to whether it was answered with yes.
 * @param {{title: string, text: string, yes: string}} question
 * @returns {Promise<boolean>}
 */
export function confirm({ title, text, yes }) {
    return new Promise((resolve) => {
        const dialog = modal(title,
            h('p', null, text),
            h('div', { class: 'actions end' },
                h('button', { class: 'button', type: 'button', autofocus: true, onclick: () => dialog.close() }, 'Cancel'),
                h('button', { class: 'button danger', type: 'button', onclick: () => dialog.close('yes') }, yes)));
        dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'));
    });
}

/**
 * Opens a dialog that goes when it closes; Escape closes it.
 * @param {string} title
 * @param {...any} content
 */
export function modal(title, ...content) {
    const heading = h('h2', { id: 'dialog-title' }, title);
    const dialog = h('dialog', { class: 'dialog', 'aria-labelledby': 'dialog-title' },
        h('div', { class: 'dialog-head' }, heading,
            h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Close', onclick: () => dialog.close() }, icon('close'))),
        content);
    document.body.append(dialog);
    dialog.addEventListener('close', () => dialog.remove());
    dialog.showModal();
    return dialog;
}
