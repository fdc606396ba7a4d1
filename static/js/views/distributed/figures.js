/** What each worker took of a step, from the rows of the distributed answer. */

/** @typedef {{worker: DistributedWorker, computation: number, overlap: number, communication: number, other: number, transfer: number, wait: number}} WorkerTime in ns */
/** @typedef {'computation' | 'overlap' | 'communication' | 'other' | 'transfer' | 'wait'} Part */

/** Choices of the step: the mean of all of them, and what is in no step. A step's name has no such begin. */
export const MEAN = '';
export const OUTSIDE = '-outside';

/** @type {Part[]} */
export const PARTS = ['computation', 'overlap', 'communication', 'other', 'transfer', 'wait'];

/** @param {DistributedWorker} worker @returns {WorkerTime} */
const nothing = (worker) => ({ worker, computation: 0, overlap: 0, communication: 0, other: 0, transfer: 0, wait: 0 });

/**
 * Of a step, or the mean over all of a worker's steps; in the order of the workers.
 * @param {Distributed} data
 * @param {string} step
 * @returns {WorkerTime[]}
 */
export function workerTimes({ workers, overlap, wait }, step) {
    const times = new Map(workers.map((worker) => [worker.worker, nothing(worker)]));
    /** @type {Map<string, Set<string>>} */
    const steps = new Map(workers.map(({ worker }) => [worker, new Set()]));
    // What is outside of all steps belongs to no mean of steps; where there are no steps it is all there is.
    const wanted = (/** @type {string | null} */ name) => (step === MEAN ? name !== null || overlap.rows.length === 0 : name === (step === OUTSIDE ? null : step));
    for (const row of overlap.rows) {
        const time = times.get(row.worker);
        if (!time || !wanted(row.step)) continue;
        steps.get(row.worker)?.add(row.step);
        time.computation += row.computation_ns;
        time.overlap += row.overlap_ns;
        time.communication += row.communication_ns;
        time.other += row.other_ns ?? 0;
    }
    for (const row of wait.rows) {
        const time = times.get(row.worker);
        if (!time || !wanted(row.step)) continue;
        steps.get(row.worker)?.add(row.step ?? OUTSIDE);
        time.transfer += row.transfer_ns;
        time.wait += row.wait_ns;
    }
    if (step === MEAN) for (const [name, time] of times) PARTS.forEach((part) => { time[part] /= Math.max(1, steps.get(name)?.size ?? 1); });
    return [...times.values()];
}

/** What of the communication the computation does not hide, and so on. @param {WorkerTime[]} times @param {Part} part */
export const sumOf = (times, part) => times.reduce((sum, time) => sum + time[part], 0);

/** Ways to order the workers; the one that waits least is the one that the others wait for. */
export const ORDERS = [
    { value: 'rank', label: 'By rank' },
    { value: 'exposed', label: 'Most exposed first' },
    { value: 'last', label: 'Waiting least first' },
    { value: 'busy', label: 'Most computation first' },
];

/** @type {Record<string, (time: WorkerTime) => number>} */
const KEYS = {
    rank: ({ worker: { rank } }) => rank ?? Infinity,
    exposed: ({ communication }) => -communication,
    last: ({ wait }) => wait,
    busy: ({ computation, overlap }) => -(computation + overlap),
};

/** @param {WorkerTime[]} times @param {string} order */
export function inOrder(times, order) {
    const key = KEYS[order] ?? KEYS.rank;
    // Infinity less Infinity is no number: workers without a rank keep their order.
    return [...times].sort((a, b) => (key(a) === key(b) ? 0 : key(a) - key(b)));
}

/** Neighbours that share a bar: means, and from where to where. @typedef {{from: number, to: number, workers: WorkerTime[], mean: WorkerTime}} Bin */

/**
 * At most so many bars, of equally many workers each.
 * @param {WorkerTime[]} times in the order of the chart
 * @param {number} most
 * @param {[number, number] | null} range first and last worker in sight
 * @returns {Bin[]}
 */
export function bins(times, most, range) {
    const [first, last] = range ?? [0, times.length - 1];
    const size = Math.ceil((last - first + 1) / most);
    /** @type {Bin[]} */
    const list = [];
    for (let from = first; from <= last; from += size) {
        const to = Math.min(last, from + size - 1);
        const workers = times.slice(from, to + 1);
        const mean = nothing(workers[0].worker);
        PARTS.forEach((part) => { mean[part] = sumOf(workers, part) / workers.length; });
        list.push({ from, to, workers, mean });
    }
    return list;
}

/** The worker that the others wait for: it waits least. Null where none is far from the others. @param {WorkerTime[]} times */
export function lastToArrive(times) {
    const active = times.filter(({ transfer, wait }) => transfer + wait > 0);
    if (active.length < 2) return null;
    const last = active.reduce((least, time) => (time.wait < least.wait ? time : least));
    const others = (sumOf(active, 'wait') - last.wait) / (active.length - 1);
    const mean = (sumOf(active, 'wait') + sumOf(active, 'transfer')) / active.length;
    return others - last.wait < STANDS_OUT * mean ? null : { time: last, others };
}

/** Of the communication: below this, workers arrive together. */
const STANDS_OUT = 0.02;

/** Collectives of one name, over all workers. @param {OperationRow[]} rows @returns {OperationRow[]} */
export function summed(rows) {
    /** @type {Map<string, OperationRow>} */
    const byName = new Map();
    for (const row of rows) {
        const sum = byName.get(row.name) ?? { worker: '', name: row.name, calls: 0, size_bytes: 0, mean_size_bytes: 0, total_ns: 0, mean_ns: 0, transfer_ns: 0, mean_transfer_ns: 0 };
        sum.calls += row.calls;
        sum.size_bytes += row.size_bytes;
        sum.total_ns += row.total_ns;
        sum.transfer_ns += row.transfer_ns;
        byName.set(row.name, sum);
    }
    return [...byName.values()].map((sum) => {
        const calls = Math.max(1, sum.calls);
        return { ...sum, mean_size_bytes: sum.size_bytes / calls, mean_ns: sum.total_ns / calls, mean_transfer_ns: sum.transfer_ns / calls };
    });
}
