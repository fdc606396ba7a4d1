/** One step of one replica as it was, and as it would be without stragglers, on one scale. */

import { h, fill, swatch } from '../../lib/dom.js';
import { setParams } from '../../app/router.js';
import { token } from '../../app/theme.js';
import { walkable } from '../../charts/chartpanel.js';
import { keepPainted, sharpContext } from '../../lib/canvas.js';
import { showFailure } from '../../lib/states.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** Of a stage: its computations, and below them what it sends and receives. In CSS pixels. */
const COMPUTE = 14;
const TRANSFER = 5;
const GAP = 3;
const TITLE = 20;
const NAMES = 64;

/** @typedef {{title: string, rows: WhatIfSliceRow[]}} Half */

/** @param {string} optype */
const colourOf = (optype) => (optype === 'forward-compute' ? '--role-kernel' : optype === 'backward-compute' ? '--role-cpu-exec' : optype === 'optimizer' ? '--role-runtime' : optype === 'gc' ? '--role-other' : '--role-communication');
const KEYS = [['forward-compute', 'Forward'], ['backward-compute', 'Backward'], ['forward-send', 'Sends, receives, reductions'], ['optimizer', 'Optimizer'], ['gc', 'Garbage collection']];

/** @param {string} optype */
const isWork = (optype) => optype.endsWith('-compute') || optype === 'optimizer' || optype === 'gc';

/** @param {string} run @param {api.Pipeline} data @param {boolean} hasIdeal @param {AbortSignal} signal */
export function lanes(run, data, hasIdeal, signal) {
    const numbers = (/** @type {'step' | 'dp_rank'} */ key) => [...new Set(data.rows.map((row) => row[key]))].sort((a, b) => a - b);
    const choice = (/** @type {string} */ param, /** @type {string} */ word, /** @type {number[]} */ list) => {
        const select = h('select', { class: 'input select', 'aria-label': word, onchange: () => setParams({ [param]: select.value }) }, list.map((value) => h('option', { value: String(value) }, `${word} ${value}`)));
        return select;
    };
    const steps = choice('step', 'Step', numbers('step'));
    const replicas = choice('replica', 'Replica', numbers('dp_rank'));
    const canvas = h('canvas', { class: 'heat-map' });
    const said = h('p', { class: 'sight', 'aria-live': 'polite' });
    const keys = h('ul', { class: 'tl-role-keys' }, KEYS.map(([optype, label]) => h('li', null, swatch(`var(${colourOf(optype)})`), label)));
    const box = h('div', null, canvas);
    /** @type {Half[]} */
    let halves = [];
    /** @type {{half: number, row: WhatIfSliceRow}[]} */
    let all = [];
    let at = -1;
    let asked = '';
    const pitch = COMPUTE + TRANSFER + GAP;
    const tall = () => TITLE + data.stages * pitch;
    const last = () => all.reduce((most, { row }) => Math.max(most, row.start_ns + row.duration_ns), 1);

    /** @param {{half: number, row: WhatIfSliceRow}} item @param {number} scale */
    const place = ({ half, row }, scale) => {
        const work = isWork(row.optype);
        return { x: NAMES + row.start_ns * scale, y: half * tall() + TITLE + row.stage * pitch + (work ? 0 : COMPUTE), width: Math.max(1, row.duration_ns * scale), height: work ? COMPUTE : TRANSFER };
    };
    const scaleOf = (/** @type {number} */ width) => (width - NAMES) / last();

    function paint() {
        canvas.style.height = `${Math.max(1, halves.length) * tall()}px`;
        const drawn = sharpContext(canvas);
        if (!drawn) return;
        const { context, width } = drawn;
        const scale = scaleOf(width);
        context.font = `12px ${token('--font')}`;
        context.textBaseline = 'middle';
        halves.forEach(({ title }, half) => {
            context.fillStyle = token('--ink-2');
            context.fillText(title, 0, half * tall() + TITLE / 2);
            for (let stage = 0; stage < data.stages; stage += 1) {
                const y = half * tall() + TITLE + stage * pitch;
                context.fillStyle = token('--ink-2');
                context.fillText(`Stage ${stage}`, 0, y + COMPUTE / 2);
                context.fillStyle = token('--sunk');
                context.fillRect(NAMES, y, width - NAMES, COMPUTE);
            }
        });
        for (const item of all) {
            const { x, y, width: wide, height } = place(item, scale);
            context.fillStyle = token(colourOf(item.row.optype));
            context.fillRect(x, y, wide > 3 ? wide - 1 : wide, height);
        }
        if (at < 0) return;
        const { x, y, width: wide, height } = place(all[at], scale);
        context.strokeStyle = token('--ink');
        context.lineWidth = 2;
        context.strokeRect(x, y, wide, height);
    }

    const text = (/** @type {number} */ index) => {
        const { half, row } = all[index];
        return `${halves[half].title}, stage ${row.stage}: ${row.optype} ${row.seq_id}, ${fmt.time(row.duration_ns)} from ${fmt.time(row.start_ns)}`;
    };
    const show = (/** @type {number} */ index) => {
        at = index;
        fill(said, index < 0 ? (all.length > 0 ? `${fmt.time(last())} from left to right` : '') : text(index));
        paint();
    };
    const walk = walkable(canvas, { label: 'Operations of the step', count: () => all.length, text, show });
    canvas.addEventListener('pointermove', (event) => {
        const area = canvas.getBoundingClientRect();
        const scale = scaleOf(area.width);
        const [px, py] = [event.clientX - area.left, event.clientY - area.top];
        const next = all.findIndex((item) => {
            const { x, y, width, height } = place(item, scale);
            return x <= px && px <= x + width && y <= py && py <= y + height;
        });
        if (next !== at) show(next);
        walk.set(next);
    });
    canvas.addEventListener('pointerleave', () => show(-1));
    const stop = keepPainted(canvas, paint);

    /** @param {URLSearchParams} params */
    async function update(params) {
        const lane = { step: params.get('step'), dp_rank: params.get('replica') };
        if (JSON.stringify(lane) === asked) return;
        asked = JSON.stringify(lane);
        const wanted = asked;
        try {
            const [real, ideal] = await Promise.all([api.lane(run, { ...lane, scenario: 'measured' }, signal), hasIdeal ? api.lane(run, { ...lane, scenario: 'ideal' }, signal) : null]);
            if (wanted !== asked) return;
            steps.value = String(real.step);
            if (lane.dp_rank !== null) replicas.value = lane.dp_rank;
            halves = [{ title: 'As it was', rows: real.rows }, ...(ideal ? [{ title: 'Without stragglers', rows: ideal.rows }] : [])];
            all = halves.flatMap(({ rows }, half) => rows.map((row) => ({ half, row })));
            fill(box, canvas);
            show(-1);
        } catch (error) {
            asked = '';
            showFailure(box, error, () => update(params));
        }
    }
    return {
        root: h('section', { class: 'section' }, h('h2', null, hasIdeal ? 'One step, and the same without stragglers' : 'One step'), h('div', { class: 'table-tools' }, steps, replicas, keys), said, box),
        update,
        destroy: stop,
    };
}
