/** Uploads under way, at the corner of the page: bytes sent, then the stages of the server's work. */

import { h, fill, icon, byId, announce } from '../lib/dom.js';
import { traceHref, runHref } from '../app/router.js';
import * as api from '../lib/api.js';
import * as fmt from '../lib/fmt.js';

/** Stages of a job in words that say what happens. @type {Record<string, string>} */
const STAGES = { queued: 'waiting for a worker', reading: 'reading', analysing: 'analysing', storing: 'storing', done: 'done' };

/** Files sent at once: more would only share the same line. */
const PARALLEL = 2;
/** @type {(() => Promise<void>)[]} */
const waiting = [];
let running = 0;

/**
 * @param {File} file
 * @param {string} run
 * @param {(run: string) => void} onDone
 * @param {{replace?: boolean, marker?: string}} [how] marker: the function whose calls are the cycles
 */
export function addUpload(file, run, onDone, how = {}) {
    const item = uploadItem(file, run);
    byId('tray').append(item.root);
    byId('tray').hidden = false;
    waiting.push(async () => {
        if (item.signal.aborted) return;
        try {
            const job = await send(file, run, how, item);
            item.sent();
            const done = await follow(job, item);
            item.finish(done);
            announce(`${file.name} is ready`);
            onDone(run);
        } catch (error) {
            if (item.signal.aborted) return;
            item.fail(error, () => {
                item.root.remove();
                addUpload(file, run, onDone, { ...how, replace: true });
            });
        }
    });
    next();
}

function next() {
    while (running < PARALLEL && waiting.length) {
        running += 1;
        const work = waiting.shift();
        work?.().finally(() => {
            running -= 1;
            next();
        });
    }
}

/** @typedef {ReturnType<typeof uploadItem>} UploadItem */

/** @param {File} file @param {string} run */
function uploadItem(file, run) {
    const bar = h('progress', { class: 'progress', max: '100', value: 0, 'aria-label': `Upload of ${file.name}` });
    const status = h('p', { class: 'tray-status' }, 'waiting');
    const stop = new AbortController();
    const close = h('button', { class: 'icon-button', type: 'button', 'aria-label': `Cancel the upload of ${file.name}`, title: 'Cancel', onclick: cancel }, icon('close'));
    const root = h('div', { class: 'tray-item' },
        h('div', { class: 'tray-head' }, h('span', { class: 'file-name', title: file.name }, file.name), close), bar, status);

    function cancel() {
        if (!stop.signal.aborted && !isSent) announce(`Upload of ${file.name} cancelled`);
        stop.abort();
        root.remove();
        byId('tray').hidden = byId('tray').childElementCount === 0;
    }
    let isSent = false;
    /** From here on the server has the file: the button only hides the line. */
    function sent() {
        isSent = true;
        close.setAttribute('aria-label', `Hide ${file.name}`);
        close.title = 'Hide';
    }
    return {
        root, sent,
        /** Aborted by the user. */
        signal: stop.signal,
        /** @param {string} text @param {number | null} percent null: no measure */
        say(text, percent) {
            fill(status, text);
            if (percent === null) bar.removeAttribute('value');
            else bar.value = percent;
        },
        /** @param {Job} job */
        finish(job) {
            const count = job.trace_ids?.length ?? 1;
            root.classList.add('done');
            sent();
            bar.hidden = true;
            fill(status,
                count === 1 && job.trace_id !== undefined
                    ? h('a', { href: traceHref(job.trace_id) }, 'Open the trace')
                    : h('a', { href: runHref(run) }, `Open the run: ${fmt.plural(count, 'trace')} of this file`),
                unread(job.errors ?? []));
        },
        /** @param {unknown} error @param {() => void} replace */
        fail(error, replace) {
            root.classList.add('failed');
            sent();
            bar.hidden = true;
            const text = error instanceof Error ? error.message : String(error);
            const taken = error instanceof api.ApiError && error.status === 409;
            fill(status, h('span', { role: 'alert' }, text),
                taken ? h('button', { class: 'button', type: 'button', onclick: replace }, 'Replace it') : null);
        },
    };
}

