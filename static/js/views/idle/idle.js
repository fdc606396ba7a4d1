/** Idle: why devices stood still, how late work started, and which chain of events decided how long it all took. */

import { h, fill } from '../../lib/dom.js';
import { verdict, gapBars, gapTable } from './gaps.js';
import { launchPart } from './launches.js';
import { pathPart } from './path.js';
import { empty } from '../../lib/states.js';
import { recordAdvice, recordWith } from '../../lib/record_advice.js';
import { setParams } from '../../app/router.js';
import { overview, trace as traceOf } from '../../lib/api.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** `drop`: what the last step waited for does not count. @param {URLSearchParams} params */
const lastStepOf = (params) => (params.get('last') === 'drop' ? 'drop' : null);

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const [trace, { has_steps: hasSteps, step_rows: steps }] = await Promise.all([traceOf(route.id, signal), overview(route.id, signal)]);
    // Steps of a serving engine have names of their own, those of the profiler have numbers.
    const numbered = hasSteps ? steps.filter(({ name }) => /^\d+$/.test(name)).length : 0;
    let params = route.params;
    let lastStep = lastStepOf(params);
    let parts = /** @type {NonNullable<Awaited<ReturnType<typeof build>>>} */ (await build(root, trace, numbered, params, signal));
    return {
        ready: parts.ready,
        async update(next) {
            params = next.params;
            if (lastStepOf(params) === lastStep) return parts.update(params);
            lastStep = lastStepOf(params);
            const wanted = lastStep;
            const built = await build(root, trace, numbered, params, signal, () => wanted === lastStep);
            if (!built) return undefined;
            parts.destroy();
            parts = built;
            return parts.ready;
        },
        destroy: () => parts.destroy(),
    };
}

/** Which steps count. @param {string | null} lastStep */
function stepChoice(lastStep) {
    const select = h('select', { class: 'input select', onchange: () => setParams({ last: select.value === 'drop' ? 'drop' : null, 'launch-open': null }) },
        h('option', { value: 'keep' }, 'All steps'), h('option', { value: 'drop' }, 'Without the last step'));
    select.value = lastStep ?? 'keep';
    return h('label', { class: 'idle-steps', 'data-tip': 'The recording may end in the middle of the last step' }, h('span', { class: 'visually-hidden' }, 'Steps'), select);
}

/**
 * @param {HTMLElement} root @param {Trace} trace @param {number} steps of the profiler @param {URLSearchParams} params @param {AbortSignal} signal
 * @param {() => boolean} [isWanted] whether it is still asked for when the answer is there
 */
async function build(root, trace, steps, params, signal, isWanted = () => true) {
    const lastStep = lastStepOf(params);
    const idle = await api.idle(String(trace.id), lastStep, signal);
    if (!isWanted()) return null;
    const head = h('div', { class: 'view-head' }, h('h1', null, 'Idle'), steps > 1 ? stepChoice(lastStep) : null);
    if (idle.devices.length === 0) {
        fill(root, head, empty('No device work in this trace', recordWith(await recordAdvice(trace, 'kernels', signal, 'ProfilerActivity.CUDA'))));
        return { ready: undefined, update: () => undefined, destroy() {} };
    }
    const gaps = idle.longest.rows.length > 0 ? gapTable(trace, idle) : null;
    const launches = launchPart(trace, lastStep, signal);
    const path = pathPart(trace, steps > 0, signal);
    fill(root, head, verdict(trace, idle, lastStep ? steps - 1 : steps), gapBars(idle),
        gaps ? h('section', { class: 'section' }, h('h2', null, 'Longest gaps'),
            idle.longest.total > idle.longest.rows.length ? h('p', { class: 'quiet' }, `The longest of ${fmt.int(idle.longest.total)} gaps of streams`) : null, gaps.root) : null, launches.root, path.root);
    gaps?.update(params);
    launches.update(params);
    return {
        /** @type {Promise<unknown> | undefined} */
        ready: Promise.all([launches.load(), path.update(params)]),
        /** @param {URLSearchParams} next @returns {unknown} */
        update(next) {
            gaps?.update(next);
            return Promise.all([launches.update(next), path.update(next)]);
        },
        destroy() {
            gaps?.destroy();
            launches.destroy();
            path.destroy();
        },
    };
}
