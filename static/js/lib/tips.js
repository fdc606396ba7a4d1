/**
 * The full text of what is shortened, and what a column means: on hover and on keyboard focus, which the
 * browser's own titles do not reach. Elements carry it as data-tip.
 */

import { h } from './dom.js';

const DELAY_MS = 350;
/** Kernel names of thousands of characters would fill the screen: the opened row has them whole. */
const LONGEST = 600;

export function startTips() {
    const tip = h('div', { class: 'tip', id: 'tip', role: 'tooltip', hidden: true });
    document.body.append(tip);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    /** @type {Element | null} */
    let owner = null;

    function hide() {
        clearTimeout(timer);
        tip.hidden = true;
        owner?.removeAttribute('aria-describedby');
        owner = null;
    }

    /** @param {Element} element */
    function show(element) {
        hide();
        const text = element.getAttribute('data-tip');
        if (!text || !element.isConnected) return;
        owner = element;
        owner.setAttribute('aria-describedby', 'tip');
        tip.textContent = text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
        // A modal dialog covers what stands outside of it.
        (element.closest('dialog') ?? document.body).append(tip);
        tip.hidden = false;
        const at = element.getBoundingClientRect();
        const { width, height } = tip.getBoundingClientRect();
        const below = at.bottom + 6 + height < window.innerHeight;
        tip.style.top = `${below ? at.bottom + 6 : at.top - height - 6}px`;
        tip.style.left = `${Math.max(12, Math.min(at.left, window.innerWidth - width - 12))}px`;
    }

    /** @param {Event} event */
    const tipped = (event) => (event.target instanceof Element ? event.target.closest('[data-tip]') : null);
    document.addEventListener('mouseover', (event) => {
        const element = tipped(event);
        if (element === owner && element) return;
        clearTimeout(timer);
        if (!element) hide();
        else timer = setTimeout(() => show(element), DELAY_MS);
    });
    document.addEventListener('focusin', (event) => {
        const element = tipped(event);
        if (element?.matches(':focus-visible')) show(element);
        else hide();
    });
    document.addEventListener('focusout', hide);
    document.addEventListener('pointerdown', hide);
    document.addEventListener('scroll', hide, true);
    document.addEventListener('keydown', (event) => event.key === 'Escape' && hide());
}
