/** Parts of each worker's time as stacked bars. Of very many workers neighbours share a bar, which opens into its own. */

import { h } from '../../lib/dom.js';
import { draw, tooltip, font, solid } from '../../charts/charts.js';
import { chartPanel, walkable } from '../../charts/chartpanel.js';
import { clip } from '../../lib/names.js';
import { token } from '../../app/theme.js';
import { plainTable } from '../../table/detail_parts.js';
import { bins } from './figures.js';
import { PART_WORDS, partFill, partSwitch, waitOutline } from './parts.js';
import * as fmt from '../../lib/fmt.js';

/** More bars beside each other are not told apart. */
const MOST = 64;
/** Rows of the table behind the chart: the list of workers below has them all. */
const ROWS = 200;

/** @typedef {import('./figures.js').WorkerTime} WorkerTime */
/** @typedef {import('./figures.js').Bin} Bin */
/** @typedef {import('./figures.js').Part} Part */

/**
 * @param {{title: string, help: string, parts: Part[], emptyText: string, onToggle: (part: Part) => void,
 *          onRange: (from: number, to: number) => void, onWorker: (worker: DistributedWorker) => void}} settings
 */
export function workerBars({ title, help, parts, emptyText, onToggle, onRange, onWorker }) {
    /** @type {WorkerTime[]} */
    let times = [];
    /** @type {Bin[]} */
    let list = [];
    /** @type {string[]} */
    let hidden = [];
    /** @type {Promise<import('../../charts/charts.js').LiveChart> | undefined} */
    let live;
    const canvas = h('canvas', { class: 'worker-canvas' });
    const keys = partSwitch(parts, onToggle);
    const none = h('p', { class: 'quiet', hidden: true }, emptyText);
    const box = h('div', { class: 'worker-chart' }, canvas);
    const panel = chartPanel({ title, help, chart: h('div', { class: 'worker-panel' }, keys.root, box, none), table: () => figures() });
    const walk = walkable(canvas, { label: title, count: () => list.length, text: (index) => words(list[index]), show: point, act: (index) => act(list[index]) });

    const total = (/** @type {WorkerTime} */ time) => parts.reduce((sum, part) => sum + time[part], 0);
    const unitOf = () => fmt.timeUnit(list.reduce((max, { mean }) => Math.max(max, total(mean)), 0));

    /** @param {Bin} bin */
    const act = (bin) => (bin.workers.length > 1 ? onRange(bin.from, bin.to) : onWorker(bin.workers[0].worker));

    /** @param {Bin} bin */
    function words(bin) {
        const unit = unitOf();
        return `${binName(bin)}: ${parts.map((part) => `${PART_WORDS[part].label} ${fmt.time(bin.mean[part], unit)}`).join(', ')}`;
    }

    /** @param {number} index */
    function point(index) {
        live?.then((drawn) => {
            const chart = drawn.chart();
            const active = parts.map((_, datasetIndex) => ({ datasetIndex, index }));
            const bar = chart?.getDatasetMeta(0).data[index];
            if (!chart || !bar) return;
            chart.setActiveElements(active);
            chart.tooltip?.setActiveElements(active, { x: bar.x, y: bar.y });
            chart.update('none');
        });
    }

    function config() {
        const unit = unitOf();
        const ranks = new Set(times.map(({ worker: { rank } }) => rank));
        // Where a rank names no worker, worker names do.
        const ranked = ranks.size === times.length && !ranks.has(null);
        const ticks = { color: token('--ink-2'), font: font(12), maxRotation: 0, autoSkipPadding: 12 };
        return {
            type: 'bar',
            data: {
                labels: list.map((bin) => (ranked ? rankLabel(bin) : clip(bin.workers[0].worker.worker, 24))),
                datasets: parts.map((part) => ({
                    label: PART_WORDS[part].label, data: list.map(({ mean }) => mean[part] / unit.ns), hidden: hidden.includes(part),
                    backgroundColor: partFill(part), hoverBackgroundColor: partFill(part),
                    // An outline holds together what is mostly empty.
                    borderColor: part === 'wait' ? waitOutline() : token('--bg'), borderWidth: part === 'wait' ? 1 : { top: 1 }, borderSkipped: false,
                    categoryPercentage: list.length > 40 ? 0.96 : 0.86, barPercentage: 1, maxBarThickness: 110,
                })),
            },
            options: {
                interaction: { mode: 'index', intersect: false },
                onClick: (/** @type {any} */ _, /** @type {any[]} */ found) => found.length && act(list[found[0].index]),
                scales: {
                    x: { stacked: true, grid: { display: false }, border: { color: token('--line-strong') }, ticks, title: { display: true, text: ranked ? 'Rank' : 'Worker', color: token('--ink-2'), font: font(12) } },
                    y: { stacked: true, border: { display: false }, grid: { color: token('--line') }, ticks: { ...ticks, maxTicksLimit: 6 },
                        title: { display: true, text: unit.name, color: token('--ink-2'), font: font(12) } },
                },
                plugins: { legend: { display: false }, tooltip: tip(unit) },
            },
        };
    }

    /** @param {fmt.TimeUnit} unit */
    function tip(unit) {
        return {
            ...tooltip(),
            filter: (/** @type {any} */ item) => item.raw > 0,
            itemSort: (/** @type {any} */ a, /** @type {any} */ b) => b.datasetIndex - a.datasetIndex,
            callbacks: {
                title: (/** @type {any} */ items) => (items.length ? binName(list[items[0].dataIndex]) : ''),
                label: (/** @type {any} */ item) => {
                    const { mean } = list[item.dataIndex];
                    const value = mean[parts[item.datasetIndex]];
                    return ` ${item.dataset.label}  ${fmt.time(value, unit)}  ${fmt.share(total(mean) ? value / total(mean) : null)}`;
                },
                labelColor: (/** @type {any} */ item) => solid(/** @type {any} */ (partFill(parts[item.datasetIndex]))),
                labelPointStyle: () => ({ pointStyle: 'rectRounded', rotation: 0 }),
                footer: (/** @type {any} */ items) => (items.length ? `Total ${fmt.time(total(list[items[0].dataIndex].mean), unit)}` : ''),
            },
        };
    }

    function figures() {
        const unit = fmt.columnUnit(times.reduce((max, time) => Math.max(max, total(time)), 0));
        const shown = list.flatMap(({ workers }) => workers);
        const table = plainTable(`${title}, in ${unit.name}`, ['Worker', ...parts.map((part) => `${PART_WORDS[part].label} ${unit.name}`), `Total ${unit.name}`],
            shown.slice(0, ROWS).map((time) => [time.worker.worker, ...parts.map((part) => fmt.timeIn(time[part], unit)), fmt.timeIn(total(time), unit)]), 1);
        return shown.length > ROWS ? h('div', null, table, h('p', { class: 'quiet' }, `The first ${ROWS} of ${fmt.plural(shown.length, 'worker')}: choose bars of the chart to see others.`)) : table;
    }

    return {
        root: panel.root,
        /** @param {WorkerTime[]} next @param {[number, number] | null} range @param {string[]} off */
        show(next, range, off) {
            times = next;
            hidden = off;
            list = bins(times, MOST, range);
            keys.show(off);
            walk.set(-1);
            panel.repaint();
            const empty = times.every((time) => total(time) === 0);
            none.hidden = !empty;
            box.hidden = empty;
            canvas.dataset.bars = String(list.length);
            if (empty) return undefined;
            if (live) return live.then((chart) => chart.refresh());
            live = draw(canvas, config);
            return live;
        },
        destroy() {
            live?.then((chart) => chart.destroy());
        },
    };
}

/** "0–15" where neighbours are so by rank, else the first one's. @param {Bin} bin */
function rankLabel({ workers }) {
    const [first, last] = [workers[0].worker.rank ?? 0, workers[workers.length - 1].worker.rank ?? 0];
    if (workers.length === 1) return String(first);
    return last - first === workers.length - 1 ? `${first}–${last}` : `${first} …`;
}

/** @param {Bin} bin */
function binName({ workers }) {
    const [first, last] = [workers[0].worker, workers[workers.length - 1].worker];
    if (workers.length === 1) return first.rank === null ? first.worker : `${first.worker}, rank ${first.rank}`;
    return `Mean of ${workers.length} workers, ${clip(first.worker, 24)} to ${clip(last.worker, 24)}`;
}

