/** The stack of a slice of the timeline: of device work around its launch, of backward work also around its forward operator. */

import { h } from '../../lib/dom.js';
import { stackBox } from './frames.js';

/** What the categories of enclosing slices are called; Python frames need no word. @type {Record<string, string>} */
const KINDS = { cpu_op: 'operator', user_annotation: 'annotation', cuda_runtime: 'call', cuda_driver: 'call', hip_runtime: 'call' };

/** @param {TimelineEvent} detail @param {(place: TimelinePlace) => void} choose @returns {HTMLElement | null} */
export function eventStack(detail, choose) {
    const around = detail.launch_enclosing.length ? detail.launch_enclosing : detail.enclosing;
    if (around.length === 0) return null;
    const forward = detail.forward.length ? [h('h4', null, 'Forward'), box(detail.forward, choose)] : null;
    return h('section', { class: 'tl-part tl-stack' }, h('h3', null, detail.launch_enclosing.length ? 'Launched from' : 'Parents'), box(around, choose), forward);
}

/** @param {EnclosingPlace[]} places outermost first @param {(place: TimelinePlace) => void} choose */
const box = (places, choose) => stackBox([...places].reverse().map((place) => ({
    name: place.name, kind: place.category === 'python_function' ? undefined : KINDS[place.category] ?? place.category, choose: place.track === null ? undefined : () => choose(place),
})));
