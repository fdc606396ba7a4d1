/** Where a step's time goes: a column a step, and the average as a doughnut with its table. */

import { h } from '../../lib/dom.js';
import { stepColumns } from '../../charts/charts.js';
import { roleColour } from '../../lib/colours.js';
import { ranking } from '../../charts/ranking.js';
import { go, setParams, traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { plainTable } from '../../table/detail_parts.js';
import { stepHref, timelineSpan } from '../timeline/links.js';
import * as fmt from '../../lib/fmt.js';

/** @param {Overview} data */
export function breakdown(data) {
    let hidden = /** @type {string[]} */ ([]);
    const { roles, step_rows: steps } = data;
    const canvas = h('canvas', { role: 'img', 'aria-label': `Time of ${fmt.plural(steps.length, 'step')} by what it went to; press the table button for figures` });
    const chartBox = h('div', { class: 'step-chart' }, canvas);
    const tableBox = h('div', { class: 'step-chart-table', hidden: true });
    const switchButton = h('button', {
        class: 'button small', type: 'button', 'aria-pressed': 'false', onclick: () => {
            const show = tableBox.hidden;
            if (show && tableBox.childElementCount === 0) tableBox.append(stepFigures(data.trace, roles, steps));
            tableBox.hidden = !show;
            chartBox.hidden = show;
            switchButton.setAttribute('aria-pressed', String(show));
        },
    }, 'As a table');
    const labels = new Map(roles.map(({ role, label }) => [label, role]));
    const whole = data.average_step_ns ?? data.trace.duration_ns;
    const unit = fmt.timeUnit(whole);
    const average = ranking({
        href: (label) => roleHref(data.trace, roles.find((role) => role.label === label)),
        title: data.has_steps ? 'Average step' : 'Whole trace', print: (ns) => fmt.time(ns, unit), emptyText: 'No step time was recorded.',
        off: () => roles.filter(({ role }) => hidden.includes(role)).map(({ label }) => label),
        onToggle: (label) => {
            const role = labels.get(label) ?? '';
            const next = hidden.includes(role) ? hidden.filter((item) => item !== role) : [...hidden, role];
            setParams({ hide: next.join(',') }, { replace: true });
        },
    });
    /** @type {Promise<import('../../charts/charts.js').LiveChart> | undefined} */
    let columns;

    const root = h('section', { class: 'section breakdown' },
        h('div', { class: 'breakdown-steps' }, h('div', { class: 'section-head' }, h('h2', null, 'Where the time goes'), steps.length ? switchButton : null),
            steps.length ? [chartBox, tableBox] : h('p', { class: 'quiet' }, 'No steps are marked: the times are of the whole trace.')),
        average.root);

    function showAverage() {
        const slices = roles.map(({ role, label, mean_ns: value, share }) => ({ name: label, value, share, colour: () => roleColour(role) }));
        average.show(slices, whole);
    }

    return {
        root,
        draw() {
            if (steps.length) columns = stepColumns(canvas, { steps, roles, hidden: () => hidden, onPick: (step) => hasView(data.trace, 'timeline') && go(stepHref(data.trace.id, step)) });
        },
        /** @param {URLSearchParams} params */
        update(params) {
            hidden = params.get('hide')?.split(',').filter(Boolean) ?? [];
            showAverage();
            columns?.then((live) => {
                const chart = live.chart();
                roles.forEach(({ role }, index) => chart?.setDatasetVisibility(index, !hidden.includes(role)));
                chart?.update('none');
            });
        },
        destroy() {
            average.destroy();
            columns?.then((live) => live.destroy());
        },
    };
}

/** Where the events of a part of a step are listed: a view and its state, the first that the trace has. @type {Record<string, [string, Record<string, string>][]>} */
const ROLE_PLACES = {
    kernel: [['kernels', {}]],
    communication: [['kernels', { class: 'communication' }], ['operators', { q: '/nccl|gloo/' }]],
    memcpy: [['slices', { q: 'Memcpy' }]],
    memset: [['slices', { q: 'Memset' }]],
    runtime: [['slices', { group: 'category', q: 'runtime' }]],
    dataloader: [['operators', { q: 'DataLoader' }]],
    cpu_exec: [['operators', { sort: 'host_self_ns', order: 'desc' }]],
    other: [['timeline', {}]],
};

/** @param {Trace} trace @param {Role | undefined} role */
function roleHref(trace, role) {
    const place = role?.mean_ns ? ROLE_PLACES[role.role]?.find(([view]) => hasView(trace, view)) : undefined;
    return place ? traceHref(trace.id, ...place) : null;
}

/** @param {Trace} trace @param {Role[]} roles @param {Step[]} steps */
function stepFigures(trace, roles, steps) {
    const unit = fmt.timeUnit(Math.max(...steps.map(({ duration_ns: ns }) => ns)));
    return plainTable(`Time of each step, in ${unit.name}`, ['Step', 'Total', ...roles.map(({ label }) => label)], steps.map((step) => [
        timelineSpan(trace, step.start_ns, step.start_ns + step.duration_ns, step.name), fmt.timeIn(step.duration_ns, unit), ...roles.map(({ role }) => fmt.timeIn(Number(step[`${role}_ns`] ?? 0), unit))]), 1);
}
