/** Views of a whole run that this page draws. */

/** @typedef {(Run & {trace_list: Trace[]}) | null} OpenRun */

/** @param {NonNullable<OpenRun>} run */
const hasRanks = (run) => run.views.includes('distributed') && run.trace_list.length > 1;

/**
 * In the order of the rail.
 * @type {{view: string, label: string, when: (run: NonNullable<OpenRun>) => boolean}[]}
 */
export const RUN_VIEWS = [
    { view: 'distributed', label: 'Distributed', when: ({ views }) => views.includes('distributed') },
    { view: 'ranks', label: 'All ranks', when: hasRanks },
    { view: 'collectives', label: 'Collectives', when: hasRanks },
    { view: 'clock', label: 'Clocks', when: hasRanks },
    { view: 'pipeline', label: 'Pipeline', when: (run) => hasRanks(run) || run.trace_list.some(({ format }) => format === 'operations') },
];

/** @param {string} view */
export const isRunView = (view) => RUN_VIEWS.some((known) => known.view === view);
