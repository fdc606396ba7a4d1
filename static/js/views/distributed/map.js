/** Which process of which node drives which device, and how many of its collectives could be laid beside those of the others. */

import { h, fill } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import * as fmt from '../../lib/fmt.js';

const PAGE = 100;

/** @typedef {{worker: DistributedWorker, device: DistributedDevice | null}} Line */

/** @param {Distributed} data */
export function deviceMap(data) {
    /** @type {Map<string, DistributedDevice[]>} */
    const devices = new Map();
    for (const device of data.devices) devices.set(device.worker, [...(devices.get(device.worker) ?? []), device]);
    const lines = data.workers.map((worker) => ({ worker, order: `${worker.node ?? ''}\n${worker.rank ?? ''}\n${worker.worker}` }))
        .sort((a, b) => a.order.localeCompare(b.order, 'en', { numeric: true }))
        .flatMap(({ worker }) => (devices.get(worker.worker) ?? [null]).map((device) => /** @type {Line} */ ({ worker, device })));
    const box = h('div', { class: 'device-map' });
    let count = PAGE;

    function paint() {
        const rest = lines.length - count;
        fill(box, mapTable(lines.slice(0, count), data),
            rest > 0 ? h('p', null, h('button', { class: 'button small', type: 'button', onclick: () => {
                count += PAGE;
                paint();
                box.querySelector('button')?.focus();
            } }, `Show ${Math.min(PAGE, rest)} more of ${fmt.int(rest)}`)) : null);
    }
    paint();
    return h('section', { class: 'section' }, h('h2', null, 'Nodes, processes and devices'), box);
}

/** @param {Line[]} lines @param {Distributed} data */
function mapTable(lines, { agrees, workers }) {
    const some = (/** @type {(line: Line) => any} */ of) => lines.some((line) => of(line) !== null && of(line) !== undefined && of(line) !== '');
    /** @type {{label: string, of: (line: Line) => any, kind: string, once: 'node' | 'worker' | ''}[]} */
    const columns = [
        { label: 'Node', of: ({ worker }) => worker.node, kind: 'kind-text', once: 'node' },
        { label: 'Process', of: ({ worker }) => processName(worker.process), kind: 'kind-text', once: 'worker' },
        { label: 'Worker', of: ({ worker }) => h('a', { href: traceHref(worker.trace) }, worker.worker), kind: 'kind-text', once: 'worker' },
        { label: 'Rank', of: ({ worker }) => worker.rank, kind: 'kind-int', once: 'worker' },
        { label: 'Backend', of: ({ worker }) => worker.backend, kind: 'kind-text', once: 'worker' },
        { label: 'Collectives', of: ({ worker }) => fmt.int(worker.collectives), kind: 'kind-int', once: 'worker' },
        ...(workers.length > 1 && !agrees ? [{ label: 'Matched', of: (/** @type {Line} */ { worker }) => fmt.int(worker.matched), kind: 'kind-int', once: /** @type {'worker'} */ ('worker') }] : []),
        { label: 'Device', of: ({ device }) => device && deviceName(device.device), kind: 'kind-text', once: '' },
        { label: 'Name', of: ({ device }) => device?.name, kind: 'kind-text', once: '' },
        { label: 'Memory', of: ({ device }) => (device?.memory_bytes ? fmt.bytes(device.memory_bytes) : null), kind: 'kind-int', once: '' },
        { label: 'Capability', of: ({ device }) => device?.compute_capability, kind: 'kind-int', once: '' },
    ];
    // What nothing knows is no column.
    const shown = columns.filter(({ of }) => some(of));
    return h('div', { class: 'scroll-x', tabindex: '0', role: 'region', 'aria-label': 'Nodes, processes and devices' },
        h('table', { class: 'plain-table' }, h('caption', { class: 'visually-hidden' }, 'Nodes, processes and devices'),
            h('thead', null, h('tr', null, shown.map(({ label, kind }) => h('th', { scope: 'col', class: kind }, label)))),
            h('tbody', null, lines.map((line, index) => h('tr', null, shown.map(({ of, kind, once }) => cell(of(line), kind, repeats(once, line, lines[index - 1]))))))));
}

/** Whether it is the same as in the line above. @param {'node' | 'worker' | ''} once @param {Line} line @param {Line | undefined} before */
const repeats = (once, line, before) => Boolean(once && before && (once === 'worker' ? before.worker === line.worker : before.worker.node === line.worker.node));

/** @param {any} value @param {string} kind @param {boolean} same */
function cell(value, kind, same) {
    const content = value ?? '–';
    return h('td', { class: kind }, same ? h('span', { class: 'same' }, content) : content);
}

/** @param {string | number | null} process */
const processName = (process) => (process === null ? null : /^\d+$/.test(String(process)) ? `Process ${process}` : process);

/** @param {string | number} device */
const deviceName = (device) => (/^\d+$/.test(String(device)) ? `GPU ${device}` : device);
