/** Idle: why devices stood still, how late work started, and which chain of events decided how long it all took. */

import { h, fill } from '../../lib/dom.js';
import { verdict, gapBars, gapTable } from './gaps.js';
import { launchPart } from './launches.js';
import { pathPart } from './path.js';
import { empty } from '../../lib/states.js';
import { overview, trace as traceOf } from '../../lib/api.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const [trace, idle, { has_steps: hasSteps, step_rows: steps }] = await Promise.all([traceOf(route.id, signal), api.idle(route.id, signal), overview(route.id, signal)]);
    if (idle.devices.length === 0) {
        fill(root, h('h1', null, 'Idle'), empty('No device work in this trace', h('p', null, 'Record device activity too: ', h('code', null, 'ProfilerActivity.CUDA'), '.')));
        return {};
    }
    const gaps = idle.longest.rows.length > 0 ? gapTable(trace, idle) : null;
    const launches = launchPart(trace, signal);
    // Steps of a serving engine have names of their own, those of the profiler have numbers.
    const path = pathPart(trace, hasSteps && steps.some(({ name }) => /^\d+$/.test(name)), signal);
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Idle')), verdict(trace, idle), gapBars(idle),
        gaps ? h('section', { class: 'section' }, h('h2', null, 'Longest gaps'),
            idle.longest.total > idle.longest.rows.length ? h('p', { class: 'quiet' }, `The longest of ${fmt.int(idle.longest.total)} gaps of streams`) : null, gaps.root) : null, launches.root, path.root);
    gaps?.update(route.params);
    launches.update(route.params);
    return {
        ready: Promise.all([launches.load(), path.update(route.params)]),
        update(next) {
            gaps?.update(next.params);
            return Promise.all([launches.update(next.params), path.update(next.params)]).then(() => {});
        },
        destroy() {
            gaps?.destroy();
            launches.destroy();
            path.destroy();
        },
    };
}
