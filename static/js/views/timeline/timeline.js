/** The timeline: every slice of the trace on lanes, on one canvas. This arranges; the state is in the URL. */

import { h, fill, debounce } from '../../lib/dom.js';
import { current, setParams, traceHref } from '../../app/router.js';
import { empty, troubleBox } from '../../lib/states.js';
import { hasView } from '../../app/trace_views.js';
import { placeKey, placeParams, rangeParam, readAddress } from './address.js';
import { optionsMenu, orderFrom, pointerInput } from './input.js';
import { KEYS, keyInput, showKeys } from './keys.js';
import { panel } from './panel.js';
import { placeOf } from './pick.js';
import { rangePanel } from './window.js';
import { secondTrace } from './compare.js';
import { selector } from './selection.js';
import { stage as makeStage } from './canvas/stage.js';
import { STEP_RULER, TIME_RULER } from './canvas/ruler.js';
import { Tiles } from './data.js';
import { timelineSearch } from './search.js';
import { gapLane } from '../idle/gap_lane.js';
import { takeAway } from '../../app/perfetto.js';
import { pathLight } from '../idle/path_light.js';
import { pinnedNotes } from '../../app/pinned_notes.js';
import { searchWord } from '../../lib/names.js';
import * as traces from '../../lib/api.js';
import * as api from './api.js';

const REMEMBER_MS = 250;

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    // Its worker starts while the answers are on their way.
    const reader = api.windowReader();
    const coming = prepare(root, route, signal, reader);
    coming.then((view) => view.destroy ?? reader.destroy(), reader.destroy);
    return coming;
}

/** @param {HTMLElement} root @param {Route} route @param {AbortSignal} signal @param {api.WindowReader} reader @returns {Promise<Mounted>} */
async function prepare(root, route, signal, reader) {
    const trace = await traces.trace(route.id, signal);
    const answer = hasView(trace, 'timeline') ? await api.tracksIfAny(route.id, signal) : null;
    if (!answer || answer.tracks.length === 0) {
        fill(root, h('h1', null, 'Timeline'), empty('No timeline of this trace', h('p', null, answer ? 'No event of it has a time.' : 'Only traces keep their events, and those that were read by an older program did not: upload the file again.'),
            h('p', null, h('a', { class: 'button', href: traceHref(trace.id) }, 'To its other views'))));
        return {};
    }
    return open(root, route, signal, trace, answer, reader);
}

