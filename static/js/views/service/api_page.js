/** The interface: its description (openapi.json) as a page. Every text becomes a text node. */

import { h, fill, command } from '../../lib/dom.js';
import { setParams } from '../../app/router.js';
import { call, apiUrl } from '../../lib/api.js';

/** @typedef {{name?: string, in?: string, required?: boolean, description?: string, schema?: Schema, $ref?: string}} Parameter */
/** @typedef {{type?: string | string[], enum?: any[], default?: any, minimum?: number, maximum?: number, items?: Schema, $ref?: string, properties?: Record<string, Schema>, description?: string}} Schema */
/** @typedef {{summary: string, description?: string, tags?: string[], parameters?: Parameter[], requestBody?: any, responses: Record<string, any>}} Operation */
/** @typedef {{method: string, path: string, operation: Operation}} Item */

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

/**
 * @param {HTMLElement} root
 * @param {Route} route `q` filters
 * @param {AbortSignal} signal
 * @returns {Promise<Mounted>}
 */
export async function mount(root, route, signal) {
    const description = await call('openapi.json', { signal });
    /** What a $ref stands for. @param {any} node */
    const resolve = (node) => (node?.$ref ? String(node.$ref).slice(2).split('/').reduce((at, part) => at?.[part], description) ?? {} : node ?? {});
    /** @type {Item[]} */
    const items = Object.entries(description.paths).flatMap(([path, methods]) => METHODS.filter((method) => methods[method]).map((method) => ({ method, path, operation: methods[method] })));
    const list = h('div', { class: 'api-list' });
    const search = h('input', { class: 'input search', type: 'search', 'aria-label': 'Search the interface', placeholder: 'Search the interface', autocomplete: 'off', oninput: () => setParams({ q: search.value || null }, { replace: true }) });
    fill(root, h('div', { class: 'view-head' }, h('h1', null, 'Interface')),
        h('p', { class: 'quiet' }, 'Times are nanoseconds where a name ends in _ns. Errors are problem+json. A parameter that a route does not know is refused with those it knows. ', h('a', { href: apiUrl('openapi.json') }, 'openapi.json'), ' · ', h('a', { href: '#/webhooks' }, 'What webhooks were told')),
        h('div', { class: 'table-tools' }, search), list);

    /** @param {string} q */
    function paint(q) {
        if (document.activeElement !== search) search.value = q;
        const word = q.toLowerCase();
        const found = items.filter(({ method, path, operation }) => `${method} ${path} ${operation.summary} ${operation.description ?? ''}`.toLowerCase().includes(word));
        fill(list, description.tags.map((/** @type {{name: string, description: string}} */ tag) => {
            const own = found.filter(({ operation }) => operation.tags?.includes(tag.name));
            return own.length === 0 ? null : h('section', { class: 'section' }, h('h2', null, tag.name), h('p', { class: 'quiet' }, tag.description), own.map(operationBox));
        }), found.length === 0 ? h('p', { class: 'quiet' }, `Nothing in the interface matches “${q}”.`) : null);
    }

    /** @param {Item} item */
    function operationBox({ method, path, operation }) {
        const parameters = (operation.parameters ?? []).map(resolve);
        const body = Object.entries(operation.requestBody?.content ?? {});
        const line = `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}'${new URL(`.${path}`, document.baseURI).href.replace(/#.*$/, '')}'`;
        return h('details', { class: 'api-operation' },
            h('summary', null, h('code', { class: 'api-method' }, method.toUpperCase()), ' ', h('code', null, path), ' ', h('span', { class: 'quiet' }, operation.summary)),
            operation.description ? h('p', null, operation.description) : null,
            parameters.length ? h('dl', { class: 'missing' }, parameters.map(parameterLine)) : null,
            body.map(([type, { schema }]) => h('div', null, h('h3', null, `Body, ${type}`), members(schema))),
            h('h3', null, 'Answers'),
            h('dl', { class: 'missing' }, Object.entries(operation.responses).map(([status, answer]) => answerLine(status, resolve(answer)))),
            command(line));
    }

    /** @param {Parameter} parameter */
    function parameterLine({ name, in: place, required, description: text, schema }) {
        return h('div', null, h('dt', null, h('code', null, name)), h('dd', null, [place === 'path' ? 'in the path' : null, required ? 'required' : null, kindOf(resolve(schema))].filter(Boolean).join(', '), text ? `. ${text}` : ''));
    }

    /** @param {string} status @param {any} answer */
    function answerLine(status, answer) {
        const schemas = Object.entries(answer.content ?? {});
        return h('div', null, h('dt', null, status), h('dd', null, answer.description ?? '', schemas.map(([type, { schema }]) => (status.startsWith('2') ? h('div', null, h('code', null, type), members(schema)) : null))));
    }

    /** The members of an object, one level. @param {Schema} given */
    function members(given) {
        const schema = resolve(given);
        const named = Object.entries(schema.properties ?? resolve(schema.items).properties ?? {});
        return named.length === 0 ? null : h('ul', { class: 'api-members' }, named.map(([name, member]) => h('li', null, h('code', null, name), ` ${kindOf(resolve(member))}`, member.description ? h('span', { class: 'quiet' }, ` ${member.description}`) : null)));
    }

    paint(route.params.get('q') ?? '');
    return {
        update(next) {
            paint(next.params.get('q') ?? '');
        },
    };
}

/** "integer, 1 to 1000, 100 without it". @param {Schema} schema */
function kindOf({ type, enum: choices, default: preset, minimum, maximum }) {
    const range = minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : minimum !== undefined ? `at least ${minimum}` : null;
    return [[type].flat().join(' or '), choices ? choices.join(' | ') : null, range, preset !== undefined ? `${preset} without it` : null].filter(Boolean).join(', ');
}
