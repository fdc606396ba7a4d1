/** Who holds memory, by source line and by size of block, at the peak or the end: of one snapshot, or against another whose id is in the URL. */

import { h, fill } from '../../lib/dom.js';
import { rowTable, segmented } from '../../table/rowtable.js';
import { fullName, figures, plainTable } from '../../table/detail_parts.js';
import { pickTrace } from '../../app/trace_picker.js';
import { setParams, traceHref } from '../../app/router.js';
import { showFailure } from '../../lib/states.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** Plus or minus so many bytes. @param {number} value */
const change = (value) => (value > 0 ? `+${fmt.bytes(value)}` : fmt.bytes(value).replace('-', '−'));

/** @param {URLSearchParams} params */
const againstOf = (params) => (/^[1-9]\d{0,15}$/.test(params.get('against') ?? '') ? params.get('against') : null);

/** @param {Trace} trace @param {any} snapshot its figures @param {AbortSignal} signal */
export function holders(trace, snapshot, signal) {
    let params = new URLSearchParams();
    let device = '';
    let compared = '';
    const table = frameTable(trace, () => device);
    const when = segmented('When', [{ value: 'peak', label: 'At the peak' }, { value: 'end', label: 'At the end' }], (at) => setParams({ at: at === 'peak' ? null : at }));
    const pick = h('button', { class: 'button', type: 'button', onclick: choose }, 'Compare with a snapshot');
    const alone = h('button', { class: 'button', type: 'button', onclick: () => {
        setParams({ against: null, sort: null, order: null, open: null });
        pick.focus();
    } }, 'This one alone');
    const other = h('p', { class: 'quiet', role: 'status' });
    const sizes = h('section', { class: 'section' });
    const lines = h('section', { class: 'section snapshot-holders' }, h('div', { class: 'section-head' }, h('h2', null, 'Who holds memory, by source line'), h('div', { class: 'tools-end' }, when.root, pick, alone)), other, table.root);

    function choose() {
        pickTrace({ title: 'Compare with a snapshot', text: 'What each source line holds is set against what it holds there.', none: 'No other trace of this run is a memory snapshot.', trace, signal,
            able: (item) => item.views.includes('memory_snapshot') && item.id !== trace.id, onPick: (item) => setParams({ against: String(item.id), sort: null, order: null, open: null }) });
    }

    /** @param {any} of a snapshot's figures @returns {Map<number, any>} by upper bytes */
    const classes = (of) => new Map((of?.devices.find((/** @type {any} */ item) => String(item.device) === device)?.size_classes ?? []).map((/** @type {any} */ item) => [item.upper_bytes, item]));

    /** @param {any} baseline its figures, or null */
    function showSizes(baseline) {
        const [own, base] = [classes(snapshot), classes(baseline)];
        const none = { blocks: 0, bytes: 0 };
        const rows = [...new Set([...own.keys(), ...base.keys()])].sort((a, b) => b - a).map((upper) => {
            const [now, then] = [own.get(upper) ?? none, base.get(upper) ?? none];
            const more = baseline ? [fmt.int(then.blocks), fmt.bytes(then.bytes), change(now.bytes - then.bytes)] : [];
            return [`up to ${fmt.bytes(upper)}`, fmt.int(now.blocks), fmt.bytes(now.bytes), ...more];
        });
        fill(sizes, h('h2', null, 'Live blocks at the end, by size'),
            rows.length ? plainTable('Live blocks at the end, by size', ['Size', 'Blocks', 'Bytes', ...(baseline ? ['Blocks there', 'Bytes there', 'Change'] : [])], rows, 1) : h('p', { class: 'quiet' }, 'No block lives at the end.'));
    }

    async function compare() {
        const against = againstOf(params);
        const wanted = `${against} ${device}`;
        alone.hidden = !against;
        if (wanted === compared) return;
        compared = wanted;
        try {
            const [second, baseline] = against ? await Promise.all([api.trace(against, signal), api.call(`traces/${against}/memory-snapshot`, { signal })]) : [null, null];
            if (wanted !== compared) return;
            fill(other, second && ['Against ', h('a', { href: traceHref(second.id, 'snapshot') }, `${second.run}, ${second.worker}`), ': the change is what this snapshot holds more.']);
            showSizes(baseline);
        } catch (error) {
            if (wanted !== compared) return;
            compared = '';
            showFailure(other, error, compare);
        }
    }

    return {
        roots: [lines, sizes],
        /** @param {URLSearchParams} next @param {string} of the device */
        update(next, of) {
            params = next;
            device = of;
            when.show(params.get('at') === 'end' ? 'end' : 'peak');
            return Promise.all([table.update(next), compare()]);
        },
        destroy: () => table.destroy(),
    };
}

/** @param {Trace} trace @param {() => string} deviceOf */
function frameTable(trace, deviceOf) {
    /** @type {string | null} */
    let against = null;
    return rowTable({
        id: String(trace.id),
        view: 'memory-snapshot/frames',
        caption: 'Who holds memory, by source line',
        noun: () => ['line', 'lines'],
        search: 'Search source lines',
        also: (params) => {
            against = againstOf(params);
            const [sort, order] = against && !params.get('sort') ? ['delta_bytes', 'desc'] : [params.get('sort'), params.get('order')];
            return { device: deviceOf(), at: params.get('at') === 'end' ? 'end' : null, baseline: against, sort, order };
        },
        columnsFor: () => [
            { key: 'frame', label: 'Source line', kind: 'name', width: 320, priority: 0 },
            { key: 'bytes', label: 'Bytes', kind: 'size', width: 104, priority: 1, help: 'As requested' },
            ...(against ? /** @type {Column[]} */ ([
                { key: 'delta_bytes', label: 'Change', kind: 'size', width: 104, priority: 1, help: 'Bytes here less bytes there' },
                { key: 'baseline_bytes', label: 'Bytes there', kind: 'size', width: 104, priority: 2 },
                { key: 'baseline_blocks', label: 'Blocks there', kind: 'int', width: 104, priority: 4 },
            ]) : []),
            { key: 'share', label: 'Share', kind: 'share', width: 96, priority: 2, help: 'Of all bytes then' },
            { key: 'blocks', label: 'Blocks', kind: 'int', width: 84, priority: 3 },
        ],
        defaultSort: () => [against ? 'delta_bytes' : 'bytes', 'desc'],
        detail: (row) => h('div', null, fullName(row.frame), figures([['Blocks', fmt.int(row.blocks)], ['Bytes', fmt.int(row.bytes)],
            ...(against ? /** @type {[string, string][]} */ ([['Blocks there', fmt.int(row.baseline_blocks)], ['Bytes there', fmt.int(row.baseline_bytes)], ['Change', change(row.delta_bytes)]]) : [])])),
        emptyText: (q) => (q ? `No results for “${q}”.` : 'The snapshot holds no block.'),
    });
}
