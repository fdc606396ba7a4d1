/** The body of a view of a whole run: asked for anew when the address chooses other data; what a later choice has overtaken is dropped. */

import { fill } from '../../lib/dom.js';
import { showFailure } from '../../lib/states.js';
import { ApiError } from '../../lib/api.js';

/** @typedef {{update: (params: URLSearchParams) => unknown, destroy: () => void}} Board */

/**
 * @template Q, D
 * @param {HTMLElement} body
 * @param {{query: (params: URLSearchParams) => Q, ask: (query: Q) => Promise<D>, board: (data: D, query: Q) => Board | null, nothing: (said: string) => Element}} parts
 *     query: what of the address chooses the data; board: fills the body; nothing: instead of it, where the server has no such data
 */
export function boardOf(body, { query, ask, board, nothing }) {
    /** @type {Board | null} */
    let shown = null;
    let asked = '';
    let turn = 0;

    function clear() {
        shown?.destroy();
        shown = null;
    }

    /** @param {URLSearchParams} params @returns {Promise<unknown>} */
    async function update(params) {
        const chosen = query(params);
        if (asked === JSON.stringify(chosen)) return shown?.update(params);
        asked = JSON.stringify(chosen);
        turn += 1;
        const mine = turn;
        body.classList.add('busy');
        try {
            const data = await ask(chosen);
            if (mine !== turn) return undefined;
            clear();
            shown = board(data, chosen);
        } catch (error) {
            if (mine !== turn) return undefined;
            clear();
            asked = '';
            if (error instanceof ApiError && error.status === 404) fill(body, nothing(error.message));
            else showFailure(body, error, () => update(params));
        } finally {
            if (mine === turn) body.classList.remove('busy');
        }
        return shown?.update(params);
    }
    return { update, destroy: clear };
}
