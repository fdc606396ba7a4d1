/** Which span of a run a view of all ranks shows. */

import { h } from '../../lib/dom.js';
import { setParams } from '../../app/router.js';
import * as api from '../../lib/api.js';

/** Nothing where there is one. @param {string} run @param {string | null} span @param {AbortSignal} signal */
export async function spanChoice(run, span, signal) {
    const { spans } = await api.runPage(run, signal);
    const list = h('select', { class: 'input select', 'aria-label': 'Span', onchange: () => setParams({ span: list.value }) }, spans.map((value) => h('option', { value: String(value) }, `Span ${value}`)));
    if (span) list.value = span;
    return spans.length > 1 ? list : null;
}
