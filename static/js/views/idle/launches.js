/** Launches: how late their work came, how long the queues of streams were, and which came latest. */

import { h, fill } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { rowTable } from '../../table/rowtable.js';
import { fullName, figures, plainTable } from '../../table/detail_parts.js';
import { hasView } from '../../app/trace_views.js';
import { timelineEvent, timelineRange } from '../timeline/links.js';
import { showFailure, skeleton } from '../../lib/states.js';
import { queueChart } from './queue.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** @param {Trace} trace @param {string | null} lastStep `drop` or null @param {AbortSignal} signal */
export function launchPart(trace, lastStep, signal) {
    const box = h('div', { class: 'idle-part' }, skeleton('figures', 'block'));
    const root = h('section', { class: 'section', id: 'launches' }, h('h2', null, 'Launches'), box);
    let params = new URLSearchParams();
    /** @type {{chart: ReturnType<typeof queueChart>, table: ReturnType<typeof launchTable>} | undefined} */
    let parts;

    async function load() {
        try {
            const answers = await api.launches(String(trace.id), null, lastStep, signal);
            if (answers.total === 0) {
                fill(box, h('p', { class: 'quiet' }, 'No launch in this trace is linked to the work that it started.'));
                return;
            }
            const steps = await api.stepLaunches(String(trace.id), signal);
            parts = { chart: queueChart(trace, answers.streams, lastStep, signal), table: launchTable(trace, lastStep) };
            fill(box, spread(answers), streamTable(answers), parts.chart.root, stepTable(steps), h('section', { class: 'section' }, h('h3', null, 'Latest to start'), parts.table.root));
            await Promise.all([parts.chart.update(params), parts.table.update(params)]);
        } catch (error) {
            showFailure(box, error, load);
        }
    }
    return {
        root,
        load,
        /** @param {URLSearchParams} next */
        update(next) {
            params = next;
            return Promise.all([parts?.chart.update(next), parts?.table.update(next)]);
        },
        destroy() {
            parts?.chart.destroy();
            parts?.table.destroy();
        },
    };
}

/** @param {Launches} launches */
function spread({ total, launch_delay: delay, host, device, short_kernels: short, slow_calls: slow, slow_launches: late }) {
    const parts = (/** @type {number | null} */ ns) => (ns === null ? /** @type {[string, string]} */ (['–', '']) : fmt.timeParts(ns));
    const of = (/** @type {number} */ count) => `${fmt.int(count)} (${fmt.share(count / total)})`;
    return h('dl', { class: 'answers idle-answers' },
        answer('Delay, median', parts(delay.p50_ns), [`p95 ${fmt.time(delay.p95_ns)}, max ${fmt.time(delay.max_ns)}; ${of(late)} above 100 µs. A long delay with a long queue means that the host is ahead.`]),
        answer('Call, median', parts(host.p50_ns), [`p95 ${fmt.time(host.p95_ns)}, max ${fmt.time(host.max_ns)}; ${of(slow)} above 50 µs`]),
        answer('Work, median', parts(device.p50_ns), [`p95 ${fmt.time(device.p95_ns)}, max ${fmt.time(device.max_ns)}; ${of(short)} shorter than their call`]));
}

/** @param {Launches} launches */
function streamTable({ streams }) {
    return plainTable('Queue of each stream', ['Stream', 'Launches', 'Queue, mean', 'Median', 'p75', 'Longest'], streams.map(({ device, stream, launches, queue }) => [
        `Device ${device}, stream ${stream}`, fmt.int(launches), fmt.num(queue.mean, 1), fmt.num(queue.p50, 1), fmt.num(queue.p75, 1), fmt.int(queue.max)]), 1);
}

/** @param {{rows: StepLaunchesRow[], total: number}} answers the first ones */
function stepTable({ rows, total }) {
    const label = rows.length < total ? `Steps and streams, the first ${rows.length} of ${fmt.int(total)}` : 'Steps and streams';
    return plainTable(label, ['Step', 'Stream', 'Launches', 'Work time', 'Delay, mean'], rows.map((row) => [
        row.step ?? 'outside of steps', `Device ${row.device}, stream ${row.stream}`, fmt.int(row.launches), fmt.time(row.device_ns), fmt.time(row.mean_delay_ns)]), 2);
}

/** @type {Column[]} */
const COLUMNS = [
    { key: 'kernel', label: 'Work', kind: 'name', width: 220, priority: 0 },
    { key: 'launch_delay_ns', label: 'Delay', kind: 'time', width: 96, priority: 1, help: 'From the end of the call to the start of the work; 0 where it starts before' },
    { key: 'name', label: 'Call', kind: 'text', width: 170, priority: 5 },
    { key: 'host_ns', label: 'Call time', kind: 'time', family: 'part', width: 96, priority: 3 },
    { key: 'device_ns', label: 'Work time', kind: 'time', family: 'part', width: 96, priority: 2 },
    { key: 'start_ns', label: 'Start', kind: 'time', width: 104, priority: 4, help: 'Of the call, after the start of the trace' },
    { key: 'stream', label: 'Stream', kind: 'int', width: 78, priority: 6 },
    { key: 'device', label: 'Device', kind: 'int', width: 74, priority: 7 },
    { key: 'thread', label: 'Thread', kind: 'text', width: 90, priority: 8 },
    { key: 'correlation', label: 'Correlation', kind: 'text', width: 100, priority: 9 },
];

/** @param {Trace} trace @param {string | null} lastStep */
function launchTable(trace, lastStep) {
    return rowTable({
        id: String(trace.id), view: 'launches', prefix: 'launch-', caption: 'Launches, the latest to start first', noun: () => ['launch', 'launches'], search: 'Search calls and work',
        columnsFor: () => COLUMNS, defaultSort: () => ['launch_delay_ns', 'desc'], sort: ['launch_delay_ns', 'desc'], also: () => ({ last_step: lastStep }),
        detail: (row) => detail(trace, row), emptyText: (q) => (q ? `No launch matches “${q}”.` : 'No launches.'),
    });
}

/** @param {Trace} trace @param {Row} row */
function detail(trace, row) {
    const end = row.start_ns + row.host_ns;
    return h('div', null, fullName(row.kernel),
        figures([['Call', row.name], ['Thread', row.thread === null ? '–' : String(row.thread)], ['Correlation', String(row.correlation)], ['Called', fmt.moment(row.start_ns)]]),
        hasView(trace, 'timeline') ? h('p', null, timelineRange(trace, row.start_ns, end + row.launch_delay_ns + row.device_ns, 'Show in timeline'),
            ' · ', timelineEvent(trace, row.launch_event, 'The call'), ' · ', timelineEvent(trace, row.device_event, 'The work')) : null);
}
