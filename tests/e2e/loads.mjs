/** What a page asks for while it loads, its workers included: bytes on the wire, and how long the longest chain of requests is. */

/** Head and body as they came over the network; 0 for what came from the cache. @param {import('playwright-core').Request} request */
async function bytesOf(request) {
    const [sizes, response] = await Promise.all([request.sizes(), request.response()]);
    const sum = sizes.responseHeadersSize + sizes.responseBodySize;
    // The size of a worker's own script is not told; what has not changed has none.
    const untold = sum > 0 && sizes.responseBodySize === 0 && request.resourceType() === 'script';
    return sum + (untold ? Number(response.headers()['content-length'] ?? 0) : 0);
}

/**
 * Counts from now on; ask for the figures when the page has settled.
 * @param {import('playwright-core').Page} page
 */
export async function watchLoad(page) {
    /** @type {Promise<{url: string, bytes: number}>[]} */
    const finished = [];
    page.on('requestfinished', (request) => finished.push(bytesOf(request).then((bytes) => ({ url: request.url().replace(/#.*/, ''), bytes }))));
    /** Who asked. @type {Map<string, string | undefined>} */
    const askers = new Map();
    const devtools = await page.context().newCDPSession(page);
    devtools.on('Network.requestWillBeSent', ({ request: { url }, initiator }) => {
        const asker = initiator.url ?? initiator.stack?.callFrames[0]?.url ?? initiator.stack?.parent?.callFrames[0]?.url;
        if (!askers.has(url)) askers.set(url, asker?.replace(/#.*/, ''));
    });
    await devtools.send('Network.enable');
    return async () => {
        const sent = (await Promise.all(finished)).filter(({ url, bytes }) => bytes > 0 && url.startsWith('http'));
        const urls = sent.map(({ url }) => url);
        /** @type {(url: string | undefined, above: number) => number} */
        const depth = (url, above) => (url && urls.includes(url) && above < 50 ? 1 + depth(askers.get(url), above + 1) : 0);
        return { urls, requests: urls.length, bytes: sent.reduce((sum, { bytes }) => sum + bytes, 0), depth: Math.max(0, ...urls.map((url) => depth(url, 0))) };
    };
}
