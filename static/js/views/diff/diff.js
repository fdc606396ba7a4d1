/** Two traces beside each other: what changed in one sentence, the step by category, operators, kernels, call trees, and whether it is chance. */

import { h, fill } from '../../lib/dom.js';
import { segmented } from '../../table/rowtable.js';
import { setParams, traceHref } from '../../app/router.js';
import { empty, showFailure, skeleton } from '../../lib/states.js';
import { canDiff, compareHref } from '../comparison/compare_links.js';
import { changed, chance } from './changed.js';
import { causes } from './causes.js';
import { diffSides } from './sides.js';
import { nameDiff } from './names.js';
import { treeDiff } from './tree.js';
import { allRuns } from '../../lib/all_runs.js';
import * as api from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @type {{value: 'operators' | 'kernels' | 'tree' | 'chance', label: string}[]} */
const MODES = [{ value: 'operators', label: 'Operators' }, { value: 'kernels', label: 'Kernels' }, { value: 'tree', label: 'Call tree' }, { value: 'chance', label: 'Is it chance?' }];

/** @type {{value: DiffUnit, label: string}[]} */
const UNITS = [{ value: 'step', label: 'Per step' }, { value: 'call', label: 'Per call' }, { value: 'total', label: 'Total' }];

/** What of the address belongs to one mode only. */
const OF_MODE = { q: null, sort: null, order: null, cols: null, only: null, row: null, time: null, by: null, path: null };

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const runs = await allRuns(signal);
    const sides = diffSides(runs, signal);
    const tools = h('div', { class: 'view-tools' });
    const body = h('div', { class: 'diff-body' });
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'What changed'), tools), runs.some(canDiff) ? [sides.root, body] : nothingToDiff());
    fill(tools, cyclesLink({}));
    let asked = '';
    let turn = 0;
    /** @type {Awaited<ReturnType<typeof board>> | null} */
    let shown = null;

    /** @param {URLSearchParams} params */
    async function paint(params) {
        const [base, candidate] = [params.get('base') ?? '', params.get('candidate') ?? ''];
        const per = params.get('per');
        if (asked === `${base} ${candidate} ${per}`) return shown?.update(params);
        asked = `${base} ${candidate} ${per}`;
        turn += 1;
        const mine = turn;
        shown?.destroy();
        shown = null;
        fill(tools, cyclesLink({ base, candidate }));
        if (!base || !candidate) {
            fill(body, h('p', { class: 'lead quiet' }, base || candidate ? `Choose a ${base ? 'candidate to compare with the baseline' : 'baseline to compare with the candidate'}.` : 'Choose two traces to see which operators and kernels were added, removed or changed.'));
            return undefined;
        }
        fill(body, skeleton('figures', 'block', 'rows'));
        try {
            const [data, summary] = await Promise.all([api.diff(base, candidate, per, signal), api.diffSummary(base, candidate, signal)]);
            if (mine !== turn) return undefined;
            shown = board(body, data, summary, signal);
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

/** @param {HTMLElement} root @param {NameDiff} data @param {DiffSummary} summary @param {AbortSignal} signal */
function board(root, data, summary, signal) {
    const names = nameDiff(data);
    const tree = treeDiff({ base: String(data.base.id), candidate: String(data.candidate.id) }, fmt.deviceWord(data.base.device_type), signal);
    const options = MODES.filter(({ value }) => value !== 'kernels' || data.kernels.length > 0);
    const modes = segmented('Diff by', options, (mode) => setParams({ ...OF_MODE, mode: mode === options[0].value ? null : mode }));
    const units = segmented('Figures', UNITS.filter(({ value }) => value !== 'step' || summary.per === 'step'), (per) => setParams({ per: per === summary.per ? null : per }));
    units.show(data.per);
    const byChance = chance(summary);
    const box = h('div');
    const flame = h('a', { class: 'button', href: traceHref(String(data.candidate.id), 'flame', { against: String(data.base.id) }) }, 'Flame graph of both');
    const why = h('section', { class: 'section panel' });
    causes(why, data.base, data.candidate, signal);
    fill(root, changed(summary), why, names.answers(summary), h('div', { class: 'diff-choices' }, modes.root, units.root, flame), box);
    return {
        /** @param {URLSearchParams} params */
        update(params) {
            const mode = options.find(({ value }) => value === params.get('mode'))?.value ?? options[0].value;
            modes.show(mode);
            const part = mode === 'tree' ? tree.root : mode === 'chance' ? byChance : names.root;
            if (box.firstElementChild !== part) fill(box, part);
            units.root.hidden = part !== names.root;
            if (mode === 'chance') return undefined;
            return mode === 'tree' ? tree.update(params) : names.update(mode, params);
        },
        destroy() {
            names.destroy();
            tree.destroy();
        },
    };
}

/** Tables, several traces a side, one process or kind of cycle: there. @param {Record<string, string>} sides */
const cyclesLink = (sides) => h('a', { class: 'button', href: compareHref(sides) }, 'Compare cycles');

function nothingToDiff() {
    return empty('No trace of a profiler yet',
        h('p', null, 'A diff lays two traces beside each other: before and after a change, or two spans of one run. Upload two traces of PyTorch’s profiler.'));
}
