/** Collectives by name: of all workers together, of one, or each by each. */

import { h, fill } from '../../lib/dom.js';
import { localTable } from '../../table/localtable.js';
import { picker } from '../../lib/picker.js';
import { setParams } from '../../app/router.js';
import { summed } from './figures.js';

/** Instead of a worker's name; names have no such begin. */
const EACH = '-each';

/** @param {Distributed} data */
export function operationsTable(data) {
    const box = h('div', { class: 'operations' });
    const chooser = h('div', { class: 'operations-worker' });
    const root = h('section', { class: 'section' },
        h('div', { class: 'section-head' }, h('h2', null, 'Collective operations'), chooser), box);
    /** @type {ReturnType<typeof localTable> | undefined} */
    let table;
    /** @type {string | null} */
    let shown = null;

    /** @param {string} worker */
    function rowsOf(worker) {
        if (worker === EACH) return data.operations;
        return worker ? data.operations.filter((row) => row.worker === worker) : summed(data.operations);
    }

    /** @param {string} worker */
    function build(worker) {
        const held = document.activeElement instanceof Element && chooser.contains(document.activeElement);
        table?.destroy();
        table = localTable(/** @type {any[]} */ (rowsOf(worker)), {
            caption: 'Collective operations', noun: ['operation', 'operations'], search: 'Search operations', columns: columns(worker === EACH), sort: ['total_ns', 'desc'],
            identity: (row) => `${row.worker}\n${row.name}`, file: `collectives-${data.run}-span${data.span}${worker && worker !== EACH ? `-${worker}` : ''}.csv`,
        });
        fill(box, table.root);
        fill(chooser, picker({
            label: 'Of', value: worker, options: [{ value: '', label: 'All workers together' }, { value: EACH, label: 'Each worker' },
                ...data.workers.map((item) => ({ value: item.worker, label: item.worker, note: item.rank === null ? '' : `rank ${item.rank}` }))],
            onPick: (next) => setParams({ worker: next, row: null }),
        }));
        if (held) chooser.querySelector('input')?.focus();
    }

    return {
        root,
        /** @param {URLSearchParams} params */
        update(params) {
            const worker = params.get('worker') ?? '';
            if (worker !== shown) {
                shown = worker;
                build(worker);
            }
            table?.update(params);
        },
        destroy() {
            table?.destroy();
        },
    };
}

/** @param {boolean} each whether rows are of single workers @returns {Column[]} */
function columns(each) {
    /** @type {Column[]} */
    const list = [
        { key: 'name', label: 'Operation', kind: 'name', width: 220, priority: 0 },
        { key: 'worker', label: 'Worker', kind: 'text', width: 190, priority: 1 },
        { key: 'calls', label: 'Calls', kind: 'int', width: 72, priority: 2 },
        { key: 'total_ns', label: 'Total', kind: 'time', family: 'sum', width: 104, priority: 1, help: 'From the first of it to the last, waiting included' },
        { key: 'transfer_ns', label: 'Transfer', kind: 'time', family: 'sum', width: 112, priority: 3, help: 'Data flows: as long as the shortest of all workers took' },
        { key: 'wait_ns', label: 'Waiting', kind: 'time', family: 'sum', width: 112, priority: 4, value: (row) => row.total_ns - row.transfer_ns, sortable: true, help: 'The rest of the total: for the workers that arrive later' },
        { key: 'mean_ns', label: 'Mean', kind: 'time', family: 'call', width: 96, priority: 5, help: 'Total of a call' },
        { key: 'mean_transfer_ns', label: 'Mean transfer', kind: 'time', family: 'call', width: 140, priority: 6, help: 'Transfer of a call' },
        { key: 'size_bytes', label: 'Size', kind: 'size', width: 96, priority: 7, help: 'Of the inputs of all calls' },
        { key: 'mean_size_bytes', label: 'Mean size', kind: 'size', width: 110, priority: 8, help: 'Of the inputs of a call' },
    ];
    return list.filter(({ key }) => each || key !== 'worker');
}
