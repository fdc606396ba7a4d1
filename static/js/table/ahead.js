/** Which rows a long table asks for while it scrolls. */

import { debounce } from '../lib/dom.js';

/** Rows that a hand which reads may pass between two frames; beyond, they rush past and are not worth asking for. */
const READING = 40;
/** Rows asked for before they come into sight. */
const AHEAD = 80;
const REST_MS = 40;

/** @param {RowSource} rows */
export function readAhead(rows) {
    const rest = debounce((/** @type {number} */ from, /** @type {number} */ to) => rows.ensure(from, to), REST_MS);
    let last = 0;
    return {
        /** These rows are in sight. @param {number} from @param {number} to */
        look(from, to) {
            const rushing = Math.abs(from - last) > READING;
            last = from;
            if (rushing && !rows.has(from, to)) {
                rest(from, to);
                return;
            }
            rest.cancel();
            if (!rushing) rows.ensure(Math.max(0, from - AHEAD), to + AHEAD);
        },
        cancel: () => rest.cancel(),
    };
}
