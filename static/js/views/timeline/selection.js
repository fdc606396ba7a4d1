/** The chosen slice: chosen, told about, shown, walked from. */

import { announce } from '../../lib/dom.js';
import { setParams } from '../../app/router.js';
import { isAbort } from '../../lib/api.js';
import { eventParam, placeParams } from './address.js';
import { holdsSlices, rowOf } from './model.js';
import { neighbour, placeOf, upOrDown, within } from './pick.js';
import { detailsFailed, showDetails } from './details.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** In CSS pixels: what is narrower is zoomed to when a search leads to it. */
const SEEN_PX = 8;
/** How many times as wide as the slice the view then is, and at least. */
const AROUND = 30;
const LEAST_NS = 2000;
/** What is fitted keeps so much room on either side, of its width. */
const ROOM = 0.2;

/**
 * @param {import('./canvas/stage.js').Stage} stage
 * @param {{box: HTMLElement, trace: Trace, reader: import('./api.js').WindowReader, signal: AbortSignal,
 *          search: {words: (event: number) => string}, find: (name: string) => void, unfold: (key: string) => void}} around
 */
export function selector(stage, { box, trace, reader, signal, search, find, unfold }) {
    const { state, view } = stage;
    let stop = new AbortController();
    /** Whether what is shown has the role. */
    let told = false;
    /** What the next change of the address means, as far as it is known here. @type {{pane: number, event: number, place: TimelinePlace | null, zoom: boolean} | null} */
    let meant = null;

    /** @param {number} pane @param {number | null} track */
    const trackName = (pane, track) => state.panes[pane]?.answer.tracks.find(({ id }) => id === track)?.label ?? 'not on the timeline';

    /**
     * @param {number} pane @param {number} event @param {TimelinePlace | null} place
     * @param {{push?: boolean, zoom?: boolean}} [how] push: the way back undoes it; zoom: make it wide enough to be seen
     */
    function choose(pane, event, place, { push = false, zoom = false } = {}) {
        meant = { pane, event, place, zoom };
        const same = state.selection?.pane === pane && state.selection.event === event;
        setParams({ ...placeParams(stage), event: eventParam(pane, event), tab: 'slice' }, { replace: !push });
        if (same && place) reveal(pane, place, zoom);
    }

    /** @param {number} pane @param {TimelinePlace} place @param {boolean} zoom @param {boolean} [inTime] false: only its lane, where the address says which time is in sight */
    function reveal(pane, place, zoom, inTime = true) {
        if (place.track === null) return;
        let row = rowOf(state.rows, pane, place.track);
        if (row?.kind === 'process') {
            unfold(row.key);
            row = rowOf(state.rows, pane, place.track);
        }
        if (row) stage.reveal(row, place.lane ?? 0);
        if (!inTime) return;
        const start = place.start_ns + state.panes[pane].shift;
        const dur = place.dur_ns ?? 0;
        const outside = start + dur < view.start || start > view.end;
        const wide = (dur / view.span) * view.width;
        const span = zoom && wide < SEEN_PX ? Math.min(view.span, Math.max(LEAST_NS, dur * AROUND)) : view.span;
        if (outside || span !== view.span) view.show(start + Math.min(dur, span) / 2 - span / 2, start + Math.min(dur, span) / 2 + span / 2);
        stage.moved();
    }

    function paint() {
        const { selection } = state;
        if (!selection) return;
        const { pane } = selection;
        told = selection.detail !== null && roleOf(pane, selection.detail) !== '';
        showDetails(box, selection, {
            trace: state.panes[pane].trace, track: (track) => trackName(pane, track), fit, find, role: (detail) => roleOf(pane, detail),
            choose: (place) => choose(pane, place.event, place, { push: true, zoom: true }), retry: () => load(),
        });
    }

    /** @param {number} pane @param {TimelineEvent} detail */
    const roleOf = (pane, detail) => state.panes[pane].tiles.labels.find(({ name, category }) => name === detail.name && category === detail.category)?.role ?? '';

    async function load() {
        const { selection } = state;
        if (!selection) return;
        stop.abort();
        stop = new AbortController();
        const mine = stop.signal;
        paint();
        try {
            const detail = await api.event(state.panes[selection.pane].id, selection.event, mine);
            if (mine.aborted || state.selection !== selection) return;
            selection.detail = detail;
            const unknown = selection.place === null;
            if (detail.start_ns !== null) selection.place = { event: detail.event, name: detail.name, track: detail.track, lane: detail.lane, start_ns: detail.start_ns, dur_ns: detail.dur_ns };
            if (selection.place && unknown) reveal(selection.pane, selection.place, meant?.zoom ?? false, meant !== null);
            meant = null;
            paint();
            stage.root.dataset.selectedEvent = String(selection.event);
            announce(words(selection.pane, detail));
            stage.invalidate();
        } catch (error) {
            if (!isAbort(error)) detailsFailed(box, error, load);
        }
    }

    /** @param {number} pane @param {TimelineEvent} detail */
    function words(pane, detail) {
        const out = detail.flows.filter(({ kind, direction }) => kind === 'launch' && direction === 'out').length;
        const by = detail.flows.find(({ kind, direction }) => kind === 'launch' && direction === 'in');
        return [detail.name, detail.dur_ns === null ? 'an instant' : fmt.time(detail.dur_ns), trackName(pane, detail.track),
            pane === 0 ? search.words(detail.event) : '', out ? `launches ${out}` : '', by ? `launched by ${by.name}` : ''].filter(Boolean).join(', ');
    }

    /** Start and end on the lanes, where it has a place there. */
    function here() {
        const place = state.selection?.place;
        return place && place.track !== null && place.lane !== null ? { event: place.event, track: place.track, lane: place.lane, start: place.start_ns, end: place.start_ns + (place.dur_ns ?? 0) } : null;
    }

    /** Without a choice the keys begin with the first slice in sight. */
    function first() {
        for (const row of state.rows) {
            if (!row.track || !holdsSlices(row.track) || view.y(row) + row.height <= 0) continue;
            const item = within(view, state.panes, row, 0, view.start, view.end);
            if (item) return choose(item.pane, item.event, placeOf(item));
        }
        return undefined;
    }

    /** Whole slice, or its lane's part. */
    function fit() {
        const { selection } = state;
        const place = selection?.place;
        if (!selection || !place) return false;
        const start = place.start_ns + state.panes[selection.pane].shift;
        const dur = Math.max(place.dur_ns ?? 0, 1);
        view.show(start - ROOM * dur, start + dur + ROOM * dur);
        reveal(selection.pane, place, false);
        return true;
    }

    return {
        choose, fit,
        /** The role of a slice is known as soon as its neighbours are there. */
        refresh() {
            const { selection } = state;
            if (selection?.detail && !told && roleOf(selection.pane, selection.detail)) paint();
        },
        /** @param {1 | -1} way */
        async walk(way) {
            const at = here();
            if (!at || !state.selection) return first();
            const { pane } = state.selection;
            try {
                const item = await neighbour(view, state.panes, pane, at, way, reader, signal);
                if (item) {
                    choose(pane, item.event, placeOf(item));
                    reveal(pane, placeOf(item), false);
                } else announce(way > 0 ? 'The last slice of its lane' : 'The first slice of its lane');
            } catch (error) {
                if (!isAbort(error)) detailsFailed(box, error, load);
            }
            return undefined;
        },
        /** @param {1 | -1} way */
        climb(way) {
            const at = here();
            if (!at || !state.selection) return first();
            const item = upOrDown(view, state.panes, state.rows, state.selection.pane, at, way);
            if (!item) return announce(way > 0 ? 'Nothing below' : 'Nothing above');
            choose(item.pane, item.event, placeOf(item));
            return reveal(item.pane, placeOf(item), false);
        },
        /** @param {1 | -1} way to what it leads to, or where it comes from */
        follow(way) {
            const { selection } = state;
            const flow = selection?.detail?.flows.find(({ direction, track }) => direction === (way > 0 ? 'out' : 'in') && track !== null);
            if (selection && flow) choose(selection.pane, flow.event, flow, { push: true, zoom: true });
            else announce(way > 0 ? 'It leads to nothing' : 'It comes from nothing');
        },
        /** What the address says. @param {{pane: number, event: number} | null} named @param {boolean} placed whether the address says where to look, too */
        async update(named, placed) {
            const now = state.selection;
            if (!named || !state.panes[named.pane]) {
                stop.abort();
                state.selection = null;
                delete stage.root.dataset.selectedEvent;
                stage.invalidate();
                return;
            }
            if (now && now.pane === named.pane && now.event === named.event) return;
            if (meant?.pane !== named.pane || meant.event !== named.event) meant = placed ? null : { ...named, place: null, zoom: true };
            state.selection = { ...named, place: meant?.place ?? null, detail: null };
            if (meant?.place) reveal(named.pane, meant.place, meant.zoom);
            stage.invalidate();
            await load();
        },
        destroy: () => stop.abort(),
        trace,
    };
}
