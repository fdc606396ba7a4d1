/** What webhooks were told, and what came of it: for admins. */

import { h, fill } from '../../lib/dom.js';
import { plainTable } from '../../table/detail_parts.js';
import { runHref } from '../../app/router.js';
import { empty } from '../../lib/states.js';
import { call } from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {{id: number, place: string, metric: string, run: string, state: string, attempts: number, created_at_s: number, next_at_s: number | null, status: number | null, error: string | null}} Delivery */

/** @param {Delivery} row */
const outcome = (row) => (row.state === 'delivered' ? `delivered (${row.status})` : row.state === 'given_up' ? `given up: ${row.error}` : `${row.error ?? 'not sent yet'}, next at ${fmt.date(row.next_at_s ?? 0)}`);

/**
 * @param {HTMLElement} root
 * @param {Route} _
 * @param {AbortSignal} signal
 */
export async function mount(root, _, signal) {
    /** @type {{total: number, deliveries: Delivery[]}} */
    const { total, deliveries } = await call('webhooks', { query: { limit: 500 }, signal });
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Webhooks')),
        total === 0 ? empty('Nothing was told yet', h('p', null, 'Start the server with ', h('code', null, '--webhooks FILE'), ', lines of ', h('code', null, 'https://hooks.example/x step_time tag=branch=main'), ': each regression of that metric is told once.'))
            : plainTable('What webhooks were told, newest first', ['When', 'Where to', 'Metric', 'Run', 'Outcome', 'Attempts'], deliveries.map((row) => [
                fmt.date(row.created_at_s), row.place, row.metric, h('a', { href: runHref(row.run) }, row.run), outcome(row), fmt.int(row.attempts),
            ]), 5));
}
