/** What the parts of a place ask for alike during one visit is asked for once. */

/** @type {WeakMap<AbortSignal, Map<string, Promise<any>>>} by what ends the visit */
let visits = new WeakMap();

/** Data of the server may have changed: the next to ask gets an answer of its own. */
export function forgetAnswers() {
    visits = new WeakMap();
}

/**
 * @template T
 * @param {string} what
 * @param {AbortSignal | undefined} signal of the visit; without one nothing is shared
 * @param {() => Promise<T>} ask
 * @returns {Promise<T>}
 */
export function once(what, signal, ask) {
    if (!signal) return ask();
    const answers = visits.get(signal) ?? new Map();
    visits.set(signal, answers);
    const answer = answers.get(what) ?? ask();
    answers.set(what, answer);
    // Another try is another question.
    answer.catch(() => answers.delete(what));
    return answer;
}
