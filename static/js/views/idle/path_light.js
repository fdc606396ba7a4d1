/** The critical path on the lanes: its events stand out, all else is dimmed. */

import { h, fill, icon } from '../../lib/dom.js';
import { setParams } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { call, isAbort, trace as traceOf } from '../../lib/api.js';
import { pathParam } from '../timeline/links.js';
import * as fmt from '../../lib/fmt.js';

/** A path has as many events at most as a trace; what is beyond these stays dim. */
const EVENTS = 1000000;

/** Where in an ascending list the first number stands that is not below `value`. @param {number[]} list @param {number} value */
function firstFrom(list, value) {
    let [low, high] = [0, list.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (list[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

/** @param {string} id of the trace @param {() => void} onFound @param {AbortSignal} signal */
export function pathLight(id, onFound, signal) {
    let asked = '';
    /** @type {Set<number>} */
    let events = new Set();
    /** When the events of a name begin: what stands for many slices has one number alone. @type {Map<string, number[]>} */
    let starts = new Map();
    const words = h('p', { class: 'table-count', role: 'status' });
    const off = h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Do not show the critical path', title: 'Do not show the critical path', hidden: true, onclick: () => setParams({ path: null }) }, icon('close'));
    const on = h('button', { class: 'button', type: 'button', hidden: true, 'data-tip': 'Dims what did not decide how long the trace took', onclick: () => setParams({ path: pathParam('', '', null) }) }, 'Critical path');
    traceOf(id, signal).then((trace) => { on.hidden = asked !== '' || !hasView(trace, 'idle'); }, () => {});

    async function load() {
        const [, launches, instance, annotation] = /^(all|delays):([^:]*):(.*)$/s.exec(asked) ?? [];
        const mine = asked;
        if (launches === undefined) {
            fill(words, 'The address names no path.');
            return;
        }
        /** @type {CriticalPath} */
        const { events: found, length_ns: length } = await call(`traces/${id}/critical-path`, { query: { annotation, instance, launch_edges: launches, ends: 'own', edges: 'none', top: 1, limit: EVENTS, sort: 'start_ns', order: 'asc' }, signal });
        if (mine !== asked) return;
        events = new Set(found.rows.map(({ event }) => event));
        starts = new Map();
        for (const { name, start_ns: start } of found.rows) {
            const list = starts.get(name);
            if (list) list.push(start);
            else starts.set(name, [start]);
        }
        fill(words, `Path of ${fmt.time(length)}, ${fmt.plural(found.total, 'event')}`);
    }
    /** Whether a slice is of the path, or stands for one that is. @type {import('../timeline/canvas/draw.js').Lit} */
    function isLit(pane, label, event, start, end, many) {
        if (pane !== 0 || events.has(event)) return pane === 0;
        const list = many ? starts.get(label.name) : undefined;
        return list !== undefined && (list[firstFrom(list, start)] ?? Infinity) <= end;
    }
    return {
        root: h('div', { class: 'tl-second' }, on, words, off),
        /** What stands out; null: no path is shown. @returns {import('../timeline/canvas/draw.js').Lit | null} */
        lit: () => (asked !== '' && events.size > 0 ? isLit : null),
        /** @param {string} text of the URL */
        async update(text) {
            if (text === asked) return;
            const known = asked !== '' || !on.hidden;
            asked = text;
            events = new Set();
            fill(words);
            off.hidden = text === '';
            on.hidden = text !== '' || !known;
            if (text !== '') {
                try {
                    await load();
                } catch (error) {
                    if (!isAbort(error)) fill(words, error instanceof Error ? error.message : 'The path could not be read.');
                }
            }
            onFound();
        },
    };
}
