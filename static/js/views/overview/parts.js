/** The quieter parts of the overview: advice, health, devices, where the trace came from. */

import { h, icon, copy } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { howTo, isCode } from '../../lib/record_advice.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @param {Overview} data */
export function advice({ trace, recommendations, has_steps: hasSteps }) {
    /** @param {Advice} item */
    const row = ({ text, evidence, documentation, saving_ns: ns }) => h('li', null, text,
        h('span', { class: 'advice-more' }, [
            ns === null ? null : h('strong', null, `Saves up to ${fmt.time(ns)}${hasSteps ? ' a step' : ''}`),
            evidence && hasView(trace, evidence.split('?')[0]) ? h('a', { href: `#/traces/${trace.id}/${evidence}` }, 'Evidence') : null,
            documentation ? h('a', { href: documentation, rel: 'noreferrer' }, 'Documentation') : null,
        ].filter(Boolean)));
    return h('section', { class: 'section' }, h('h2', null, 'Recommendations'),
        recommendations.length
            ? h('ul', { class: 'advice' }, recommendations.map(row))
            : h('p', { class: 'quiet' }, 'Nothing stands out: no rule of thumb applies to this trace.'));
}

/** Views in words. @type {Record<string, string>} */
const VIEW_WORDS = {
    memory: 'Memory', modules: 'Modules', module: 'Modules', call_stacks: 'Call stacks', shapes: 'Input shapes', kernels: 'Kernels', steps: 'Steps',
    distributed: 'Distributed', lightning: 'Lightning', operators: 'Operators', calls: 'Launches', copies: 'Copies', graph_nodes: 'Kernels of graphs', op_types: 'Op types',
};

/** @param {Overview} data */
export function health({ trace, health: { warnings, missing, odd_steps: odd } }) {
    return h('section', { class: 'section', id: 'health' }, h('h2', null, 'Trace health'),
        warnings.length ? h('ul', { class: 'warnings' }, warnings.map(warningItem)) : h('p', { class: 'sound' }, 'Read in full, nothing repaired.'),
        hasView(trace, 'contents') ? h('p', { class: 'quiet' }, h('a', { href: traceHref(trace.id, 'contents') }, 'What was read and what was left out')) : null,
        odd.length ? h('ul', { class: 'warnings' }, odd.map(({ place, duration_ns: ns, median_ns: median }) => h('li', null,
            `The ${place} step takes ${fmt.time(ns)}, the median ${fmt.time(median)}: cut off, or warming up.`))) : null,
        missing.length ? h('div', null, h('h3', null, 'Not in this trace'),
            h('dl', { class: 'missing' }, missing.map(({ view, reason, record }) => h('div', null,
                h('dt', null, VIEW_WORDS[view] ?? view),
                h('dd', null, `${reason.replace(/\.$/, '')}.`, record ? howTo(record) : null,
                    view === 'memory' && hasView(trace, 'memory') ? [' ', h('a', { href: traceHref(trace.id, 'memory') }, 'Memory counters')] : null)))), profilerCall(missing)) : null);
}

/** The call of the profiler that records what this trace lacks. @param {Missing[]} missing */
function profilerCall(missing) {
    const options = [...new Set(missing.filter(({ record }) => record && isCode(record)).flatMap(({ record }) => optionsOf(record)))];
    if (options.length === 0) return null;
    const lines = ['with torch.profiler.profile(', ...options.map((option) => `    ${option.replace(/(?<![.\w])ProfilerActivity/g, 'torch.profiler.ProfilerActivity')},`), ') as prof:', ...(options.some((option) => option.startsWith('schedule=')) ? ['    ...', '    prof.step()  # once a step'] : ['    ...'])].join('\n');
    return h('div', null, h('p', null, 'All of it at once:'), h('pre', { class: 'profiler-call' }, h('code', null, lines)),
        h('button', { class: 'button small', type: 'button', onclick: () => copy(lines, 'Call copied') }, icon('copy'), 'Copy'));
}

