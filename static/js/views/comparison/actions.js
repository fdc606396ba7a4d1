/** What can be done to a comparison. */

import { toast } from '../../lib/dom.js';
import { confirm } from '../../lib/states.js';
import { titleOf } from './sides.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/**
 * @param {{id: number, title: string, pairs: ComparisonPair[] | number}} item
 * @param {string} [href] where to go when it is gone
 */
export async function deleteComparison(item, href) {
    const pairs = typeof item.pairs === 'number' ? item.pairs : item.pairs.length;
    const yes = await confirm({
        title: `Delete ${titleOf(item)}?`,
        text: `${pairs > 1 ? `All ${fmt.plural(pairs, 'pair')} of this comparison` : 'This comparison'} will be gone for everybody. The traces stay.`,
        yes: 'Delete comparison',
    });
    if (!yes) return;
    try {
        await api.deleteComparison(item.id);
        toast('Comparison deleted');
        document.dispatchEvent(new CustomEvent('kinetoscope:changed', { detail: { href } }));
    } catch (error) {
        toast(error instanceof Error ? error.message : String(error));
    }
}
