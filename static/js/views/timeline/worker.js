/** Asks for windows of the timeline away from the page's own thread, and turns the answers into columns, lane after lane. */

/** @type {Map<number, AbortController>} */
const running = new Map();
const NO_EVENT = 0xffffffff;

/**
 * Where the items of each lane go when lanes follow one another; within a lane they keep their order.
 * @param {number[]} lanes of the items
 */
function places(lanes) {
    let last = 0;
    for (const lane of lanes) if (lane > last) last = lane;
    const offsets = new Uint32Array(last + 2);
    for (const lane of lanes) offsets[lane + 1] += 1;
    for (let lane = 0; lane <= last; lane += 1) offsets[lane + 1] += offsets[lane];
    const next = offsets.slice();
    const to = new Uint32Array(lanes.length);
    for (let at = 0; at < lanes.length; at += 1) to[at] = next[lanes[at]]++;
    return { offsets, to };
}

/**
 * @template {Float64Array | Uint32Array | Int32Array} T
 * @param {T} target @param {(number | null)[]} source @param {Uint32Array} to @param {number} none for null
 */
function scatter(target, source, to, none) {
    for (let at = 0; at < to.length; at += 1) target[to[at]] = source[at] ?? none;
    return target;
}

/** @param {any} track of slices @returns {LaneColumns} */
function slices(track) {
    const { offsets, to } = places(track.lane);
    const total = to.length;
    const end = new Float64Array(total);
    /** @type {Uint8Array | null} */
    let instant = null;
    for (let at = 0; at < total; at += 1) {
        end[to[at]] = track.start_ns[at] + (track.dur_ns[at] ?? 0);
        if (track.dur_ns[at] !== null) continue;
        instant ??= new Uint8Array(total);
        instant[to[at]] = 1;
    }
    return {
        exact: track.pixel_ns === 0, offsets, end, instant, points: null,
        start: scatter(new Float64Array(total), track.start_ns, to, 0),
        label: scatter(new Int32Array(total), track.label, to, 0),
        event: scatter(new Uint32Array(total), track.event, to, NO_EVENT),
        count: track.count ? scatter(new Uint32Array(total), track.count, to, 1) : null,
        busy: track.busy_ns ? scatter(new Float64Array(total), track.busy_ns, to, 0) : null,
    };
}

/** @param {any} track of a counter @param {number} until the end of the window @returns {LaneColumns} */
function points(track, until) {
    const { points: list } = track;
    const { offsets, to } = places(list.lane);
    const total = to.length;
    const start = scatter(new Float64Array(total), list.start_ns, to, 0);
    const end = new Float64Array(total);
    for (let lane = 0; lane + 1 < offsets.length; lane += 1) {
        for (let at = offsets[lane]; at < offsets[lane + 1]; at += 1) end[at] = at + 1 < offsets[lane + 1] ? start[at + 1] : Math.max(until, start[at]);
    }
    const values = (/** @type {'last' | 'min' | 'max'} */ name) => scatter(new Float64Array(total), list[name], to, 0);
    return {
        exact: track.pixel_ns === 0, offsets, start, end, label: new Int32Array(0), instant: null, count: null, busy: null,
        event: scatter(new Uint32Array(total), list.event, to, NO_EVENT),
        points: { last: values('last'), min: values('min'), max: values('max') },
    };
}

/** @param {LaneColumns} columns */
function buffers({ offsets, start, end, label, event, instant, count, busy, points: values }) {
    return [offsets, start, end, label, event, instant, count, busy, values?.last, values?.min, values?.max].flatMap((list) => (list ? [list.buffer] : []));
}

/** @param {number} id @param {string} url */
async function bring(id, url) {
    const stop = new AbortController();
    running.set(id, stop);
    try {
        const response = await fetch(url, { signal: stop.signal });
        if (!response.ok) {
            self.postMessage({ id, status: response.status, statusText: response.statusText, text: await response.text() });
            return;
        }
        const answer = await response.json();
        const tracks = answer.tracks.map((/** @type {any} */ track) => ({ id: track.id, columns: track.points ? points(track, answer.end_ns) : slices(track) }));
        self.postMessage({ id, labels: answer.labels, tracks }, { transfer: tracks.flatMap((/** @type {any} */ { columns }) => buffers(columns)) });
    } catch (error) {
        self.postMessage({ id, status: 0, aborted: stop.signal.aborted, text: String(error) });
    } finally {
        running.delete(id);
    }
}

self.addEventListener('message', ({ data }) => {
    if (data.stop) running.get(data.id)?.abort();
    else bring(data.id, data.url);
});
