/** Every call of /api/v1, relative to the page, so that a base path needs no setting. */

import { during } from '../app/activity.js';
import { once } from './once.js';
import { logIn } from '../app/session.js';
import { tellAge } from '../app/lately.js';

export class ApiError extends Error {
    /** @param {Problem} problem */
    constructor(problem) {
        super(problem.detail || problem.title);
        this.problem = problem;
        this.status = problem.status;
    }
}

/**
 * @param {string} path below /api/v1, segments already encoded
 * @param {Record<string, string | number | string[] | null | undefined>} [query] a list: the parameter is repeated
 */
export function apiUrl(path, query = {}) {
    const url = new URL(`./api/v1/${path}`, document.baseURI);
    url.hash = '';
    for (const [key, value] of Object.entries(query)) {
        for (const item of Array.isArray(value) ? value : [value]) {
            if (item !== null && item !== undefined && item !== '') url.searchParams.append(key, String(item));
        }
    }
    return url.href;
}

/**
 * @param {string} path
 * @param {{query?: Record<string, any>, method?: string, body?: any, signal?: AbortSignal}} [options]
 */
export function call(path, { query, method = 'GET', body, signal } = {}) {
    return during(ask(apiUrl(path, query), { method, body, signal }));
}

/** @param {string} url @param {{method: string, body?: any, signal?: AbortSignal}} options */
async function ask(url, { method, body, signal }) {
    try {
        const response = await fetch(url, {
            method,
            signal,
            headers: body ? { 'Content-Type': 'application/json' } : undefined,
            body: body ? JSON.stringify(body) : undefined,
        });
        if (response.status === 401) return logIn();
        tellAge(response);
        if (!response.ok) throw new ApiError(readProblem(await response.text(), response.status, response.statusText));
        return response.status === 204 ? null : await response.json();
    } catch (error) {
        if (error instanceof ApiError || isAbort(error)) throw error;
        throw new ApiError({ title: 'No answer', status: 0, detail: 'The server does not answer. Check that it runs, then try again.' });
    }
}

/**
 * A problem document, or one made of what there is (a proxy may answer with a page of its own).
 * @param {string} text
 * @param {number} status
 * @param {string} statusText
 * @returns {Problem}
 */
export function readProblem(text, status, statusText) {
    try {
        const body = JSON.parse(text);
        if (typeof body.title === 'string') return body;
    } catch {
        // not JSON
    }
    return { title: statusText || 'Error', status, detail: `The server answered with status ${status}.` };
}

/** Whether a call was given up because the user went elsewhere. @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === 'AbortError';

/** Of a run, below /api/v1. @param {string} name */
export const runPath = (name) => `runs/${encodeURIComponent(name)}`;

/**
 * @param {Record<string, any>} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<{runs: Run[], total: number, total_is_least: boolean}>}
 */
export const runs = (query, signal) => call('runs', { query, signal });

/** With all of its traces. @param {string} name @param {AbortSignal} [signal] @returns {Promise<OpenRun>} */
export const run = (name, signal) => once(runPath(name), signal, () => call(runPath(name), { signal }));

/** Traces of a run that one answer has: a thousand of them are 600 kB. */
export const TRACES = 100;

/** With a page of its traces. @param {string} name @param {AbortSignal} [signal] @param {number | null} [offset] of the page @returns {Promise<OpenRun>} */
export const runPage = (name, signal, offset = null) =>
    once(`${runPath(name)} ${offset ?? 0}`, signal, () => call(runPath(name), { query: { limit: TRACES, offset }, signal }));

/** @param {string} name @param {{tags?: string[], note?: string, pinned?: boolean}} body @returns {Promise<Run>} */
export const patchRun = (name, body) => call(runPath(name), { method: 'PATCH', body });

/** @param {string} name */
export const deleteRun = (name) => call(runPath(name), { method: 'DELETE' });

/** @param {number | string} id */
export const deleteTrace = (id) => call(`traces/${id}`, { method: 'DELETE' });

/** @param {number | string} id @param {AbortSignal} [signal] @returns {Promise<Trace>} */
export const trace = (id, signal) => once(`traces/${id}`, signal, () => call(`traces/${encodeURIComponent(id)}`, { signal }));

/** @param {number | string} id @param {AbortSignal} [signal] @returns {Promise<Overview>} */
export const overview = (id, signal) => call(`traces/${id}/overview`, { signal });

/** @param {number | string} id @param {Record<string, any>} query @param {AbortSignal} [signal] @returns {Promise<EngineSteps>} */
export const engineSteps = (id, query, signal) => call(`traces/${id}/engine-steps`, { query, signal });

/**
 * @param {number | string} id
 * @param {string} view: operators, kernels, steps, memory, memory/events
 * @param {Record<string, any>} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<RowPage>}
 */
export const rows = (id, view, query, signal) => call(`traces/${id}/${view}`, { query, signal });

/** @param {string | number} id @returns {Promise<Job>} */
export const job = (id) => call(`jobs/${id}`);

/** @param {number | string} id */
export const rawUrl = (id) => apiUrl(`traces/${id}/raw`);

/**
 * @param {number | string} id
 * @param {string} view
 * @param {Record<string, any>} query
 */
export const csvUrl = (id, view, query) => apiUrl(`traces/${id}/${view}`, { ...query, format: 'csv', limit: 0 });

