/** All ranks of a run on one clock: a line a rank, late ones first; any of them unfolds into its own tracks. The state is in the URL. */

import { h, fill, debounce, swatch } from '../../lib/dom.js';
import { setParams, traceHref } from '../../app/router.js';
import { empty, showFailure, skeleton, troubleBox } from '../../lib/states.js';
import { keyInput, showKeys } from '../timeline/keys.js';
import { stage as makeStage } from '../timeline/canvas/stage.js';
import { pointerInput } from '../timeline/input.js';
import { panel } from '../timeline/panel.js';
import { Tiles } from '../timeline/data.js';
import { rangeParam, readAddress } from '../timeline/address.js';
import { STEP_RULER, TIME_RULER } from '../timeline/canvas/ruler.js';
import { onTheme, token } from '../../app/theme.js';
import { ApiError, isAbort } from '../../lib/api.js';
import { LAYERS, RankLanes } from './lanes.js';
import { arrangement, inOrder, rankKey, trackOf } from './rows.js';
import { rankRange } from './range.js';
import { rankSearch } from './search.js';
import * as timeline from '../timeline/api.js';
import * as traces from '../../lib/api.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

const REMEMBER_MS = 250;
/** Ranks that are unfolded at once. */
const OPEN = 8;
const WORDS = { busy: 'Device busy', transfer: 'Communication', wait: 'Waiting for others' };

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    fill(root, skeleton('block'));
    const span = route.params.get('span');
    try {
        const data = await api.ranks(route.id, span, signal);
        if (data.rows.length > 0 && data.end_ns > 0) return open(root, route, span, data, signal);
        fill(root, h('h1', null, 'All ranks'), empty('No timeline of this run', h('p', null, 'No trace of it has an event with a time.')));
    } catch (error) {
        if (error instanceof ApiError && error.status === 404) fill(root, h('h1', null, 'All ranks'), empty('No timeline of this run', h('p', null, error.message)));
        else showFailure(root, error);
    }
    return {};
}

/** Ranks that the address unfolds: `open=5.7`. @param {URLSearchParams} params */
const openOf = (params) => new Set((params.get('open') ?? '').split('.').filter((text) => /^\d{1,9}$/.test(text)).map(Number).slice(0, OPEN));

