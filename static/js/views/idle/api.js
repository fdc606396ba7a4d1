/** Calls of the resources that say why devices waited. */

import { call } from '../../lib/api.js';

/** @param {string} id of the trace @param {string | null} lastStep `drop`, or null: it counts @param {AbortSignal} signal @returns {Promise<Idle>} */
export const idle = (id, lastStep, signal) => call(`traces/${id}/idle`, { query: { top: 200, last_step: lastStep }, signal });

/** @param {string} id of the trace @param {string | null} series device and stream, `0:7` @param {string | null} lastStep @param {AbortSignal} signal @returns {Promise<Launches>} */
export const launches = (id, series, lastStep, signal) => call(`traces/${id}/launches`, { query: { series, last_step: lastStep, limit: 1 }, signal });

/** @param {string} id of the trace @param {AbortSignal} signal @returns {Promise<{rows: StepLaunchesRow[], total: number}>} */
export const stepLaunches = (id, signal) => call(`traces/${id}/launches/steps`, { query: { limit: 50 }, signal });

/** @param {string} id of the trace @param {Record<string, string | null>} window with what else is asked: `launch_edges`, `scale` @param {AbortSignal} signal @returns {Promise<CriticalPath>} */
export const criticalPath = (id, window, signal) => call(`traces/${id}/critical-path`, { query: { ...window, edges: 'none', top: 20, limit: 1 }, signal });
