/**
 * Says whether the page shows what its address asks for: `data-shown` of the root element is the hash whose figures
 * are all there, and absent while something is on its way. Scripts that drive the page wait for it.
 */

let pending = 0;

/** @returns {() => void} to be called once, when that work is over */
export function begin() {
    pending += 1;
    delete document.documentElement.dataset.shown;
    let over = false;
    return () => {
        if (over) return;
        over = true;
        pending -= 1;
        // What waited for this work may begin other work before the next turn.
        if (pending === 0) setTimeout(declare, 0);
    };
}

/**
 * @template T
 * @param {Promise<T>} work
 * @returns {Promise<T>} the same
 */
export function during(work) {
    const end = begin();
    work.then(end, end);
    return work;
}

function declare() {
    if (pending === 0) document.documentElement.dataset.shown = location.hash || '#/';
}
