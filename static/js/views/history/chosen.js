/** The chosen points: one leads to its trace, two to what changed between them. */

import { h, fill, icon } from '../../lib/dom.js';
import { current, diffHref, setParams, traceHref } from '../../app/router.js';
import { dateOf, nameOf, tagsOf } from './words.js';

/** @typedef {import('./api.js').Point} Point */

/** Traces of the chosen points, at most two. @param {URLSearchParams} params @returns {number[]} */
export const chosenOf = (params) => (params.get('points') ?? '').split(',').filter((text) => /^\d+$/.test(text)).map(Number).slice(0, 2);

/** Chooses a point or lets it go; a third takes the place of the first. @param {Point} point */
export function choose({ trace }) {
    const before = chosenOf(current().params);
    const next = before.includes(trace) ? before.filter((other) => other !== trace) : [...before, trace].slice(-2);
    setParams({ points: next.join(',') }, { replace: true });
}

export function chosenBar() {
    const root = h('div', { class: 'history-chosen', role: 'group', 'aria-label': 'Chosen points' });
    return {
        root,
        /** @param {Point[]} points in order of time */
        paint(points) {
            const [base, candidate] = points;
            fill(root,
                points.map((point) => h('span', { class: 'history-point' }, h('a', { href: traceHref(point.trace) }, nameOf(point)),
                    h('button', { class: 'icon-button', type: 'button', 'aria-label': `Let go of ${nameOf(point)}`, title: 'Let go', onclick: () => choose(point) }, icon('close')),
                    h('span', { class: 'quiet' }, [dateOf(point), ...tagsOf(point).slice(0, 2)].join(', ')))),
                candidate ? h('a', { class: 'button primary', href: diffHref({ base: base.trace, candidate: candidate.trace }) }, 'What changed') : null,
                candidate ? null : h('p', { class: 'quiet' }, base ? 'Choose a second point to compare.' : 'Click a point to choose it, a second one to compare. Drag over a range or turn the wheel with Ctrl to zoom. Keys: arrows walk, Space chooses, Enter opens the trace, + − 0 zoom.'));
        },
    };
}
