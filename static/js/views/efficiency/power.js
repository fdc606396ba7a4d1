/** Energy, where the recorder wrote counters of power: of devices, classes of work, steps and tokens. */

import { h, fill } from '../../lib/dom.js';
import { showFailure } from '../../lib/states.js';
import { plainTable } from '../../table/detail_parts.js';
import { call, isAbort } from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** Steps in the table; the API has all. */
const STEPS = 50;

/** @param {number | null} joule */
const energy = (joule) => fmt.si(joule, 'J');

/** @param {string} id @param {'device' | 'class' | 'step'} by @param {Record<string, string | number>} order @param {AbortSignal} signal @returns {Promise<PowerTable>} */
const ask = (id, by, order, signal) => call(`traces/${id}/power`, { query: { group_by: by, limit: STEPS, ...order }, signal });

/** @param {string} caption @param {string} first @param {PowerRow[]} rows @param {boolean} hasTokens */
function table(caption, first, rows, hasTokens = false) {
    const clocked = rows.some(({ clock_mhz: clock }) => clock !== null);
    return plainTable(caption, [first, 'Energy', 'Share', 'Power', 'Time', ...(clocked ? ['Clock'] : []), ...(hasTokens ? ['Tokens', 'A token'] : [])], rows.map((row) => [
        row.name, energy(row.energy_j), fmt.share(row.share), fmt.si(row.mean_w, 'W'), row.name === 'idle' ? '–' : fmt.time(row.time_ns),
        ...(clocked ? [row.clock_mhz === null ? '–' : `${fmt.int(Math.round(row.clock_mhz))} MHz`] : []),
        ...(hasTokens ? [row.tokens === null ? '–' : fmt.int(row.tokens), energy(row.energy_per_token_j)] : [])]), 1);
}

/** What it took and where, in one glance. @param {PowerTable} devices @param {PowerTable} classes @param {PowerTable} steps */
function lead({ totals, rows }, classes, steps) {
    const work = classes.rows.filter(({ name }) => name !== 'idle');
    const idle = classes.rows.find(({ name }) => name === 'idle');
    const sampled = steps.rows.filter(({ sampled_ns: ns }) => ns > 0);
    const mean = sampled.length && sampled.length === steps.total ? sampled.reduce((sum, row) => sum + row.energy_j, 0) / sampled.length : null;
    return [h('strong', null, energy(totals.energy_j)), ` in ${fmt.time(totals.sampled_ns)} of samples${rows.length > 1 ? ` of ${fmt.plural(rows.length, 'device')}` : ''}, ${fmt.si(totals.energy_j / (totals.sampled_ns / 1e9), 'W')} on average`,
        work.length ? `; the largest part in ${work[0].name} (${fmt.share(work[0].share)})` : '', idle && Number(idle.share) > 0.005 ? `, ${fmt.share(idle.share)} while no work ran` : '', '.',
        mean === null ? '' : ` A step takes ${energy(mean)}.`, totals.energy_per_token_j === null ? '' : ` A token takes ${energy(totals.energy_per_token_j)}.`];
}

/** @param {string} id of the trace @param {AbortSignal} signal */
export function powerPart(id, signal) {
    const root = h('section', { class: 'section panel', hidden: true });

    async function load() {
        try {
            const devices = await ask(id, 'device', { sort: 'name', order: 'asc' }, signal);
            root.hidden = devices.counters.length === 0;
            if (root.hidden) return;
            const [classes, steps] = await Promise.all([ask(id, 'class', {}, signal), ask(id, 'step', { sort: 'start_ns', order: 'asc' }, signal)]);
            const unused = devices.counters.filter(({ is_used: used }) => !used);
            fill(root, h('h2', null, 'Energy'),
                devices.total === 0 ? h('p', null, 'The recorder wrote counters of power or clocks, but none with two samples of power that says which device it means.')
                    : [h('p', { class: 'lead' }, lead(devices, classes, steps)),
                        table('Energy by device', 'Device', devices.rows), table('Energy by class of device work', 'Class', classes.rows),
                        steps.total > 0 ? table(`Energy by step${steps.total > STEPS ? `, the first ${STEPS} of ${fmt.int(steps.total)}` : ''}`, 'Step', steps.rows, steps.rows.some(({ tokens }) => tokens !== null)) : null,
                        h('p', { class: 'quiet' }, 'A value holds until the next sample; work that runs at once shares the power equally.')],
                unused.length ? h('p', { class: 'quiet' }, `Not used: ${unused.slice(0, 8).map(({ name }) => name.trim()).join(', ')}${unused.length > 8 ? ` and ${fmt.int(unused.length - 8)} more` : ''}.`) : null);
        } catch (error) {
            if (isAbort(error)) return;
            root.hidden = false;
            showFailure(root, error, load);
        }
    }
    return { root, load };
}
