/** Calls of the timeline's resources; windows are asked for by a worker, so that reading them never holds up a frame. */

import { call, apiUrl, readProblem, ApiError } from '../../lib/api.js';
import { during } from '../../app/activity.js';

/** @param {string} id of the trace @param {AbortSignal} [signal] @returns {Promise<TimelineTracks>} */
export const tracks = (id, signal) => call(`traces/${id}/timeline/tracks`, { signal });

/** @param {string} id of the trace @param {number} number @param {AbortSignal} [signal] @returns {Promise<TimelineEvent>} */
export const event = (id, number, signal) => call(`traces/${id}/events/${number}`, { signal });

/** @param {string} id of the trace @param {number} number @returns {Promise<CallTensors>} */
export const tensors = (id, number) => call(`traces/${id}/events/${number}/tensors`);

/** @param {string} id @param {AbortSignal} signal @returns {Promise<TimelineTracks | null>} null: it has none */
export const tracksIfAny = (id, signal) => tracks(id, signal).catch((error) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
});

/** @param {string} id @param {{q: string, limit: number, start_ns?: number}} query @param {AbortSignal} [signal] @returns {Promise<TimelineSearch>} */
export const search = (id, query, signal) => call(`traces/${id}/search`, { query, signal });

/** @param {string} id @param {{start_ns: number, end_ns: number}} range @param {AbortSignal} [signal] @returns {Promise<TimelineWindow>} */
export const figures = (id, range, signal) => call(`traces/${id}/window`, { query: range, signal });

/** @param {string} id @param {{start_ns: number, end_ns: number}} range @param {'operators' | 'kernels'} table */
export const figuresCsvUrl = (id, range, table) => apiUrl(`traces/${id}/window`, { ...range, table, format: 'csv' });

/** The slices and flows of a part of the trace, or all of it, as a trace of its own. @param {string} id @param {{start_ns: number, end_ns: number} | null} range */
export const traceUrl = (id, range) => apiUrl(`traces/${id}/trace.json.gz`, range ?? {});

/**
 * @typedef {{start_ns: number, end_ns: number, width_px: number, tracks: number[]}} WindowQuery
 * @typedef {{ask: (id: string, query: WindowQuery, signal: AbortSignal) => Promise<WindowColumns>, destroy: () => void}} WindowReader
 */

/** @returns {WindowReader} */
export function windowReader() {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    /** @type {Map<number, {resolve: (columns: WindowColumns) => void, reject: (error: unknown) => void}>} */
    const waiting = new Map();
    let next = 0;
    worker.addEventListener('message', ({ data }) => {
        const promise = waiting.get(data.id);
        waiting.delete(data.id);
        if (data.tracks) promise?.resolve(data);
        else if (data.aborted) promise?.reject(new DOMException('given up', 'AbortError'));
        else if (data.status) promise?.reject(new ApiError(readProblem(data.text, data.status, data.statusText)));
        else promise?.reject(new ApiError({ title: 'No answer', status: 0, detail: 'The server does not answer. Check that it runs, then try again.' }));
    });
    return {
        ask(id, query, signal) {
            const number = next++;
            /** @type {Promise<WindowColumns>} */
            const answer = new Promise((resolve, reject) => waiting.set(number, { resolve, reject }));
            worker.postMessage({ id: number, url: apiUrl(`traces/${id}/timeline`, { ...query, tracks: query.tracks.join(',') }) });
            signal.addEventListener('abort', () => worker.postMessage({ id: number, stop: true }), { once: true });
            return during(answer);
        },
        destroy() {
            worker.terminate();
            waiting.forEach(({ reject }) => reject(new DOMException('gone', 'AbortError')));
            waiting.clear();
        },
    };
}
