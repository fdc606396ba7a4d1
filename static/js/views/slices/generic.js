/** The overview of a trace without operators, calls and device work: how long it is, what took the time, which tracks were busy. */

import { h } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { OTHER, ranking, topSlices, colourBook } from '../../charts/ranking.js';
import { plainTable } from '../../table/detail_parts.js';
import { traceHref } from '../../app/router.js';
import { timelineHref } from '../timeline/links.js';
import { nameText } from '../../table/columns.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const NAMES = 10;
const TRACKS = 50;

/** @param {Overview} data @param {AbortSignal} signal */
export async function genericOverview({ trace }, signal) {
    const [names, tracks] = await Promise.all([
        api.rows(trace.id, 'slices', { group_by: 'name', sort: 'self_ns', order: 'desc', limit: NAMES }, signal),
        api.rows(trace.id, 'slices', { group_by: 'track', sort: 'busy_ns', order: 'desc', limit: TRACKS }, signal),
    ]);
    const total = names.duration_ns ?? 0;
    const largest = largestNames(trace, names);
    return {
        content: [answers(trace, names, tracks, total), h('div', { class: 'pair' }, largest.root, busyTracks(trace, tracks, total))],
        draw: largest.draw,
        destroy: largest.destroy,
    };
}

/** @param {Trace} trace @param {RowPage} names @param {RowPage} tracks @param {number} total */
function answers(trace, names, tracks, total) {
    const [top] = names.rows;
    const [busiest] = tracks.rows;
    const unit = fmt.timeUnit(total);
    const more = (/** @type {string} */ view, /** @type {Record<string, string>} */ params, /** @type {string} */ text) => h('a', { class: 'answer-more', href: traceHref(trace.id, view, params) }, text);
    return h('dl', { class: 'answers' },
        answer('Duration', fmt.timeParts(total, unit), [`${fmt.plural(names.slices ?? 0, 'slice')} of ${fmt.plural(names.total, 'name')}`, more('timeline', {}, 'Show in timeline')], 'first'),
        top ? answer('Largest name', fmt.timeParts(top.self_ns), [h('a', { class: 'answer-name', href: timelineHref(trace.id, top.name), 'data-tip': top.name }, nameText(top.name)),
            h('span', { class: 'answer-more' }, `self time, ${fmt.plural(top.count, 'slice')}`)]) : null,
        busiest && total ? answer('Busiest track', fmt.shareParts(busiest.busy_ns / total), [h('a', { class: 'answer-more', href: traceHref(trace.id, 'slices', { group: 'track', q: busiest.track, open: '1' }) }, busiest.track)]) : null,
        answer('Tracks', [fmt.int(tracks.total), ''], ['threads and other rows of the timeline', more('slices', { group: 'track' }, 'All tracks')]),
        answer('Trace', ['Generic', ''], [`${trace.format === 'chrome-trace' ? 'Chrome trace' : fmt.formatWord(trace.format)} without operators, runtime calls or device work`, more('slices', { group: 'category' }, 'Its categories')]));
}

/** @param {Trace} trace @param {RowPage} names */
function largestNames(trace, names) {
    const items = names.rows.map(({ name, self_ns: value }) => ({ name, value: Math.max(0, value) }));
    const sum = items.reduce((all, { value }) => all + value, 0);
    const unit = fmt.timeUnit(sum);
    const chart = ranking({
        title: names.total > NAMES ? `The ${NAMES} largest names by self time` : 'Names by self time', help: 'Self time: without the slices inside, on the same track', print: (ns) => fmt.time(ns, unit),
        emptyText: 'No slice takes time.', href: (name) => (name === OTHER ? traceHref(trace.id, 'slices') : timelineHref(trace.id, name)),
    });
    return { root: chart.root, draw: () => chart.show(topSlices(items, NAMES, sum, colourBook()), sum), destroy: chart.destroy };
}

/** @param {Trace} trace @param {RowPage} tracks @param {number} total */
function busyTracks(trace, tracks, total) {
    const unit = fmt.timeUnit(tracks.rows[0]?.busy_ns ?? 0);
    const lines = tracks.rows.map((row) => [row.track, fmt.int(row.count), fmt.timeIn(row.busy_ns, unit), total ? fmt.share(row.busy_ns / total) : '–']);
    return h('section', { class: 'section' }, h('h2', null, 'Tracks'),
        plainTable(`Tracks, busy time in ${unit.name}`, ['Track', 'Slices', `Busy ${unit.name}`, 'Busy share'], lines, 1),
        h('p', null, tracks.total > TRACKS ? `The ${TRACKS} busiest of ${fmt.int(tracks.total)}. ` : null, h('a', { href: traceHref(trace.id, 'slices') }, 'All slices by name, track or category')));
}
