/** Ways from other views to the timeline. */

import { h } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { searchWord } from '../../lib/names.js';

/** A span is shown with so much around it, of its length. */
const ROOM = 0.1;

/** @param {number | string} id @param {string} name whose slices are searched for */
export const timelineHref = (id, name) => traceHref(id, 'timeline', { q: searchWord(name) });

/** @param {number | string} id @param {number} start @param {number} end in nanoseconds after the start of the trace */
export function timelineSpanHref(id, start, end) {
    const room = Math.max(1, ROOM * (end - start));
    return traceHref(id, 'timeline', { start: String(Math.floor(start - room)), end: String(Math.ceil(end + room)) });
}

/** @param {number | string} id @param {{start_ns: number, duration_ns: number}} step */
export const stepHref = (id, { start_ns: start, duration_ns: ns }) => timelineSpanHref(id, start, start + ns);

/** @param {Trace} trace @param {string} name @param {string} [text] */
export const timelineLink = (trace, name, text = 'Show in timeline') => (hasView(trace, 'timeline') ? h('p', null, h('a', { href: timelineHref(trace.id, name) }, text)) : null);

/** The text leads to a span of time where the trace has a timeline. @param {Trace} trace @param {number} start @param {number} end @param {string} text @returns {HTMLElement | string} */
export const timelineSpan = (trace, start, end, text) => (hasView(trace, 'timeline') ? h('a', { href: timelineSpanHref(trace.id, start, end), 'data-tip': 'Show in timeline' }, text) : text);

/** The text leads to a span of time that the timeline has selected. @param {Trace} trace @param {number} start @param {number} end @param {string} text */
export const timelineRange = (trace, start, end, text) => h('a', { href: `${timelineSpanHref(trace.id, start, end)}&sel=${Math.floor(start)}-${Math.ceil(end)}` }, text);

/** The critical path of a window stands out on the lanes. @param {number | string} id @param {{annotation: string, instance: string, launches: string | null}} path @param {{start_ns: number, end_ns: number}} window */
export const pathHref = (id, { annotation, instance, launches }, window) => traceHref(id, 'timeline', { start: String(window.start_ns), end: String(window.end_ns), path: pathParam(annotation, instance, launches) });

/** `delays:0:ProfilerStep#`, `all::` of the whole trace. @param {string} annotation @param {string} instance @param {string | null} launches */
export const pathParam = (annotation, instance, launches) => `${launches ?? 'all'}:${annotation ? instance : ''}:${annotation}`;

/** @param {Trace} trace @param {number} event its number in the file @param {string} text */
export const timelineEvent = (trace, event, text) => h('a', { href: traceHref(trace.id, 'timeline', { event: String(event) }) }, text);
