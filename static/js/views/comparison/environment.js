/** What both sides were recorded on: a strip above everything that is said of their times. */

import { h } from '../../lib/dom.js';
import { SIDES, SIDE_WORDS } from './sides.js';

/** @param {EnvironmentFact} fact @param {import('./sides.js').Side} side */
const text = (fact, side) => fact[side] ?? h('span', { class: 'quiet' }, 'unknown');

/** @param {EnvironmentFact} fact */
function entry(fact) {
    const differs = fact.match === 'different';
    return h('div', { class: `environment-fact ${differs ? (fact.decisive ? 'decisive' : 'differs') : ''}` },
        h('dt', null, fact.label, differs ? h('span', { class: 'visually-hidden' }, ' (differs)') : null),
        fact.match === 'same' ? h('dd', null, fact.base) : SIDES.map((side) =>
            h('dd', null, h('span', { class: `side-mark side-${side}`, 'aria-hidden': 'true' }), h('span', { class: 'visually-hidden' }, `${SIDE_WORDS[side]}: `), text(fact, side))));
}

/** Facts that differ stand first. @param {EnvironmentFact} fact */
const rank = (fact) => (fact.match === 'different' ? (fact.decisive ? 0 : 1) : 2);

/** @param {{comparable: boolean | null, environment: EnvironmentFact[]}} data */
export function environmentStrip({ comparable, environment }) {
    if (environment.length === 0) return h('p', { class: 'quiet' }, 'These files do not say what they were recorded on.');
    const different = environment.filter(({ match, name }) => match === 'different' && name !== 'steps').map(({ label }) => label.toLowerCase());
    const silent = SIDES.find((side) => environment.every((fact) => ['steps', 'devices'].includes(fact.name) || fact[side] === null));
    const same = silent ? `The environment of the ${SIDE_WORDS[silent].toLowerCase()} is not told` : 'Same environment, as far as both say';
    const word = comparable === false ? 'Not comparable as they stand' : different.length ? `Different: ${different.join(', ')}` : same;
    return h('section', { class: `environment ${comparable === false ? 'warn' : ''}`, 'aria-label': 'Environment' },
        h('p', { class: 'environment-word' }, h('strong', null, word)),
        h('dl', { class: 'environment-facts' }, [...environment].sort((a, b) => rank(a) - rank(b)).map(entry)));
}
