/** A comparison: is the candidate different, by how much, through which functions; then every row of it. */

import { h, fill } from '../../lib/dom.js';
import { compareHref } from './compare_links.js';
import { answers, verdict } from './answers.js';
import { environmentStrip } from './environment.js';
import { cycleTimes } from './cycles.js';
import { findings, appeared, counters } from './findings.js';
import { comparisonTable } from './table.js';
import { deleteComparison } from './actions.js';
import { picker } from '../../lib/picker.js';
import { comparisonHref, diffHref, go, setParams } from '../../app/router.js';
import { empty } from '../../lib/states.js';
import { cyclesText, pairText, roleText, scoreText, titleOf, verdictWord } from './sides.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route of a comparison, or of a trace that is an uploaded report
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const id = route.view === 'report' ? route.id : await reportOf(route.id, signal);
    if (id === null) {
        fill(root, h('h1', null, 'Comparison'), empty('No report in this trace', h('p', null, 'Only an uploaded comparison report has this view. ',
            h('a', { href: compareHref({ base: route.id }) }, 'Compare this trace'), ' with another.')));
        return {};
    }
    const data = await api.comparison(id, signal);
    // Processes in words, not base_pid_17.
    data.summary.labels = [data.summary.base.name, data.summary.candidate.name];
    const times = cycleTimes(data);
    const table = comparisonTable(data);
    const rows = h('section', { class: 'section comparison-rows' }, h('h2', null, 'Every function, metric and device'), table.root);
    /** @type {import('./parts.js').Seek} */
    const seek = (patch) => {
        setParams({ q: null, device: null, metric: null, only: null, row: null, ...patch });
        rows.scrollIntoView({ block: 'start' });
        const box = rows.querySelector('.table-scroll');
        if (box instanceof HTMLElement) box.focus({ preventScroll: true });
    };
    fill(root,
        head(data),
        data.trace_id === null ? environmentStrip(data) : null,
        h('div', { class: 'comparison-first' }, verdict(data), answers(data, seek, signal)),
        times.root,
        findings(data, seek),
        appeared(data, seek),
        rows,
        counters(data));
    table.update(route.params);
    return {
        ready: times.update(route.params),
        update(next) {
            table.update(next.params);
            return times.update(next.params);
        },
        destroy() {
            times.destroy();
            table.destroy();
        },
    };
}

/** @param {string} traceId @param {AbortSignal} signal */
async function reportOf(traceId, signal) {
    const trace = await api.trace(traceId, signal);
    return trace.comparison ?? null;
}

/** @param {Comparison} data */
function head(data) {
    const { traces, pairs } = data;
    const sides = { base: traces.base.join(','), candidate: traces.candidate.join(',') };
    return h('div', { class: 'comparison-head' },
        h('div', { class: 'view-head' }, h('h1', null, titleOf(data)), h('div', { class: 'view-tools' },
            h('a', { class: 'button', href: api.comparisonUrl(data.id, 'markdown'), download: '' }, 'Markdown'),
            h('a', { class: 'button', href: api.comparisonUrl(data.id, 'csv'), download: '' }, 'Export CSV'),
            traces.base.length === 1 && traces.candidate.length === 1 ? h('a', { class: 'button', href: diffHref(sides) }, 'What changed') : null,
            sides.base || sides.candidate ? h('a', { class: 'button', href: compareHref(sides) }, 'Edit') : null,
            h('button', { class: 'button danger-text', type: 'button', onclick: () => deleteComparison(data, '#/comparisons') }, 'Delete'))),
        h('p', { class: 'quiet' }, facts(data)),
        pairs.length > 1 ? pairPicker(data.id, pairs) : null);
}

/** @param {Comparison} data */
function facts({ kind, strict, summary: { base, candidate }, trace_id: uploaded, created_at: made }) {
    const roles = roleText({ base_pid: base.pid, candidate_pid: candidate.pid, base_host: base.host, candidate_host: candidate.host });
    const how = strict ? 'the same process on both sides' : 'different processes';
    return [cyclesText(kind), roles || how, `${uploaded === null ? 'compared' : 'uploaded'} ${fmt.ago(made)}`].join(' · ');
}

/** The group's pairs, most suspicious first. @param {number} id @param {ComparisonPair[]} pairs */
function pairPicker(id, pairs) {
    return h('div', { class: 'pair-picker' }, picker({
        label: 'Pair',
        value: String(id),
        options: pairs.map((pair) => ({ value: String(pair.id), label: pairText(pair), note: `${verdictWord(pair.verdict)}, score ${scoreText(pair.top_score)}` })),
        onPick: (next) => go(comparisonHref(next)),
    }));
}
