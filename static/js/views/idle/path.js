/** The critical path of a window: how long, what bounds it, what would make it shorter, and its events. */

import { h, fill, nameParts } from '../../lib/dom.js';
import { rowTable } from '../../table/rowtable.js';
import { fullName, figures, plainTable } from '../../table/detail_parts.js';
import { hasView } from '../../app/trace_views.js';
import { setParams } from '../../app/router.js';
import { timelineEvent, timelineHref, timelineRange } from '../timeline/links.js';
import { ApiError, isAbort } from '../../lib/api.js';
import { shorten } from '../../lib/names.js';
import { showFailure, skeleton } from '../../lib/states.js';
import { bar, key } from './bars.js';
import { BOUNDS } from './words.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

const STEP = 'ProfilerStep#';

/** The window that the address asks for; without a word the first step, where there are steps. @param {URLSearchParams} params @param {boolean} hasSteps */
function windowOf(params, hasSteps) {
    const annotation = params.get('window') === 'trace' ? '' : params.get('annotation') ?? (hasSteps ? STEP : '');
    return { annotation, instance: annotation ? params.get('instance') ?? '0' : '' };
}

/** @param {Trace} trace @param {boolean} hasSteps @param {AbortSignal} signal */
export function pathPart(trace, hasSteps, signal) {
    const box = h('div', { class: 'idle-part' }, skeleton('figures', 'rows'));
    const choice = chooser(hasSteps);
    const root = h('section', { class: 'section', id: 'critical-path' }, h('h2', { 'data-tip': 'The longest chain of events of which each had to wait for the one before' }, 'Critical path'), choice.root, box);
    let asked = '';
    let params = new URLSearchParams();
    const table = eventTable(trace, () => windowOf(params, hasSteps));

    async function load() {
        const window = windowOf(params, hasSteps);
        const mine = asked;
        try {
            const path = await api.criticalPath(String(trace.id), window, signal);
            if (mine !== asked) return;
            const name = h('h3', null, 'Its events');
            fill(box, summary(trace, path), bounds(path), whatIf(trace, path), h('section', { class: 'section' }, name, table.root));
            await table.update(params);
        } catch (error) {
            if (mine !== asked || isAbort(error)) return;
            // Of a window that is not there the choice stays, to be made anew.
            if (error instanceof ApiError && (error.status === 404 || error.status === 400)) fill(box, h('p', { class: 'quiet', role: 'alert' }, error.message));
            else showFailure(box, error, load);
        }
    }
    return {
        root,
        /** @param {URLSearchParams} next */
        async update(next) {
            params = next;
            const window = windowOf(next, hasSteps);
            choice.show(window);
            const wanted = JSON.stringify(window);
            if (wanted === asked) return table.root.isConnected ? table.update(next) : undefined;
            asked = wanted;
            return load();
        },
        destroy: table.destroy,
    };
}

/** Which annotation, and which of its instances. @param {boolean} hasSteps */
function chooser(hasSteps) {
    const annotation = h('input', { class: 'input', type: 'text', placeholder: 'Whole trace', autocomplete: 'off', spellcheck: 'false', onchange: () => choose(annotation.value.trim()) });
    const instance = h('input', { class: 'input idle-instance', type: 'text', pattern: '[0-9]+(-[0-9]+)?', autocomplete: 'off', 'data-tip': 'From 0, or a range: 1-3', onchange: () => setParams({ instance: instance.value.trim() === '0' ? null : instance.value.trim(), 'path-open': null }) });
    const whole = h('button', { class: 'button', type: 'button', onclick: () => choose('') }, 'Whole trace');
    const step = h('button', { class: 'button', type: 'button', onclick: () => choose(STEP) }, 'First step');
    const label = h('label', null, 'Instance', instance);
    const choose = (/** @type {string} */ text) => setParams({ annotation: text === STEP ? null : text, window: text ? null : 'trace', instance: null, 'path-open': null });
    return {
        root: h('div', { class: 'idle-window' }, h('label', null, 'Annotation', annotation), label, whole, step),
        /** @param {{annotation: string, instance: string}} window */
        show(window) {
            annotation.value = window.annotation;
            instance.value = window.instance;
            label.hidden = window.annotation === '';
            whole.hidden = window.annotation === '';
            step.hidden = !hasSteps || window.annotation !== '';
        },
    };
}

