/** Serving: the steps that an inference engine annotated, each phase apart. */

import { h, fill } from '../../lib/dom.js';
import { phaseBoard } from './phases.js';
import { stepChart } from './chart.js';
import { stepTable } from './steps.js';
import { empty } from '../../lib/states.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** More columns than this are no longer told apart. */
const DRAWN = 2000;

/** @type {Record<string, string>} */
const ENGINES = { vllm: 'vLLM', sglang: 'SGLang', atom: 'ATOM', diffusion: 'Diffusion' };

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const [trace, answer] = await Promise.all([api.trace(route.id, signal), api.engineSteps(route.id, { limit: DRAWN }, signal)]);
    if (answer.engine === null) {
        fill(root, h('h1', null, 'Serving'), empty('No engine steps in this trace', h('p', null, 'vLLM, SGLang, ATOM and diffusion pipelines annotate their steps; profile one of them with its annotations.')));
        return {};
    }
    const count = answer.phases.reduce((sum, { steps }) => sum + steps, 0);
    const board = phaseBoard(trace, answer);
    const chart = stepChart(answer, count);
    const table = stepTable(trace, answer);
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Serving'), h('p', { class: 'quiet' }, `${ENGINES[answer.engine] ?? answer.engine} annotations, ${fmt.plural(count, 'step')}`)),
        board.root, chart.root, h('section', { class: 'section' }, h('h2', null, 'Steps'), table.root));
    board.draw();
    chart.update(route.params);
    return {
        ready: table.update(route.params),
        update(next) {
            chart.update(next.params);
            return table.update(next.params);
        },
        destroy() {
            board.destroy();
            chart.destroy();
            table.destroy();
        },
    };
}