/** "with_stack=True, with_modules=True" in parts; a comma in brackets parts nothing. @param {string} record */
const optionsOf = (record) => record.split(/,\s*(?![^([]*[)\]])/).filter((part) => /^\w+=/.test(part));

/** @param {Warning} warning */
function warningItem({ message, count, first_offset: offset }) {
    const where = offset === null || offset === undefined ? null : `first at byte ${fmt.int(offset)}`;
    return h('li', null, h('span', null, message), h('span', { class: 'quiet' }, [count > 1 ? `${fmt.int(count)} times` : 'once', where].filter(Boolean).join(', ')));
}

/** @param {Overview} data */
export function devices({ devices: list, device_type: type, tensor_core: matrix }) {
    if (list.length === 0) return null;
    const word = fmt.deviceWord(type);
    /** @type {[string, (device: Device) => any, boolean?][]} label, figure, whether it has a bar */
    const columns = [
        ['Memory', (device) => (device.memory_bytes === null ? null : fmt.bytes(device.memory_bytes))],
        ['Compute capability', (device) => device.compute_capability],
        [list.some((device) => device.utilisation_of === 'window') ? 'Busy, of its window' : 'Busy, of the steps', (device) => device.utilisation, true],
        ['SM efficiency (est.)', (device) => device.sm_efficiency, true],
        ['Occupancy (est.)', (device) => (device.occupancy_pct === null ? null : device.occupancy_pct / 100), true],
        [`${matrix?.name ?? 'Tensor Cores'}, of kernel time`, (device) => (type === 'MLU' ? null : device.tensor_core_share), true],
    ];
    // What no device knows is no column.
    const shown = columns.filter(([, figure]) => list.some((device) => figure(device) !== null && figure(device) !== undefined));
    return h('section', { class: 'section' }, h('h2', null, list.length === 1 ? word : `${word}s`),
        h('div', { class: 'scroll-x', tabindex: '0', role: 'region', 'aria-label': `${word} summary` },
            h('table', { class: 'plain-table device-table' }, h('caption', { class: 'visually-hidden' }, `${word} summary`),
                h('thead', null, h('tr', null, h('th', { scope: 'col' }, word), shown.map(([label]) => h('th', { scope: 'col', class: 'kind-int' }, label)))),
                h('tbody', null, list.map((device) => h('tr', null,
                    h('th', { scope: 'row' }, `${word} ${device.id}`, device.name ? h('span', { class: 'quiet' }, ` ${device.name}`) : null),
                    shown.map(([label, figure, bar]) => deviceCell(label, figure(device), bar))))))));
}

/** The label stands in the head, and on a phone before the figure. @param {string} label @param {any} value @param {boolean} [bar] */
function deviceCell(label, value, bar) {
    if (!bar) return h('td', { class: 'kind-int', 'data-label': label }, value ?? '–');
    const cell = h('td', { class: 'kind-share', 'data-label': label }, fmt.share(value));
    cell.style.setProperty('--w', `${100 * (value ?? 0)}%`);
    return cell;
}

/** @param {Overview} data */
export function about({ trace, environment }) {
    /** @type {[string, any][]} */
    const facts = [
        ...environment.map(({ name, value }) => /** @type {[string, any]} */ ([name, value])),
        ['File', h('a', { href: api.rawUrl(trace.id), download: '' }, trace.file_name)],
        ['Format', trace.format],
        ['Size', fmt.bytes(trace.size_bytes)],
        ['Events', fmt.int(trace.events)],
        ['Duration', fmt.time(trace.duration_ns)],
        ['Uploaded', h('time', { datetime: trace.uploaded_at, title: fmt.date(trace.uploaded_at) }, fmt.ago(trace.uploaded_at))],
        ['SHA-256', h('code', { class: 'hash', title: trace.sha256 }, trace.sha256.slice(0, 12))],
    ];
    return h('section', { class: 'section' }, h('h2', null, 'About this trace'),
        h('dl', { class: 'figures' }, facts.map(([term, value]) => h('div', null, h('dt', null, term), h('dd', null, value)))));
}
