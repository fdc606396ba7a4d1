/** Efficiency: what operators compute and move, how near the device's peaks they ran, and what has most to gain. */

import { h, fill } from '../../lib/dom.js';
import { empty, showFailure } from '../../lib/states.js';
import { recordAdvice, recordWith } from '../../lib/record_advice.js';
import { setParams } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { pickTrace } from '../../app/trace_picker.js';
import { isAbort, trace as traceOf } from '../../lib/api.js';
import { verdict } from './verdict.js';
import { rooflineChart } from './roofline.js';
import { callTable, GROUPS } from './calls.js';
import { powerPart } from './power.js';
import { efficiency } from './api.js';

/** Traces beside the own. */
const OTHERS = 5;

/** @param {URLSearchParams} params */
const groupOf = (params) => GROUPS.find(({ value }) => value === params.get('group'))?.value ?? GROUPS[0].value;
/** @param {URLSearchParams} params */
const othersOf = (params) => (params.get('with') ?? '').split(',').filter((text) => /^\d{1,18}$/.test(text)).slice(0, OTHERS);

/**
 * @param {HTMLElement} root
 * @param {Route} route
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const [trace, first] = await Promise.all([traceOf(route.id, signal), efficiency(route.id, 'operator', signal)]);
    const power = powerPart(route.id, signal);
    if (first.total === 0) {
        const option = await recordAdvice(trace, 'calls', signal, 'record_shapes=True') ?? await recordAdvice(trace, 'operators', signal);
        fill(root, h('h1', null, 'Efficiency'), empty('No operator launched device work', recordWith(option)), power.root);
        return { ready: power.load() };
    }
    let params = route.params;
    const table = callTable(trace, () => first.device);
    const chart = rooflineChart((point) => {
        if (point.side > 0) {
            location.hash = `#/traces/${othersOf(params)[point.side - 1]}/efficiency?group=${groupOf(params)}&open=${point.place + 1}`;
            return;
        }
        setParams({ q: null, sort: null, order: null, open: String(point.place + 1) });
        table.root.scrollIntoView({ block: 'start' });
    }, [h('button', { class: 'button small', type: 'button', onclick: add }, 'Add trace'), h('button', { class: 'button small', type: 'button', hidden: true, onclick: () => setParams({ with: null }) }, 'This trace alone')]);
    const alone = /** @type {HTMLElement} */ ([...chart.root.querySelectorAll('button')].find((node) => node.textContent === 'This trace alone'));
    const failed = h('div', null);
    let shown = '';

    function add() {
        const known = [String(trace.id), ...othersOf(params)];
        pickTrace({ title: 'Add trace', text: 'Its operators are drawn into the same roofline.', none: 'No other trace of this run has device work.', trace, signal,
            able: (other) => hasView(other, 'efficiency') && !known.includes(String(other.id)), onPick: (other) => setParams({ with: [...othersOf(params), other.id].slice(-OTHERS).join(',') }) });
    }

    async function loadChart() {
        const [group, others] = [groupOf(params), othersOf(params)];
        const wanted = `${group} ${others}`;
        if (wanted === shown) return;
        shown = wanted;
        alone.hidden = others.length === 0;
        try {
            const own = group === 'operator' ? first : await efficiency(route.id, group, signal);
            const sides = await Promise.all(others.map(async (id) => ({ trace: await traceOf(id, signal), data: await efficiency(id, group, signal) })));
            if (wanted !== shown) return;
            fill(failed);
            chart.show([{ trace, data: own }, ...sides], group);
        } catch (error) {
            if (wanted !== shown || isAbort(error)) return;
            shown = '';
            showFailure(failed, error, loadChart);
        }
    }
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Efficiency')), verdict(first), chart.root, failed, h('h2', { class: 'visually-hidden' }, 'All rows'), table.root, power.root);
    return {
        ready: Promise.all([loadChart(), table.update(params), power.load()]),
        update(next) {
            params = next.params;
            return Promise.all([loadChart(), table.update(params)]);
        },
        destroy() {
            chart.destroy();
            table.destroy();
        },
    };
}
