/** Every (function, metric, device) of a comparison, with its filters and columns. */

import { localTable } from '../../table/localtable.js';
import { rowDetail } from './row.js';
import { ONE_SIDE, SIGNIFICANT, hasMetrics } from './parts.js';
import { scoreText, shortLabels } from './sides.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';


/** @param {Comparison} data */
export function comparisonTable(data) {
    const rows = data.rows.map((row) => ({ ...row, name: row.function }));
    const corrected = data.rows.some((row) => row.q_beta !== null || row.q_mu !== null);
    const detail = rowDetail(data);
    const table = localTable(rows, {
        caption: 'Functions, metrics and devices of both sides',
        noun: ['row', 'rows'],
        search: 'Search functions',
        columns: columns(data, corrected),
        sort: ['score', 'desc'],
        identity: (row) => [row.function, row.metric, row.device].join('\n'),
        filters: filters(data, corrected),
        detail: detail.open,
        // The API has no word for rows of one side.
        csv: ({ q, device, metric, only, sort, order }) => (only === ONE_SIDE ? null
            : api.comparisonUrl(data.id, 'csv', { q, device, metric, significant: only ? 1 : null, sort: SORTS[sort] ?? sort, order })),
    });
    return {
        ...table,
        destroy() {
            table.destroy();
            detail.destroy();
        },
    };
}

/** Columns that the API calls otherwise. @type {Record<string, string>} */
const SORTS = { name: 'function' };

/** @param {Comparison} data @param {boolean} corrected @returns {import('../../table/localtable.js').Filter[]} */
function filters(data, corrected) {
    const { devices, metrics } = data;
    const letter = corrected ? 'q' : 'p';
    const options = (/** @type {string[]} */ list) => list.map((value) => ({ value, label: value }));
    const equal = (/** @type {string} */ field) => (/** @type {Row} */ row, /** @type {string} */ value) => row[field] === value;
    const below = (/** @type {number | null} */ value) => value !== null && value < SIGNIFICANT;
    return [
        { param: 'device', label: 'Device', all: 'All devices', options: options(devices), keep: equal('device') },
        ...(hasMetrics(data) ? [{ param: 'metric', label: 'Metric', all: 'All metrics', options: options(metrics), keep: equal('metric') }] : []),
        {
            param: 'only', label: 'Significance', all: 'Significant or not',
            options: [{ value: 'significant', label: `Significant (${letter} < ${SIGNIFICANT})` }, { value: ONE_SIDE, label: 'Added or removed' }],
            keep: (row, value) => (value === ONE_SIDE ? row.presence !== 'both' : below(row[`${letter}_beta`]) || below(row[`${letter}_mu`]) || below(row.q_presence)),
        },
    ];
}

/** A test of means says nothing of a function that one side does not have. @param {Row} row @param {any} p */
const ofBoth = (row, p) => (row.presence === 'both' ? p : null);

/** @param {Comparison} data @param {boolean} corrected @returns {Column[]} */
function columns(data, corrected) {
    const { devices, summary: { labels } } = data;
    const device = 22 + 7 * Math.min(15, devices.reduce((max, name) => Math.max(max, name.length), 6));
    const [a, b] = shortLabels(labels);
    const two = (/** @type {number} */ value) => fmt.num(value);
    const sign = fmt.signedMetric;
    const wide = Math.max(a.length, b.length) * 7 + 46;
    const corrections = 'corrected for the number of rows (Benjamini-Hochberg)';
    /** @type {Column[]} */
    const list = [
        { key: 'name', label: 'Function', kind: 'name', width: 330, priority: 0 },
        { key: 'metric', label: 'Metric', kind: 'text', width: 160, priority: 2 },
        { key: 'device', label: 'Device', kind: 'text', width: device, priority: 6 },
        { key: 'score', label: 'Score', kind: 'num', width: 76, priority: 1, print: scoreText, help: 'Suspicion: |Δβ| × (|z(β)| + |z(log μ)|)' },
        { key: 'base_beta_pct', label: `β ${a}`, kind: 'num', width: wide, priority: 5, print: two, help: `Share of the cycle in ${labels[0]}, in percent, mean of its cycles` },
        { key: 'candidate_beta_pct', label: `β ${b}`, kind: 'num', width: wide, priority: 4, print: two, help: `Share of the cycle in ${labels[1]}, in percent, mean of its cycles` },
        { key: 'delta_beta', label: 'Δβ', kind: 'num', width: 68, priority: 3, print: sign, help: 'Percentage points of the cycle' },
        { key: 'z_beta', label: 'z(β)', kind: 'num', width: 76, priority: 14, print: sign, help: `Δβ in standard deviations of ${labels[0]}` },
        { key: 'p_beta', label: 'p(β)', kind: 'num', width: 66, priority: corrected ? 12 : 7, print: fmt.chance, value: (row) => ofBoth(row, row.p_beta), help: 'Welch’s t-test: how likely chance alone makes this Δβ; for functions of one side see p(where)' },
        { key: 'q_beta', label: 'q(β)', kind: 'num', width: 66, priority: 7, print: fmt.chance, value: (row) => ofBoth(row, row.q_beta), help: `p(β) ${corrections}` },
        { key: 'u_beta', label: 'U(β)', kind: 'num', width: 66, priority: 15, print: fmt.chance, value: (row) => ofBoth(row, row.u_beta), help: 'p of the Mann-Whitney U test of β' },
        { key: 'base_mu', label: `μ ${a}`, kind: 'num', width: wide + 30, priority: 8, print: fmt.metric, help: `Mean of the metric during the function in ${labels[0]}` },
        { key: 'candidate_mu', label: `μ ${b}`, kind: 'num', width: wide + 30, priority: 9, print: fmt.metric, help: `Mean of the metric during the function in ${labels[1]}` },
        { key: 'delta_mu', label: 'Δμ', kind: 'num', width: 92, priority: 10, print: sign },
        { key: 'z_mu', label: 'z(μ)', kind: 'num', width: 76, priority: 17, print: sign, help: `Δμ in standard deviations of ${labels[0]}` },
        { key: 'z_log_mu', label: 'z(log μ)', kind: 'num', width: 86, priority: 16, print: sign, help: 'The same of ln(1 + μ), as the score uses it' },
        { key: 'p_mu', label: 'p(μ)', kind: 'num', width: 66, priority: 13, print: fmt.chance, help: 'Welch’s t-test of μ' },
        { key: 'q_mu', label: 'q(μ)', kind: 'num', width: 66, priority: 11, print: fmt.chance, help: `p(μ) ${corrections}` },
        { key: 'u_mu', label: 'U(μ)', kind: 'num', width: 66, priority: 18, print: fmt.chance, help: 'p of the Mann-Whitney U test of μ' },
        { key: 'presence', label: 'Where', kind: 'text', width: 70, priority: 19, help: 'On both sides, added by the candidate or removed' },
        { key: 'p_presence', label: 'p(where)', kind: 'num', width: 80, priority: 10, print: fmt.chance, help: 'Fisher’s exact test of the cycles that have the function: how likely chance alone puts them so' },
        { key: 'q_presence', label: 'q(where)', kind: 'num', width: 80, priority: 19, print: fmt.chance, help: `p(where) ${corrections}` },
        { key: 'base_cycles', label: `In cycles, ${a}`, kind: 'int', width: 120, priority: 20 },
        { key: 'candidate_cycles', label: `In cycles, ${b}`, kind: 'int', width: 120, priority: 21 },
    ];
    return list.filter(({ key }) => (corrected || !/^q_|_cycles$/.test(key)) && (hasMetrics(data) || !/mu$|^metric$/.test(key)));
}
