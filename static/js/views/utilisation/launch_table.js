/** Launches one by one, in the order of the file unless sorted otherwise. */

import { h } from '../../lib/dom.js';
import { PagedRows } from '../../table/source.js';
import { VirtualTable } from '../../table/table.js';
import { showFailure, skeleton } from '../../lib/states.js';
import { classLabel } from './classes.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/**
 * @param {string} id of the trace
 * @param {KernelUse} data
 * @param {string} name of the kernel whose launches these are, '' for all
 */
export function launchTable(id, data, name) {
    const rows = new PagedRows();
    const box = h('div', { class: 'table-box' }, skeleton('rows'));
    const count = h('p', { class: 'table-count', role: 'status' });
    const csv = h('a', { class: 'button', download: '' }, 'CSV');
    let query = { name: name || null, sort: 'position', order: 'asc' };
    const table = new VirtualTable({
        caption: name ? `Launches of ${name}` : 'Launches', columns: columns(data), rows, chosen: null, sort: 'position', order: 'asc', emptyText: 'No launches.',
        onSort: (sort, order) => {
            query = { ...query, sort, order };
            load();
        },
    });

    async function load() {
        const asked = query;
        box.classList.add('busy');
        try {
            const first = await rows.reload((offset, limit, signal) => api.kernelLaunches(id, { ...asked, offset, limit }, signal));
            if (!first) return;
            count.textContent = `${fmt.plural(rows.total, 'launch', 'launches')}${name ? ` of ${name}` : ''}`;
            csv.href = api.csvUrl(id, 'kernel-utilisation/launches', asked);
            if (!table.root.isConnected) box.replaceChildren(table.root);
            table.set({ sort: asked.sort, order: asked.order });
            table.reset(first.rows);
        } catch (error) {
            showFailure(box, error, load);
        } finally {
            if (asked === query) box.classList.remove('busy');
        }
    }
    load();
    return h('div', { class: 'row-table launch-table' }, h('div', { class: 'table-tools' }, count, h('div', { class: 'tools-end' }, csv)), box);
}

/** @param {KernelUse} data @returns {Column[]} */
function columns(data) {
    /** @type {[keyof Uses, string][]} */
    const uses = [['tensor', 'Tensor'], ['dram', 'DRAM'], ['sm', 'SM']];
    return [
        { key: 'name', label: 'Kernel', kind: 'name', width: 260, priority: 0 },
        { key: 'position', label: 'Launch', kind: 'int', width: 76, priority: 1, value: (row) => row.position + 1 },
        { key: 'duration_ns', label: 'Duration', kind: 'time', width: 100, priority: 2 },
        ...uses.filter(([key]) => data[key] !== null).map(([key, label], index) => /** @type {Column} */ ({ key, label, kind: 'share', width: 84, priority: 3 + index })),
        { key: 'class', label: 'Class', kind: 'text', width: 110, priority: 6, value: (row) => classLabel(row.class) },
        { key: 'grid', label: 'Grid', kind: 'text', width: 120, priority: 7 },
        { key: 'block', label: 'Block', kind: 'text', width: 120, priority: 8 },
    ];
}
