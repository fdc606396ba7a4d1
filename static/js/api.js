/** Every call of /api/v1, relative to the page, so that a base path needs no setting. */

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
 * @param {Record<string, string | number | null | undefined>} [query]
 */
export function apiUrl(path, query = {}) {
    const url = new URL(`./api/v1/${path}`, document.baseURI);
    url.hash = '';
    for (const [key, value] of Object.entries(query)) {
        if (value !== null && value !== undefined && value !== '') url.searchParams.set(key, String(value));
    }
    return url.href;
}

/**
 * @param {string} path
 * @param {{query?: Record<string, any>, method?: string, body?: any, signal?: AbortSignal}} [options]
 */
async function call(path, { query, method = 'GET', body, signal } = {}) {
    try {
        const response = await fetch(apiUrl(path, query), {
            method,
            signal,
            headers: body ? { 'Content-Type': 'application/json' } : undefined,
            body: body ? JSON.stringify(body) : undefined,
        });
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

/** @param {string} name */
const runPath = (name) => `runs/${encodeURIComponent(name)}`;

/**
 * @param {Record<string, any>} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<{runs: Run[], total: number}>}
 */
export const runs = (query, signal) => call('runs', { query, signal });

/** @param {string} name @param {AbortSignal} [signal] @returns {Promise<Run & {trace_list: Trace[]}>} */
export const run = (name, signal) => call(runPath(name), { signal });

/** @param {string} name @param {{tags?: string[], note?: string}} body @returns {Promise<Run>} */
export const patchRun = (name, body) => call(runPath(name), { method: 'PATCH', body });

/** @param {string} name */
export const deleteRun = (name) => call(runPath(name), { method: 'DELETE' });

/** @param {number | string} id */
export const deleteTrace = (id) => call(`traces/${id}`, { method: 'DELETE' });

/** @param {number | string} id @param {AbortSignal} [signal] @returns {Promise<Trace>} */
export const trace = (id, signal) => call(`traces/${encodeURIComponent(id)}`, { signal });

/** @param {number | string} id @param {AbortSignal} [signal] @returns {Promise<Overview>} */
export const overview = (id, signal) => call(`traces/${id}/overview`, { signal });

/**
 * @param {number | string} id
 * @param {'operators' | 'kernels' | 'steps'} view
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
 * @param {boolean} replace
 */
export const uploadUrl = (runName, fileName, replace) =>
    apiUrl(`${runPath(runName)}/traces/${encodeURIComponent(fileName)}`, { replace: replace ? 1 : null });

/** @param {string | number} id */
export const jobUrl = (id) => apiUrl(`jobs/${id}`);
