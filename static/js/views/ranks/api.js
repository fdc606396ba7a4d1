/** Calls of the view. */

import { call, runPath } from '../../lib/api.js';

/** @typedef {{step: number, start_ns: number, end_ns: number}} Step */
/** @typedef {{rows: RankLaneRow[], total: number, end_ns: number, steps: Step[], warnings: {code: string, count: number}[]}} Ranks */
/** @typedef {{rank: number, busy_ns: number, busy: string, transfer_ns: number, transfer: string, wait_ns: number, wait: string}} Levels a digit a pixel */

/** @param {string} run @param {string} what @param {Record<string, any>} query @param {AbortSignal} [signal] */
const ask = (run, what, query, signal) => call(`${runPath(run)}/${what}`, { query, signal });

/** @param {string} run @param {string | null} span @param {AbortSignal} signal @returns {Promise<Ranks>} */
export const ranks = (run, span, signal) => ask(run, 'timeline', { span }, signal);

/** @param {string} run @param {{span: string | null, start_ns: number, end_ns: number, width_px: number, ranks?: string}} query @param {AbortSignal} [signal] @returns {Promise<{pixel_ns: number, rows: Levels[]}>} */
export const levels = (run, query, signal) => ask(run, 'timeline/window', query, signal);

/** @typedef {{event: number, name: string, start_ns: number | null, dur_ns: number | null}} RankHit on the clock of the run */
/** @typedef {{rank: number, trace: number, matches: number | null, matches_is_lower_bound: boolean, hits: RankHit[]}} RankHits matches null: its events are not kept */

/** Events of the ranks: of as many as the server comes to in a while. @param {string} run @param {{span: string | null, q: string, ranks: string, limit: number}} query @param {AbortSignal} signal @returns {Promise<{rows: RankHits[], searched: number, total: number}>} */
export const events = (run, query, signal) => ask(run, 'timeline/search', query, signal);

/** Collectives whose name, kind or group has the text, in order of time. @param {string} run @param {{span: string | null, q: string, limit: number}} query @param {AbortSignal} signal @returns {Promise<{rows: RankCollectiveRow[], total: number}>} */
export const search = (run, query, signal) => ask(run, 'collectives', { ...query, parts: 'none', sort: 'start_ns', order: 'asc' }, signal);
