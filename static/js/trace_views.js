/** Views of a trace that this page draws, and where a file opens. */

/**
 * In the order of the rail.
 * @type {{view: string, label: string, from?: string[]}[]} from: what the trace must have, where that has another name
 */
export const TRACE_VIEWS = [
    { view: 'overview', label: 'Overview' },
    { view: 'operators', label: 'Operators' },
    { view: 'kernels', label: 'Kernels' },
    { view: 'utilisation', label: 'Utilisation' },
    { view: 'memory', label: 'Memory' },
    { view: 'modules', label: 'Modules', from: ['modules', 'lightning'] },
    { view: 'calls', label: 'Call tree', from: ['trace'] },
    { view: 'cycles', label: 'Cycles' },
    { view: 'comparison', label: 'Comparison' },
];

/** The view that answers most of what a file holds, best first. */
const HOMES = ['overview', 'comparison', 'utilisation', 'cycles', 'operators', 'kernels'];

/** Where one lands when nothing better is known: a table or a report has no overview. @param {Trace} trace */
export const homeView = (trace) => HOMES.find((view) => trace.views.includes(view)) ?? 'overview';

/** @param {Trace} trace @param {string} view */
export const hasView = (trace, view) => (TRACE_VIEWS.find((item) => item.view === view)?.from ?? [view]).some((name) => trace.views.includes(name));
