/** Calls of the resource that says how well operators use the device. */

import { call } from '../../lib/api.js';

/** What the chart shows at most: the rest is in the table. */
export const POINTS = 500;

/** @param {string | number} id of the trace @param {string} group @param {AbortSignal} signal @returns {Promise<Efficiency>} */
export const efficiency = (id, group, signal) => call(`traces/${id}/efficiency`, { query: { group_by: group, limit: POINTS }, signal });
