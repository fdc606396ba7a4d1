/** The gaps of a device as the timeline draws them at a zoom. */

/** By start. @typedef {{device: number, idle: number, busy: number, start: Float64Array, end: Float64Array, cause: Uint8Array, event: Uint32Array}} Gaps */

/**
 * What a pixel of 2^z nanoseconds can show: gaps shorter than one that follow within it are one item, of the cause with most time.
 * @param {Gaps} gaps @param {number} z @param {number[]} labels numbers of the causes @returns {LaneColumns}
 */
export function columnsOf({ start, end, cause, event }, z, labels) {
    const pixel = 2 ** z;
    const out = { start: new Float64Array(start.length), end: new Float64Array(start.length), label: new Int32Array(start.length),
        event: new Uint32Array(start.length), count: new Uint32Array(start.length), busy: new Float64Array(start.length) };
    const sums = [0, 0, 0];
    let made = 0;
    for (let at = 0; at < start.length; made += 1) {
        const bin = Math.floor(start[at] / pixel);
        const first = at;
        sums.fill(0);
        do {
            sums[cause[at]] += end[at] - start[at];
            at += 1;
        } while (at < start.length && end[at] - start[at] < pixel && end[first] - start[first] < pixel && Math.floor(start[at] / pixel) === bin);
        out.start[made] = start[first];
        out.end[made] = end[at - 1];
        out.label[made] = labels[sums.indexOf(Math.max(...sums))];
        out.event[made] = event[first];
        out.count[made] = at - first;
        out.busy[made] = sums[0] + sums[1] + sums[2];
    }
    return { exact: true, offsets: Uint32Array.of(0, made), start: out.start.slice(0, made), end: out.end.slice(0, made), label: out.label.slice(0, made),
        event: out.event.slice(0, made), count: out.count.slice(0, made), busy: out.busy.slice(0, made), instant: null, points: null };
}
