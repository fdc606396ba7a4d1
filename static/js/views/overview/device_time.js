/** Where the time of the devices goes, over which window, and by class of work. */

import { h, fill } from '../../lib/dom.js';
import { OTHER, ranking, topSlices, colourBook } from '../../charts/ranking.js';
import { plainTable } from '../../table/detail_parts.js';
import { answer } from './answers.js';
import { traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { skeleton, showFailure } from '../../lib/states.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const CLASSES = 11;

/** Parts of a window that exclude each other and add up to it. @type {[string, (block: DeviceTimeBlock) => number, string][]} */
const PARTS = [
    ['Computing', (block) => block.computation_ns, 'part-computation'],
    ['Communicating, exposed', (block) => block.exposed_communication_ns, 'part-communication'],
    ['Copying, exposed', (block) => block.exposed_memcpy_ns, 'part-copy'],
    ['Idle', (block) => block.idle_ns, 'part-idle'],
];

/** @type {['window' | 'launched' | 'steps', string, string][]} */
const WINDOWS = [
    ['window', 'Device’s window', 'From the first device work to the last'],
    ['launched', 'Launched work', 'Only work whose launch was recorded, from its first to its last'],
    ['steps', 'Steps', 'From the first step to the end of the work that the steps launched'],
];

/** @param {Trace} trace @param {AbortSignal} signal @returns {Promise<DeviceTime>} */
export const fetchDeviceTime = (trace, signal) => api.call(`traces/${trace.id}/device-time`, { signal });

/**
 * A section that fills itself; it goes away where no device did anything.
 * @param {Overview} overview
 * @param {AbortSignal} signal
 * @param {DeviceTime | null} known where the caller has the figures
 */
export function deviceTime({ trace, tensor_core: matrix }, signal, known) {
    const box = h('div', null, skeleton('block'));
    const root = h('section', { class: 'section device-time', id: 'device-time' }, h('h2', null, 'Device time'), box);
    let end = () => {};

    async function load() {
        try {
            // In a later turn also when they are known: what is drawn must stand in the page.
            const times = await (known ?? fetchDeviceTime(trace, signal));
            if (!times.window) root.remove();
            else show(times);
        } catch (error) {
            showFailure(box, error, load);
        }
    }

    /** @param {DeviceTime} times */
    function show(times) {
        const classes = classRanking(trace, times);
        const kinds = kindTable(times);
        fill(box, figures(trace, times, matrix), windowTable(times), times.devices.length > 1 ? deviceTable(times) : null,
            h('div', { class: 'pair' }, classes.root, kinds),
            h('p', null, h('a', { href: traceHref(trace.id, 'kernels') }, 'All kernels')));
        classes.draw();
        end = classes.destroy;
    }
    return { root, ready: load(), destroy: () => end() };
}

/** @param {DeviceTimeBlock | null} block @returns {[string, string]} */
const utilisation = (block) => (block === null || block.utilisation === null ? ['–', ''] : fmt.shareParts(block.utilisation));

/** @param {DeviceTimeBlock | null} block @param {string} unknown */
const busyOf = (block, unknown) => (block === null || block.utilisation === null ? unknown : `${fmt.time(block.busy_ns)} of ${fmt.time(block.total_ns)}`);

/** @param {Trace} trace @param {DeviceTime} times @param {Overview['tensor_core']} matrix */
function figures(trace, times, matrix) {
    const { window, steps } = times;
    const widest = steps ?? window;
    const more = (/** @type {string} */ view, /** @type {Record<string, string>} */ params, /** @type {string} */ text) => (hasView(trace, view) ? h('a', { class: 'answer-more', href: traceHref(trace.id, view, params) }, text) : null);
    return h('dl', { class: 'answers' },
        answer('Busy, of the device’s window', utilisation(window), [busyOf(window, 'Not known'), more('idle', {}, 'Why it waited')]),
        answer('Busy, of the steps', utilisation(steps), [busyOf(steps, 'Not known: this trace has no steps.'), steps ? more('idle', {}, 'Why it waited') : null]),
        answer('Communication', widest?.communication_ns ? fmt.timeParts(widest.communication_ns) : ['None', ''],
            widest?.communication_ns ? [`${fmt.time(widest.exposed_communication_ns)} exposed: nothing computes meanwhile`, more('kernels', { class: 'communication' }, 'Its kernels')] : ['No kernel of a communication library']),
        // The figure of the device table and of the kernels: `matrix_unit_ns` has no list of kernels, and is of all device time.
        matrix ? answer(matrix.name, fmt.shareParts(matrix.used_share), ['of kernel time, by the names of the kernels; others are not on them or not known', more('kernels', { sort: 'matrix_unit', order: 'desc' }, 'Which kernels')]) : null,
        answer('Device work', [fmt.int(window?.events ?? 0), ''], [`${fmt.time(times.device_ns)} in all, by durations`, more('operators', {}, 'Whose it is')]));
}

/** A bar a window, with its figures. @param {DeviceTime} times */
function windowTable(times) {
    const shown = WINDOWS.filter(([key]) => times[key] !== null && !(key === 'launched' && times.launched?.events === times.window?.events));
    const unit = fmt.timeUnit(Math.max(...shown.map(([key]) => times[key]?.total_ns ?? 0)));
    const bar = (/** @type {DeviceTimeBlock} */ block) => h('div', { class: 'time-bar', 'aria-hidden': 'true' }, PARTS.filter(([, part]) => part(block) > 0).map(([label, part, kind]) => {
        const node = h('span', { class: kind, 'data-tip': `${label}: ${fmt.time(part(block), unit)}, ${fmt.share(part(block) / block.total_ns)}` });
        node.style.setProperty('--w', String(part(block) / block.total_ns));
        return node;
    }));
    const key = h('p', { class: 'time-key' }, PARTS.map(([label, , kind]) => h('span', null, h('span', { class: `swatch ${kind}`, 'aria-hidden': 'true' }), label)));
    const lines = shown.map(([name, label, help]) => {
        const block = /** @type {DeviceTimeBlock} */ (times[name]);
        return [h('span', { 'data-tip': help }, label), bar(block), ...[block.total_ns, block.busy_ns, ...PARTS.map(([, part]) => part(block))].map((ns) => fmt.timeIn(ns, unit))];
    });
    return h('div', { class: 'time-windows' }, key,
        plainTable(`Parts of the device time, in ${unit.name}`, ['Window', 'Parts', `Duration ${unit.name}`, 'Busy', ...PARTS.map(([label]) => label)], lines, 2));
}

/** @param {DeviceTime} times */
function deviceTable({ devices }) {
    const unit = fmt.timeUnit(Math.max(...devices.map(({ window }) => window?.total_ns ?? 0)));
    const part = (/** @type {DeviceTimeBlock | null} */ block, /** @type {keyof DeviceTimeBlock} */ key) => (block ? fmt.timeIn(Number(block[key]), unit) : '–');
    return plainTable(`Each device, in ${unit.name}`,
        ['Device', 'Busy, of its window', 'Busy, of the steps', `Computing ${unit.name}`, 'Communicating, exposed', 'Copying, exposed', 'Idle'],
        devices.map(({ device, window, steps }) => [device === null ? 'Not numbered' : String(device), utilisation(window).join(''), utilisation(steps).join(''),
            part(window, 'computation_ns'), part(window, 'exposed_communication_ns'), part(window, 'exposed_memcpy_ns'), part(window, 'idle_ns')]), 1);
}

/** Copies and memsets are no kernels: the slices have them by name. @type {Record<string, string>} */
const COPIES = { memcpy: 'Memcpy', memset: 'Memset' };

/** Where the work of a class is listed. @param {Trace} trace @param {string} name @returns {string | null} */
export function classHref(trace, name) {
    if (COPIES[name]) return hasView(trace, 'slices') ? traceHref(trace.id, 'slices', { q: COPIES[name] }) : null;
    return name !== OTHER && hasView(trace, 'kernels') ? traceHref(trace.id, 'kernels', { class: name }) : null;
}

/** @param {Trace} trace @param {DeviceTime} times */
function classRanking(trace, times) {
    const unit = fmt.timeUnit(times.device_ns);
    const chart = ranking({
        title: 'By class of work', help: 'Sum of the durations of all device work, by what the name of the kernel says', print: (ns) => fmt.time(ns, unit),
        emptyText: 'No device work takes time.', href: (name) => classHref(trace, name),
    });
    const items = times.classes.map((row) => ({ name: row.class, value: row.device_ns }));
    return { root: chart.root, draw: () => chart.show(topSlices(items, CLASSES, times.device_ns, colourBook()), times.device_ns), destroy: chart.destroy };
}

/** @param {DeviceTime} times */
function kindTable({ communication_kinds: kinds }) {
    if (kinds.length === 0) return null;
    const unit = fmt.timeUnit(kinds[0].device_ns);
    return h('section', null, h('h3', null, 'Communication by library'),
        plainTable(`Communication, in ${unit.name}`, ['Library', 'Events', `Time ${unit.name}`, 'Busy'],
            kinds.map((row) => [row.kind, fmt.int(row.events), fmt.timeIn(row.device_ns, unit), fmt.timeIn(row.busy_ns, unit)]), 1));
}
