/** Who is logged in, where the server asks for that; and the way to the page on which one logs in. */

import { h, fill } from '../lib/dom.js';
import { setPerfetto, setSource } from '../lib/source.js';

/** Where to come back to. */
const here = () => `login?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`;

/** What the page asks for needs a token. The caller waits until the other page is there. @returns {Promise<never>} */
export function logIn() {
    location.assign(here());
    return new Promise(() => {});
}

async function logOut() {
    await fetch('./logout', { method: 'POST' });
    location.assign('./login');
}

/** Who one is, and what changes it; nothing where the server asks nobody. What only admins may see appears for them. @param {HTMLElement} box */
export async function show(box) {
    try {
        const answer = await fetch('./api/v1/me', { priority: 'low' });
        /** @type {Me} */
        const me = await answer.json();
        setSource(me.source_url);
        setPerfetto(me.perfetto_url);
        document.querySelectorAll('[data-role="admin"]').forEach((node) => node.toggleAttribute('hidden', me.role !== 'admin'));
        if (me.session) {
            fill(box, h('span', { class: 'session-name', title: `${me.name}, ${me.role}` }, me.name),
                h('button', { class: 'link-button', type: 'button', onclick: logOut }, 'Log out'));
        } else if (me.anonymous && me.asks_for_tokens) {
            fill(box, h('button', { class: 'link-button', type: 'button', onclick: logIn }, 'Log in'));
        }
    } catch {
        // Then the page shows nothing of it.
    }
}
