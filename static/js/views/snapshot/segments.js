/** The map of segments: where in each memory is given out, waits to be freed or is free. Their order is in the URL. */

import { h, fill, swatch } from '../../lib/dom.js';
import { segmented } from '../../table/rowtable.js';
import { plainTable } from '../../table/detail_parts.js';
import { onTheme, token } from '../../app/theme.js';
import { setParams } from '../../app/router.js';
import { showFailure } from '../../lib/states.js';
import { call, isAbort } from '../../lib/api.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {{address: string, stream: number | null, total_bytes: number, allocated_bytes: number, pending_bytes: number, free_bytes: number, largest_free_bytes: number, blocks: number, allocated: number[], pending: number[]}} Segment */

const SHOWN = 100;
const ORDERS = [{ value: 'size', label: 'Largest' }, { value: 'free', label: 'Most free' }, { value: 'address', label: 'By address' }];
const [GIVEN_OUT, WAITING] = ['--cat-1', '--cat-5'];

/** A point a part, stretched by the style. @param {Segment} segment */
function mapOf(segment) {
    const canvas = h('canvas', { class: 'snapshot-map', width: segment.allocated.length, height: 1, role: 'img', 'aria-label': `${fmt.share(segment.allocated_bytes / segment.total_bytes)} given out` });
    const paint = () => {
        const context = canvas.getContext('2d');
        if (!context) return;
        context.clearRect(0, 0, canvas.width, 1);
        for (const [name, percents] of /** @type {[string, number[]][]} */ ([[GIVEN_OUT, segment.allocated], [WAITING, segment.pending]])) {
            context.fillStyle = token(name);
            percents.forEach((percent, at) => {
                context.globalAlpha = percent / 100;
                if (percent > 0) context.fillRect(at, 0, 1, 1);
            });
        }
    };
    paint();
    return { canvas, paint };
}

/** @param {Trace} trace @param {AbortSignal} signal */
export function segmentsMap(trace, signal) {
    /** @type {(() => void)[]} */
    let paints = [];
    let asked = '';
    const order = segmented('Segments', ORDERS, (value) => setParams({ segments: value === 'size' ? null : value }));
    const body = h('div', null);
    const root = h('section', { class: 'section snapshot-holders snapshot-segments' },
        h('div', { class: 'section-head' }, h('h2', null, 'Segments at the end'), h('div', { class: 'tools-end' }, order.root)), body,
        h('p', { class: 'time-key' }, h('span', null, swatch(`var(${GIVEN_OUT})`), 'given out'), h('span', null, swatch(`var(${WAITING})`), 'waits to be freed'), h('span', null, 'the rest of a bar is free')),
        h('p', { class: 'quiet' }, 'Free memory in small pieces between blocks that live is fragmented: no larger block fits there.'));

    /** @param {number} total @param {Segment[]} segments */
    function show(total, segments) {
        const maps = segments.map(mapOf);
        paints = maps.map(({ paint }) => paint);
        const lines = segments.map((segment, at) => [segment.address, maps[at].canvas, fmt.bytes(segment.total_bytes), fmt.bytes(segment.allocated_bytes), fmt.bytes(segment.free_bytes),
            fmt.bytes(segment.largest_free_bytes), fmt.int(segment.blocks), segment.stream === null ? '–' : String(segment.stream)]);
        fill(body, segments.length === 0 ? h('p', { class: 'quiet' }, 'No segment is there at the end.')
            : plainTable('Segments at the end', ['Address', 'Map', 'Size', 'Given out', 'Free', 'Largest free piece', 'Blocks', 'Stream'], /** @type {any} */ (lines), 2),
        segments.length < total ? h('p', { class: 'quiet' }, `${fmt.int(segments.length)} of ${fmt.plural(total, 'segment')}.`) : null);
    }

    /** @param {URLSearchParams} params @param {string} device @returns {Promise<void>} */
    async function update(params, device) {
        const by = ORDERS.find(({ value }) => value === params.get('segments'))?.value ?? 'size';
        const wanted = `${device} ${by}`;
        order.show(by);
        if (wanted === asked) return;
        asked = wanted;
        try {
            const answer = await call(`traces/${trace.id}/memory-snapshot/segments`, { query: { device, by, limit: SHOWN }, signal });
            if (wanted === asked) show(answer.total, answer.segments);
        } catch (error) {
            if (isAbort(error) || wanted !== asked) return;
            asked = '';
            showFailure(body, error, () => update(params, device));
        }
    }
    return { root, update, destroy: onTheme(() => paints.forEach((paint) => paint())) };
}
