/** The tensors of the chosen call, where the run has an execution trace: what it reads and who wrote it, what it gives and who reads it. */

import { h, fill } from '../../lib/dom.js';
import { traceHref } from '../../app/router.js';
import { isAbort } from '../../lib/api.js';
import * as api from './api.js';
import * as fmt from '../../lib/fmt.js';

/** The panel is drawn anew when the role of a slice becomes known: the answer stays. @type {WeakMap<TimelineEvent, Promise<CallTensors>>} */
const answers = new WeakMap();

/** Only calls that an execution trace may know have a number. @param {TimelineEvent} detail */
const isNumbered = ({ args }) => Number(args['Record function id']) > 0;

/** @param {TimelineEvent} detail @param {{trace: Trace, choose: (place: TimelinePlace) => void}} around */
export function tensorsOf(detail, around) {
    if (!isNumbered(detail)) return null;
    const box = h('div', { class: 'tl-tensors' });
    const answer = answers.get(detail) ?? api.tensors(String(around.trace.id), detail.event);
    answers.set(detail, answer);
    answer.then((tensors) => show(box, tensors, around), (error) => {
        answers.delete(detail);
        if (!isAbort(error)) fill(box, h('p', { class: 'quiet' }, 'The tensors of this call could not be read.'));
    });
    return box;
}

/** @param {HTMLElement} box @param {CallTensors} tensors @param {{choose: (place: TimelinePlace) => void}} around */
function show(box, { execution_trace: source, inputs, outputs }, { choose }) {
    if (!source) return;
    fill(box, side('Tensors it reads', inputs, choose), side('Tensors it gives', outputs, choose),
        h('p', { class: 'quiet' }, 'From the execution trace ', h('a', { href: traceHref(source.id, 'execution') }, source.file_name), `, node ${source.node}.`));
}

/** @param {string} title @param {CallTensor[]} list @param {(place: TimelinePlace) => void} choose */
function side(title, list, choose) {
    if (!list.length) return null;
    return h('section', { class: 'tl-part' }, h('h3', null, title), h('ol', { class: 'tl-places' }, list.map((tensor) => h('li', null, h('div', null,
        h('div', null, `${tensor.dtype ?? 'tensor'} ${tensor.shape ?? ''}`, h('span', { class: 'quiet' }, ` ${words(tensor)}`)), ends(tensor, choose))))));
}

/** @param {CallTensor} tensor */
function words(tensor) {
    return [`argument ${tensor.position}`, tensor.device ?? '', fmt.bytes(tensor.elements * tensor.element_bytes), `tensor ${tensor.tensor}`, tensor.storage ? `storage ${tensor.storage}` : ''].filter(Boolean).join(' · ');
}

/** The other ends. @param {CallTensor} tensor @param {(place: TimelinePlace) => void} choose */
function ends(tensor, choose) {
    const list = tensor.written_by ?? tensor.read_by ?? [];
    const isInput = tensor.written_by !== undefined;
    if (!list.length) return h('div', { class: 'quiet' }, isInput ? 'Nobody in the recording wrote it.' : 'Nobody in the recording reads it.');
    const link = (/** @type {TensorEnd} */ end) => {
        const { event, start_ns: start } = end;
        return event === null || start === null ? h('span', { title: 'This call is not in the trace' }, end.name)
            : h('button', { class: 'link tl-place', type: 'button', 'data-event': event, onclick: () => choose({ ...end, event, start_ns: start }) }, end.name);
    };
    const word = `${isInput ? 'Written by' : 'Read by'}${tensor.by_storage ? ' (another tensor of its storage)' : ''} `;
    return h('div', null, word, list.flatMap((end, index) => [index ? ', ' : '', link(end)]), tensor.more ? ' and more' : '');
}
