/** Search by name or argument: matches stand out on the lanes, are walked through, and are listed in the panel. */

import { h, fill, debounce } from '../../lib/dom.js';
import { setParams } from '../../app/router.js';
import { showFailure, skeleton } from '../../lib/states.js';
import { isAbort } from '../../lib/api.js';
import { plainTable } from '../../table/detail_parts.js';
import { nameText } from '../../table/columns.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** Matches of the first answer, of each later one, and those walked through at most; those listed. */
const FIRST = 1000;
const PAGE = 10000;
const WALKED = 50000;
const LISTED = 100;
const PAUSE_MS = 180;

/**
 * @param {string} id of the trace
 * @param {{onFound: () => void, choose: (hit: TimelineHit) => void, find: (name: string) => void, startOfView: () => number, onLeave: () => void}} around
 */
export function timelineSearch(id, { onFound, choose, find, startOfView, onLeave }) {
    let q = '';
    let at = -1;
    /** @type {TimelineSearch | null} */
    let answer = null;
    /** @type {Set<number>} */
    let events = new Set();
    /** @type {WeakMap<TimelineLabel, boolean>} */
    let names = new WeakMap();
    let stop = new AbortController();
    const box = h('div', { class: 'tl-found' });
    const send = debounce((/** @type {string} */ text) => setParams({ q: text, tab: text ? 'search' : null }, { replace: true }), PAUSE_MS);
    const input = h('input', {
        class: 'input search', type: 'search', 'aria-label': 'Search slices', placeholder: 'Search names and arguments', autocomplete: 'off', spellcheck: 'false',
        oninput: () => send(input.value.trim()),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
            else if (event.key === 'Escape' && input.value) {
                input.value = '';
                send('');
            } else if (event.key === 'Escape') onLeave();
            else return;
            event.preventDefault();
        },
    });
    const count = h('p', { class: 'table-count', role: 'status' });
    const button = (/** @type {string} */ sign, /** @type {string} */ label, /** @type {1 | -1} */ way) => h('button', { class: 'button small', type: 'button', 'aria-label': label, title: label, hidden: true, onclick: () => step(way) }, sign);
    const [previous, next] = [button('↑', 'Previous match', -1), button('↓', 'Next match', 1)];
    const root = h('div', { class: 'tl-search', role: 'search' }, input, previous, next, count);

    /** @param {1 | -1} way */
    function step(way) {
        const hits = answer?.hits ?? [];
        if (hits.length === 0) return;
        if (at < 0) {
            const from = startOfView();
            const first = hits.findIndex((hit) => hit.start_ns >= from);
            at = way > 0 ? Math.max(0, first) : (first < 0 ? hits.length : first) - 1;
        } else at += way;
        at = (at + hits.length) % hits.length;
        paintCount();
        choose(hits[at]);
    }

    function paintCount() {
        [previous, next].forEach((item) => { item.hidden = !answer?.hits.length; });
        if (!answer) fill(count);
        else fill(count, at >= 0 ? `${fmt.int(at + 1)} of ` : '', answer.total_is_lower_bound ? 'more than ' : '', fmt.plural(answer.total, 'match', 'matches'));
    }

    /** @param {TimelineSearch} found */
    function paintList(found) {
        const unit = fmt.columnUnit(Math.max(0, ...found.names.map(({ total_ns: ns }) => ns)));
        const listed = found.hits.slice(0, LISTED);
        const small = fmt.columnUnit(Math.max(0, ...listed.map(({ dur_ns: ns }) => ns ?? 0)));
        const moments = fmt.columnUnit(Math.max(0, ...listed.map(({ start_ns: ns }) => ns)));
        if (found.total === 0) {
            fill(box, h('p', { class: 'quiet' }, `No slice has “${found.q}” in its name or arguments.`));
            return;
        }
        fill(box,
            found.names.length ? h('section', { class: 'tl-part' }, h('h3', null, found.names.length === 1 ? '1 name' : `${found.names.length} names`),
                plainTable('Names that match', ['Name', 'Category', 'Slices', `Total, ${unit.name}`], found.names.map((name) => [
                    h('button', { class: 'function-name', type: 'button', 'data-tip': name.name, onclick: () => find(name.name) }, nameText(name.name)), name.category, fmt.int(name.count), fmt.timeIn(name.total_ns, unit)]), 2)) : null,
            h('section', { class: 'tl-part' }, h('h3', null, found.total > listed.length ? `First ${listed.length} of ${fmt.plural(found.total, 'match', 'matches')}` : fmt.plural(found.total, 'match', 'matches')),
                plainTable('Matches by time', ['Slice', 'Found in', 'Thread', `Start, ${moments.name}`, `Duration, ${small.name}`], listed.map((hit, index) => [
                    h('button', { class: 'function-name', type: 'button', 'data-hit': hit.event, 'data-tip': hit.name, onclick: () => {
                        at = index;
                        paintCount();
                        choose(hit);
                    } }, nameText(hit.name)), hit.key, String(hit.tid ?? ''), fmt.timeIn(hit.start_ns, moments), hit.dur_ns === null ? 'instant' : fmt.timeIn(hit.dur_ns, small)]), 3)));
    }

    async function load() {
        stop.abort();
        stop = new AbortController();
        const { signal } = stop;
        at = -1;
        answer = null;
        events = new Set();
        names = new WeakMap();
        paintCount();
        onFound();
        if (!q) return;
        fill(box, skeleton('figures'));
        try {
            const found = await api.search(id, { q, limit: FIRST }, signal);
            answer = found;
            events = new Set(found.hits.map(({ event }) => event));
            paintCount();
            paintList(found);
            onFound();
            await rest(found, signal);
        } catch (error) {
            if (!isAbort(error)) showFailure(box, error, load);
        }
    }

    /** The later matches, from where the ones at hand end. @param {TimelineSearch} found @param {AbortSignal} signal */
    async function rest(found, signal) {
        const { hits } = found;
        while (hits.length < Math.min(found.total, WALKED)) {
            const { hits: more } = await api.search(id, { q, limit: PAGE, start_ns: hits[hits.length - 1].start_ns }, signal);
            const others = more.filter(({ event }) => !events.has(event));
            if (others.length === 0) return;
            for (const hit of others) {
                hits.push(hit);
                events.add(hit.event);
            }
            onFound();
        }
    }

    return {
        root, box, input, step,
        active: () => q !== '',
        /** When the matches begin. */
        times: () => Float64Array.from(answer?.hits ?? [], ({ start_ns: ns }) => ns),
        /** Whether a slice is meant. @param {number} pane @param {TimelineLabel} label @param {number} event */
        lit(pane, label, event) {
            let known = names.get(label);
            if (known === undefined) {
                known = label.name.toLowerCase().includes(q.toLowerCase());
                names.set(label, known);
            }
            return known || (pane === 0 && events.has(event));
        },
        /** "3 of 12 matches", where the event is one. @param {number} event */
        words(event) {
            const place = answer?.hits.findIndex((hit) => hit.event === event) ?? -1;
            return place < 0 || !answer ? '' : `${fmt.int(place + 1)} of ${fmt.plural(answer.total, 'match', 'matches')}`;
        },
        /** @param {string} text of the URL */
        async update(text) {
            if (document.activeElement !== input) input.value = text;
            if (text === q) return;
            q = text;
            await load();
        },
        destroy() {
            send.cancel();
            stop.abort();
        },
    };
}
