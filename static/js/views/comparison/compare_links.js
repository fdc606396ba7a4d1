/** Where comparing begins: with what changed between two traces; without operators, with their cycles. Of the page that compares cycles, `base` and `candidate` are ids, several with commas between, or `run:<name>`. */

import { diffHref } from '../../app/router.js';

/** Why a trace or run cannot be compared, in words for a list. */
export const NO_CYCLES = 'no cycles: mark them with prof.step()';

/** @param {{views: string[]}} item a trace or a run */
export const hasCycles = (item) => item.views.includes('cycles');

/** Whether two such traces can be laid beside each other by name and by call tree. @param {{views: string[]}} item a trace or a run */
export const canDiff = (item) => item.views.includes('operators');

/** @param {Record<string, string>} sides */
export function compareHref(sides) {
    const query = new URLSearchParams(Object.entries(sides).filter(([, value]) => value)).toString();
    return `#/compare${query ? `?${query}` : ''}`;
}

/** The trace at hand is the base: what it is compared with is still to be chosen. @param {Trace} trace */
export const traceCompareHref = (trace) => (canDiff(trace) ? diffHref({ base: trace.id }) : compareHref({ base: hasCycles(trace) ? String(trace.id) : '' }));

/** The first and the last trace of a run, which are most often what one wants to know apart, also where a page of them is at hand. @param {OpenRun} run */
export function runCompareHref({ trace_list: traces, last_trace: end }) {
    const wholly = traces.some(canDiff);
    const able = [...traces, end].filter(wholly ? canDiff : hasCycles);
    const [first, last] = [able[0], able[able.length - 1]];
    return (wholly ? diffHref : compareHref)({ base: first ? String(first.id) : '', candidate: last && last.id !== first.id ? String(last.id) : '' });
}