/**
 * @param {string} runName
 * @param {string} fileName
 * @param {{replace?: boolean, marker?: string}} how
 */
export const uploadUrl = (runName, fileName, { replace, marker }) =>
    apiUrl(`${runPath(runName)}/traces/${encodeURIComponent(fileName)}`, { replace: replace ? 1 : null, marker });

/** @param {string | number} id */
export const jobUrl = (id) => apiUrl(`jobs/${id}`);

/**
 * @param {Record<string, any>} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<{comparisons: ComparisonItem[], total: number}>}
 */
export const comparisons = (query, signal) => call('comparisons', { query, signal });

/** @param {number | string} id @param {AbortSignal} [signal] @returns {Promise<Comparison>} */
export const comparison = (id, signal) => call(`comparisons/${encodeURIComponent(id)}`, { signal });

/** Compares and stores; the answer is the most suspicious pair. @param {Record<string, any>} body @returns {Promise<Comparison>} */
export const compare = (body) => call('comparisons', { method: 'POST', body });

/** @param {number | string} id one pair; its whole group goes */
export const deleteComparison = (id) => call(`comparisons/${id}`, { method: 'DELETE' });

/**
 * @param {number | string} id
 * @param {{function: string, metric: string, device: string}} row
 * @param {AbortSignal} [signal]
 * @returns {Promise<BetaSeries>}
 */
export const betaSeries = (id, row, signal) =>
    call(`comparisons/${id}/series`, { query: { function: row.function, metric: row.metric, device: row.device }, signal });

/** @param {number | string} id @param {'csv' | 'markdown'} format @param {Record<string, any>} [query] which rows */
export const comparisonUrl = (id, format, query = {}) => apiUrl(`comparisons/${id}`, { ...query, format });

/** @param {number | string} id @param {AbortSignal} [signal] @returns {Promise<CycleAnswer>} */
export const cycles = (id, signal) => call(`traces/${id}/cycles`, { signal });

/** @param {number | string} id */
export const cyclesCsvUrl = (id) => apiUrl(`traces/${id}/cycles`, { format: 'csv' });

/**
 * @param {number | string} id of a kernel table
 * @param {Record<string, any>} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<KernelUse>}
 */
export const kernelUse = (id, query, signal) => call(`traces/${id}/kernel-utilisation`, { query, signal });

/**
 * @param {number | string} id
 * @param {Record<string, any>} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<{rows: KernelUseLaunchRow[], total: number}>}
 */
export const kernelLaunches = (id, query, signal) => call(`traces/${id}/kernel-utilisation/launches`, { query, signal });

/**
 * @param {number | string} id
 * @param {Record<string, any>} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<MemoryAnswer>}
 */
export const memory = (id, query, signal) => call(`traces/${id}/memory`, { query, signal });

/** @param {number | string} id @param {AbortSignal} [signal] @param {number} [points] at most @returns {Promise<{devices: MemoryCurve[]}>} */
export const memoryCurve = (id, signal, points) => call(`traces/${id}/memory/curve`, { query: { points }, signal });

/** @param {number | string} id @param {AbortSignal} [signal] @returns {Promise<ModuleAnswer>} */
export const modules = (id, signal) => call(`traces/${id}/modules`, { signal });

/** @param {number | string} id @param {AbortSignal} [signal] @returns {Promise<{threads: CallThread[]}>} */
export const callThreads = (id, signal) => call(`traces/${id}/tree`, { signal });

/**
 * @param {number | string} id
 * @param {number} thread
 * @param {{node?: number, depth?: number, limit?: number, offset?: number}} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<CallPart>}
 */
export const calls = (id, thread, query, signal) => call(`traces/${id}/tree/${thread}`, { query, signal });

/**
 * @param {number | string} id
 * @param {number} thread
 * @param {string} q
 * @param {AbortSignal} [signal]
 * @returns {Promise<CallMatches>}
 */
export const findCalls = (id, thread, q, signal) => call(`traces/${id}/tree/${thread}`, { query: { q }, signal });

/**
 * @param {string} runName
 * @param {{span?: string | null}} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<Distributed>}
 */
export const distributed = (runName, query, signal) => call(`${runPath(runName)}/distributed`, { query, signal });

/**
 * Every operator and kernel of two traces.
 * @param {string} base
 * @param {string} candidate
 * @param {string | null} per step, call or total; null: step where both have steps
 * @param {AbortSignal} [signal]
 * @returns {Promise<NameDiff>}
 */
export const diff = (base, candidate, per, signal) => call('diff', { query: { base, candidate, per, limit: 0 }, signal });

/** What changed, in one sentence. @param {string} base @param {string} candidate @param {AbortSignal} [signal] @returns {Promise<DiffSummary>} */
export const diffSummary = (base, candidate, signal) => call('diff/summary', { query: { base, candidate }, signal });

/** @param {string} base @param {string} candidate @param {Record<string, any>} query table, and which of its rows */
export const diffCsvUrl = (base, candidate, query) => apiUrl('diff', { base, candidate, ...query, format: 'csv', limit: 0 });

/** @param {string} base @param {string} candidate @param {string} path of the node: "0", "0-3" @param {AbortSignal} [signal] @returns {Promise<DiffNode>} */
export const diffTree = (base, candidate, path, signal) => call('diff/tree', { query: { base, candidate, path }, signal });
