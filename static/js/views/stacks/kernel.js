/** What launched a kernel: operator, module and Python stack, by the time that each stack takes. */

import { h, fill } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import { showFailure } from '../../lib/states.js';
import { frameList, readFrame } from '../../lib/frames.js';
import { searchWord } from '../../lib/names.js';
import { frameBox, noStacks } from './frames.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

const STACKS = 50;
/** Shown at first. */
const FIRST = 3;

/** @param {HTMLElement} box @param {Trace} trace @param {string} name of the kernel */
export async function loadKernelStacks(box, trace, name) {
    const id = String(trace.id);
    fill(box, h('p', { class: 'quiet' }, 'Loading call stacks …'));
    try {
        const page = await api.rows(id, 'kernels/stacks', { name, limit: STACKS });
        const total = page.rows.reduce((sum, row) => sum + row.total_ns, 0);
        const items = page.rows.map((row) => stackItem(id, row, total));
        const list = h('ol', { class: 'stack-list' }, items.slice(0, FIRST));
        const rest = items.slice(FIRST);
        const hidden = page.total - page.rows.length;
        const end = hidden > 0 ? h('p', { class: 'quiet' }, `and ${fmt.int(hidden)} more`) : null;
        const more = rest.length ? h('button', { class: 'button small', type: 'button', onclick: () => {
            list.append(...rest);
            more?.replaceWith(end ?? '');
        } }, `${fmt.plural(rest.length, 'more call stack')}`) : null;
        fill(box, h('h3', null, 'Launched from'), list, more, page.rows.some((row) => row.call_stack) ? null : noStacks(trace));
    } catch (error) {
        showFailure(box, error, () => loadKernelStacks(box, trace, name));
    }
}

/** @param {string} id @param {Row} row @param {number} total */
function stackItem(id, row, total) {
    const module = row.module ? readFrame(row.module)?.func ?? row.module : '';
    const operator = row.operator ? h('a', { href: traceHref(id, 'operators', { q: searchWord(row.operator) }) }, row.operator) : 'no operator';
    const share = total > 0 ? `, ${fmt.share(row.total_ns / total)}` : '';
    return h('li', null, h('p', { class: 'stack-head' }, operator, module ? [' in ', h('a', { href: traceHref(id, 'modules', { q: module }) }, module)] : null,
        h('span', { class: 'quiet' }, ` ${fmt.plural(row.calls, 'launch', 'launches')}, ${fmt.time(row.total_ns)}${share}`)), row.call_stack ? frameBox(frameList(row.call_stack)) : null);
}
