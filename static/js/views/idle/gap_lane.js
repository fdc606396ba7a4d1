/** The lane "idle" of the timeline: when each device stood still, coloured by cause; and the gap that is chosen. */

import { h, fill, announce } from '../../lib/dom.js';
import { setParams, traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { skeleton, showFailure } from '../../lib/states.js';
import { figures } from '../../table/detail_parts.js';
import { call, isAbort } from '../../lib/api.js';
import { shorten } from '../../lib/names.js';
import { placeParams } from '../timeline/address.js';
import { bar, key } from './bars.js';
import { columnsOf } from './lane_columns.js';
import { CAUSES, HOSTS, todoOf } from './words.js';
import * as fmt from '../../lib/fmt.js';

/** What the address says of the gap that one lands at from the overview. */
export const LONGEST = 'longest';
/** A closer look than this part of the trace brings the gaps that were left out. */
const CLOSER = 0.5;
/** Zooms that are kept at once: each may have a million gaps. */
const LEVELS = 3;
/** In CSS pixels: a narrower gap is zoomed to, with so much of its length around it, and at least. */
const SEEN_PX = 8;
const AROUND = 20;
const LEAST_NS = 2000;

/** @typedef {import('./lane_columns.js').Gaps} Gaps */
/** @typedef {{device: number, at: number, gaps: Gaps}} Place */

/** @param {IdleGapsDevice} device @returns {Gaps} */
const gapsOf = ({ device, idle_ns: idle, busy_ns: busy, start_ns: start, duration_ns: duration, cause, next_event: event }) => ({
    device, idle, busy, start: Float64Array.from(start), end: Float64Array.from(start, (ns, at) => ns + duration[at]), cause: Uint8Array.from(cause), event: Uint32Array.from(event),
});

/**
 * @param {Trace} trace
 * @param {import('../timeline/canvas/stage.js').Stage} stage
 * @param {{box: HTMLElement, choose: (event: number) => void, signal: AbortSignal}} around choose: shows an event
 */
export function gapLane(trace, stage, { box, choose, signal }) {
    const { state, view } = stage;
    const names = /** @type {IdleCauseName[]} */ (Object.keys(CAUSES));
    const legend = h('div', { class: 'tl-second tl-idle-key', hidden: true }, h('span', { class: 'quiet' }, 'Idle'), key(names.map((kind) => ({ kind, ...CAUSES[kind], ns: 0, ratio: null }))));
    /** @type {Gaps[]} */
    let devices = [];
    /** @type {IdleGaps['left_out']} */
    let leftOut = { gaps: 0, idle_ns: 0 };
    /** The window that was asked for; null: the whole. @type {[number, number] | null} */
    let window_ = null;
    let whole = true;
    let asked = '';
    let stop = new AbortController();

    /** @param {Record<string, number>} query @param {AbortSignal} [mine] @returns {Promise<IdleGaps>} */
    const ask = (query, mine = signal) => call(`traces/${trace.id}/idle/gaps`, { query, signal: mine });

    /** @param {number} device */
    const trackOf = (device) => -1 - devices.findIndex((gaps) => gaps.device === device);

    /** Puts the lanes where the others are. @param {IdleGaps} answer */
    function place(answer) {
        const [{ tiles, answer: lanes }] = state.panes;
        const labels = answer.causes.map((cause) => tiles.number({ name: CAUSES[cause].label, category: 'idle', role: cause }));
        devices = answer.devices.map(gapsOf);
        lanes.tracks = [...devices.map(({ device, idle, busy, start, end }, at) => /** @type {TimelineTrack} */ ({
            id: -1 - at, kind: 'idle', process: 'Idle time', label: `Device ${device}: ${fmt.share(idle / Math.max(1, idle + busy))}`, pid: null, tid: null, lanes: 1, members: 1,
            items: start.length, first_ns: start[0] ?? 0, end_ns: end.at(-1) ?? 0, busy_ns: idle,
        })).filter(({ items }) => items > 0), ...lanes.tracks.filter(({ kind }) => kind !== 'idle')];
        devices.forEach((gaps, at) => {
            /** @type {Map<number, LaneColumns>} */
            const levels = new Map();
            tiles.own.set(-1 - at, (z) => {
                const known = levels.get(z);
                if (known) return known;
                if (levels.size >= LEVELS) levels.clear();
                const made = columnsOf(gaps, z, labels);
                levels.set(z, made);
                return made;
            });
        });
        leftOut = answer.left_out;
        legend.hidden = !lanes.tracks.some(({ kind }) => kind === 'idle');
        stage.arrange();
    }

    async function load() {
        if (!hasView(trace, 'idle')) return;
        try {
            const answer = await ask({});
            whole = answer.left_out.gaps === 0;
            place(answer);
        } catch (error) {
            // The lanes of events are worth as much without it.
            if (!isAbort(error)) announce('The idle time could not be read');
        }
    }

    /** Of more gaps than an answer holds, those of the part in sight. */
    async function look() {
        if (whole || devices.length === 0) return;
        const room = view.span;
        const wanted = /** @type {[number, number] | null} */ (view.span < CLOSER * (view.to - view.from) ? [Math.floor(view.start - room), Math.ceil(view.end + room)] : null);
        if (wanted === null ? window_ === null : window_ !== null && window_[0] <= view.start && view.end <= window_[1] && (leftOut.gaps === 0 || window_[1] - window_[0] < 4 * room)) return;
        window_ = wanted;
        try {
            const answer = await ask(wanted ? { start_ns: wanted[0], end_ns: wanted[1] } : {});
            if (window_ === wanted) place(answer);
        } catch (error) {
            if (!isAbort(error)) announce('The idle time could not be read');
        }
    }

    /** @param {number} event @returns {Place | null} the gap that it ends, as far as it is on the lane */
    function find(event) {
        for (const gaps of devices) {
            const at = gaps.event.indexOf(event);
            if (at >= 0) return { device: gaps.device, at, gaps };
        }
        return null;
    }

    /** @returns {number | null} the event that ends the longest gap */
    function longest() {
        let [most, event] = [0, /** @type {number | null} */ (null)];
        for (const { start, end, event: events } of devices) {
            for (let at = 0; at < start.length; at += 1) if (end[at] - start[at] > most) [most, event] = [end[at] - start[at], events[at]];
        }
        return event;
    }

    /** @param {IdleGapChosen} gap */
    function show(gap) {
        const wide = (gap.duration_ns / view.span) * view.width;
        const outside = gap.start_ns + gap.duration_ns < view.start || gap.start_ns > view.end;
        if (!outside && wide >= SEEN_PX) return;
        const span = wide >= SEEN_PX ? view.span : Math.min(view.span, Math.max(LEAST_NS, AROUND * gap.duration_ns));
        view.show(gap.start_ns + (gap.duration_ns - span) / 2, gap.start_ns + (gap.duration_ns + span) / 2);
        stage.moved();
    }

    /** What gaps of the same cause cost. @param {IdleGapChosen} gap */
    function cost(gap) {
        const gaps = devices.find(({ device }) => device === gap.device);
        if (!gaps) return null;
        const cause = names.indexOf(gap.cause);
        let [sum, count] = [0, 0];
        for (let at = 0; at < gaps.start.length; at += 1) {
            if (gaps.cause[at] !== cause) continue;
            sum += gaps.end[at] - gaps.start[at];
            count += 1;
        }
        const { steps } = state.panes[0].answer;
        return { sum, count, idle: gaps.idle, steps: steps.length, step: steps.find(({ start_ns: start, end_ns: end }) => start <= gap.start_ns && gap.start_ns < end) ?? null };
    }

    /** @param {IdleGapChosen} gap */
    function tell(gap) {
        const costs = cost(gap);
        const host = HOSTS[gap.host];
        const todo = todoOf(trace, gap.cause, gap.host);
        const parts = gap.host_kinds.map(({ host: kind, idle_ns: ns, ratio }) => ({ kind, label: HOSTS[kind].label, ns, ratio }));
        const order = find(gap.next_event);
        const beside = (/** @type {number} */ way) => order && order.gaps.event[order.at + way];
        const to = (/** @type {string} */ label, /** @type {number | null | undefined} */ event) => h('button', { class: 'button small', type: 'button', disabled: event === null || event === undefined,
            onclick: () => setParams({ gap: String(event), tab: 'gap' }, { replace: true }) }, label);
        /** @type {[string, number | null][]} */
        const events = [['What the host did', gap.host_event], ['Launch of the work after it', gap.launch_event], ['Work before', gap.previous_event], ['Work after', gap.next_event]];
        fill(box,
            h('div', { class: 'tl-title' }, h('h2', { class: 'tl-name', tabindex: '-1' }, `Device ${gap.device} idle for ${fmt.time(gap.duration_ns)}: ${CAUSES[gap.cause].label}`),
                h('div', { class: 'tl-title-tools' }, h('button', { class: 'button small', type: 'button', onclick: () => {
                    view.show(gap.start_ns - 0.2 * gap.duration_ns, gap.start_ns + 1.2 * gap.duration_ns);
                    stage.moved();
                } }, 'Zoom to gap'), to('Previous gap', beside(-1)), to('Next gap', beside(1)), to('Longest gap', longest()),
                h('a', { class: 'button small', href: traceHref(trace.id, 'idle') }, 'All idle time'))),
            h('p', null, `${CAUSES[gap.cause].help}. In ${fmt.share(gap.host_kinds.find(({ host: kind }) => kind === gap.host)?.ratio ?? null)} of it ${host.was}`,
                gap.host_name ? [', longest in ', h('code', { 'data-tip': gap.host_name }, shorten(gap.host_name).short)] : null, `. ${todo}`),
            figures([
                ['Start', fmt.moment(gap.start_ns)],
                ...(costs ? /** @type {[string, string][]} */ ([
                    ['Of the idle time of the device', fmt.share(gap.duration_ns / Math.max(1, costs.idle))],
                    ...(costs.step ? [[`Of step ${costs.step.name}`, fmt.share(gap.duration_ns / Math.max(1, costs.step.end_ns - costs.step.start_ns))]] : []),
                    [`All ${CAUSES[gap.cause].label.toLowerCase()}${leftOut.gaps ? ', of those on the lane' : ''}`, `${fmt.time(costs.sum)} in ${fmt.plural(costs.count, 'gap')}`],
                    ...(costs.steps > 0 ? [['A step', fmt.time(costs.sum / costs.steps)]] : []),
                ]) : []),
            ]),
            h('div', { class: 'idle-keys' }, h('span', { class: 'quiet' }, 'Host'), key(parts.filter(({ ns }) => ns > 0))), bar('What the host did', parts),
            h('div', { class: 'tl-title-tools' }, events.flatMap(([label, event]) => (event === null ? [] : [h('button', { class: 'link', type: 'button', onclick: () => choose(event) }, label)]))));
        announce(`Idle for ${fmt.time(gap.duration_ns)}, ${CAUSES[gap.cause].label}`);
    }

    /** @param {string} wanted */
    async function open(wanted) {
        const event = wanted === LONGEST ? longest() : /^\d{1,10}$/.test(wanted) ? Number(wanted) : null;
        stop.abort();
        stop = new AbortController();
        const mine = AbortSignal.any([signal, stop.signal]);
        if (event === null) {
            fill(box, h('p', null, 'The address names no gap of a device.'));
            return;
        }
        fill(box, skeleton('figures'));
        try {
            const { gap } = await ask({ limit: 0, next_event: event }, mine);
            if (!gap) {
                fill(box, h('p', null, `Event ${event} ends no gap of its device.`));
                return;
            }
            state.gap = { event, name: '', track: trackOf(gap.device), lane: 0, start_ns: gap.start_ns, dur_ns: gap.duration_ns };
            show(gap);
            tell(gap);
            stage.invalidate();
        } catch (error) {
            if (!isAbort(error)) showFailure(box, error, () => open(wanted));
        }
    }

    const ready = load();
    return {
        root: legend, look,
        /** @param {number} _pane @param {number} event that ends it */
        choose: (_pane, event) => setParams({ ...placeParams(stage), gap: String(event), tab: 'gap' }),
        /** @param {string} wanted of the address: the event that ends the gap, `longest`, or nothing */
        async update(wanted) {
            if (wanted === asked) return;
            asked = wanted;
            state.gap = null;
            stage.invalidate();
            if (wanted === '') return;
            await ready;
            if (asked === wanted) await open(wanted);
        },
    };
}
