/** Calls of the view. */

import { call, runPath } from '../../lib/api.js';

/** @typedef {{clock: string | null, span: string | null}} Chosen what of the address chooses collectives */
/** @typedef {{ranks: number[], sent_bytes: number[][], imbalance_send: number | null, imbalance_receive: number | null}} Experts */
/** @typedef {{rank: number, communication_ns: number, hidden_ns: number, exposed_ns: number, exposed_ratio: number | null}} Overlap */
/** @typedef {{rank: number, trace: number, event: number, start_ns: number, duration_ns: number, wait_ns: number}} Part */
/** @typedef {{rows: (RankCollectiveRow & {ranks?: Part[]})[], total: number, summary: CollectiveSumRow[], experts: Experts | null, overlap: Overlap[], warnings: {code: string, count: number}[]}} Collectives */

/** @param {string} run @param {Record<string, string | number | null>} query @param {AbortSignal} [signal] @returns {Promise<Collectives>} */
export const collectives = (run, query, signal) => call(`${runPath(run)}/collectives`, { query, signal });
