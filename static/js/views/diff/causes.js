/** Why the devices waited and how well they were used, of both traces: what both sides have, and words where one has not. */

import { h, fill } from '../../lib/dom.js';
import { showFailure, skeleton } from '../../lib/states.js';
import { traceHref } from '../../app/router.js';
import { SIDE_WORDS, SIDES } from '../comparison/sides.js';
import { CAUSES, HOSTS } from '../idle/words.js';
import { ofPeak } from '../efficiency/words.js';
import { deltaText } from './rows.js';
import { call } from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @type {Record<string, string>} */
const FIGURES = { mfu: 'MFU', modelled: 'Time with a formula', headroom: 'Headroom above the roofline', compute: 'Bound by computing', memory: 'Bound by memory', none: 'Bound not known' };
/** @type {Record<string, string>} */
const MISSING = { idle: 'Idle time', efficiency: 'Efficiency', mfu: 'MFU' };
const TITLES = /** @type {[string, string][]} */ ([['idle', 'All idle time'], ['cause', 'Idle, by cause'], ['host', 'Idle, by what the host did'], ['efficiency', 'Efficiency'], ['bound', 'Device time of operators']]);

/** @param {CauseChangeRow} row */
function labelOf({ part, figure }) {
    if (part === 'idle') return 'Idle';
    if (part === 'cause') return CAUSES[/** @type {IdleCauseName} */ (figure)].label;
    return part === 'host' ? HOSTS[/** @type {IdleHostName} */ (figure)].label : FIGURES[figure] ?? figure;
}

/** The largest change of idle time first, then of efficiency. @param {DiffCauses} data */
function sentence({ rows, per }) {
    const idle = rows.find(({ part }) => part === 'idle');
    const each = per === 'step' ? ' a step' : '';
    const texts = [];
    if (idle) {
        const most = rows.filter(({ part }) => part === 'cause').reduce((best, row) => (Math.abs(row.delta) > Math.abs(best.delta) ? row : best));
        const host = rows.filter(({ part }) => part === 'host').reduce((best, row) => (Math.abs(row.delta) > Math.abs(best.delta) ? row : best));
        const more = idle.delta > 0 ? 'longer' : 'shorter';
        texts.push(idle.delta === 0 ? `The devices wait as long as before: ${fmt.time(idle.base)}${each}.`
            : `The devices wait ${fmt.time(Math.abs(idle.delta))}${each} ${more} (${fmt.time(idle.candidate)} instead of ${fmt.time(idle.base)}), most of it ${labelOf(most).toLowerCase()}; of what the host did meanwhile, ${labelOf(host).toLowerCase()} changed most.`);
    }
    const mfu = rows.find(({ figure }) => figure === 'mfu');
    if (mfu) texts.push(`MFU is ${ofPeak(mfu.candidate)} instead of ${ofPeak(mfu.base)}.`);
    return texts.join(' ');
}

/** @param {DiffCauses} data */
function table(data) {
    const shown = data.rows.filter(({ base, candidate }) => base !== 0 || candidate !== 0);
    const print = (/** @type {CauseChangeRow} */ row, /** @type {number} */ value) => (row.unit === 'ns' ? fmt.time(value) : row.figure === 'mfu' ? ofPeak(value) : fmt.share(value));
    const delta = (/** @type {CauseChangeRow} */ row) => (row.unit === 'ns' ? deltaText(row.delta) : `${fmt.signed(100 * row.delta, 1)} pp`);
    const part = (/** @type {[string, string]} */ [key, title]) => {
        const rows = shown.filter((row) => row.part === key);
        return rows.length === 0 ? null : [key === 'idle' ? null : h('tr', { class: 'whole' }, h('th', { scope: 'rowgroup', colspan: '4' }, title)),
            rows.map((row) => h('tr', null, h('th', { scope: 'row' }, labelOf(row)), [row.base, row.candidate].map((value) => h('td', { class: 'col-value' }, print(row, value))), h('td', { class: 'col-value' }, delta(row))))];
    };
    return h('table', { class: 'waterfall' }, h('caption', { class: 'visually-hidden' }, 'Idle time and efficiency of both traces'),
        h('thead', null, h('tr', null, ['', 'Base', 'Candidate', 'Difference'].map((head, at) => h('th', { scope: 'col', class: at ? 'col-value' : '' }, head || h('span', { class: 'visually-hidden' }, 'Figure'))))),
        h('tbody', null, TITLES.map(part)));
}

/** @param {HTMLElement} root @param {Trace} base @param {Trace} candidate @param {AbortSignal} signal */
export async function causes(root, base, candidate, signal) {
    fill(root, h('h2', null, 'Idle time and efficiency'), skeleton('rows'));
    try {
        /** @type {DiffCauses} */
        const data = await call('diff/causes', { query: { base: base.id, candidate: candidate.id }, signal });
        const text = sentence(data);
        fill(root, h('div', { class: 'section-head' }, h('h2', null, `Idle time and efficiency${data.per === 'step' ? ', a step' : ''}`),
            h('p', null, SIDES.map((side) => h('a', { class: 'button small', href: traceHref((side === 'base' ? base : candidate).id, 'idle') }, `Idle time of the ${SIDE_WORDS[side].toLowerCase()}`)))),
        text ? h('p', null, text) : null,
        data.missing.map(({ part, side, reason }) => h('p', { class: 'quiet' }, `${MISSING[part] ?? part} is not compared: of the ${SIDE_WORDS[/** @type {'base' | 'candidate'} */ (side)].toLowerCase()}, ${reason}.`)),
        data.rows.length > 0 ? table(data) : null);
    } catch (error) {
        if (!signal.aborted) showFailure(root, error, () => causes(root, base, candidate, signal));
    }
}
