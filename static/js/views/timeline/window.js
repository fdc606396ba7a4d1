/** Figures of the marked range: where its time went, its operators and kernels, and the range as files. */

import { h, fill } from '../../lib/dom.js';
import { deviceWord } from '../../lib/fmt.js';
import { nameText } from '../../table/columns.js';
import { segmented } from '../../table/rowtable.js';
import { plainTable } from '../../table/detail_parts.js';
import { skeleton, showFailure } from '../../lib/states.js';
import { isAbort } from '../../lib/api.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** Shown of the rows that an answer has. */
const ROWS = 30;
/** The roles in the order of the page, in its words. @type {[string, string][]} */
const ROLES = [['kernel', 'Kernel'], ['memcpy', 'Memcpy'], ['memset', 'Memset'], ['communication', 'Communication'], ['runtime', 'Runtime'], ['dataloader', 'DataLoader'], ['cpu_exec', 'CPU exec'], ['other', 'Other']];

/**
 * @param {HTMLElement} box
 * @param {{panes: () => import('./model.js').Pane[], find: (name: string) => void, zoom: () => void, clear: () => void}} around
 */
export function rangePanel(box, { panes, find, zoom, clear }) {
    let stop = new AbortController();
    /** Whose figures are shown, where two traces are. */
    let side = 0;
    /** @type {Trace} */
    let trace;

    /** @param {[number, number]} marked on the common clock */
    async function show(marked) {
        const sides = panes();
        if (side >= sides.length) side = 0;
        ({ trace } = sides[side]);
        const range = { start_ns: marked[0] - sides[side].shift, end_ns: marked[1] - sides[side].shift };
        const choice = sides.length > 1 ? segmented('Figures of', sides.map((pane, index) => ({ value: String(index), label: `${pane.trace.run}, ${fmt.worker(pane.trace)}` })), (value) => {
            side = Number(value);
            show(marked);
        }) : null;
        choice?.show(String(side));
        stop.abort();
        stop = new AbortController();
        const { signal } = stop;
        const head = h('div', { class: 'tl-title' }, h('h2', { class: 'tl-name', tabindex: '-1' }, `${fmt.time(range.end_ns - range.start_ns)} from ${fmt.moment(range.start_ns)}`), choice?.root,
            h('div', { class: 'tl-title-tools' },
                h('button', { class: 'button small', type: 'button', onclick: zoom }, 'Zoom to range'),
                h('a', { class: 'button small', download: '', href: api.traceUrl(String(trace.id), range), 'data-tip': 'The events of the range as a trace file' }, 'Download as trace'),
                h('button', { class: 'button small', type: 'button', onclick: clear }, 'Clear')));
        fill(box, head, skeleton('figures'));
        try {
            const data = await api.figures(String(trace.id), range, signal);
            fill(box, head, roles(data), h('div', { class: 'tl-tables' }, operators(data, range), kernels(data, range)));
        } catch (error) {
            if (isAbort(error)) return;
            const place = h('div', null);
            fill(box, head, place);
            showFailure(place, error, () => show(marked));
        }
    }

    /** @param {TimelineWindow} data */
    function roles({ roles: times }) {
        const total = ROLES.reduce((sum, [role]) => sum + (times[role] ?? 0), 0);
        const shown = ROLES.filter(([role]) => times[role] > 0);
        if (total === 0) return h('p', { class: 'quiet' }, 'Nothing ran in this range.');
        const part = (/** @type {string} */ role) => {
            const span = h('span', { class: `tl-role role-${role.replaceAll('_', '-')}` });
            span.style.setProperty('--w', `${(100 * times[role]) / total}%`);
            return span;
        };
        return h('section', { class: 'tl-part' }, h('h3', null, 'Where the time goes'),
            h('div', { class: 'tl-roles', 'aria-hidden': 'true' }, shown.map(([role]) => part(role))),
            h('ul', { class: 'tl-role-keys' }, shown.map(([role, word]) => h('li', null, h('span', { class: `swatch role-${role.replaceAll('_', '-')}`, 'aria-hidden': 'true' }),
                `${word} `, h('strong', null, fmt.time(times[role])), h('span', { class: 'quiet' }, ` ${fmt.share(times[role] / total)}`)))));
    }

    /** The name marks where it is. @param {string} name */
    const named = (name) => h('button', { class: 'function-name', type: 'button', 'data-tip': name, onclick: () => find(name) }, nameText(name));

    /** @param {string} title @param {number} total @param {number} shown @param {'operators' | 'kernels'} table @param {{start_ns: number, end_ns: number}} range @param {HTMLElement | null} content */
    const section = (title, total, shown, table, range, content) => h('section', { class: 'tl-part' },
        h('div', { class: 'section-head' }, h('h3', null, `${fmt.plural(total, title)}${total > shown ? `, ${shown} shown` : ''}`),
            h('a', { class: 'button small', download: '', href: api.figuresCsvUrl(String(trace.id), range, table) }, 'CSV')),
        content ?? h('p', { class: 'quiet' }, `No ${title} here.`));

    /** @param {TimelineWindow} data @param {{start_ns: number, end_ns: number}} range */
    function operators({ operators: { rows, total } }, range) {
        const device = rows.some((row) => row.device_self_ns > 0) ? deviceWord(trace.device_type) : null;
        const some = rows.slice(0, ROWS);
        const [a, b] = [fmt.columnUnit(Math.max(0, ...some.map((row) => row.device_self_ns ?? 0))), fmt.columnUnit(Math.max(0, ...some.map((row) => row.host_self_ns)))];
        return section('operator', total, some.length, 'operators', range, some.length ? plainTable('Operators of the range', ['Operator', 'Calls', ...(device ? [`${device} self, ${a.name}`] : []), `Host self, ${b.name}`],
            some.map((row) => [named(row.name), fmt.int(row.calls), ...(device ? [fmt.timeIn(row.device_self_ns ?? 0, a)] : []), fmt.timeIn(row.host_self_ns, b)]), 1) : null);
    }

    /** @param {TimelineWindow} data @param {{start_ns: number, end_ns: number}} range */
    function kernels({ kernels: { rows, total } }, range) {
        const some = rows.slice(0, ROWS);
        const unit = fmt.columnUnit(Math.max(0, ...some.map((row) => row.total_ns)));
        return section('kernel', total, some.length, 'kernels', range, some.length ? plainTable('Kernels of the range', ['Kernel', 'Calls', `Total, ${unit.name}`],
            some.map((row) => [named(row.name), fmt.int(row.calls), fmt.timeIn(row.total_ns, unit)]), 1) : null);
    }

    return { show, stop: () => stop.abort() };
}
