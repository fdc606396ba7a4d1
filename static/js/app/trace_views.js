/** Views of a trace that this page draws, and where a file opens. */

/** A file of counters has nothing that takes time. @param {Trace} trace */
const hasSlices = ({ has_events: has, events, views }) => has && events > 0 && views.includes('overview');

/**
 * In the order of the rail.
 * @type {{view: string, label: string, from?: string[], when?: (trace: Trace) => boolean}[]}
 *     from: what the trace must have, where that has another name; when: where its list of views does not say it
 */
export const TRACE_VIEWS = [
    { view: 'overview', label: 'Overview' },
    { view: 'timeline', label: 'Timeline', when: ({ has_events: has, events }) => has && events > 0 },
    { view: 'idle', label: 'Idle', when: ({ has_events: has, views }) => has && views.includes('kernels') },
    { view: 'efficiency', label: 'Efficiency', when: ({ has_events: has, views }) => has && views.includes('kernels') && views.includes('operators') },
    { view: 'serving', label: 'Serving' },
    { view: 'operators', label: 'Operators', when: ({ views }) => views.includes('operators') && !views.includes('slices') },
    { view: 'kernels', label: 'Kernels' },
    { view: 'utilisation', label: 'Utilisation' },
    { view: 'memory', label: 'Memory', from: ['memory', 'memory_counters', 'memory_categories'] },
    { view: 'snapshot', label: 'Memory snapshot', from: ['memory_snapshot'] },
    { view: 'execution', label: 'Execution trace', from: ['execution_trace'] },
    { view: 'modules', label: 'Modules', from: ['modules', 'lightning'] },
    { view: 'flame', label: 'Flame graph', when: hasSlices },
    { view: 'calls', label: 'Call tree', from: ['trace'] },
    { view: 'slices', label: 'Slices', when: hasSlices },
    { view: 'cycles', label: 'Cycles' },
    { view: 'contents', label: 'Contents', when: ({ has_events: has, events }) => has && events > 0 },
    { view: 'sql', label: 'SQL', when: ({ format, views }) => format === 'chrome-trace' || views.includes('utilisation') },
    { view: 'comparison', label: 'Comparison' },
];

/** The view that answers most of what a file holds, best first. */
const HOMES = ['overview', 'comparison', 'utilisation', 'cycles', 'operators', 'kernels', 'snapshot', 'memory', 'execution'];

/** Where one lands when nothing better is known: a table or a report has no overview. @param {Trace} trace */
export const homeView = (trace) => HOMES.find((view) => hasView(trace, view)) ?? 'overview';

/** @param {Trace} trace @param {string} view */
export function hasView(trace, view) {
    const item = TRACE_VIEWS.find((known) => known.view === view);
    return item?.when ? item.when(trace) : (item?.from ?? [view]).some((name) => trace.views.includes(name));
}
