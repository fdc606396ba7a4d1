/** Time by class as one bar a table: this one, the other tables of its run, and those that the user adds. */

import { h, fill } from '../../lib/dom.js';
import { segmented } from '../../table/rowtable.js';
import { picker } from '../../lib/picker.js';
import { setParams, traceHref } from '../../app/router.js';
import { showFailure } from '../../lib/states.js';
import { CLASSES, classIndex, classKey } from './classes.js';
import { allRuns } from '../../lib/all_runs.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** Tables beside this one: more bars are not read together. */
const MOST = 11;

/** @typedef {{trace: Trace, use: KernelUse}} Bar */

/**
 * @param {Trace} trace
 * @param {KernelUse} data
 * @param {AbortSignal} signal
 */
export function classBars(trace, data, signal) {
    const bars = h('div', { class: 'use-bars' });
    const table = h('div');
    const adder = h('div', { class: 'use-adder' });
    const note = h('p', { class: 'quiet', role: 'status', hidden: true });
    const scale = segmented('Bars show', [{ value: 'time', label: 'Time' }, { value: 'share', label: 'Share' }], (value) => setParams({ scale: value === 'share' ? value : null }));
    const root = h('section', { class: 'section use-classes' },
        h('div', { class: 'section-head' }, h('h2', { 'data-tip': 'Each launch by its own use; low is below a third of the peak, compute the larger of tensor and SM use' }, 'Time by class'), scale.root),
        bars, table, adder, note);
    /** Tables once fetched. @type {Map<number, Bar>} */
    const known = new Map([[trace.id, { trace, use: data }]]);
    /** Other tables of the run, shown unless the URL says which. @type {number[]} */
    let ofRun = [];
    /** @type {Run[]} */
    let runs = [];
    let params = new URLSearchParams();
    let turn = 0;

    const wanted = () => {
        const text = params.get('with');
        const ids = text === null ? ofRun : text.split(',').map(Number).filter((id) => Number.isInteger(id) && id > 0);
        return [trace.id, ...new Set(ids.filter((id) => id !== trace.id))].slice(0, MOST + 1);
    };
    /** @param {number[]} ids */
    const remember = (ids) => setParams({ with: ids.length ? ids.join(',') : 'none' });

    /** @param {Trace} one */
    const name = (one) => `${one.run === trace.run ? '' : `${one.run} / `}${one.worker}${one.span > 1 ? `, span ${one.span}` : ''}`;

    /** @param {number} id */
    async function fetchBar(id) {
        const [other, use] = await Promise.all([api.trace(id, signal), api.kernelUse(id, { limit: 1 }, signal)]);
        known.set(id, { trace: other, use });
    }

    async function load() {
        turn += 1;
        const mine = turn;
        const failed = (await Promise.allSettled(wanted().filter((id) => !known.has(id)).map(fetchBar))).filter(({ status }) => status === 'rejected');
        if (signal.aborted || mine !== turn) return;
        note.hidden = failed.length === 0;
        fill(note, `${fmt.plural(failed.length, 'table')} of this address cannot be had: deleted, or no kernel table.`);
        paint();
    }

    function paint() {
        const list = wanted().flatMap((id) => known.get(id) ?? []);
        const byShare = params.get('scale') === 'share';
        const most = list.reduce((max, { use }) => Math.max(max, use.total_ns), 1);
        const unit = fmt.timeUnit(most);
        const shown = CLASSES.map((_, index) => index).filter((index) => list.some(({ use }) => timeOf(use, index) > 0));
        // The button in focus goes with its bar.
        const focused = bars.contains(document.activeElement);
        fill(bars, list.map((bar) => barLine(bar, byShare ? bar.use.total_ns : most, unit)));
        const next = focused ? (bars.querySelector('button') ?? adder.querySelector('input')) : null;
        if (next instanceof HTMLElement) next.focus();
        fill(table, classTable(list, shown, unit, name));
    }

    /** @param {Bar} bar @param {number} full what fills the width @param {fmt.TimeUnit} unit */
    function barLine({ trace: one, use }, full, unit) {
        const line = h('div', { class: 'use-bar', role: 'img', 'aria-label': `${name(one)}: ${CLASSES.map(({ label }, index) => ({ label, ns: timeOf(use, index) }))
            .filter(({ ns }) => ns > 0).map(({ label, ns }) => `${label} ${fmt.share(ns / Math.max(1, use.total_ns))}`).join(', ')}` },
        CLASSES.map((item, index) => {
            const ns = timeOf(use, index);
            if (ns === 0) return null;
            const part = h('span', { class: `use-part use-${item.key.replace('_', '-')}`, 'data-tip': `${item.label}: ${fmt.time(ns, unit)}, ${fmt.share(ns / use.total_ns)}. ${item.text}.` });
            part.style.width = `${(100 * ns) / Math.max(1, full)}%`;
            return part;
        }));
        const others = wanted().slice(1);
        return h('div', { class: 'use-bar-line' },
            h('p', { class: 'use-bar-name' },
                one.id === trace.id ? h('strong', null, name(one)) : h('a', { href: traceHref(one.id, 'utilisation') }, name(one)),
                h('span', { class: 'quiet' }, ` ${fmt.time(use.total_ns, unit)}`),
                one.id === trace.id ? null : h('button', { class: 'button small quiet-button', type: 'button', 'aria-label': `Remove ${name(one)}`,
                    onclick: () => remember(others.filter((id) => id !== one.id)) }, 'Remove')), line);
    }

    /** Runs with kernel tables can be added, all of their tables at once. */
    async function offer() {
        runs = (await allRuns(signal)).filter(({ views }) => views.includes('utilisation'));
        const options = runs.map((run) => ({ value: run.name, label: run.name, note: fmt.plural(run.traces, 'trace') }));
        if (signal.aborted || options.length < 2) return;
        fill(adder, picker({ label: 'Beside it', value: '', options, placeholder: 'Add the tables of a run', onPick: async (run) => {
            const { trace_list: traces } = await api.run(run, signal);
            const ids = traces.filter(({ views }) => views.includes('utilisation')).map(({ id }) => id);
            remember([...new Set([...wanted().slice(1), ...ids])].filter((id) => id !== trace.id));
        } }));
    }

    return {
        root,
        /** @param {URLSearchParams} next */
        async start(next) {
            params = next;
            scale.show(params.get('scale') ?? 'time');
            paint();
            try {
                const { trace_list: traces } = await api.run(trace.run, signal);
                ofRun = traces.filter(({ id, views }) => id !== trace.id && views.includes('utilisation')).map(({ id }) => id);
                await Promise.all([load(), offer()]);
            } catch (error) {
                showFailure(adder, error, () => this.start(params));
            }
        },
        /** @param {URLSearchParams} next */
        update(next) {
            const before = [params.get('with'), params.get('scale')].join();
            params = next;
            scale.show(params.get('scale') ?? 'time');
            return before === [params.get('with'), params.get('scale')].join() ? undefined : load();
        },
    };
}

