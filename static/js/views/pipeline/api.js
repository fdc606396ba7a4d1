/** Calls of the view. */

import { call, runPath } from '../../lib/api.js';

/** @typedef {{stages: number, microbatches: number, chunks: number, theory: number | null, bubble: number | null, rows: PipelineStageRow[], total: number}} Pipeline */
/** @typedef {{removed_s: number, added_s: number, removal: number | null, addition: number | null}} Change */
/** @typedef {{step: number, measured_s: number, no_delay_s: number, ideal_s: number, slowdown: number}} Step */
/**
 * @typedef {{slowdown: number, launch_slowdown: number, measured_s: number, no_delay_s: number, ideal_s: number,
 *   by_optype: Record<string, number>, by_stage: Record<string, number>, by_dp_rank: Record<string, number>,
 *   worst_ranks: Change & {ranks: number[]}, last_stage: Change, missing: string[], steps: Step[]}} WhatIf
 */
/** @typedef {{step: number, total: number, rows: WhatIfSliceRow[]}} Lane */

/** @param {string} run @param {string} view @param {Record<string, any>} query @param {AbortSignal} signal */
const ask = (run, view, query, signal) => call(`${runPath(run)}/${view}`, { query, signal });

/** @param {string} run @param {AbortSignal} signal @returns {Promise<Pipeline>} */
export const pipeline = (run, signal) => ask(run, 'pipeline', { limit: 0 }, signal);

/** @param {string} run @param {AbortSignal} signal @returns {Promise<WhatIf>} */
export const whatIf = (run, signal) => ask(run, 'what-if', {}, signal);

/** @param {string} run @param {{scenario: 'ideal' | 'measured', step: string | null, dp_rank: string | null}} chosen @param {AbortSignal} signal @returns {Promise<Lane>} */
export const lane = (run, chosen, signal) => ask(run, 'what-if/timeline', { ...chosen, limit: 0 }, signal);
