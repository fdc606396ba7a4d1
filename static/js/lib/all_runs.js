/** The runs that can be chosen from, by name: the frame and the view of a visit ask for them once. */

import * as api from './api.js';
import { once } from './once.js';

const MOST = 1000;

/** @param {AbortSignal} signal of the visit @returns {Promise<Run[]>} */
export const allRuns = (signal) => once('runs', signal, async () => (await api.runs({ limit: MOST, sort: 'name', order: 'asc' }, signal)).runs);
