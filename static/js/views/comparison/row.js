/** What a row of the comparison opens: its whole name, beta in each cycle of both sides, the other metrics of the function. */

import { h, fill } from '../../lib/dom.js';
import { sideLines, percentScale } from '../../charts/cycle_charts.js';
import { scoreText, shortLabels, sideKey } from './sides.js';
import { NO_METRIC } from './parts.js';
import { fullName, figures, plainTable } from '../../table/detail_parts.js';
import { showFailure } from '../../lib/states.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @param {Comparison} data */
export function rowDetail(data) {
    /** @type {Promise<import('../../charts/charts.js').LiveChart>[]} */
    const live = [];
    const leaving = new AbortController();
    const { labels } = data.summary;

    /** @param {Row} row */
    function open(row) {
        const series = h('div', { class: 'beta-series' });
        if (data.trace_id === null) load(series, row);
        else fill(series, h('p', { class: 'quiet' }, 'An uploaded report holds means, not single cycles: upload the traces to see β of each.'));
        return h('div', null, fullName(row.function), figures(facts(row)), series, otherMetrics(data, row));
    }

    /** @param {HTMLElement} box @param {Row} row */
    async function load(box, row) {
        fill(box, h('p', { class: 'quiet' }, 'Loading its cycles …'));
        try {
            const { base, candidate } = await api.betaSeries(data.id, /** @type {any} */ (row), leaving.signal);
            if (base.beta_pct.length + candidate.beta_pct.length === 0) {
                fill(box, h('p', { class: 'quiet' }, 'The traces are not there any more, and with them β of each cycle.'));
                return;
            }
            draw(box, row, { base: base.beta_pct, candidate: candidate.beta_pct });
        } catch (error) {
            showFailure(box, error, () => load(box, row));
        }
    }

    /** @param {HTMLElement} box @param {Row} row @param {Sides<number[]>} values */
    function draw(box, row, values) {
        const canvas = h('canvas', { role: 'img', 'aria-label': `β of each cycle of ${labels.join(' and ')}; press the table button for figures` });
        const chartBox = h('div', { class: 'beta-chart' }, canvas);
        const tableBox = h('div', { class: 'step-chart-table', hidden: true });
        const button = h('button', {
            class: 'button small', type: 'button', 'aria-pressed': 'false', onclick: () => {
                const show = tableBox.hidden;
                if (show && tableBox.childElementCount === 0) tableBox.append(betaTable(values, labels));
                tableBox.hidden = !show;
                chartBox.hidden = show;
                button.setAttribute('aria-pressed', String(show));
            },
        }, 'As a table');
        fill(box, h('div', { class: 'section-head' }, h('h3', null, 'β in each cycle'), sideKey(labels), h('div', { class: 'section-tools' }, button)), chartBox, tableBox,
            sparse(row, values) ? h('p', { class: 'quiet' }, 'Cycles without it stand at 0; the dashed means are of those that have it.') : null);
        const means = { base: row.base_beta_pct, candidate: row.candidate_beta_pct };
        live.push(sideLines(canvas, () => ({ values, means, labels, scale: percentScale(), xTitle: 'Cycle', fromZero: true })));
    }

    return {
        open,
        destroy() {
            leaving.abort();
            live.forEach((chart) => chart.then((drawn) => drawn.destroy()));
        },
    };
}

/** Whether some cycle has no such row. @param {Row} row @param {Sides<number[]>} values */
const sparse = (row, { base, candidate }) => (row.base_cycles ?? 0) < base.length || (row.candidate_cycles ?? 0) < candidate.length;

/** @param {Row} row @returns {[string, string][]} */
function facts(row) {
    /** @type {[string, string][]} */
    const list = [
        ['Metric', row.metric], ['Device', row.device],
        ['β', `${fmt.num(row.base_beta_pct)} to ${fmt.percent(row.candidate_beta_pct)}`],
        ['μ', row.metric === NO_METRIC ? '–' : `${fmt.metric(row.base_mu)} to ${fmt.metric(row.candidate_mu)}`],
        ['z of β / μ / log μ', [row.z_beta, row.z_mu, row.z_log_mu].map(fmt.signedMetric).join(' / ')],
        ...(row.presence === 'both' || row.p_presence === null ? [] : [/** @type {[string, string]} */ (['p of being there (Fisher)', fmt.chance(row.p_presence)])]),
        ['p of β / μ', [row.presence === 'both' ? row.p_beta : null, row.p_mu].map(fmt.chance).join(' / ')],
        ['U test, p of β / μ', [row.u_beta, row.u_mu].map(fmt.chance).join(' / ')],
    ];
    if (row.q_beta !== null || row.q_mu !== null) list.push(['q of β / μ', [row.q_beta, row.q_mu].map(fmt.chance).join(' / ')]);
    if (row.base_cycles !== null) list.push(['In cycles', `${fmt.int(row.base_cycles)} / ${fmt.int(row.candidate_cycles)}`]);
    return list;
}

/** @param {Comparison} data @param {Row} row */
function otherMetrics({ rows, summary: { labels } }, row) {
    const others = rows.filter((other) => other.function === row.function && other.device === row.device && other.metric !== row.metric);
    if (others.length === 0) return null;
    const corrected = rows.some((other) => other.q_mu !== null);
    return h('div', { class: 'launches' }, h('h3', null, 'Its other metrics'),
        plainTable('Other metrics of the function', ['Metric', 'Score', ...shortLabels(labels).map((label) => `μ ${label}`), 'Δμ', 'p(μ)', ...(corrected ? ['q(μ)'] : [])],
            others.map((other) => [other.metric, scoreText(other.score), fmt.metric(other.base_mu), fmt.metric(other.candidate_mu), fmt.signedMetric(other.delta_mu), fmt.chance(other.p_mu),
                ...(corrected ? [fmt.chance(other.q_mu)] : [])]), 1));
}

/** @param {Sides<number[]>} values @param {[string, string]} labels */
function betaTable({ base, candidate }, labels) {
    const count = Math.max(base.length, candidate.length);
    return plainTable('β of each cycle, in percent', ['Cycle', ...labels],
        Array.from({ length: count }, (_, index) => [fmt.int(index + 1), fmt.num(base[index]), fmt.num(candidate[index])]), 1);
}
