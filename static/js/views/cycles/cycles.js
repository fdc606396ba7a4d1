/** Cycles of a trace: how long each is, which functions share it, what the counters said. */

import { h, fill, swatch } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { cycleColumns } from '../../charts/cycle_charts.js';
import { cyclesText } from '../comparison/sides.js';
import { categoryColour } from '../../lib/colours.js';
import { cycleTable } from './table.js';
import { plainTable } from '../../table/detail_parts.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import { traceCompareHref } from '../comparison/compare_links.js';
import { empty } from '../../lib/states.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** How the cycles were found: in a word, and in full. @type {Record<string, [string, string]>} */
const SOURCES = {
    profiler_steps: ['Steps', 'marked by prof.step()'],
    annotation: ['Annotation', 'one that repeats'],
    anchor: ['Function', 'found, as it repeats'],
    marker: ['Function', 'named at the upload'],
    table: ['Table', 'as it was uploaded'],
};

/** Functions and annotations that are named. */
const ANCHORS = 2;

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    if (!trace.views.includes('cycles')) {
        fill(root, h('h1', null, 'Cycles'), empty('No cycles in this trace', h('p', null, 'Call ', h('code', null, 'prof.step()'),
            ' in the loop, or name the function that repeats with ', h('code', null, '?marker=FUNCTION'), ' at the upload.')));
        return {};
    }
    const data = await api.cycles(route.id, signal);
    const durations = cycleDurations(data);
    const table = data.rows.length ? cycleTable(route.id, data) : null;
    fill(root,
        h('div', { class: 'view-head' }, h('h1', null, 'Cycles'), h('div', { class: 'view-tools' }, h('a', { class: 'button primary', href: traceCompareHref(trace) }, 'Compare with …'))),
        figures(data),
        durations.root,
        h('section', { class: 'section' }, h('div', { class: 'section-head' }, h('h2', null, 'Functions by their share of the cycle'), table?.control),
            table?.root ?? h('p', { class: 'quiet' }, 'Nothing that is counted runs in these cycles: no kernels, copies or operators.')),
        counterTable(data));
    table?.update(route.params);
    return {
        ready: durations.update(route.params),
        update(next) {
            table?.update(next.params);
            return durations.update(next.params);
        },
        destroy() {
            durations.destroy();
            table?.destroy();
        },
    };
}

/** @param {CycleAnswer} data */
function figures({ source, cycles }) {
    const times = cycles.map((cycle) => cycle.duration_ns).sort((a, b) => a - b);
    const total = times.reduce((sum, ns) => sum + ns, 0);
    const unit = fmt.timeUnit(times[times.length - 1] ?? 0);
    const anchors = [...new Set(cycles.map((cycle) => cycle.anchor).filter(Boolean))];
    const [shortest, longest] = [times[0] ?? 0, times[times.length - 1] ?? 0];
    return h('dl', { class: 'answers cycle-answers' },
        answer('Mean cycle', times.length ? fmt.timeParts(total / times.length, unit) : ['–', ''],
            [`${fmt.timeParts(shortest, unit)[0]} to ${fmt.time(longest, unit)}`], 'first'),
        answer('Cycles', [fmt.int(cycles.length), ''], [kindCounts(cycles)]),
        answer('Longest', [fmt.num(shortest > 0 ? longest / shortest : null, 2), 'times'], ['the shortest cycle']),
        answer('Found by', [SOURCES[source]?.[0] ?? source, ''], [SOURCES[source]?.[1],
            anchors.slice(0, ANCHORS).map((anchor) => h('code', { class: 'answer-more', 'data-tip': anchor }, anchor))]));
}

/** @param {Cycle[]} cycles */
const kindsOf = (cycles) => [...new Set(cycles.map((cycle) => cycle.kind))].sort();

/** @param {Cycle[]} cycles */
const kindCounts = (cycles) => kindsOf(cycles).map((kind) => `${fmt.int(cycles.filter((cycle) => cycle.kind === kind).length)} ${cyclesText(kind)}`).join(', ');

/** @param {CycleAnswer} data */
function cycleDurations({ cycles }) {
    const kinds = kindsOf(cycles);
    const canvas = h('canvas', { role: 'img', 'aria-label': `Duration of ${fmt.plural(cycles.length, 'cycle')}; choose “Table” for figures` });
    const chartBox = h('div', { class: 'step-chart' }, canvas);
    const tableBox = h('div', { class: 'step-chart-table', hidden: true });
    const modes = segmented('Durations', [{ value: 'chart', label: 'Chart' }, { value: 'table', label: 'Table' }], (mode) => setParams({ chart: mode === 'chart' ? null : mode }, { replace: true }));
    const key = kinds.length > 1 ? h('p', { class: 'side-key' }, kinds.map((kind, index) => h('span', { class: 'side-name' }, swatch(categoryColour(index)), kind))) : null;
    /** @type {Promise<import('../../charts/charts.js').LiveChart> | undefined} */
    let live;
    return {
        root: h('section', { class: 'section' }, h('div', { class: 'section-head' }, h('h2', null, 'Duration of each cycle'), key, h('div', { class: 'section-tools' }, modes.root)), chartBox, tableBox),
        /** @param {URLSearchParams} params */
        async update(params) {
            const asTable = params.get('chart') === 'table';
            modes.show(asTable ? 'table' : 'chart');
            chartBox.hidden = asTable;
            tableBox.hidden = !asTable;
            if (asTable && tableBox.childElementCount === 0) tableBox.append(durationTable(cycles));
            if (!asTable) live ??= cycleColumns(canvas, { cycles, kinds });
            await live;
        },
        destroy() {
            live?.then((chart) => chart.destroy());
        },
    };
}

/** @param {Cycle[]} cycles */
function durationTable(cycles) {
    const unit = fmt.columnUnit(cycles.reduce((max, cycle) => Math.max(max, cycle.duration_ns), 0));
    return plainTable('Duration of each cycle', ['Cycle', 'Kind', 'Anchor', `Duration ${unit.name}`],
        cycles.map((cycle) => [String(cycle.number), cycle.kind, cycle.anchor || '–', fmt.timeIn(cycle.duration_ns, unit)]), 3);
}

/** A perf-data table has mu of its functions, but not the samples behind it. @param {CycleAnswer} data */
function counterTable({ counters, rows }) {
    if (counters.length === 0 && rows.some((row) => row.mu_pct !== null)) return null;
    if (counters.length === 0) return h('section', { class: 'section' }, h('h2', null, 'Counters'), h('p', { class: 'quiet' }, 'No counter samples: μ is not known, and a comparison uses β alone.'));
    const hosts = new Set(counters.map(({ hostname }) => hostname)).size > 1;
    return h('section', { class: 'section' }, h('h2', null, 'Counters'),
        h('div', { class: 'counter-table' }, plainTable('Counters over the whole trace', ['Counter', ...(hosts ? ['Host'] : []), 'Samples', 'Mean', 'Min', 'Max', 'Deviation'],
            counters.map((counter) => [counter.name, ...(hosts ? [counter.hostname || '–'] : []), fmt.int(counter.samples), ...[counter.mean, counter.min, counter.max, counter.std].map(fmt.metric)]), hosts ? 2 : 1)));
}
