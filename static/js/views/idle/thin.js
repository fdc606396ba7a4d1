/** Fewer points of a queue, for a chart. */

/** More points than this are not told apart: of each stretch of time the longest queue stands. */
const POINTS = 800;

/** @typedef {{ts_ns: number, length: number}} Point */

/** The longest queue of each stretch of time; an empty stretch keeps what was before. @param {QueuePoint[]} series @returns {Point[]} */
export function thin(series) {
    if (series.length <= POINTS) return series;
    const first = series[0].ts_ns;
    const width = (series[series.length - 1].ts_ns - first) / POINTS || 1;
    /** @type {Point[]} */
    const points = [];
    let at = -1;
    let last = 0;
    for (const { ts_ns: ts, length } of series) {
        const index = Math.min(POINTS - 1, Math.floor((ts - first) / width));
        if (index !== at) {
            // What the stretch begins with is a queue of it, too; a stretch without a change has no point of its own.
            if (index > at + 1 && at >= 0) points.push({ ts_ns: Math.round(first + (at + 1) * width), length: last });
            points.push({ ts_ns: Math.round(first + index * width), length: Math.max(last, length) });
        }
        at = index;
        const point = points[points.length - 1];
        point.length = Math.max(point.length, length);
        last = length;
    }
    points.push({ ts_ns: series[series.length - 1].ts_ns, length: last });
    return points;
}
