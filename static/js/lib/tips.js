/**
 * The full text of what is shortened, and what a column means: on hover and on keyboard focus, which the
 * browser's own titles do not reach. Elements carry it as data-tip.
 */

import { h } from './dom.js';

const DELAY_MS = 350;
/** Time to reach a tip with the pointer. */
const LEAVE_MS = 250;
/** From here on a text is worth selecting: the pointer may enter the tip. Shorter ones let it through to what lies below. */
const SELECTABLE = 60;

export function startTips() {
    const tip = h('div', { class: 'tip', id: 'tip', role: 'tooltip', hidden: true });
    document.body.append(tip);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    /** @type {Element | null} */
    let owner = null;
    /** Whether the pointer is on the tip: then nothing but Escape hides it. */
    let held = false;

    function hide() {
        clearTimeout(timer);
        tip.hidden = true;
        held = false;
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
        tip.textContent = text;
        tip.classList.toggle('selectable', text.length > SELECTABLE);
        // A modal dialog covers what stands outside of it.
        (element.closest('dialog') ?? document.body).append(tip);
        tip.hidden = false;
        tip.scrollTop = 0;
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
        clearTimeout(timer);
        held = event.target === tip;
        if (held || (element === owner && element)) return;
        if (element) timer = setTimeout(() => show(element), DELAY_MS);
        else if (tip.classList.contains('selectable')) timer = setTimeout(hide, LEAVE_MS);
        else hide();
    });
    document.addEventListener('focusin', (event) => {
        const element = tipped(event);
        if (element?.matches(':focus-visible')) show(element);
        else hide();
    });
    /** @param {Event} event */
    const hideUnlessOwn = (event) => {
        if (!held && event.target !== tip) hide();
    };
    document.addEventListener('focusout', hideUnlessOwn);
    document.addEventListener('pointerdown', hideUnlessOwn);
    document.addEventListener('scroll', hideUnlessOwn, true);
    document.addEventListener('keydown', (event) => event.key === 'Escape' && hide());
}
