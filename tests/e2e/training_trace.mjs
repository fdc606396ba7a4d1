/** A small training trace: two devices with memory, modules three levels deep, a long branch, forward and backward; and a large one. */

const START_US = 1700000000000000;
const MIB = 2 ** 20;
const KINDS = ['conv', 'linear', 'norm', 'copy', 'softmax', 'embedding', 'add', 'mul'];

/** Calls of the long branch: more than one answer brings. */
export const LONG_BRANCH = 1300;

/** @param {string} cat @param {string} name @param {number} ts after the start, in µs @param {number} dur @param {object} [args] @param {number} [tid] */
const span = (cat, name, ts, dur, args = {}, tid = 100) => ({ ph: 'X', cat, name, pid: 100, tid, ts: START_US + ts, dur, args });

/** @param {number} ts @param {number} device -1: the host @param {number} address @param {number} bytes @param {number} total @param {number} reserved */
const memory = (ts, device, address, bytes, total, reserved) => ({ ph: 'i', cat: 'cpu_instant_event', name: '[memory]', pid: 100, tid: 100, s: 't', ts: START_US + ts,
    args: { 'Device Type': device < 0 ? 0 : 1, 'Device Id': device, Addr: address, Bytes: bytes, 'Total Allocated': total, 'Total Reserved': reserved } });

/** @param {number} id @param {string} name @param {number} ts @param {number} dur @param {number} parent */
const module_ = (id, name, ts, dur, parent) => span('python_function', `nn.Module: ${name}`, ts, dur, { 'Python id': id, 'Python parent id': parent, 'Python module id': id });

/** An operator with a kernel of its own. @param {string} name @param {number} ts @param {number} dur @param {number} id @param {object} [args] */
const launching = (name, ts, dur, id, args = {}) => [
    span('cpu_op', name, ts, dur, { 'External id': id, 'Call stack': `model.py(${id}): forward;train.py(57): train_step;train.py(88): <module>`, ...args }),
    span('cuda_runtime', 'cudaLaunchKernel', ts + 1, 1, { 'External id': id, correlation: id }),
    { ...span('kernel', `kernel_of_${id}`, ts + 20, 10 * id, { 'External id': id, device: 0, context: 1, stream: 7, correlation: id, grid: [1, 1, 1], block: [64, 1, 1] }, 7), pid: 0 },
];

/** A layer of the encoder: two modules that each call an operator. @param {number} index @param {number} ts */
function layer(index, ts) {
    const id = 10 * (index + 1);
    return [
        module_(id, `EncoderLayer_${index}`, ts, 90, 2),
        module_(id + 1, `Linear_${2 * index}`, ts + 2, 30, id), ...launching('aten::linear', ts + 4, 20, id + 1, { 'Sequence number': id + 1, 'Fwd thread id': 0 }),
        module_(id + 2, `Linear_${2 * index + 1}`, ts + 40, 30, id), ...launching('aten::linear', ts + 42, 20, id + 2, { 'Sequence number': id + 2, 'Fwd thread id': 0 }),
    ];
}

/** @param {number} id @param {number} from @param {number} to */
const flow = (id, from, to) => [
    { ph: 's', cat: 'fwdbwd', name: 'fwdbwd', pid: 100, tid: 100, id, ts: START_US + from },
    { ph: 'f', cat: 'fwdbwd', name: 'fwdbwd', pid: 100, tid: 200, id, bp: 'e', ts: START_US + to },
];

/** The first device takes three blocks, of which one stays; the second takes one and the host one. */
const RECORDS = [
    memory(110, 0, 0xa00, 4 * MIB, 4 * MIB, 20 * MIB),
    memory(150, 0, 0xb00, 8 * MIB, 12 * MIB, 20 * MIB),
    memory(200, 0, 0xa00, -4 * MIB, 8 * MIB, 20 * MIB),
    memory(210, 1, 0xc00, MIB, MIB, 2 * MIB),
    memory(230, 0, 0xd00, 2 * MIB, 10 * MIB, 20 * MIB),
    memory(320, 0, 0xd00, -2 * MIB, 8 * MIB, 20 * MIB),
    memory(330, 1, 0xc00, -MIB, 0, 2 * MIB),
    memory(335, -1, 0xe00, 4096, 4096, 0),
];

