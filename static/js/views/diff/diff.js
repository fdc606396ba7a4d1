/** Two traces beside each other: by the names of their operators and kernels, and by their call trees. */

import { h, fill } from '../../lib/dom.js';
import { segmented } from '../../table/rowtable.js';
import { setParams } from '../../app/router.js';
import { empty, showFailure, skeleton } from '../../lib/states.js';
import { canDiff, compareHref, hasCycles } from '../comparison/compare_links.js';
import { diffSides } from './sides.js';
import { nameDiff } from './names.js';
import { treeDiff } from './tree.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @type {{value: 'operators' | 'kernels' | 'tree', label: string}[]} */
const MODES = [{ value: 'operators', label: 'Operators' }, { value: 'kernels', label: 'Kernels' }, { value: 'tree', label: 'Call tree' }];

/** What of the address belongs to one mode only. */
const OF_MODE = { q: null, sort: null, order: null, cols: null, only: null, row: null, time: null, by: null, path: null };

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const { runs } = await api.runs({ limit: 1000, sort: 'name', order: 'asc' }, signal);
    const sides = diffSides(runs, signal);
    const tools = h('div', { class: 'view-tools' });
    const body = h('div', { class: 'diff-body' });
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Diff'), tools), runs.some(canDiff) ? [sides.root, body] : nothingToDiff());
    let asked = '';
    let turn = 0;
    /** @type {Awaited<ReturnType<typeof board>> | null} */
    let shown = null;

    /** @param {URLSearchParams} params */
    async function paint(params) {
        const [base, candidate] = [params.get('base') ?? '', params.get('candidate') ?? ''];
        if (asked === `${base} ${candidate}`) return shown?.update(params);
        asked = `${base} ${candidate}`;
        turn += 1;
        const mine = turn;
        shown?.destroy();
        shown = null;
        fill(tools);
        if (!base || !candidate) {
            fill(body, h('p', { class: 'lead quiet' }, base || candidate ? `Choose the ${base ? 'candidate' : 'base'}: what to lay beside the ${base ? 'base' : 'candidate'}.` : 'Choose two traces: which operators and kernels came, went, or took another time?'));
            return undefined;
        }
        fill(body, skeleton('figures', 'block', 'rows'));
        try {
            const [data, ...steps] = await Promise.all([api.diff(base, candidate, signal), stepTime(base, signal), stepTime(candidate, signal)]);
            if (mine !== turn) return undefined;
            if (hasCycles(data.base) && hasCycles(data.candidate)) fill(tools, h('a', { class: 'button', href: compareHref({ base, candidate }), title: 'By cycles, with a test of chance' }, 'Compare by cycles'));
            shown = board(body, data, { base: steps[0], candidate: steps[1] }, signal);
        } catch (error) {
            if (mine !== turn) return undefined;
            asked = '';
            showFailure(body, error, () => paint(params));
        }
        return shown?.update(params);
    }

    const update = (/** @type {URLSearchParams} */ params) => Promise.all([sides.show(params), paint(params)]);
    return {
        ready: update(route.params),
        update: (next) => update(next.params),
        destroy: () => shown?.destroy(),
    };
}

/** The overview knows how long a step is; a diff is worth showing without. @param {string} id @param {AbortSignal} signal */
async function stepTime(id, signal) {
    try {
        const { average_step_ns: ns, has_profiler_steps: marked } = await api.overview(id, signal);
        return marked ? ns : null;
    } catch {
        return null;
    }
}

/** @param {HTMLElement} root @param {NameDiff} data @param {import('./names.js').StepTimes} steps @param {AbortSignal} signal */
function board(root, data, steps, signal) {
    const names = nameDiff(data);
    const tree = treeDiff({ base: String(data.base.id), candidate: String(data.candidate.id) }, fmt.deviceWord(data.base.device_type), signal);
    const options = MODES.filter(({ value }) => value !== 'kernels' || data.kernels.length > 0);
    const modes = segmented('Diff by', options, (mode) => setParams({ ...OF_MODE, mode: mode === options[0].value ? null : mode }));
    const box = h('div');
    fill(root, names.answers(steps), modes.root, box);
    return {
        /** @param {URLSearchParams} params */
        update(params) {
            const mode = options.find(({ value }) => value === params.get('mode'))?.value ?? options[0].value;
            modes.show(mode);
            const part = mode === 'tree' ? tree : names;
            if (box.firstElementChild !== part.root) fill(box, part.root);
            return mode === 'tree' ? tree.update(params) : names.update(mode, params);
        },
        destroy() {
            names.destroy();
            tree.destroy();
        },
    };
}

function nothingToDiff() {
    return empty('No trace of a profiler yet',
        h('p', null, 'A diff lays two traces beside each other: before and after a change, or two spans of one run. Upload two traces of PyTorch’s profiler.'));
}
