/** What the timeline shows: lines from top to bottom, and the part of time and of the lines that is in sight. */

import * as fmt from '../../lib/fmt.js';

/** Heights in CSS pixels. */
export const LANE = 18;
export const COUNTER_LANE = 36;
const PROCESS = 24;
const TITLE = 28;
const GAP = 5;
/** Lanes of a collapsed track share this, so that nothing of it is hidden. */
const COLLAPSED = 20;
/** Threads with more levels than this, mostly frames of Python, start folded: every level stays in sight, but thin. */
const DEEP = 12;
const DEEP_LANE = 4;
/** A thread with at most so many slices, and less than this share of the largest one, joins the other small tracks. */
const FEW_ITEMS = 10;
const FEW_SHARE = 0.05;
/** Tracks that stay in sight take at most this share of the height. */
const PINNED_SHARE = 0.4;

/** Whether slices stand on it. @param {TimelineTrack} track */
export const holdsSlices = ({ kind }) => kind !== 'counter' && kind !== 'idle';

/** @typedef {'devices' | 'pinned' | 'host'} TrackOrder devices: above the host; pinned: in sight while the host scrolls */

/**
 * A trace on the common clock: its times are shown `shift` nanoseconds later.
 * @typedef {{id: string, trace: Trace, answer: TimelineTracks, shift: number, tiles: import('./sight.js').Sight & {paint?: (scene: import('./canvas/draw.js').Scene, row: TimelineRow, y: number) => void}}} Pane
 *     paint: of rows that are no lanes of slices, at a height in pixels of the screen
 */

/** The first trace is at hand anyway; names of the second one begin with this in the address. */
export const SECOND = 'w';

/** @param {number} pane */
const prefix = (pane) => (pane === 0 ? '' : pane === 1 ? SECOND : `${SECOND}${pane}-`);

/** @typedef {{first: number, label: string, tracks: TimelineTrack[], device: boolean}} Group tracks of a process; first: the id of its first one */

/** @param {TimelineTrack[]} tracks @param {(track: TimelineTrack) => boolean} test */
const itemsOf = (tracks, test) => tracks.reduce((sum, track) => sum + (test(track) ? track.items : 0), 0);

/** The processes in the order of the trace, and the small tracks that are none's main work. @param {TimelineTrack[]} tracks */
function groupsOf(tracks) {
    const largest = Math.max(...tracks.map((track) => (holdsSlices(track) ? track.items : 0)));
    const isSmall = (/** @type {TimelineTrack} */ { kind, items }) => kind === 'thread' && items <= FEW_ITEMS && items < FEW_SHARE * largest;
    const small = tracks.filter(isSmall);
    // One alone takes no less room in a group.
    const rest = small.length > 1 ? small : [];
    /** @type {Group[]} */
    const groups = [];
    for (const track of tracks) {
        if (rest.includes(track)) continue;
        const last = groups.at(-1);
        if (last && last.label === track.process) last.tracks.push(track);
        else groups.push({ first: track.id, label: track.process, tracks: [track], device: false });
    }
    for (const group of groups) group.device = group.tracks[0].kind === 'idle' || itemsOf(group.tracks, ({ kind }) => kind === 'stream') > itemsOf(group.tracks, ({ kind }) => kind === 'thread');
    return { groups, rest };
}

/** @param {Group[]} groups @param {TrackOrder} order */
function ordered(groups, order) {
    const isIdle = (/** @type {Group} */ { tracks }) => tracks[0].kind === 'idle';
    if (order === 'host') return [...groups.filter((group) => !isIdle(group)), ...groups.filter(isIdle)];
    const streamsFirst = (/** @type {Group} */ group) => ({ ...group, tracks: [...group.tracks.filter(({ kind }) => kind === 'stream'), ...group.tracks.filter(({ kind }) => kind !== 'stream')] });
    return [...groups.filter(({ device }) => device), ...groups.filter(({ device }) => !device)].map(streamsFirst);
}

/** Rows that start folded. @param {Pane[]} panes */
export function foldedAtFirst(panes) {
    return new Set(panes.flatMap(({ answer }, pane) => [`${prefix(pane)}rest`, ...answer.tracks.filter(({ kind, lanes }) => kind === 'thread' && lanes > DEEP).map(({ id }) => `${prefix(pane)}t${id}`)]));
}

/**
 * @param {Pane[]} panes
 * @param {Set<string>} toggled keys of rows that are not as they start
 * @param {TrackOrder} order
 * @param {number} room height in sight
 * @param {number | null} [only] the pane whose rows are meant, without its name
 * @returns {{rows: TimelineRow[], height: number, pinned: number}} pinned: the height of the rows that stay, which come first
 */
