/** A trace of one thread with as many different operators as a table shall have rows. */

const KINDS = ['conv', 'linear', 'norm', 'copy', 'softmax', 'embedding', 'add', 'mul'];

/** @param {number} count of operators, each called once or a few times */
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
