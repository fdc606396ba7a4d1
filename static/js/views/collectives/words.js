/** What collectives are called on the page. */

/** "all_reduce" */
export const kindWord = (/** @type {string} */ kind) => kind.replaceAll('_', '-');