export function layout(panes, toggled, order, room, only = null) {
    /** @type {TimelineRow[]} */
    const rows = [];
    /** @type {TimelineRow[]} */
    const staying = [];
    const first = foldedAtFirst(panes);
    const isFolded = (/** @type {string} */ key) => first.has(key) !== toggled.has(key);
    let top = 0;
    let pinned = 0;
    /** @param {Omit<TimelineRow, 'top' | 'pinned'>} row @param {number} gap @param {boolean} [stays] */
    const add = (row, gap, stays = false) => {
        if (stays && pinned + row.height <= PINNED_SHARE * room) {
            staying.push({ ...row, top: pinned, pinned: true });
            pinned += row.height + gap;
            return;
        }
        rows.push({ ...row, top, pinned: false });
        top += row.height + gap;
    };
    panes.forEach(({ answer, trace }, pane) => {
        if (only !== null && pane !== only) return;
        if (panes.length > 1 && only === null) add({ kind: 'trace', key: `${prefix(pane)}all`, pane, track: null, label: `${trace.run}, ${fmt.worker(trace)}`, note: `span ${trace.span}`, height: TITLE, laneHeight: 0, collapsed: false }, 0);
        const { groups, rest } = groupsOf(answer.tracks);
        /** @param {string} key @param {string} label @param {TimelineTrack[]} tracks @param {boolean} device @param {(track: TimelineTrack) => string} name */
        const addGroup = (key, label, tracks, device, name) => {
            const folded = isFolded(key);
            const stays = order === 'pinned' && device;
            add({ kind: 'process', key, pane, track: null, holds: tracks.map(({ id }) => id), label, note: '', height: PROCESS, laneHeight: 0, collapsed: folded }, folded ? 0 : GAP, stays);
            if (!folded) tracks.forEach((track) => add({ ...trackRow(track, pane, isFolded(`${prefix(pane)}t${track.id}`)), label: name(track) }, GAP, stays && (track.kind === 'stream' || track.kind === 'idle')));
        };
        for (const { first: id, label, tracks, device } of ordered(groups, order)) addGroup(`${prefix(pane)}p${id}`, label || 'No process', tracks, device, (track) => track.label);
        if (rest.length > 0) addGroup(`${prefix(pane)}rest`, `Other tracks (${rest.length})`, rest, false, (track) => (track.process ? `${track.process}: ${track.label}` : track.label));
    });
    return { rows: [...staying, ...rows], height: top, pinned };
}

/** @param {TimelineTrack} track @param {number} pane @param {boolean} collapsed @returns {Omit<TimelineRow, 'top' | 'pinned'>} */
function trackRow(track, pane, collapsed) {
    const lane = track.kind === 'counter' ? COUNTER_LANE : LANE;
    const lanes = Math.max(1, track.lanes);
    const isDeep = track.kind === 'thread' && lanes > DEEP;
    const laneHeight = collapsed ? Math.min(lane, isDeep ? DEEP_LANE : COLLAPSED / lanes) : lane;
    return { kind: 'track', key: `${prefix(pane)}t${track.id}`, pane, track, label: track.label, note: track.members > 1 ? `${track.members} joined` : '',
        height: Math.max(COLLAPSED, lanes * laneHeight), laneHeight, collapsed };
}

/** The rows that scroll and reach into a span of heights. @param {TimelineRow[]} rows @param {number} top @param {number} bottom */
function rowsBetween(rows, top, bottom) {
    let [low, high] = [staysUntil(rows), rows.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (rows[middle].top + rows[middle].height <= top) low = middle + 1;
        else high = middle;
    }
    let to = low;
    while (to < rows.length && rows[to].top < bottom) to += 1;
    return rows.slice(low, to);
}

/** How many rows stay in sight: they come first. @param {TimelineRow[]} rows */
function staysUntil(rows) {
    const index = rows.findIndex(({ pinned }) => !pinned);
    return index < 0 ? rows.length : index;
}

/** Those that stay, then those that are scrolled to. @param {TimelineRow[]} rows @param {import('./viewport.js').Viewport} view @param {number} [spare] this far above and below, too */
export const rowsInSight = (rows, view, spare = 0) => [...rows.slice(0, staysUntil(rows)), ...rowsBetween(rows, view.top - spare, view.top + view.height + spare)];

/** The row of a track, or of the process that hides it. @param {TimelineRow[]} rows @param {number} pane @param {number} track */
export function rowOf(rows, pane, track) {
    const own = rows.find((row) => row.pane === pane && row.track?.id === track);
    if (own) return own;
    return rows.find((row) => row.pane === pane && row.holds?.includes(track)) ?? null;
}
