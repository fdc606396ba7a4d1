/** Overview: the answers in large figures, then where a step's time goes, then what to do about it. */

import { h, fill } from '../../lib/dom.js';
import { answers, worksLater } from './answers.js';
import { breakdown } from './breakdown.js';
import { deviceTime, fetchDeviceTime } from './device_time.js';
import { advice, health, devices, about } from './parts.js';
import { genericOverview } from '../slices/generic.js';
import { rowTable } from '../../table/rowtable.js';
import { go, runViewHref, traceHref } from '../../app/router.js';
import { hasView, homeView } from '../../app/trace_views.js';
import { stepHref } from '../timeline/links.js';
import * as api from '../../lib/api.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const data = await api.overview(route.id, signal);
    const home = homeView(data.trace);
    if (home !== 'overview') {
        go(traceHref(route.id, home), { replace: true });
        return {};
    }
    // A table of operations says all it has in a view of its run.
    if (data.trace.views.length === 1 && data.trace.views[0] === 'pipeline') {
        go(runViewHref(data.trace.run, 'pipeline'), { replace: true });
        return {};
    }
    if (data.trace.views.includes('slices')) return mountGeneric(root, data, signal);
    // Of a recording of a device alone no step is known, nor what its time went to; saved answers of a profiler may say it of the whole.
    const hasSteps = data.average_step_ns !== null;
    const parts = hasSteps || (!data.trace.has_events && data.roles.some(({ mean_ns: ns }) => ns > 0)) ? breakdown(data) : null;
    const hasDevice = data.trace.has_events && data.trace.views.includes('trace');
    const times = hasDevice && worksLater(data) ? await fetchDeviceTime(data.trace, signal).catch(() => null) : null;
    const device = hasDevice ? deviceTime(data, signal, times) : null;
    const steps = hasSteps && data.step_rows.length ? stepTable(route.id, data) : null;
    fill(root,
        h('div', { class: 'view-head' }, h('h1', null, 'Overview')),
        answers(data, times),
        parts?.root,
        device?.root,
        h('div', { class: 'pair' }, advice(data), health(data)),
        devices(data),
        steps ? h('section', { class: 'section' }, h('h2', null, 'Steps'), steps.root) : null,
        about(data));
    parts?.update(route.params);
    parts?.draw();
    return {
        ready: Promise.all([steps?.update(route.params), device?.ready]),
        update(next) {
            parts?.update(next.params);
            return steps?.update(next.params);
        },
        destroy() {
            parts?.destroy();
            device?.destroy();
            steps?.destroy();
        },
    };
}

/** @param {HTMLElement} root @param {Overview} data @param {AbortSignal} signal @returns {Promise<Mounted>} */
async function mountGeneric(root, data, signal) {
    const generic = await genericOverview(data, signal);
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Overview')), generic.content, health(data), about(data));
    generic.draw();
    return { destroy: generic.destroy };
}

/** @param {string} id @param {Overview} data */
function stepTable(id, data) {
    /** @type {Column[]} */
    const columns = [
        { key: 'name', label: 'Step', kind: 'name', width: 64, priority: 0 },
        { key: 'duration_ns', label: 'Duration', kind: 'time', family: 'step', width: 104, priority: 1 },
        ...data.roles.map(({ role, label }, index) => /** @type {Column} */ ({ key: `${role}_ns`, label, kind: 'time', family: 'step', width: Math.max(92, 46 + 7 * label.length), priority: 2 + index })),
        { key: 'idle_ns', label: 'Idle', kind: 'time', family: 'step', width: 92, priority: 12, help: 'No device works, launched in the step or not' },
        { key: 'host_gap_ns', label: 'Gap', kind: 'time', width: 92, priority: 18, help: 'Since the end of earlier steps' },
        { key: 'device_busy_ns', label: 'Launched, busy', kind: 'time', width: 140, priority: 19, help: 'Device work launched in the step, wherever it runs: time with any of it' },
        { key: 'start_ns', label: 'Start', kind: 'time', width: 104, priority: 20, help: 'After the start of the trace' },
        { key: 'overlap_ns', label: 'Overlap', kind: 'time', family: 'step', width: 104, priority: 23, help: 'Computation and communication at the same time' },
        { key: 'launches', label: 'Launches', kind: 'int', width: 90, priority: 21, help: 'Calls that put work on a device' },
        { key: 'device_activities', label: 'Activities', kind: 'int', width: 90, priority: 22, help: 'Kernels, copies and memsets that these calls started' },
    ];
    return rowTable({
        id,
        view: 'steps',
        caption: 'Steps',
        noun: () => ['step', 'steps'],
        sort: ['start_ns', 'asc'],
        columnsFor: () => columns,
        defaultSort: () => ['start_ns', 'asc'],
        href: hasView(data.trace, 'timeline') ? (step) => stepHref(id, /** @type {any} */ (step)) : undefined,
        emptyText: () => 'No steps.',
    });
}
