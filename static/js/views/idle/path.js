/** The critical path of a window: how long, what bounds it, what would make it shorter, and its events. */

import { h, fill, nameParts } from '../../lib/dom.js';
import { rowTable } from '../../table/rowtable.js';
import { fullName, figures, plainTable } from '../../table/detail_parts.js';
import { hasView } from '../../app/trace_views.js';
import { setParams } from '../../app/router.js';
import { pathHref, timelineEvent, timelineHref, timelineRange } from '../timeline/links.js';
import { ApiError, isAbort } from '../../lib/api.js';
import { shorten } from '../../lib/names.js';
import { showFailure, skeleton } from '../../lib/states.js';
import { bar, key } from './bars.js';
import { BOUNDS, BOUND_TODO } from './words.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

const STEP = 'ProfilerStep#';
/** Factors of the time of a name, as a choice and in a sentence. */
const FACTORS = new Map([['0', 'None'], ['0.25', 'A quarter'], ['0.5', 'Half'], ['0.75', 'Three quarters'], ['2', 'Twice as long'], ['roofline', 'At its roofline']]);
const FACTOR_WORDS = new Map([['0', 'taking no time'], ['0.25', 'at a quarter of its time'], ['0.5', 'at half its time'], ['0.75', 'at three quarters of its time'], ['2', 'taking twice as long'], ['roofline', 'at its roofline']]);

/** The window that the address asks for; without a word the first step, where there are steps. @param {URLSearchParams} params @param {boolean} hasSteps */
function windowOf(params, hasSteps) {
    const annotation = params.get('window') === 'trace' ? '' : params.get('annotation') ?? (hasSteps ? STEP : '');
    return { annotation, instance: annotation ? params.get('instance') ?? '0' : '', ends: 'own' };
}

/** What of the path the address asks for: `scale` is a name and a factor. @param {URLSearchParams} params */
const askedOf = (params) => ({ launch_edges: params.get('edges') === 'delays' ? 'delays' : null, scale: params.get('scale') });