/** @param {Trace} trace @param {CriticalPath} path */
function summary(trace, { window, length_ns: length, path, boundedness, what_if: whatif, dropped_edges: dropped, unmatched_waits: unmatched }) {
    const whole = window.end_ns - window.start_ns;
    const bound = boundedness.reduce((best, item) => (item.ns > best.ns ? item : best));
    const best = ranked(whatif.names)[0];
    if (length === 0) return h('p', { class: 'lead' }, 'No event of this window has a place on a path.');
    return h('div', { class: 'idle-verdict' },
        h('p', { class: 'lead' }, 'The path is ', h('strong', null, fmt.time(length)), ' long, in a window of ',
            hasView(trace, 'timeline') ? timelineRange(trace, window.start_ns, window.end_ns, fmt.time(whole)) : fmt.time(whole), `, mostly ${BOUNDS[bound.bound].toLowerCase()} (${fmt.share(bound.ratio)}).`,
            best && best.saved_ns > 0 ? [' Largest opportunity: without ', h('code', { 'data-tip': best.name }, shorten(best.name).short), ` it would be ${fmt.time(best.saved_ns)} (${fmt.share(best.ratio)}) shorter.`] : null),
        h('p', { class: 'quiet' }, whole > length ? `The other ${fmt.time(whole - length)} of the window no edge explains: between outermost operators, as in Python or loading of data, the path counts nothing. ` : null,
            `${fmt.plural(path.events, 'event')} on it.`, dropped ? ` ${fmt.plural(dropped, 'edge')} of cycles left out.` : null, unmatched ? ` ${fmt.plural(unmatched, 'wait')} for events that are not in the trace.` : null));
}

/** @param {CriticalPath} path */
function bounds({ boundedness }) {
    const parts = boundedness.map(({ bound, ns, ratio }) => ({ kind: bound, label: `${BOUNDS[bound]} ${fmt.share(ratio)}`, ns, ratio }));
    return h('div', { class: 'time-windows' }, h('h3', null, 'What bounds it'), bar('What bounds the path', parts), key(parts.filter(({ ns }) => ns > 0)));
}

/** @param {WhatIfName[]} names */
const ranked = (names) => [...names].sort((a, b) => b.saved_ns - a.saved_ns);

/** @param {Trace} trace @param {CriticalPath} path */
function whatIf(trace, { what_if: { names } }) {
    if (names.length === 0) return null;
    const unit = fmt.timeUnit(Math.max(...names.map(({ path_ns: ns }) => ns)));
    const link = (/** @type {string} */ name) => h('a', { href: timelineHref(trace.id, name), 'data-tip': name }, nameParts(shorten(name).short));
    return h('section', { class: 'section' }, h('h3', { 'data-tip': 'How much shorter the path would be if a name took no time; another chain may then be the longest' }, 'What if it took no time'),
        plainTable(`Names by how much shorter the path would be without them, in ${unit.name}`, ['Name', `Saved ${unit.name}`, 'Of the path', `Its time on the path ${unit.name}`],
            ranked(names).map(({ name, saved_ns: saved, ratio, path_ns: own }) => [link(name), fmt.timeIn(saved, unit), fmt.share(ratio), fmt.timeIn(own, unit)]), 1));
}

/** @type {Column[]} */
const COLUMNS = [
    { key: 'name', label: 'Event', kind: 'name', width: 220, priority: 0 },
    { key: 'path_ns', label: 'On the path', kind: 'time', family: 'time', width: 110, priority: 1, help: 'What it has of the length of the path: a kernel with the wait before it, if its launch is on the path, and with the gap to the next one' },
    { key: 'duration_ns', label: 'Duration', kind: 'time', family: 'time', width: 96, priority: 3 },
    { key: 'bound', label: 'Bound by', kind: 'text', width: 170, priority: 2, print: (value) => BOUNDS[value] },
    { key: 'start_ns', label: 'Start', kind: 'time', width: 104, priority: 4, help: 'After the start of the trace' },
    { key: 'category', label: 'Category', kind: 'text', width: 120, priority: 5 },
    { key: 'stream', label: 'Stream', kind: 'int', width: 78, priority: 6 },
    { key: 'device', label: 'Device', kind: 'int', width: 74, priority: 7 },
];

/** @param {Trace} trace @param {() => {annotation: string, instance: string}} window */
function eventTable(trace, window) {
    return rowTable({
        id: String(trace.id), view: 'critical-path', prefix: 'path-', caption: 'Events of the critical path', noun: () => ['event', 'events'], search: 'Search events',
        columnsFor: () => COLUMNS, defaultSort: () => ['path_ns', 'desc'], sort: ['path_ns', 'desc'],
        also: () => ({ ...window(), edges: 'none', top: '1' }), pageOf: (answer) => answer.events,
        detail: (row) => h('div', null, fullName(row.name), figures([['Start', fmt.moment(row.start_ns)], ['Duration', fmt.time(row.duration_ns)]]),
            hasView(trace, 'timeline') ? h('p', null, timelineRange(trace, row.start_ns, row.start_ns + row.duration_ns, 'Show in timeline'), ' · ', timelineEvent(trace, row.event, 'Select the event')) : null),
        emptyText: (q) => (q ? `No event matches “${q}”.` : 'No event is on the path.'),
    });
}
