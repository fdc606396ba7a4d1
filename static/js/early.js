/**
 * Asks for what the hash names while the modules of the frame are still on their way: the modules of its view, all at
 * once instead of import after import, the library of its charts, and the answers that it begins with, where every
 * trace has them. Only hints: what is left out here is asked for later. No module, as it waits for nothing.
 */
{
    /** What each view asks for first, letter for letter; where the address chooses rows, the rest is not known here. @type {Record<string, (id: string, plain: boolean) => string[]>} */
    const ANSWERS = {
        run: (id) => [`runs/${id}?limit=100`],
        runs: (_, plain) => (plain ? ['runs?sort=uploaded_at&order=desc&limit=100&offset=0'] : []),
        overview: (id) => [`traces/${id}`, `traces/${id}/overview`],
        idle: (id, plain) => [`traces/${id}`, ...(plain ? [`traces/${id}/idle?top=200`] : []), `traces/${id}/overview`],
        efficiency: (id) => [`traces/${id}`, `traces/${id}/efficiency?group_by=operator&limit=500`],
        operators: (id, plain) => [`traces/${id}`, `traces/${id}/operators?group_by=name&limit=2000`, ...(plain ? [`traces/${id}/operators?group_by=name&offset=0&limit=200`] : [])],
        kernels: (id, plain) => [`traces/${id}`, `traces/${id}/kernels?group_by=name&limit=2000`, ...(plain ? [`traces/${id}/kernels?group_by=name&offset=0&limit=200`] : [])],
        timeline: (id) => [`traces/${id}`],
        memory: (id) => [`traces/${id}`],
        modules: (id) => [`traces/${id}`],
        calls: (id) => [`traces/${id}`, `traces/${id}/tree`],
    };
    /** Views that begin with a chart of Chart.js. */
    const CHARTS = ['overview', 'efficiency', 'operators', 'kernels'];

    /** @param {Partial<HTMLLinkElement>} properties */
    const hint = (properties) => document.head.append(Object.assign(document.createElement('link'), properties));

    const [path, query] = location.hash.slice(2).split('?');
    const [kind = '', id = '', name] = path.split('/');
    const view = { '': 'runs', runs: name ?? 'run', traces: name ?? 'overview' }[kind] ?? '';
    /** @type {{base: string, views: Record<string, string[]>}} absent where the page is served from its sources */
    const { base, views } = JSON.parse(document.getElementById('parts')?.textContent ?? '{"base": "./", "views": {}}');

    const first = ANSWERS[kind === 'runs' ? 'run' : view]?.(id, !query) ?? [];
    for (const answer of ['runs?limit=1000&sort=name&order=asc', ...first]) {
        hint({ rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: `./api/v1/${answer}` });
    }
    for (const module of views[view] ?? []) hint({ rel: 'modulepreload', href: base + module });
    if (CHARTS.includes(view)) hint({ rel: 'preload', as: 'script', fetchPriority: 'low', href: `${base}vendor/chart.js` });
}