/** @param {HTMLElement} root @param {Route} route @param {string | null} span @param {api.Ranks} data @param {AbortSignal} signal @returns {Promise<Mounted>} */
async function open(root, route, span, data, signal) {
    const run = route.id;
    const reader = timeline.windowReader();
    const shifts = new Map(data.rows.map((row) => [row.rank, row]));
    /** @type {Map<number, number>} */
    const panes = new Map();
    let opened = new Set();
    let ranks = inOrder(data.rows, route.params.get('by') ?? '');
    let by = route.params.get('by') ?? '';
    let seen = '';
    const trouble = troubleBox(() => state.panes.forEach(({ tiles }) => tiles.fetchMissing()));
    const onData = () => {
        trouble.hide();
        stage.invalidate();
    };
    /** @type {TimelineTracks} */
    const answer = { start_ns: 0, end_ns: data.end_ns, events: 0, flows: 0, tracks: data.rows.map(trackOf), steps: data.steps.map(({ step, ...times }) => ({ name: String(step), ...times })) };
    const lanes = new RankLanes(run, span, answer, { onData, onError: trouble.show });
    lanes.recolour(token);
    const place = () => ({ start: view.isAll ? null : Math.round(view.start), end: view.isAll ? null : Math.round(view.end), top: Math.round(stage.root.scrollTop) || null });
    const remember = debounce(() => setParams(place(), { replace: true }), REMEMBER_MS);
    const stage = makeStage({ onCollapse: fold, onView: () => remember(), arrangement: arrangement(() => ({ ranks, panes, open: opened })), say });
    const { state, view } = stage;
    const trace = /** @type {any} */ ({ run, worker: 'all ranks', span: span ?? '' });
    state.panes = [{ id: '', trace, answer, shift: 0, tiles: lanes }];

    /** @param {TimelineRow} row @param {number} ns @returns {[string, string] | null} */
    function say(row, ns) {
        const shares = row.track?.kind === 'rank' ? lanes.sharesAt(row.track.id, ns) : null;
        return shares && [row.label, LAYERS.map(([layer], index) => `${WORDS[layer]} ${fmt.share(shares[index])}`).join(' · ')];
    }

    /** @param {string} key of a rank, or of a row of an unfolded one */
    function fold(key) {
        const rank = data.rows.find((row) => rankKey(row.rank) === key)?.rank;
        if (rank === undefined) {
            if (!state.toggled.delete(key)) state.toggled.add(key);
            stage.arrange();
            return;
        }
        const next = new Set(opened);
        if (!next.delete(rank)) next.add(rank);
        setParams({ open: [...next].slice(-OPEN).join('.') });
    }

    /** Its tracks, on the clock of the run. @param {number} rank */
    async function unfold(rank) {
        const row = shifts.get(rank);
        if (!row || panes.has(rank)) return;
        const [of, tracks] = await Promise.all([traces.trace(row.trace, signal), timeline.tracks(String(row.trace), signal)]);
        if (panes.has(rank)) return;
        panes.set(rank, state.panes.length);
        state.panes.push({ id: String(row.trace), trace: of, answer: tracks, shift: row.shift_ns, tiles: new Tiles(String(row.trace), tracks, reader, { onData, onError: trouble.show }) });
    }

    const boxes = { slice: h('div', { class: 'tl-detail' }), range: h('div', { class: 'tl-detail' }), search: h('div', { class: 'tl-detail' }) };
    const below = panel(boxes, { onClose: () => {
        setParams({ tab: 'none' }, { replace: true });
        stage.canvas.focus({ preventScroll: true });
    } });
    const show = (/** @type {number} */ start, /** @type {number} */ end) => {
        view.show(start, end);
        stage.moved();
    };
    const range = rankRange(boxes.range, run, span, { clear: () => setParams({ sel: null }), unfold: (rank) => fold(rankKey(rank)) });
    const search = rankSearch(boxes.search, run, span, { show, light: (lit, found) => stage.light(lit, found), startOfView: () => view.start, leave: () => stage.canvas.focus(),
        ranks: () => ranks.map(({ rank }) => rank), unfold: (rank) => opened.has(rank) || fold(rankKey(rank)) }, signal);
    const all = () => {
        view.all();
        stage.moved();
    };
    const mark = () => setParams({ ...place(), sel: rangeParam([view.start, view.end]), tab: 'range' });
    const nextStep = (/** @type {1 | -1} */ way) => {
        const middle = (view.start + view.end) / 2;
        const step = way > 0 ? answer.steps.find(({ start_ns: start }) => start > middle) : answer.steps.findLast(({ end_ns: end }) => end < middle);
        if (step) show(step.start_ns, step.end_ns);
    };
    const keys = keyInput(stage, {
        walk: nextStep, climb: (way) => { stage.root.scrollTop += way * view.height * 0.2; }, follow() {}, all, mark, match: search.step, help: showKeys, open() {},
        fit: () => (state.range ? show(...state.range) : all()),
        clear() {
            if (!state.range) return false;
            setParams({ sel: null });
            return true;
        },
    });
    pointerInput(stage, {
        onClick(x, y) {
            if (y >= TIME_RULER && y < state.ruler && state.ruler >= TIME_RULER + STEP_RULER) {
                const step = answer.steps.find(({ start_ns: start, end_ns: end }) => start <= view.ns(x) && view.ns(x) < end);
                if (step) setParams({ start: step.start_ns, end: step.end_ns });
                return;
            }
            const item = stage.under(x, y);
            if (item) tellSlice(item);
        },
        onDouble(...at) {
            const found = stage.rowAt(at[1]);
            if (found?.row.track?.kind === 'rank') fold(found.row.key);
        },
        onRange(marked, done) {
            state.range = marked;
            stage.invalidate();
            if (done) setParams({ ...place(), sel: rangeParam(marked), tab: 'range' });
        },
    });

    /** @param {import('../timeline/pick.js').Item} item of an unfolded rank */
    function tellSlice(item) {
        const { id, shift } = state.panes[item.pane];
        fill(boxes.slice, h('div', { class: 'tl-title' }, h('h2', { class: 'tl-name', tabindex: '-1' }, item.label.name)),
            h('p', null, `${fmt.time(item.end - item.start)} from ${fmt.moment(item.start + shift)} · `, h('a', { href: traceHref(id, 'timeline', { event: String(item.event) }) }, 'Open in its own timeline')));
        setParams({ tab: 'slice' }, { replace: true });
    }

    const orders = h('select', { class: 'input select', 'aria-label': 'Order of the ranks', onchange: () => setParams({ by: orders.value, top: null }) },
        h('option', { value: '' }, 'Late ranks first'), h('option', { value: 'rank' }, 'By rank'));
    const small = (/** @type {string} */ sign, /** @type {string} */ label, /** @type {() => void} */ act) => h('button', { class: 'button', type: 'button', 'aria-label': label, title: label, onclick: act }, sign);
    fill(root,
        h('div', { class: 'tl-tools' }, h('h1', null, 'All ranks'), search.root, orders, legend(),
            h('div', { class: 'tl-buttons' }, h('button', { class: 'button', type: 'button', 'data-tip': 'Figures of what is in sight, by rank; or drag on the ruler', onclick: mark }, 'Select range'),
                small('−', 'Zoom out', () => keys.step('s')), small('+', 'Zoom in', () => keys.step('w')), small('Fit', 'Fit the whole run', all), small('?', 'Keyboard shortcuts', showKeys))),
        h('p', { class: 'visually-hidden', id: 'tl-keys' }, 'W and S zoom, A and D move, arrows go from step to step; a button before each rank unfolds it.'),
        h('div', { class: 'tl-stage' }, stage.root, trouble.root), below.root);
    root.classList.add('tl-ready');
    const forget = onTheme(() => {
        lanes.recolour(token);
        stage.invalidate();
    });
    view.boundTo(0, data.end_ns);
    view.all();
    stage.arrange();
    stage.measure();

    /** @param {URLSearchParams} params */
    async function update(params) {
        const next = readAddress(params);
        const wanted = openOf(params);
        orders.value = params.get('by') ?? '';
        const changed = [...wanted].some((rank) => !opened.has(rank)) || wanted.size !== opened.size || (params.get('by') ?? '') !== by;
        if (changed) {
            by = params.get('by') ?? '';
            ranks = inOrder(data.rows, by);
            opened = wanted;
            stage.arrange();
            try {
                await Promise.all([...wanted].map(unfold));
            } catch (error) {
                if (!isAbort(error)) trouble.show(error);
            }
            stage.arrange();
        }
        const at = JSON.stringify([params.get('start'), params.get('end'), params.get('top')]);
        if (at !== seen && at !== JSON.stringify(Object.values(place()).map((value) => (value === null ? null : String(value))))) {
            if (next.time) view.show(...next.time);
            else view.all();
            stage.root.scrollTop = next.top;
        }
        seen = at;
        const others = String(next.range) !== String(state.range) || (next.range && boxes.range.childElementCount === 0);
        state.range = next.range;
        stage.invalidate();
        const tab = params.get('tab');
        below.show([...(tab === 'slice' ? [/** @type {const} */ ('slice')] : []), ...(next.range ? [/** @type {const} */ ('range')] : []), ...(next.q ? [/** @type {const} */ ('search')] : [])], tab);
        await Promise.all([search.update(next.q), next.range && others ? range.show(next.range) : null]);
    }

    return {
        ready: update(route.params),
        update: (next) => (next.params.get('span') === span ? update(next.params) : location.reload()),
        destroy() {
            remember.cancel();
            forget();
            keys.destroy();
            search.destroy();
            range.stop();
            state.panes.forEach(({ tiles }) => tiles.destroy());
            reader.destroy();
            stage.destroy();
        },
    };
}

function legend() {
    return h('ul', { class: 'tl-role-keys' }, LAYERS.map(([layer, colour]) => h('li', null, swatch(`var(${colour})`), WORDS[layer])));
}
