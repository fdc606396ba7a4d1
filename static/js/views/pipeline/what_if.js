/** Who makes the job slower than ideal: types of operations, stages, replicas, the worst ranks. */

import { h } from '../../lib/dom.js';
import { plainTable } from '../../table/detail_parts.js';
import * as fmt from '../../lib/fmt.js';

/** Replicas that are listed, the slowest first. */
const MOST = 20;
/** Steps that are listed. */
const STEPS = 100;

const times = (/** @type {number} */ value) => fmt.num(value, 3);

/** @param {import('./api.js').WhatIf} data */
export function whatIfParts(data) {
    return h('section', { class: 'section' }, h('h2', null, 'Without stragglers'),
        h('p', { class: 'verdict-text' }, sentence(data)),
        data.missing.length > 0 ? h('p', { class: 'quiet' }, `The traces name no ${data.missing.join(', ')}: the figures leave them out.`) : null,
        h('div', { class: 'what-if-parts' },
            part('By type of operation', 'Type', data.by_optype, (name) => name),
            part('By stage', 'Stage', data.by_stage, (name) => `Stage ${name}`),
            part('By replica', 'Replica', data.by_dp_rank, (name) => `Replica ${name}`)),
        h('div', { class: 'what-if-parts' }, changes(data), steps(data)));
}

/** @param {import('./api.js').WhatIf} data */
function sentence({ slowdown, by_optype: types, by_stage: stages, by_dp_rank: replicas, worst_ranks: worst, last_stage: last }) {
    if (slowdown < 1.01) return 'All operations take about the same: there are no stragglers to speak of.';
    const most = [...Object.entries(types), ...Object.entries(stages).map(([name, value]) => /** @type {[string, number]} */ ([`stage ${name}`, value])),
        ...Object.entries(replicas).map(([name, value]) => /** @type {[string, number]} */ ([`replica ${name}`, value]))].sort((a, b) => b[1] - a[1])[0];
    const of = (/** @type {number | null} */ value) => (value === null ? 'an unknown part' : fmt.share(value));
    return `The job takes ${times(slowdown)} times the ideal. Most of it comes with ${most ? `${most[0]} (${times(most[1])} times alone)` : 'no single part'}. Ideal operations on ${worst.ranks.length === 1 ? `rank ${worst.ranks[0]}` : `the ${worst.ranks.length} worst ranks`} would take away ${of(worst.removal)} of the delay, on the last stage ${of(last.removal)}.`;
}

/** @param {string} title @param {string} head @param {Record<string, number>} values @param {(name: string) => string} words */
function part(title, head, values, words) {
    const list = Object.entries(values).sort((a, b) => b[1] - a[1]);
    return h('section', { class: 'section' }, h('h3', { 'data-tip': 'Times the ideal, with this part alone on its own pace' }, title), list.length > MOST ? h('p', { class: 'quiet' }, `The slowest ${MOST} of ${fmt.int(list.length)}.`) : null,
        plainTable(title, [head, 'Slowdown'], list.slice(0, MOST).map(([name, value]) => [words(name), times(value)]), 1));
}

/** @param {import('./api.js').WhatIf} data */
function changes({ worst_ranks: worst, last_stage: last }) {
    const line = (/** @type {string} */ name, /** @type {import('./api.js').Change} */ change) => [name, fmt.time(change.removed_s * 1e9), fmt.share(change.removal), fmt.time(change.added_s * 1e9), fmt.share(change.addition)];
    return h('section', { class: 'section' }, h('h3', null, 'What it would bring'),
        plainTable('What it would bring', ['Part', 'Step if ideal', 'Delay away', 'Step if alone', 'Delay alone'], [
            line(`Worst ranks: ${worst.ranks.slice(0, 8).join(', ')}${worst.ranks.length > 8 ? ' …' : ''}`, worst), line('Last stage', last)], 1));
}

/** @param {import('./api.js').WhatIf} data */
function steps({ steps: list }) {
    return h('section', { class: 'section' }, h('h3', null, 'Steps'), list.length > STEPS ? h('p', { class: 'quiet' }, `The first ${STEPS} of ${fmt.int(list.length)}.`) : null,
        plainTable('Steps', ['Step', 'Measured', 'Without delays', 'Ideal', 'Slowdown'], list.slice(0, STEPS).map((step) => [
            `Step ${step.step}`, fmt.time(step.measured_s * 1e9), fmt.time(step.no_delay_s * 1e9), fmt.time(step.ideal_s * 1e9), times(step.slowdown)]), 1));
}
