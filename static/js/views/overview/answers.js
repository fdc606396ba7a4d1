/** One glance: how long is a step, what is idle and why, the worst operator and kernel, is the trace sound. */

import { h, nameParts } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import { stepHref } from '../timeline/links.js';
import { hasView } from '../../app/trace_views.js';
import { searchWord, shorten } from '../../lib/names.js';
import * as fmt from '../../lib/fmt.js';

/** @param {Overview} data @param {DeviceTime | null} times of devices, where the steps' work runs later */
export function answers(data, times) {
    return h('dl', { class: 'answers' }, stepAnswer(data), idleAnswer(data, times?.window ?? null), operatorAnswer(data, times), kernelAnswer(data), healthAnswer(data));
}

/** As graphs of a serving engine do: the host's step is over before its device work begins, and says nothing of how busy the device is. @param {Overview} data */
export function worksLater({ devices, idle }) {
    const busy = devices.reduce((most, device) => Math.max(most, device.utilisation_of === 'steps' ? device.utilisation ?? 0 : 0), 0);
    return idle !== null && busy + idle.share > 1.05;
}

/**
 * @param {string} label
 * @param {[string, string]} figure
 * @param {any[]} note
 * @param {string} [mood]
 */
export function answer(label, [value, unit], note, mood = '') {
    return h('div', { class: `answer ${mood}` }, h('dt', null, label),
        h('dd', { class: /^[A-Z]/.test(value) ? 'answer-figure word' : 'answer-figure' }, value, unit ? h('span', { class: 'answer-unit' }, unit) : null),
        h('dd', { class: 'answer-note' }, note));
}

/** @param {Overview} data */
function stepAnswer(data) {
    if (data.average_step_ns === null) {
        return answer('Whole trace', fmt.timeParts(data.trace.duration_ns), [data.trace.format === 'chrome-trace' ? ['No steps marked: call ', h('code', null, 'prof.step()'), ' in the loop.'] : 'No steps marked.',
            hasView(data.trace, 'timeline') ? h('a', { class: 'answer-more', href: traceHref(data.trace.id, 'timeline') }, 'Show in timeline') : null], 'first');
    }
    const times = data.step_rows.map(({ duration_ns: ns }) => ns);
    const unit = fmt.timeUnit(data.average_step_ns);
    const note = times.length > 1 ? [`${fmt.plural(data.steps, 'step')}, ${fmt.timeParts(Math.min(...times), unit)[0]} to ${fmt.time(Math.max(...times), unit)}`]
        : [fmt.plural(data.steps, 'step')];
    if (worksLater(data)) note.push(', on the host');
    return answer('Average step', fmt.timeParts(data.average_step_ns, unit), [note, longestStep(data)], 'first');
}

/** The step that is most worth a look. @param {Overview} data */
function longestStep({ trace, step_rows: steps }) {
    if (steps.length === 0 || !hasView(trace, 'timeline')) return null;
    const longest = steps.reduce((most, step) => (step.duration_ns > most.duration_ns ? step : most));
    return h('a', { class: 'answer-more', href: stepHref(trace.id, longest) }, steps.length > 1 ? 'The longest in the timeline' : 'Show in timeline');
}

/** @param {Overview} data @param {DeviceTimeBlock | null} device where the step of the host does not say it */
function idleAnswer(data, device) {
    const { idle } = data;
    if (idle === null) {
        const most = [...data.roles].filter(({ share }) => share > 0).sort((a, b) => b.share - a.share)[0];
        return answer('Device idle', ['–', ''], ['No device recorded', most ? `; most time is ${most.label} (${fmt.share(most.share)})` : '', '.']);
    }
    const more = hasView(data.trace, 'idle') ? [h('a', { class: 'answer-more', href: traceHref(data.trace.id, 'idle') }, 'Why it waited'),
        hasView(data.trace, 'timeline') && idle.idle_ns > 0 ? h('a', { class: 'answer-more', href: traceHref(data.trace.id, 'timeline', { gap: 'longest', tab: 'gap' }) }, 'When, in the timeline') : null] : null;
    const label = `${fmt.deviceWord(data.device_type)} idle`;
    if (device !== null && device.utilisation !== null) {
        const share = device.idle_ns / device.total_ns;
        return answer(label, fmt.shareParts(share), [`from its first work to its last: ${fmt.time(device.idle_ns)} of ${fmt.time(device.total_ns)}`,
            h('span', { class: 'answer-more' }, 'The work runs later than the step on the host.'), more], share > 0.5 ? 'bad' : '');
    }
    const window = idle.of === 'steps' ? 'of the step' : 'of the trace';
    const cause = idle.share > 0.005 ? data.roles.find(({ role }) => role === idle.cause) : undefined;
    const why = cause ? [`${window}, mostly ${cause.label}: ${fmt.time(idle.cause_ns)} of ${fmt.time(idle.idle_ns)}`] : [window];
    return answer(label, fmt.shareParts(idle.share), [why, more], idle.share > 0.5 ? 'bad' : '');
}

/** @param {Overview} data @param {DeviceTime | null} times */
function operatorAnswer(data, times) {
    const top = data.top_operator;
    if (!top) return answer('Top operator', ['–', ''], ['No operators recorded.']);
    const ns = Number(top.device_self_ns);
    const ofDevice = ns > 0 && times?.device_ns ? `, ${fmt.share(ns / times.device_ns)} of the device time` : '';
    return answer('Top operator', fmt.timeParts(ns > 0 ? ns : top.host_self_ns),
        [link(data, 'operators', top.name), h('span', { class: 'answer-more' },
            `${ns > 0 ? fmt.deviceWord(data.device_type) : 'host'} self time, ${fmt.plural(top.calls, 'call')}${ofDevice}`)]);
}

/** @param {Overview} data */
function kernelAnswer(data) {
    const top = data.top_kernel;
    if (!top) return answer('Top kernel', ['–', ''], ['No kernels recorded.']);
    return answer('Top kernel', fmt.timeParts(top.total_ns),
        [link(data, 'kernels', top.name), h('span', { class: 'answer-more' }, `${fmt.share(top.share)} of kernel time, ${fmt.plural(top.calls, 'launch', 'launches')}`)]);
}

/** @param {Overview} data */
function healthAnswer(data) {
    const { warnings } = data.health;
    const missing = data.health.missing.filter(({ record }) => record !== '');
    const gaps = missing.length ? `${fmt.plural(missing.length, 'view')} ${missing.length === 1 ? 'needs' : 'need'} more data` : 'every view recorded';
    const more = h('button', { class: 'link answer-more', type: 'button', onclick: showHealth }, 'Trace health');
    if (warnings.length === 0) return answer('Trace', ['Complete', ''], [gaps, more], 'good');
    return answer('Trace', [fmt.int(warnings.length), warnings.length === 1 ? 'warning' : 'warnings'], [`read with repairs, ${gaps}`, more], 'warn');
}

/** The section further down. */
function showHealth() {
    const head = document.querySelector('#health h2');
    if (!(head instanceof HTMLElement)) return;
    head.tabIndex = -1;
    head.focus({ preventScroll: true });
    head.scrollIntoView({ block: 'center' });
}

/** The row of the largest, opened: of those whose name holds it, it comes first. @param {Overview} data @param {string} view @param {string} name */
function link(data, view, name) {
    const href = traceHref(data.trace.id, view, { q: searchWord(name), open: '1' });
    return h('a', { class: 'answer-name', href, 'data-tip': name }, nameParts(shorten(name).short));
}
