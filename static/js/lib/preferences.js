/** Choices of this browser that no link carries. */

const PREFIX = 'kinetoscope-';

/** @param {string} name @returns {string | null} */
export function preference(name) {
    try {
        return localStorage.getItem(PREFIX + name);
    } catch {
        return null;
    }
}

/** @param {string} name @param {string} value */
export function prefer(name, value) {
    try {
        localStorage.setItem(PREFIX + name, value);
    } catch {
        // Storage may be forbidden: the choice then holds for this page.
    }
}