/** As profilers wrote it before totals and addresses. */
const withoutTotals = ({ args: { Bytes, ...args }, ...event }) => ({ ...event, args: { 'Device Type': args['Device Type'], 'Device Id': args['Device Id'], Bytes } });

/** @param {{memory?: boolean, modules?: boolean, totals?: boolean}} [what] of it is recorded */
export function trainingTrace({ memory: withMemory = true, modules = true, totals = true } = {}) {
    const events = [
        span('user_annotation', 'ProfilerStep#1', 0, 6000),
        module_(1, 'Model_0', 90, 320, 0), module_(2, 'Encoder_0', 95, 200, 1), ...layer(0, 100), ...layer(1, 200),
        module_(3, 'Head_0', 300, 100, 1), ...launching('aten::softmax', 310, 40, 5),
        ...flow(1, 104, 500), ...flow(2, 142, 600),
        span('cpu_op', 'LinearBackward0', 500, 50, { 'Sequence number': 11, 'Fwd thread id': 1 }, 200),
        span('cpu_op', 'LinearBackward0', 600, 50, { 'Sequence number': 12, 'Fwd thread id': 1 }, 200),
        span('cpu_op', 'aten::loop', 1000, 4000),
        ...Array.from({ length: LONG_BRANCH }, (_, at) => span('cpu_op', at === LONG_BRANCH - 1 ? 'aten::last_of_all' : `aten::item_${at % 7}`, 1001 + 3 * at, 2)),
        { ph: 'M', name: 'thread_name', pid: 100, tid: 100, ts: START_US, args: { name: 'thread 100 (trainer)' } },
        ...(totals ? RECORDS : RECORDS.map(withoutTotals)),
    ];
    const kept = events.filter(({ name, cat }) => (withMemory || name !== '[memory]') && (modules || cat !== 'python_function'));
    return JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: 'Device A', totalGlobalMem: 2 ** 34 }, { id: 1, name: 'Device A', totalGlobalMem: 2 ** 34 }], traceEvents: kept });
}

/** Modules as Lightning names them. */
export function lightningTrace() {
    return JSON.stringify({ schemaVersion: 1, Framework: 'pytorch-lightning', traceEvents: [
        span('cpu_op', 'ProfilerStep#1', 0, 1000), span('cpu_op', '[pl][profile]run_training_batch', 5, 900, { 'External id': 1 }),
        span('cpu_op', '[pl][module]Net: model', 10, 600, { 'External id': 2 }),
        span('cpu_op', '[pl][module]Linear: model.fc1', 20, 200, { 'External id': 3 }), ...launching('aten::linear', 30, 100, 4),
        span('cpu_op', '[pl][module]Linear: model.fc2', 300, 200, { 'External id': 5 }), ...launching('aten::linear', 310, 100, 6),
    ] });
}

/** A trace of one thread with as many operators as a table shall have rows. @param {number} count of operators, each called once or a few times */
export function largeTrace(count) {
    const digits = String(count).length;
    const events = [];
    let ts = 1700000000000000;
    for (let index = 0; index < count; index += 1) {
        const name = `custom::${KINDS[index % KINDS.length]}_operator_${String(index).padStart(digits, '0')}`;
        for (let call = 0; call <= index % 97 % 3; call += 1) {
            const dur = 1 + (index * 7919 + call) % 1009;
            events.push({ ph: 'X', cat: 'cpu_op', name, pid: 100, tid: 100, ts, dur, args: { 'External id': events.length + 1 } });
            ts += dur + 1;
        }
    }
    return { schemaVersion: 1, traceName: 'large', traceEvents: events };
}
