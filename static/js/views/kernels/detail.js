/** What a kernel's row opens: its whole name, its figures, and the launches behind it. */

import { h, fill } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import { fullName, figures, plainTable, knowsCalls } from '../../table/detail_parts.js';
import { showFailure } from '../../lib/states.js';
import { hasView } from '../../app/trace_views.js';
import { loadKernelStacks } from '../stacks/kernel.js';
import { rowUse } from './use.js';
import { timelineLink } from '../timeline/links.js';
import { searchWord } from '../../lib/names.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const LAUNCHES = 20;
/** Formats whose recorder may measure kernels. */
const MEASURING = ['rocprofv3-json', 'ascend-pytorch'];
/**
 * @param {string} id of the trace
 * @param {Trace} trace
 * @param {Row} row
 * @param {string} group
 */
export function kernelDetail(id, trace, row, group) {
    /** @type {[string, string][]} */
    const pairs = [
        ['Launches', fmt.int(row.calls)], ['Total', fmt.time(row.total_ns)], ['Mean', fmt.time(row.mean_ns)],
        ['Shortest', fmt.time(row.min_ns)], ['Longest', fmt.time(row.max_ns)],
    ];
    if (knowsCalls(trace)) pairs.push(['p50 / p95 / p99', fmt.times([row.p50_ns, row.p95_ns, row.p99_ns])]);
    if (trace.device_type !== 'MLU' && !trace.views.includes('utilisation')) pairs.push(['Matrix units', row.matrix_unit === null ? 'unknown' : row.matrix_unit ? 'used' : 'not used']);
    if (row.class) pairs.push(['Class', row.communication_kind ? `${row.class}, ${row.communication_kind}` : row.class]);
    const use = rowUse(row);
    pairs.push(...use.pairs);
    const stacks = h('div', { class: 'stacks' });
    if (hasView(trace, 'timeline')) loadKernelStacks(stacks, trace, row.name);
    const launches = h('div', { class: 'launches' });
    if (group === 'launch') fill(launches, operatorLink(id, row.operator));
    else loadLaunches(launches, id, row);
    const metrics = h('div', { class: 'metrics' });
    if (MEASURING.includes(trace.format)) loadMetrics(metrics, id, row.name);
    return h('div', null, fullName(row.name), use.text, figures(pairs), metrics, stacks, timelineLink(trace, row.name, 'Show in timeline'), launches);
}

/** @param {string} id @param {string} name */
function operatorLink(id, name) {
    return name ? h('p', null, 'Launched by ', h('a', { href: traceHref(id, 'operators', { q: name }) }, name)) : null;
}

/** What the recorder measured at its launches. @param {HTMLElement} box @param {string} id @param {string} kernel */
async function loadMetrics(box, id, kernel) {
    try {
        const page = await api.rows(id, 'kernels', { group_by: 'metric', sort: 'metric', order: 'asc', q: searchWord(kernel), limit: 1000 });
        const rows = page.rows.filter(({ name }) => name === kernel);
        if (rows.length === 0) return;
        fill(box, h('h3', null, 'Measured on the device'),
            plainTable('Metrics of the kernel', ['Metric', 'Launches', 'Mean', 'Mean by time', 'Least', 'Most'],
                rows.map((metric) => [metric.metric, fmt.int(metric.calls), ...[metric.mean, metric.mean_by_time, metric.min, metric.max].map((value) => (Math.abs(value) < 1 ? fmt.num(value, 3) : fmt.metric(value)))]), 1));
    } catch (error) {
        showFailure(box, error, () => loadMetrics(box, id, kernel));
    }
}

/** @param {HTMLElement} box @param {string} id @param {Row} row */
async function loadLaunches(box, id, row) {
    fill(box, h('p', { class: 'quiet' }, 'Loading launches …'));
    try {
        const page = await api.rows(id, 'kernels', { group_by: 'launch', q: searchWord(row.name), limit: 500 });
        const rows = page.rows.filter(({ name }) => name === row.name);
        if (rows.length === 0) {
            fill(box, h('p', { class: 'quiet' }, 'No operator launched it: the trace has no link between host and device for these launches.'));
            return;
        }
        const unit = fmt.timeUnit(rows[0].total_ns);
        const small = fmt.timeUnit(rows[0].mean_ns);
        const labels = page.config_labels ?? [];
        const operators = [...new Set(rows.map(({ operator }) => String(operator)))];
        fill(box, h('h3', null, fmt.plural(rows.length, 'launch configuration')),
            plainTable('Launch configurations', ['Operator', ...labels, 'Calls', 'Total', 'Mean'],
                rows.slice(0, LAUNCHES).map((launch) => [launch.operator, ...launch.config.slice(0, labels.length), fmt.int(launch.calls), fmt.time(launch.total_ns, unit), fmt.time(launch.mean_ns, small)]),
                1 + labels.length),
            rows.length > LAUNCHES ? h('p', { class: 'quiet' }, `and ${rows.length - LAUNCHES} more: group by “Launch and operator” to see all`) : null,
            operators.slice(0, 3).map((name) => operatorLink(id, name)));
    } catch (error) {
        showFailure(box, error, () => loadLaunches(box, id, row));
    }
}
