/** Says when the page shows what the server has read lately, because its database does not answer. */

import { byId } from '../lib/dom.js';

/** Answers that need no database say nothing about it. */
const SAYS_NOTHING_MS = 2000;

let saidAt = -Infinity;

/** @param {Response} response */
export function tellAge(response) {
    const age = response.headers.get('Cache-Status')?.includes('database-away') ? Number(response.headers.get('Age')) : 0;
    const now = performance.now();
    if (age > 0) {
        saidAt = now;
        byId('lately').textContent = `The server’s database does not answer: this is as of ${age} s ago, and changes are refused.`;
        byId('lately').hidden = false;
    } else if (response.ok && now - saidAt > SAYS_NOTHING_MS) {
        byId('lately').hidden = true;
    }
}