/** What of an archive could not be read. @param {UploadError[]} errors */
const unread = (errors) => errors.length === 0 ? null : h('details', { class: 'tray-errors' },
    h('summary', null, `${fmt.plural(errors.length, 'member')} not read`),
    h('ul', { class: 'file-list' }, errors.map(({ member, file_name, detail, title }) => h('li', null,
        h('span', { class: 'file-name' }, member || file_name), h('span', { class: 'quiet' }, detail ?? title)))));

/**
 * Sends the bytes. XMLHttpRequest, because fetch tells nothing about bytes on their way up.
 * @param {File} file
 * @param {string} run
 * @param {{replace?: boolean, marker?: string}} how
 * @param {UploadItem} item
 * @returns {Promise<Job | Trace | UploadAnswer>}
 */
function send(file, run, how, item) {
    return new Promise((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open('PUT', api.uploadUrl(run, file.name, how));
        request.setRequestHeader('Prefer', 'respond-async');
        request.upload.onprogress = (event) => {
            item.say(`${fmt.bytes(event.loaded)} of ${fmt.bytes(file.size)} sent`, (100 * event.loaded) / Math.max(1, file.size));
        };
        request.upload.onload = () => item.say('sent, waiting for the server', null);
        item.signal.addEventListener('abort', () => request.abort());
        request.onabort = () => reject(new DOMException('Cancelled', 'AbortError'));
        request.onerror = () => reject(new Error('The connection broke. Check that the server runs, then upload again.'));
        request.onload = () => {
            if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText));
            else reject(new api.ApiError(api.readProblem(request.responseText, request.status, request.statusText)));
        };
        request.send(file);
    });
}

/**
 * Follows the job to its end: events while the server sends them, asking again where they break off.
 * @param {Job | Trace | UploadAnswer} answer the same file again is answered at once with its traces
 * @param {UploadItem} item
 * @returns {Promise<Job>}
 */
async function follow(answer, item) {
    if (!('stage' in answer)) return doneBefore('traces' in answer ? answer : { traces: [answer], errors: [] });
    let job = answer;
    if (!isOver(job)) job = (await listen(job.id, item)) ?? job;
    for (let wait = 250; !isOver(job); wait = Math.min(2000, wait * 2)) {
        await new Promise((resolve) => setTimeout(resolve, wait));
        job = await api.job(job.id);
        showJob(job, item);
    }
    if (job.state === 'failed') throw new api.ApiError(job.error ?? { title: 'Failed', status: 422, detail: 'The trace could not be read.' });
    return job;
}

/** @param {UploadAnswer} answer @returns {Job} */
const doneBefore = ({ traces, errors }) => ({
    id: 0, state: 'done', stage: 'done', bytes_done: 0, bytes_total: 0, errors, trace_id: traces[0]?.id, trace_ids: traces.map(({ id }) => id),
});

/** @param {Job} job */
const isOver = (job) => job.state === 'done' || job.state === 'failed';

/**
 * @param {string | number} id
 * @param {UploadItem} item
 * @returns {Promise<Job | null>} the last state heard; null when the stream broke before any
 */
function listen(id, item) {
    return new Promise((resolve) => {
        /** @type {Job | null} */
        let last = null;
        const source = new EventSource(api.jobUrl(id));
        const end = () => {
            source.close();
            resolve(last);
        };
        /** @param {MessageEvent} event */
        const hear = (event) => {
            last = JSON.parse(event.data);
            if (last) showJob(last, item);
            if (last && isOver(last)) end();
        };
        for (const name of ['progress', 'done', 'failed', 'message']) source.addEventListener(name, hear);
        source.onerror = end;
    });
}

/** @param {Job} job @param {UploadItem} item */
function showJob(job, item) {
    const word = STAGES[job.stage] ?? job.stage;
    const measured = job.stage === 'reading' && job.bytes_total > 0;
    const text = measured ? `${word}: ${fmt.bytes(job.bytes_done)} of ${fmt.bytes(job.bytes_total)}` : word;
    item.say(text, measured ? (100 * job.bytes_done) / job.bytes_total : null);
}
