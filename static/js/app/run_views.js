/** Views of a whole run that this page draws. */

/** @param {Run} run */
export const hasRanks = (run) => run.views.includes('distributed') && run.traces > 1;

/** A table of operations that an older version analysed says so by its format alone. @param {OpenRun} run */
export const hasOperations = ({ views, formats }) => views.includes('pipeline') || formats.includes('operations');

/**
 * In the order of the rail.
 * @type {{view: string, label: string, when: (run: OpenRun) => boolean}[]}
 */
export const RUN_VIEWS = [
    { view: 'distributed', label: 'Distributed', when: ({ views }) => views.includes('distributed') },
    { view: 'ranks', label: 'All ranks', when: hasRanks },
    { view: 'collectives', label: 'Collectives', when: hasRanks },
    { view: 'clock', label: 'Clocks', when: hasRanks },
    { view: 'pipeline', label: 'Pipeline', when: (run) => hasRanks(run) || hasOperations(run) },
];

/** @param {string} view */
export const isRunView = (view) => RUN_VIEWS.some((known) => known.view === view);