/** @param {KernelUse} use @param {number} index of CLASSES */
const timeOf = (use, index) => use.classes.reduce((sum, item) => sum + (classIndex(item.class) === index ? item.total_ns : 0), 0);

/** @param {KernelUse} use @param {number} index */
const launchesOf = (use, index) => use.classes.reduce((sum, item) => sum + (classIndex(item.class) === index ? item.launches : 0), 0);

/** The legend and the figures of the bars in one. @param {Bar[]} list @param {number[]} shown @param {fmt.TimeUnit} unit @param {(trace: Trace) => string} name */
function classTable(list, shown, unit, name) {
    const head = (/** @type {any} */ content, kind = 'kind-int') => h('th', { scope: 'col', class: kind }, content);
    const cell = (/** @type {string} */ text, /** @type {string | null} */ tip = null) => h('td', { class: 'kind-int', 'data-tip': tip }, text);
    const [{ use }] = list;
    if (list.length === 1) {
        return h('table', { class: 'plain-table' }, h('caption', { class: 'visually-hidden' }, 'Time by class'),
            h('thead', null, h('tr', null, head('Class', ''), ['Launches', 'Time', 'Share'].map((label) => head(label)))),
            h('tbody', null, shown.map((index) => h('tr', null, h('th', { scope: 'row' }, classKey(index)),
                cell(fmt.int(launchesOf(use, index))), cell(fmt.time(timeOf(use, index), unit)), cell(share(use, index))))));
    }
    return h('table', { class: 'plain-table class-table' }, h('caption', { class: 'visually-hidden' }, 'Share of the time by class'),
        h('thead', null, h('tr', null, head('Table', 'kind-name'), shown.map((index) => head(classKey(index))))),
        h('tbody', null, list.map((bar) => h('tr', null, h('th', { scope: 'row', class: 'kind-name', 'data-tip': name(bar.trace) }, name(bar.trace)),
            shown.map((index) => cell(share(bar.use, index), `${fmt.time(timeOf(bar.use, index), unit)}, ${fmt.plural(launchesOf(bar.use, index), 'launch', 'launches')}`))))));
}

/** @param {KernelUse} use @param {number} index */
const share = (use, index) => fmt.share(timeOf(use, index) / Math.max(1, use.total_ns));
