/** The servers that share the catalogue: for admins. */

import { h, fill } from '../../lib/dom.js';
import { plainTable } from '../../table/detail_parts.js';
import { call } from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {{name: string, address: string | null, version: string, state: string, started_at_s: number, silent_s: number, jobs: number, this: boolean}} ServerNode */

/**
 * @param {HTMLElement} root
 * @param {Route} _
 * @param {AbortSignal} signal
 */
export async function mount(root, _, signal) {
    /** @type {{nodes: ServerNode[]}} */
    const { nodes } = await call('nodes', { signal });
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Nodes')),
        plainTable('Nodes', ['Name', 'Address', 'Version', 'State', 'Started', 'Heard of', 'Jobs'], nodes.map((row) => [
            row.this ? `${row.name} (answers here)` : row.name, row.address ?? '–', row.version, row.state, fmt.date(row.started_at_s), `${fmt.int(row.silent_s)} s ago`, fmt.int(row.jobs),
        ]), 6));
}
