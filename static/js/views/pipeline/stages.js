/** What the stages of the pipeline leave idle, against what its shape alone would. */

import { h } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { plainTable } from '../../table/detail_parts.js';
import { localTable } from '../../table/localtable.js';
import * as fmt from '../../lib/fmt.js';

const figure = (/** @type {number | null} */ share) => (share === null ? /** @type {[string, string]} */ (['–', '']) : fmt.shareParts(share));
const times = (/** @type {number} */ value) => fmt.num(value, 3);

/** @param {import('./api.js').Pipeline} data @param {import('./api.js').WhatIf | null} whatIf */
export function pipelineAnswers(data, whatIf) {
    const worst = stageMeans(data).sort((a, b) => b.bubble - a.bubble)[0];
    return h('dl', { class: 'answers' },
        answer('Bubble', figure(data.bubble), [`of the time of ${fmt.plural(data.stages, 'stage')} no stage computes; mean of all. Its shape alone gives ${data.theory === null ? '–' : fmt.share(data.theory)}`], 'first'),
        answer('Emptiest stage', worst ? [`Stage ${worst.stage}`, ''] : ['–', ''], [worst ? `${fmt.share(worst.bubble)} bubble: it waits for the others` : '']),
        answer('Micro-batches', [fmt.num(data.microbatches, Number.isInteger(data.microbatches) ? 0 : 1), ''], [`${fmt.plural(data.chunks, 'chunk')} a stage; more micro-batches shrink the bubble`]),
        whatIf ? answer('Without stragglers', fmt.timeParts(whatIf.ideal_s * 1e9), [`a step instead of ${fmt.time(whatIf.no_delay_s * 1e9)}: ${times(whatIf.slowdown)} times the ideal. Late launches: ${times(whatIf.launch_slowdown)} times`]) : null);
}

/** Means over steps and replicas. @param {import('./api.js').Pipeline} data */
function stageMeans({ rows }) {
    /** @type {Map<number, PipelineStageRow[]>} */
    const stages = new Map();
    for (const row of rows) {
        const list = stages.get(row.stage);
        if (list) list.push(row);
        else stages.set(row.stage, [row]);
    }
    const mean = (/** @type {PipelineStageRow[]} */ list, /** @type {(row: PipelineStageRow) => number} */ value) => list.reduce((sum, row) => sum + value(row), 0) / list.length;
    return [...stages].sort(([a], [b]) => a - b).map(([stage, list]) => ({
        stage, bubble: mean(list, ({ bubble }) => bubble ?? 0), compute: mean(list, ({ compute_ns: ns }) => ns), window: mean(list, ({ window_ns: ns }) => ns),
        before: mean(list, ({ before_first_ns: ns }) => ns), after: mean(list, ({ after_last_ns: ns }) => ns) }));
}

/** @param {import('./api.js').Pipeline} data */
export function stageBars(data) {
    const means = stageMeans(data);
    const theory = data.theory;
    return h('section', { class: 'section' }, h('h2', null, 'Bubble by stage'),
        plainTable('Means over steps and replicas', ['Stage', 'Computes, before its first, after its last, between', 'Bubble', 'Against theory', 'Computes'], means.map((stage) => [
            `Stage ${stage.stage}`, stageBar(stage), fmt.share(stage.bubble), theory === null ? '–' : `${fmt.signed(100 * (stage.bubble - theory), 1)} points`, fmt.time(stage.compute)]), 2));
}

/** @param {{compute: number, window: number, before: number, after: number}} stage */
function stageBar({ compute, window, before, after }) {
    const whole = Math.max(1, window);
    const part = (/** @type {string} */ name, /** @type {number} */ ns) => {
        const span = h('span', { class: name });
        span.style.setProperty('--w', `${Math.max(0, (100 * ns) / whole)}%`);
        return span;
    };
    const between = Math.max(0, window - compute - before - after);
    return h('span', { class: 'stage-bar', 'data-tip': `Computes ${fmt.time(compute)}, waits ${fmt.time(before)} before its first, ${fmt.time(after)} after its last, ${fmt.time(between)} between` },
        part('computes', compute), part('before', before), part('after', after), part('between', between));
}

/** @type {Column[]} */
const COLUMNS = [
    { key: 'name', label: 'Stage', kind: 'name', width: 110, priority: 0, value: (row) => row.stage, print: (stage) => `Stage ${stage}` },
    { key: 'step', label: 'Step', kind: 'int', width: 78, priority: 2 },
    { key: 'dp_rank', label: 'Replica', kind: 'int', width: 88, priority: 3 },
    { key: 'bubble', label: 'Bubble', kind: 'share', width: 120, priority: 1, help: 'Of the window, in which it does not compute' },
    { key: 'window_ns', label: 'Window', kind: 'time', family: 'part', width: 104, priority: 5, help: 'From the first computation of all stages to the end of the last' },
    { key: 'compute_ns', label: 'Computes', kind: 'time', family: 'part', width: 104, priority: 4 },
    { key: 'before_first_ns', label: 'Before first', kind: 'time', family: 'part', width: 116, priority: 6 },
    { key: 'after_last_ns', label: 'After last', kind: 'time', family: 'part', width: 108, priority: 7 },
];

/** @param {string} run @param {import('./api.js').Pipeline} data */
export const stageTable = (run, { rows }) => localTable(/** @type {any[]} */ (rows.map((row) => ({ ...row, name: `Stage ${row.stage} step ${row.step}` }))), {
    caption: 'Stages by step and replica', noun: ['row', 'rows'], search: 'Search stages', columns: COLUMNS, sort: ['bubble', 'desc'], prefix: 't-', file: `pipeline-${run}.csv`,
    identity: (row) => `${row.step} ${row.dp_rank} ${row.stage}`,
});
