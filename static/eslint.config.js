// node_modules stand in the build directory, not here, so the rules are found beside the running eslint:
//   cd static && node <build>/node_modules/eslint/bin/eslint.js .
import { createRequire } from 'node:module';

const js = createRequire(process.argv[1])('@eslint/js');

const names = (/** @type {string} */ list) =>
    Object.fromEntries(list.split(' ').map((name) => [name, 'readonly']));

const browser = names(
    'document window navigator location history localStorage matchMedia fetch URL URLSearchParams Node Element Event ' +
    'CustomEvent AbortController EventSource XMLHttpRequest ResizeObserver HTMLElement HTMLInputElement KeyboardEvent ' +
    'requestAnimationFrame cancelAnimationFrame getComputedStyle setTimeout clearTimeout performance console ' +
    'Worker self HTMLButtonElement File DragEvent Intl globalThis AbortSignal DOMException structuredClone sessionStorage Blob HTMLAnchorElement',
);
const node = names('process console setTimeout clearTimeout URL URLSearchParams fetch Buffer document window location navigator getComputedStyle performance DataTransfer File Event');

export default [
    js.configs.recommended,
    {
        files: ['js/**/*.js'],
        languageOptions: { ecmaVersion: 2023, sourceType: 'module', globals: browser },
        rules: {
            eqeqeq: 'error',
            'no-var': 'error',
            'prefer-const': 'error',
            'no-shadow': 'error',
            'max-lines': ['error', 260],
            // Data reaches the page as text nodes only.
            'no-restricted-properties': ['error',
                { property: 'innerHTML', message: 'Use text nodes (dom.js).' },
                { property: 'outerHTML', message: 'Use text nodes (dom.js).' },
                { property: 'insertAdjacentHTML', message: 'Use text nodes (dom.js).' }],
        },
    },
    { files: ['**/*.mjs', '*.config.js'], languageOptions: { ecmaVersion: 2023, sourceType: 'module', globals: node } },
];
