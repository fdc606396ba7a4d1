/** Calls of the resources that say why devices waited. */

import { call } from '../../lib/api.js';

/** @param {string} id of the trace @param {AbortSignal} signal @returns {Promise<Idle>} */
export const idle = (id, signal) => call(`traces/${id}/idle`, { query: { top: 200 }, signal });

/** @param {string} id of the trace @param {string | null} series device and stream, `0:7` @param {AbortSignal} signal @returns {Promise<Launches>} */
export const launches = (id, series, signal) => call(`traces/${id}/launches`, { query: { series, limit: 1 }, signal });

/** @param {string} id of the trace @param {{annotation: string, instance: string}} window @param {AbortSignal} signal @returns {Promise<CriticalPath>} */
export const criticalPath = (id, window, signal) => call(`traces/${id}/critical-path`, { query: { ...window, edges: 'none', top: 20, limit: 1 }, signal });
