/** Calls of the view: series, changes, metrics. */

import { call } from '../../lib/api.js';
import { pinNote } from '../../app/pinned_notes.js';

/** @typedef {{index: number, run: string, trace: number, span: number, time: number, time_source: string, value: number | null, tags: string[]}} Point */
/** @typedef {'ns' | 'ratio' | 'bytes'} Unit */
/** @typedef {{metric: string, unit: Unit, direction: -1 | 1, total: number, rows: Point[]}} Series */
/** @typedef {{index: number, p: number, mean_before: number, mean_after: number, change: number | null, worse: boolean, known: string | null}} Change */
/** @typedef {{first: number, last: number, n: number, mean: number, std: number}} Segment */
/** @typedef {{n: number, changes: Change[], segments: Segment[]}} Changes */
/** @typedef {{metric: string, unit: Unit, direction: number, value: number}} Metric */
/** @typedef {Record<string, string | string[] | null>} Query */

/** More points than this a chart does not tell apart. */
const NEWEST = 5000;
const FILTERS = ['project', 'run', 'device'];
const RULES = ['window', 'p', 'min_magnitude', 'rule'];

/** What of the address chooses runs. @param {URLSearchParams} params @returns {Query} */
export const filtersOf = (params) => ({ ...Object.fromEntries(FILTERS.map((key) => [key, params.get(key)])), tag: params.getAll('tag') });

/** How changes are told: by a p that the number of tests in a long series is no reason to pass. @param {URLSearchParams} params @returns {Query} */
export const rulesOf = (params) => ({ ...Object.fromEntries(RULES.map((key) => [key, params.get(key)])), p: params.get('p') ?? 'series' });

/** The newest points, in order of time. @param {Query} query @param {AbortSignal} signal @returns {Promise<Series>} */
export async function series(query, signal) {
    const first = await call('history', { query: { ...query, limit: NEWEST }, signal });
    return first.total <= NEWEST ? first : call('history', { query: { ...query, limit: NEWEST, offset: first.total - NEWEST }, signal });
}

/** @param {Query} query @param {AbortSignal} signal @returns {Promise<Changes>} */
export const changes = (query, signal) => call('history/changes', { query, signal });

/** Those of the newest trace, the largest first. @param {Query} query @param {AbortSignal} signal @returns {Promise<{metrics: Metric[]}>} */
export const metrics = (query, signal) => call('history/metrics', { query: { ...query, limit: 2000 }, signal });

/** Says of a change that it is explained. @param {string} run at the change @param {string} metric @param {string} text */
export const markKnown = (run, metric, text) => pinNote(run, { kind: 'regression', name: metric, text });
