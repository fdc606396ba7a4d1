/** Lists of bars over one set of rows, with one control of how many parts they show. */

import { h, fill } from '../lib/dom.js';
import { setParams, traceHref } from '../app/router.js';
import { searchWord } from '../lib/names.js';
import { OTHER, ranking, topSlices, colourBook } from './ranking.js';
import { skeleton, showFailure } from '../lib/states.js';
import * as api from '../lib/api.js';
import * as fmt from '../lib/fmt.js';

const DEFAULT_TOP = 8;
const MAX_TOP = 50;
/** Up to here all rows are fetched at once and every total is exact. */
const ALL_ROWS = 2000;

/** @typedef {{key: string, title: string, help?: string}} PieSpec */
/** @typedef {{root: HTMLElement, paint: () => void, destroy: () => void}} ExtraPie a chart of its own making */

/**
 * @param {{id: string, view: 'operators' | 'kernels', emptyText: string, charts: (first: RowPage) => PieSpec[],
 *          extra?: (first: RowPage, off: () => string[], toggle: (name: string) => void) => ExtraPie | null}} settings
 */
export function pieBoard({ id, view, emptyText, charts, extra }) {
    const root = h('div', { class: 'pie-board' }, skeleton('block'));
    const input = h('input', {
        class: 'input count', type: 'number', min: '1', max: String(MAX_TOP), id: 'top-n', onchange: () => setParams({ n: clamp(Number(input.value)) }),
    });
    const control = h('label', { class: 'top-n', for: 'top-n' }, 'Top', input, 'as bars');
    const colours = colourBook();
    let params = new URLSearchParams();
    /** @type {ExtraPie | null} */
    let own = null;
    /** @type {{spec: PieSpec, chart: ReturnType<typeof ranking>, items: {name: string, value: number}[], total: number, unit: fmt.TimeUnit}[]} */
    let pies = [];

    const count = () => clamp(Number(params.get('n')) || DEFAULT_TOP);
    const off = () => params.getAll('off');

    function paint() {
        input.value = String(count());
        for (const { chart, items, total } of pies) chart.show(topSlices(items, count(), total, colours), total);
        own?.paint();
    }

    /** The row of the part, opened; of all others, the table. @param {string} name */
    const partHref = (name) => traceHref(id, view, name === OTHER ? {} : { q: searchWord(name), open: '1' });

    /** @param {string} name */
    function toggle(name) {
        const now = off();
        setParams({ off: now.includes(name) ? now.filter((item) => item !== name) : [...now, name] }, { replace: true });
    }

    /** @param {RowPage} first @param {AbortSignal} signal */
    async function build(first, signal) {
        const specs = charts(first);
        const pages = await Promise.all(specs.map(({ key }) => (first.total <= first.rows.length ? first
            : api.rows(id, view, { group_by: 'name', sort: key, order: 'desc', limit: MAX_TOP }, signal))));
        pies = specs.map((spec, index) => {
            const items = pages[index].rows.map((row) => ({ name: row.name, value: Number(row[spec.key] ?? 0) }));
            const total = first.sums?.[spec.key] ?? items.reduce((sum, { value }) => sum + value, 0);
            const unit = fmt.timeUnit(items.reduce((max, { value }) => Math.max(max, value), 0));
            const chart = ranking({ title: spec.title, help: spec.help, print: (value) => fmt.time(value, unit), off, onToggle: toggle, href: partHref, emptyText, bars: true });
            return { spec, chart, items, total, unit };
        });
        own = extra?.(first, off, toggle) ?? null;
        fill(root, pies.map(({ chart }) => chart.root), own?.root);
    }

    return {
        root,
        control,
        /** @param {URLSearchParams} next @param {AbortSignal} signal */
        async start(next, signal) {
            params = next;
            input.value = String(count());
            try {
                await build(await api.rows(id, view, { group_by: 'name', limit: ALL_ROWS }, signal), signal);
                paint();
            } catch (error) {
                showFailure(root, error);
            }
        },
        /** @param {URLSearchParams} next */
        update(next) {
            const before = [count(), ...off()].join('\n');
            params = next;
            if (before !== [count(), ...off()].join('\n')) paint();
        },
        destroy() {
            pies.forEach(({ chart }) => chart.destroy());
            own?.destroy();
        },
    };
}

/** @param {number} value */
const clamp = (value) => Math.max(1, Math.min(MAX_TOP, Math.round(value) || DEFAULT_TOP));
