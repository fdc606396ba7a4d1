/** Where the lines of Python frames can be read: the address that the server was started with (--source-url). */

let template = '';

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
