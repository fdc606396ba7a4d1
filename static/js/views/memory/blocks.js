/** The blocks that stand out: the largest when most was held, and the largest that were never released. */

import { h } from '../../lib/dom.js';
import { plainTable } from '../../table/detail_parts.js';
import { nameText } from '../../table/columns.js';
import { setParams } from '../../app/router.js';
import * as fmt from '../../lib/fmt.js';

/** @param {MemoryAnswer} data */
export function memoryBlocks({ at_peak: atPeak, unreleased }) {
    if (atPeak.length === 0 && unreleased.count === 0) return null;
    return [
        part('Largest at the peak', 'What was held when most was', atPeak, atPeak.length ? null : 'Which blocks were held at the peak is not known.'),
        part('Never released', 'Allocated in the recording, and held at its end', unreleased.rows,
            unreleased.count === 0 ? 'Every block allocated in the recording was released in it.'
                : unreleased.count > unreleased.rows.length ? `The largest ${unreleased.rows.length} of ${fmt.plural(unreleased.count, 'block')}, ${fmt.bytes(unreleased.size_bytes)} in all.` : null),
    ];
}

/** @param {string} title @param {string} help @param {MemoryBlock[]} blocks @param {string | null} note */
function part(title, help, blocks, note) {
    return h('section', { class: 'section' }, h('h2', { 'data-tip': help }, title), blocks.length ? table(title, blocks) : null, note ? h('p', { class: 'quiet' }, note) : null);
}

/** @param {string} title @param {MemoryBlock[]} blocks */
function table(title, blocks) {
    const unit = fmt.byteUnit(Math.max(...blocks.map(({ size_bytes: size }) => size)));
    const times = fmt.columnUnit(Math.max(...blocks.map(({ allocated_ns: at }) => at ?? 0)));
    return plainTable(title, ['Block', `Size, ${unit.name}`, `Allocated, ${times.name}`, 'Lifetime'], blocks.map((block) => [
        h('button', { class: 'function-name', type: 'button', 'data-tip': `${block.name}: show its blocks below`, onclick: () => follow(block.name) }, nameText(block.name)),
        fmt.bytesIn(block.size_bytes, unit),
        block.allocated_ns === null ? 'before' : fmt.timeIn(block.allocated_ns, times),
        block.duration_ns === null ? (block.released_ns === null ? 'to the end' : 'from before') : fmt.time(block.duration_ns)]), 1);
}

/** @param {string} name */
function follow(name) {
    setParams({ 'block-q': name, start: null, end: null });
    document.querySelector('.block-table')?.scrollIntoView({ block: 'nearest' });
}
