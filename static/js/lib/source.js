/** Addresses elsewhere that the server was started with: where the lines of Python frames can be read (--source-url), and Perfetto's page (--perfetto-url). */

let template = '';
let perfetto = 'https://ui.perfetto.dev';

/** @param {string | null | undefined} text `https://git/blob/main/{path}#L{line}`; anything but http and https is left out */
export function setSource(text) {
    template = text && /^https?:\/\//i.test(text) ? text : '';
}

/** @param {string} path @param {number} line @returns {string} "" where there is none */
export function sourceHref(path, line) {
    if (!template || !path || path.startsWith('<')) return '';
    const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..').map(encodeURIComponent).join('/');
    return template.replaceAll('{path}', () => parts).replaceAll('{line}', () => String(line));
}

/** @param {string | null | undefined} url */
export function setPerfetto(url) {
    if (url && /^https?:\/\//i.test(url)) perfetto = url;
}

export const perfettoUrl = () => perfetto;