/** @param {Trace} trace @param {boolean} hasSteps @param {AbortSignal} signal */
export function pathPart(trace, hasSteps, signal) {
    const box = h('div', { class: 'idle-part' }, skeleton('figures', 'rows'));
    const choice = chooser(hasSteps);
    const root = h('section', { class: 'section', id: 'critical-path' }, h('h2', { 'data-tip': 'The longest chain of events of which each had to wait for the one before' }, 'Critical path'), choice.root, box);
    let asked = '';
    let params = new URLSearchParams();
    const table = eventTable(trace, () => ({ ...windowOf(params, hasSteps), launch_edges: askedOf(params).launch_edges }));

    async function load() {
        const window = windowOf(params, hasSteps);
        const mine = asked;
        try {
            const path = await api.criticalPath(String(trace.id), { ...window, ...askedOf(params) }, signal);
            if (mine !== asked) return;
            const name = h('h3', null, 'Its events');
            fill(box, summary(trace, path, askedOf(params).launch_edges), bounds(path), whatIf(trace, path), scaleForm(path, askedOf(params).scale), h('section', { class: 'section' }, name, table.root));
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
            choice.show(window, askedOf(next).launch_edges);
            const wanted = JSON.stringify([window, askedOf(next)]);
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
    const edges = h('select', { class: 'input select', 'data-tip': 'Every piece of work waits for its launch, or only where the queue was empty', onchange: () => setParams({ edges: edges.value === 'delays' ? 'delays' : null, 'path-open': null }) },
        h('option', { value: 'all' }, 'All'), h('option', { value: 'delays' }, 'Delays alone'));
    const choose = (/** @type {string} */ text) => setParams({ annotation: text === STEP ? null : text, window: text ? null : 'trace', instance: null, 'path-open': null });
    return {
        root: h('div', { class: 'idle-window' }, h('label', null, 'Annotation', annotation), label, h('label', null, 'Launches', edges), whole, step),
        /** @param {{annotation: string, instance: string}} window @param {string | null} launches */
        show(window, launches) {
            edges.value = launches ?? 'all';
            annotation.value = window.annotation;
            instance.value = window.instance;
            label.hidden = window.annotation === '';
            whole.hidden = window.annotation === '';
            step.hidden = !hasSteps || window.annotation !== '';
        },
    };
}

/** @param {Trace} trace @param {CriticalPath} path @param {string | null} launches */
function summary(trace, { annotation, instance, window, length_ns: length, path, boundedness, what_if: whatif, dropped_edges: dropped, unmatched_waits: unmatched }, launches) {
    const whole = window.end_ns - window.start_ns;
    const bound = boundedness.reduce((best, item) => (item.ns > best.ns ? item : best));
    const best = ranked(whatif.names)[0];
    if (length === 0) return h('p', { class: 'lead' }, 'No event of this window has a place on a path.');
    return h('div', { class: 'idle-verdict' },
        h('p', { class: 'lead' }, 'The path is ', h('strong', null, fmt.time(length)), ' long, in a window of ',
            hasView(trace, 'timeline') ? timelineRange(trace, window.start_ns, window.end_ns, fmt.time(whole)) : fmt.time(whole), `, mostly ${BOUNDS[bound.bound].toLowerCase()} (${fmt.share(bound.ratio)}).`,
            best && best.saved_at_most_ns > 0 ? [' Largest opportunity: without ', h('code', { 'data-tip': best.name }, shorten(best.name).short), ` it would be at most ${fmt.time(best.saved_at_most_ns)} (${fmt.share(best.saved_at_most_ns / length)}) shorter.`] : null, ` ${BOUND_TODO[bound.bound]}`),
        h('p', { class: 'quiet' }, whole > length ? `The other ${fmt.time(whole - length)} of the window no edge explains: between outermost operators, as in Python or loading of data, the path counts nothing. ` : whole < length ? 'It is longer than the window, since work launched in the window ends after it. ' : null,
            `${fmt.plural(path.events, 'event')} on it.`, dropped ? ` ${fmt.plural(dropped, 'edge')} of cycles left out.` : null, unmatched ? ` ${fmt.plural(unmatched, 'wait')} for events that are not in the trace.` : null,
            hasView(trace, 'timeline') ? [' ', h('a', { href: pathHref(trace.id, { annotation, instance, launches }, window) }, 'Show the path in the timeline'), '.'] : null));
}

/** What the factor of a name would do, and which. @param {CriticalPath} path @param {string | null} scale */
function scaleForm({ length_ns: length, what_if: whatif }, scale) {
    const cut = scale?.lastIndexOf(':') ?? -1;
    const [name, factor] = scale && cut > 0 ? [decoded(scale.slice(0, cut)), scale.slice(cut + 1)] : ['', '0.5'];
    const input = h('input', { class: 'input idle-name', type: 'text', list: 'path-names', value: name, placeholder: 'The whole name of an operator, call or kernel', autocomplete: 'off', spellcheck: 'false' });
    const select = h('select', { class: 'input select' }, [...new Set([...FACTORS.keys(), factor])].map((value) => h('option', { value, selected: value === factor }, FACTORS.get(value) ?? `× ${value}`)));
    const send = (/** @type {Event} */ event) => {
        event.preventDefault();
        setParams({ scale: input.value.trim() ? `${encodeURIComponent(input.value.trim())}:${select.value}` : null });
    };
    return h('section', { class: 'section' }, h('h3', null, 'What if it took another time'),
        h('form', { class: 'idle-window', onsubmit: send }, h('label', null, 'Name', input, h('datalist', { id: 'path-names' }, whatif.names.map((item) => h('option', { value: item.name })))), h('label', null, 'Its time', select), h('button', { class: 'button', type: 'submit' }, 'Ask')),
        name ? h('p', { class: 'lead', role: 'status' }, 'With ', h('code', { 'data-tip': name }, shorten(name).short), ` ${FACTOR_WORDS.get(factor) ?? `at ${factor} times its time`}, the path would be `, h('strong', null, fmt.time(whatif.length_ns)), ` instead of ${fmt.time(length)}: ${fmt.time(whatif.saved_ns)} (${fmt.share(whatif.ratio)}) shorter.`) : null);
}

/** @param {string} text a hand-made address may be no proper one */
function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/** @param {CriticalPath} path */
function bounds({ boundedness }) {
    const parts = boundedness.map(({ bound, ns, ratio }) => ({ kind: bound, label: `${BOUNDS[bound]} ${fmt.share(ratio)}`, ns, ratio }));
    return h('div', { class: 'time-windows' }, h('h3', null, 'What bounds it'), bar('What bounds the path', parts), key(parts.filter(({ ns }) => ns > 0)));
}

/** @param {WhatIfName[]} names */
const ranked = (names) => [...names].sort((a, b) => b.saved_at_most_ns - a.saved_at_most_ns);

/** @param {Trace} trace @param {CriticalPath} path */
function whatIf(trace, { length_ns: length, what_if: { names } }) {
    if (names.length === 0) return null;
    const unit = fmt.timeUnit(Math.max(...names.map(({ path_ns: ns }) => ns)));
    const link = (/** @type {string} */ name) => h('a', { href: timelineHref(trace.id, name), 'data-tip': name }, nameParts(shorten(name).short));
    return h('section', { class: 'section' }, h('h3', { 'data-tip': 'How much shorter the path would be if a name took no time; another chain may then be the longest, and what is no device work saves no more than the devices wait while the path lasts, before their first work too' }, 'What if it took no time'),
        plainTable(`Names by how much shorter the path would be without them, in ${unit.name}`, ['Name', `Saved at most ${unit.name}`, 'Of the path', `Its time on the path ${unit.name}`],
            ranked(names).map(({ name, saved_at_most_ns: saved, path_ns: own }) => [link(name), fmt.timeIn(saved, unit), fmt.share(saved / length), fmt.timeIn(own, unit)]), 1));
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

/** @param {Trace} trace @param {() => Record<string, string | null>} window */
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
