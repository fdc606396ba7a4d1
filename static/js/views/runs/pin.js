/** The pin of a run: while it is set, neither age nor a quota removes the run. */

import { h, icon } from '../../lib/dom.js';
import { setPinned } from './run_actions.js';

const TIP = 'Pinned runs stay: neither their age nor a quota removes them';

/**
 * A switch that says what it is with `aria-pressed`; as an icon in a list, or in words.
 * @param {Run} run
 * @param {'icon' | 'words'} look
 */
export function pinButton(run, look) {
    const inWords = look === 'words';
    const button = h('button', {
        class: inWords ? 'button' : 'icon-button', type: 'button', 'aria-pressed': String(run.pinned), 'aria-label': inWords ? null : `Pin run ${run.name}`, title: TIP,
        onclick: turn,
    }, inWords ? 'Pin run' : icon('pin'));

    async function turn() {
        // A second press would be told what the first one is about to change.
        if (button.getAttribute('aria-disabled')) return;
        button.setAttribute('aria-disabled', 'true');
        if (await setPinned(run, !run.pinned)) button.setAttribute('aria-pressed', String(run.pinned));
        button.removeAttribute('aria-disabled');
    }

    return button;
}
