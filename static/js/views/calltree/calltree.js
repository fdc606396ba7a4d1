/** Call tree: what called what on a thread, branch by branch, with call stacks and the way between forward and backward. */

import { h, fill } from '../../lib/dom.js';
import { empty, showFailure } from '../../lib/states.js';
import { recordAdvice, recordWith } from '../../lib/record_advice.js';
import { picker } from '../../lib/picker.js';
import { setParams } from '../../app/router.js';
import { callThread } from './thread.js';
import { hasView } from '../../app/trace_views.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const trace = await api.trace(route.id, signal);
    const threads = hasView(trace, 'calls') ? (await api.callThreads(route.id, signal)).threads : [];
    if (threads.length === 0) {
        fill(root, h('h1', null, 'Call tree'), empty('No calls in this trace', h('p', null, 'A call tree needs the operators of the host.'),
            recordWith(await recordAdvice(trace, 'operators', signal, 'activities=[ProfilerActivity.CPU, …]'))));
        return {};
    }
    // Of threads with as many calls the first.
    const fallback = threads.reduce((most, item) => (item.nodes > most.nodes ? item : most));
    const threadOf = (/** @type {URLSearchParams} */ params) => threads.find(({ thread }) => String(thread) === params.get('thread')) ?? fallback;
    const choice = h('div', { class: 'thread-picker' });
    const box = h('div', { class: 'section' });
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Call tree'), choice), box);

    /** @type {ReturnType<typeof callThread> | undefined} */
    let tree;
    /** @type {CallThread | undefined} */
    let shown;

    /** @param {URLSearchParams} params */
    async function update(params) {
        const next = threadOf(params);
        if (next !== shown) {
            shown = next;
            tree?.destroy();
            const hadFocus = choice.contains(document.activeElement);
            fill(choice, threadPicker(threads, next, fallback));
            if (hadFocus) choice.querySelector('input')?.focus();
            tree = callThread(trace, next, signal);
            fill(box, tree.root);
        }
        try {
            await tree?.update(params);
        } catch (error) {
            shown = undefined;
            showFailure(box, error, () => update(params));
        }
    }
    return {
        ready: update(route.params),
        update: (next) => update(next.params),
        destroy: () => tree?.destroy(),
    };
}

/** @param {CallThread[]} threads @param {CallThread} shown @param {CallThread} fallback */
function threadPicker(threads, shown, fallback) {
    return picker({
        label: 'Thread', value: String(shown.thread),
        options: threads.map((thread) => ({ value: String(thread.thread), label: threadName(thread), note: fmt.plural(thread.nodes - 1, 'call') })),
        onPick: (value) => setParams({ thread: value === String(fallback.thread) ? null : value, node: null }),
    });
}

/** @param {CallThread} thread */
function threadName({ label, tid, lightning_profile: lightning }) {
    if (lightning) return 'Profile of Lightning';
    if (!label) return `Thread ${tid}`;
    return label.includes(String(tid)) ? label : `${label} (${tid})`;
}
