/** The chosen slice in words: figures, arguments, call stack, what it stands in, what it leads to. */

import { h, fill, icon, copy } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { skeleton, showFailure } from '../../lib/states.js';
import { frameList, readFrame } from '../../lib/frames.js';
import { frameBox } from '../stacks/frames.js';
import { eventStack } from '../stacks/event.js';
import { tensorsOf } from './tensors.js';
import { figures } from '../../table/detail_parts.js';
import { searchWord } from '../../lib/names.js';
import * as fmt from '../../lib/fmt.js';

/** Longer lists are one button away. */
const LINKS = 12;
const LONGEST = 400;
const STACK = /^(call stack|stack|callstack)$/i;
const KERNELS = ['kernel', 'communication'];

/** Words of a flow, from this slice: out, in. @type {Record<string, [string, string]>} */
export const FLOW_WORDS = { launch: ['Launches', 'Launched by'], fwdbwd: ['Backward', 'Forward'], other: ['Leads to', 'Comes from'] };

/** @typedef {{trace: Trace, track: (id: number | null) => string, choose: (place: TimelinePlace) => void, fit: () => void, find: (name: string) => void, role: (detail: TimelineEvent) => string, retry: () => void}} Around */

/** @param {HTMLElement} box @param {TimelineSelection} selection @param {Around} around */
export function showDetails(box, selection, around) {
    const { detail } = selection;
    if (!detail) {
        fill(box, selection.place ? h('h2', { class: 'tl-name', tabindex: '-1' }, selection.place.name) : null, skeleton('figures'));
        return;
    }
    const role = around.role(detail);
    /** @type {[string, string][]} */
    const pairs = [
        ['Duration', detail.dur_ns === null ? 'instant' : fmt.time(detail.dur_ns)], ['Start', fmt.moment(detail.start_ns)],
        ['Track', around.track(detail.track)], ['Category', detail.category || 'none'], ...(role ? [/** @type {[string, string]} */ (['Role', role.replaceAll('_', ' ')])] : []),
    ];
    const stack = Object.entries(detail.args).find(([name, value]) => STACK.test(name) && typeof value === 'string' && value);
    const args = Object.entries(detail.args).filter(([name]) => name !== stack?.[0]);
    fill(box,
        h('div', { class: 'tl-title' }, h('h2', { class: 'tl-name', tabindex: '-1', title: cut(detail.name) }, titleOf(detail.name)),
            h('div', { class: 'tl-title-tools' },
                h('button', { class: 'button small', type: 'button', onclick: around.fit }, 'Zoom to slice'),
                h('button', { class: 'button small', type: 'button', onclick: () => around.find(detail.name) }, 'Find all'),
                tableLink(around.trace, detail.name, role),
                h('button', { class: 'button small', type: 'button', onclick: () => copy(detail.name, 'Name copied') }, icon('copy'), 'Copy name'),
                h('button', { class: 'button small', type: 'button', 'data-tip': 'The event as recorded', onclick: () => copy(JSON.stringify(detail.raw, null, 1), 'Event copied') }, icon('copy'), 'Copy JSON'))),
        figures(pairs),
        h('div', { class: 'tl-columns' },
            eventStack(detail, around.choose), flows(detail, around), tensorsOf(detail, around),
            args.length ? h('section', { class: 'tl-part tl-args' }, h('h3', null, 'Arguments'), argTable(args)) : null,
            stack ? h('section', { class: 'tl-part' }, h('h3', null, 'Call stack'), frameBox(frameList(String(stack[1])))) : null));
}

/** @param {HTMLElement} box @param {unknown} error @param {() => void} retry */
export const detailsFailed = (box, error, retry) => showFailure(box, error, retry);

/** @param {string} text */
const cut = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text);

/** @param {string} name */
function titleOf(name) {
    const frame = readFrame(name);
    return frame ? [cut(frame.func), h('span', { class: 'quiet' }, ` ${frame.place}`)] : cut(name);
}

/** Its row in the tables, where it has one. @param {Trace} trace @param {string} name @param {string} role */
function tableLink(trace, name, role) {
    const view = KERNELS.includes(role) ? 'kernels' : role === 'cpu_exec' ? 'operators' : '';
    if (!view || !hasView(trace, view)) return null;
    return h('a', { class: 'button small', href: traceHref(trace.id, view, { q: searchWord(name) }) }, view === 'kernels' ? 'Show in kernels' : 'Show in operators');
}

/** @param {TimelineEvent} detail @param {Around} around */
function flows(detail, around) {
    /** @type {Map<string, TimelineFlow[]>} */
    const groups = new Map();
    for (const flow of detail.flows) {
        const word = FLOW_WORDS[flow.kind][flow.direction === 'out' ? 0 : 1];
        groups.set(word, [...groups.get(word) ?? [], flow]);
    }
    return [...groups].map(([word, list]) => places(word, list, around, detail.more_flows));
}

/** @param {string} title @param {TimelinePlace[]} list @param {Around} around @param {boolean} [more] */
function places(title, list, around, more = false) {
    if (list.length === 0) return null;
    const line = (/** @type {TimelinePlace} */ place) => h('li', null,
        place.track === null ? h('span', { class: 'tl-place' }, cut(place.name)) : h('button', { class: 'link tl-place', type: 'button', 'data-event': place.event, 'data-tip': `${place.name}, ${around.track(place.track)}`, onclick: () => around.choose(place) }, place.name),
        h('span', { class: 'quiet' }, place.dur_ns === null ? 'instant' : fmt.time(place.dur_ns)));
    const box = h('ol', { class: 'tl-places' }, list.slice(0, LINKS).map(line));
    const rest = list.slice(LINKS);
    const button = rest.length ? h('button', { class: 'button small', type: 'button', onclick: () => {
        box.append(...rest.map(line));
        button?.remove();
    } }, `${fmt.int(rest.length)} more`) : null;
    return h('section', { class: 'tl-part' }, h('h3', null, title), box, button, more && !rest.length ? h('p', { class: 'quiet' }, 'and more') : null);
}

/** @param {[string, any][]} args */
function argTable(args) {
    return h('table', { class: 'tl-arg-table' }, h('caption', { class: 'visually-hidden' }, 'Arguments'), h('tbody', null, args.map(([name, value]) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        return h('tr', null, h('th', { scope: 'row' }, name), h('td', null, cut(text)));
    })));
}
