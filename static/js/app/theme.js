/** Light and dark: the system's choice until the user makes one, which is then kept. */

const KEY = 'kinetoscope-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

/** @type {Set<() => void>} */
const listeners = new Set();

/** @type {string | null} */
let chosen = null;

let printing = false;

/** Paper is light. */
export const isDark = () => !printing && (chosen ?? (system.matches ? 'dark' : 'light')) === 'dark';

function apply() {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
    listeners.forEach((listener) => listener());
}

export function toggle() {
    chosen = isDark() ? 'light' : 'dark';
    try {
        localStorage.setItem(KEY, chosen);
    } catch {
        // Storage may be forbidden: the choice then holds for this page.
    }
    apply();
}

/**
 * @param {() => void} listener
 * @returns {() => void} stops listening
 */
export function onTheme(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

export function start() {
    try {
        chosen = localStorage.getItem(KEY);
    } catch {
        chosen = null;
    }
    system.addEventListener('change', apply);
    for (const event of ['beforeprint', 'afterprint']) {
        window.addEventListener(event, () => {
            printing = event === 'beforeprint';
            apply();
        });
    }
    apply();
}

/** A colour or size of the style sheet, as charts need it. @param {string} name */
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
