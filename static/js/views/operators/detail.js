/** What an operator's row opens: its whole name, per-call times, the call stacks that led to it, the way to its kernels. */

import { h, fill } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { timelineLink } from '../timeline/links.js';
import { fullName, figures, plainTable, knowsCalls } from '../../table/detail_parts.js';
import { nameText } from '../../table/columns.js';
import { showFailure } from '../../lib/states.js';
import { frameList } from '../../lib/frames.js';
import { searchWord } from '../../lib/names.js';
import { frameBox, noStacks } from '../stacks/frames.js';
import { deviceWord } from '../../lib/fmt.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const STACKS = 50;
/** Shown of an operator's kernels, and launch configurations among which they are looked for. */
const KERNELS = 8;
const LAUNCHES = 5000;

/**
 * @param {string} id of the trace
 * @param {Trace} trace
 * @param {Row} row
 * @param {string} group
 */
export function operatorDetail(id, trace, row, group) {
    const device = deviceWord(trace.device_type);
    /** @type {[string, string][]} */
    const pairs = [['Calls', fmt.int(row.calls)]];
    if (row.device_self_ns !== undefined && row.device_self_ns !== null && trace.device_type !== 'CPU') {
        pairs.push([`${device} self`, fmt.time(row.device_self_ns)], [`${device} total`, fmt.time(row.device_total_ns)]);
        if (knowsCalls(trace)) pairs.push([`${device} call p50 / p95 / p99`, fmt.times([row.device_p50_ns, row.device_p95_ns, row.device_p99_ns])]);
    }
    pairs.push(['Host self', fmt.time(row.host_self_ns)], ['Host total', fmt.time(row.host_total_ns)]);
    if (knowsCalls(trace)) pairs.push(['Host call p50 / p95 / p99', fmt.times([row.host_p50_ns, row.host_p95_ns, row.host_p99_ns])]);
    const stacks = h('div', { class: 'stacks' });
    loadStacks(stacks, trace, row, group, device);
    const kernels = h('div', { class: 'launches' });
    const hasKernels = trace.views.includes('kernels') && row.device_total_ns > 0;
    if (hasKernels) loadKernels(kernels, id, row.name);
    return h('div', null, fullName(row.name),
        row.input_shape ? h('p', null, h('span', { class: 'quiet' }, 'Input shape '), h('code', null, row.input_shape)) : null,
        figures(pairs),
        hasView(trace, 'calls') ? h('p', null, h('a', { href: traceHref(id, 'calls', { q: row.name }) }, 'Show in call tree')) : null,
        timelineLink(trace, row.name, 'Show in timeline'), kernels, stacks);
}

/** The kernels that the operator itself launched, largest first. @param {HTMLElement} box @param {string} id @param {string} operator */
async function loadKernels(box, id, operator) {
    try {
        const page = await api.rows(id, 'kernels', { group_by: 'launch', sort: 'total_ns', order: 'desc', limit: LAUNCHES });
        /** @type {Map<string, {calls: number, total: number}>} */
        const byName = new Map();
        for (const launch of page.rows.filter((item) => item.operator === operator)) {
            const sum = byName.get(launch.name) ?? { calls: 0, total: 0 };
            byName.set(launch.name, { calls: sum.calls + launch.calls, total: sum.total + launch.total_ns });
        }
        const rows = [...byName].sort(([, a], [, b]) => b.total - a.total);
        if (rows.length === 0) return;
        const unit = fmt.timeUnit(rows[0][1].total);
        const more = rows.length - KERNELS;
        fill(box, h('h3', null, `${fmt.plural(rows.length, 'kernel')} launched by it`),
            plainTable('Kernels launched by it', ['Kernel', 'Launches', 'Total'], rows.slice(0, KERNELS).map(([name, { calls, total }]) => [
                h('a', { href: traceHref(id, 'kernels', { q: searchWord(name) }), 'data-tip': name }, nameText(name)), fmt.int(calls), fmt.time(total, unit)]), 1),
            more > 0 ? h('p', { class: 'quiet' }, `and ${more} more`) : null);
    } catch (error) {
        showFailure(box, error, () => loadKernels(box, id, operator));
    }
}

/** @param {HTMLElement} box @param {Trace} trace @param {Row} row @param {string} group @param {string} device */
async function loadStacks(box, trace, row, group, device) {
    fill(box, h('p', { class: 'quiet' }, 'Loading call stacks …'));
    const byShape = group === 'name_shape';
    try {
        const page = await api.rows(String(trace.id), 'operators', {
            group_by: byShape ? 'name_shape_stack' : 'name_stack', name: row.name, shape: byShape ? row.input_shape : null, limit: STACKS,
        });
        const more = page.total - page.rows.length;
        if (page.total === 0) fill(box, noStacks(trace));
        else fill(box, h('h3', null, fmt.plural(page.total, 'call stack')),
            h('ol', { class: 'stack-list' }, page.rows.map((stack) => stackItem(stack, device, Boolean(page.has_device)))),
            more > 0 ? h('p', { class: 'quiet' }, `and ${fmt.int(more)} more`) : null);
    } catch (error) {
        showFailure(box, error, () => loadStacks(box, trace, row, group, device));
    }
}

/** @param {Row} stack @param {string} device @param {boolean} hasDevice */
function stackItem(stack, device, hasDevice) {
    const time = hasDevice ? `${device} self ${fmt.time(stack.device_self_ns)}, host self ${fmt.time(stack.host_self_ns)}` : `host self ${fmt.time(stack.host_self_ns)}`;
    return h('li', null, h('p', { class: 'stack-head' }, `${fmt.plural(stack.calls, 'call')}, ${time}`), frameBox(frameList(String(stack.call_stack ?? ''))));
}
