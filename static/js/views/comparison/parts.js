/** What the parts of a comparison share. */

import { h, nameParts } from '../../lib/dom.js';
import { searchWord, shorten } from '../../lib/names.js';

/** Below this, chance is not believed in. */
export const SIGNIFICANT = 0.05;

/** Rows of one side only, as a choice of the significance filter. */
export const ONE_SIDE = 'presence';

/** Whether counters were sampled; without them every row has the metric N/A. @param {Comparison} data */
export const hasMetrics = ({ metrics }) => metrics.some((metric) => metric !== NO_METRIC);

export const NO_METRIC = 'N/A';

/** Leads to rows of the table. @typedef {(patch: {q?: string, device?: string, only?: string}) => void} Seek */

/** The name of a function; it leads to its rows. @param {{function: string, device: string}} item @param {Seek} seek */
export function functionButton(item, seek) {
    const { short, hint } = shorten(item.function);
    return h('button', { class: 'function-name', type: 'button', 'data-tip': item.function,
        onclick: () => seek({ q: searchWord(item.function), device: item.device }) }, nameParts(short, hint));
}
