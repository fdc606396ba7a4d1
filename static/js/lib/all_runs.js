/** The runs that can be chosen from, by name: the frame and the view of a visit ask for them once. */

import * as api from './api.js';
import { once } from './once.js';

const MOST = 1000;
const BY_NAME = { sort: 'name', order: 'asc' };

/** The first of them, and how many there are. @param {AbortSignal} signal of the visit @returns {Promise<{runs: Run[], total: number}>} */
export const firstRuns = (signal) => once('runs', signal, () => api.runs({ limit: MOST, ...BY_NAME }, signal));

/** @param {AbortSignal} signal of the visit @returns {Promise<Run[]>} */
export const allRuns = async (signal) => (await firstRuns(signal)).runs;

/** Those whose name or tag holds a text: where there are more than the first. @param {string} q @returns {Promise<Run[]>} */
export const findRuns = async (q) => (await api.runs({ q, limit: MOST, ...BY_NAME })).runs;
