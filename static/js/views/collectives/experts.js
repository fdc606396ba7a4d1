/** Who sends how much to whom in all-to-alls: the traffic of experts. */

import { h } from '../../lib/dom.js';
import { heatMap } from '../../charts/heat_map.js';
import * as fmt from '../../lib/fmt.js';

/** @param {import('./api.js').Experts} experts */
export function expertMap({ ranks, sent_bytes: sent, imbalance_send: send, imbalance_receive: receive }) {
    const map = heatMap({
        label: 'Bytes sent from rank to rank', rows: ranks.length, columns: ranks.length, value: (from, to) => sent[from][to], colour: () => '--role-communication',
        text: (from, to) => `Rank ${ranks[from]} sends ${fmt.bytes(sent[from][to])} to rank ${ranks[to]}`, hint: 'A row sends, a column receives.',
        rowName: (from) => `Rank ${ranks[from]}`, columnName: (to) => (to ? String(ranks[to]) : `Rank ${ranks[0]}`),
    });
    const times = (/** @type {number | null} */ value) => (value === null ? 'unknown' : `${fmt.num(value)} times the mean`);
    return {
        root: h('section', { class: 'section' }, h('h2', null, 'Traffic of experts'),
            h('p', null, `The busiest sender has ${times(send)}, the busiest receiver ${times(receive)}.`), map.said, map.root),
        repaint: map.repaint,
        destroy: map.destroy,
    };
}