/** @param {HTMLElement} root @param {Route} route @param {AbortSignal} signal @param {Trace} trace @param {TimelineTracks} answer @param {api.WindowReader} reader @returns {Promise<Mounted>} */
async function open(root, route, signal, trace, answer, reader) {
    /** The place as the address last said it. */
    let seen = '';
    /** @type {import('./address.js').Address} */
    let address = readAddress(new URLSearchParams());
    const remember = debounce(() => {
        lane.look();
        if (placeKey(current().params) !== placeKey(asParams(placeParams(stage)))) setParams(placeParams(stage), { replace: true }); // The order of the parameters is the link's.
    }, REMEMBER_MS);
    const trouble = troubleBox(() => state.panes.forEach(({ tiles }) => tiles.fetchMissing()));
    const onData = () => {
        trouble.hide();
        stage.invalidate();
        selection.refresh();
    };
    const stage = makeStage({ onCollapse: fold, onView: () => remember() });
    const { state, view } = stage;
    /** @param {string} id @param {Trace} of @param {TimelineTracks} tracks @param {number} shift */
    const pane = (id, of, tracks, shift) => ({ id, trace: of, answer: tracks, shift, tiles: new Tiles(id, tracks, reader, { onData, onError: trouble.show }) });
    const light = (found = state.found) => stage.light(search.active() ? search.lit : path.lit(), found);
    const boxes = { slice: h('div', { class: 'tl-detail' }), gap: h('div', { class: 'tl-detail' }), range: h('div', { class: 'tl-detail' }), search: h('div', { class: 'tl-detail' }) };
    const find = (/** @type {string} */ name) => setParams({ q: searchWord(name), tab: 'search' });
    const search = timelineSearch(route.id, {
        onFound: () => light(search.times()),
        choose: (hit) => selection.choose(0, hit.event, null, { zoom: true }),
        find, startOfView: () => view.start, onLeave: () => stage.canvas.focus(),
    });
    boxes.search.append(search.box);
    const path = pathLight(route.id, () => light(), signal);
    const selection = selector(stage, { box: boxes.slice, trace, reader, signal, search, find, unfold: (key) => fold(key) });
    const lane = gapLane(trace, stage, { box: boxes.gap, signal, choose: (event) => selection.choose(0, event, null, { push: true, zoom: true }) });
    const fitRange = () => {
        if (!state.range) return false;
        const [from, to] = state.range;
        view.show(from - 0.05 * (to - from), to + 0.05 * (to - from));
        stage.moved();
        return true;
    };
    const figures = rangePanel(boxes.range, { panes: () => state.panes, find, zoom: fitRange, clear: () => setParams({ sel: null }) });
    const second = secondTrace(trace, signal);
    const below = panel(boxes, { onClose: () => {
        setParams({ tab: 'none' }, { replace: true });
        stage.canvas.focus({ preventScroll: true });
    } });

    const inSight = () => state.range ?? (view.isAll ? null : /** @type {[number, number]} */ ([view.start, view.end]));
    const all = () => {
        view.all();
        stage.moved();
    };
    const mark = () => {
        const slice = state.selection?.place;
        const shift = state.selection ? state.panes[state.selection.pane].shift : 0;
        const range = /** @type {[number, number]} */ (slice?.dur_ns ? [slice.start_ns + shift, slice.start_ns + shift + slice.dur_ns] : [view.start, view.end]);
        setParams({ ...placeParams(stage), sel: rangeParam(range), tab: 'range' });
    };
    const keys = keyInput(stage, {
        walk: selection.walk, climb: selection.climb, follow: selection.follow, all, mark, match: search.step, help: showKeys,
        open() {
            if (!state.selection) return;
            setParams({ tab: 'slice' }, { replace: true });
            below.focus();
        },
        fit: () => selection.fit() || fitRange() || all(),
        clear() {
            if (!state.range && !state.selection) return false;
            setParams(state.range ? { sel: null } : { event: null });
            return true;
        },
    });
    pointerInput(stage, {
        onClick(x, y) {
            const step = stepAt(x, y);
            if (step) setParams({ start: Math.round(step.start_ns), end: Math.round(step.end_ns) });
            const item = stage.under(x, y);
            if (item) (item.label.category === 'idle' ? lane : selection).choose(item.pane, item.event, placeOf(item), { push: true });
            else if (!step && state.selection) setParams({ event: null });
        },
        onDouble: (x, y) => stage.under(x, y) && selection.fit(),
        onRange(range, done) {
            state.range = range;
            stage.invalidate();
            if (done) setParams({ ...placeParams(stage), sel: rangeParam(range), tab: 'range' });
        },
    });

    /** @param {number} x @param {number} y in CSS pixels of the canvas */
    function stepAt(x, y) {
        if (y < TIME_RULER || y >= state.ruler || state.ruler < TIME_RULER + STEP_RULER) return null;
        return answer.steps.find((step) => step.start_ns <= view.ns(x) && view.ns(x) < step.end_ns) ?? null;
    }

    /** @param {string} key */
    function fold(key) {
        if (!state.toggled.delete(key)) state.toggled.add(key);
        stage.arrange();
        remember();
    }

    const options = optionsMenu({ onOrder: (order) => {
        state.order = order;
        stage.arrange();
        remember();
    } });
    const small = (/** @type {string} */ sign, /** @type {string} */ label, /** @type {() => void} */ act) => h('button', { class: 'button', type: 'button', 'aria-label': label, title: label, onclick: act }, sign);
    fill(root,
        h('div', { class: 'tl-tools' }, h('h1', null, 'Timeline'), search.root, path.root, lane.root, second.root,
            h('div', { class: 'tl-buttons' }, h('button', { class: 'button', type: 'button', 'data-tip': 'Figures of the selected slice, or of what is in sight; or drag on the ruler', onclick: mark }, 'Select range'),
                small('−', 'Zoom out', () => keys.step('s')), small('+', 'Zoom in', () => keys.step('w')), small('Fit', 'Fit the whole trace', all),
                takeAway(trace, inSight),
                options.root, small('?', 'Keyboard shortcuts', showKeys)),
            pinnedNotes(trace, 'window', signal, inSight)),
        h('p', { class: 'visually-hidden', id: 'tl-keys' }, KEYS.map(([key, text]) => `${key}: ${text}`).join('; ')),
        h('div', { class: 'tl-stage' }, stage.root, trouble.root), below.root);
    root.classList.add('tl-ready');
    state.panes = [pane(route.id, trace, answer, 0)];
    state.order = orderFrom(route.params.get('tracks'));
    options.show(state.order);
    view.bound(state.panes);
    view.open();
    stage.arrange();
    stage.measure();

    /** @param {import('./address.js').Address} next */
    async function follow(next) {
        if (next.with === (state.panes[1]?.id ?? '') && next.shift === (state.panes[1]?.shift ?? 0)) return;
        state.panes[1]?.tiles.destroy();
        state.panes.length = 1;
        if (next.with) {
            const [of, tracks] = await Promise.all([traces.trace(next.with, signal), api.tracks(next.with, signal)]);
            if (address !== next) return;
            state.panes.push(pane(next.with, of, tracks, next.shift));
        }
        const whole = view.isOpen;
        view.bound(state.panes);
        if (whole) view.open();
        stage.forgetHeads();
        stage.arrange();
        second.show(state.panes[0], state.panes[1] ?? null, next.shift);
    }

    /** @param {URLSearchParams} params */
    async function update(params) {
        const next = readAddress(params);
        const before = address;
        address = next;
        try {
            await follow(next);
        } catch (error) {
            if (!traces.isAbort(error)) trouble.show(error);
        }
        if (address !== next) return;
        if (placeKey(params) !== seen && placeKey(params) !== placeKey(asParams(placeParams(stage)))) place(next);
        seen = placeKey(params);
        state.range = next.range;
        stage.invalidate();
        const chosen = below.show([...(next.event ? [/** @type {const} */ ('slice')] : []), ...(next.gap ? [/** @type {const} */ ('gap')] : []), ...(next.range ? [/** @type {const} */ ('range')] : []), ...(next.q ? [/** @type {const} */ ('search')] : [])], next.tab);
        const others = ['range', 'with', 'shift'].some((name) => String(Reflect.get(next, name)) !== String(Reflect.get(before, name)));
        if (next.range && others) figures.show(next.range);
        stage.root.dataset.panel = chosen ?? '';
        await Promise.all([search.update(next.q), path.update(next.path), lane.update(next.gap), selection.update(next.event, next.time !== null)]);
    }

    /** @param {import('./address.js').Address} next */
    function place(next) {
        state.toggled = next.toggled;
        state.order = orderFrom(next.tracks);
        options.show(state.order);
        stage.arrange();
        if (next.time) view.show(...next.time);
        else view.open();
        stage.root.scrollTop = next.top;
        stage.invalidate();
    }

    return {
        ready: update(route.params),
        update: (next) => update(next.params),
        destroy() {
            remember.cancel();
            keys.destroy();
            search.destroy();
            selection.destroy();
            figures.stop();
            state.panes.forEach(({ tiles }) => tiles.destroy());
            reader.destroy();
            stage.destroy();
        },
    };
}

/** @param {Record<string, string | number | null>} values */
const asParams = (values) => new URLSearchParams(Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])));
