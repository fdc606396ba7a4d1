/**
 * Makes the page's index.html, at build time: page_index.mjs INDEX LIST OUTPUT VERSION
 *
 * LIST has the other files of the page, one `served path<TAB>file` a line; VERSION gets a word made of what they all hold.
 * In OUTPUT everything is asked for below v/<version>/, where it may be kept for good; what main.js imports is asked for
 * at once, not one import after the other; and #parts says what each view needs, for js/early.js.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [indexFile, listFile, output, versionFile] = process.argv.slice(2);
const ENTRY = 'js/main.js';

const files = new Map(readFileSync(listFile, 'utf8').split('\n').filter(Boolean).map((line) => /** @type {[string, string]} */ (line.split('\t'))));
const contents = new Map([...files].map(([served, file]) => [served, readFileSync(file)]));

function fail(/** @type {string} */ what) {
    console.error(`page_index: ${what}`);
    process.exit(1);
}

function versionOfAll() {
    const sum = createHash('sha256');
    for (const served of [...contents.keys()].sort()) sum.update(served).update('\0').update(createHash('sha256').update(contents.get(served)).digest());
    return sum.digest('hex').slice(0, 12);
}

/** @param {string} from @param {string} name as it stands in the module */
function resolve(from, name) {
    const served = path.posix.join(path.posix.dirname(from), name);
    if (!contents.has(served)) fail(`${from} imports ${name}, which is no file of the page`);
    return served;
}

/** What the module imports before it runs; types in comments are no imports. @param {string} module */
function importsOf(module) {
    const text = String(contents.get(module)).replace(/\/\*[\s\S]*?\*\//g, '');
    return [...text.matchAll(/^(?:import|export)\s(?:[^;'"]*\sfrom\s)?'([^']+)';/gm)].map(([, name]) => resolve(module, name));
}

/** The module and all that it imports, the nearest first. @param {string} module */
function closure(module) {
    const all = new Set([module]);
    for (const one of all) importsOf(one).forEach((next) => all.add(next));
    return [...all];
}

/** What main.js imports when a view is asked for. @returns {[string, string][]} */
const viewsOf = () => [...String(contents.get(ENTRY)).matchAll(/^\s*(\w+): \(\) => import\('([^']+)'\)/gm)].map(([, view, name]) => [view, resolve(ENTRY, name)]);

const version = versionOfAll();
const base = `./v/${version}/`;
const first = closure(ENTRY);
const views = viewsOf();
if (views.length === 0) fail(`${ENTRY} names no views`);
const parts = { base, views: Object.fromEntries(views.map(([view, module]) => [view, closure(module).filter((one) => !first.includes(one))])) };

const index = readFileSync(indexFile, 'utf8');
const marker = /^<script type="module" src="\.\/js\/main\.js"><\/script>$/m;
const early = /^<script src="\.\/js\/early\.js"><\/script>$/m;
if (!marker.test(index) || !early.test(index)) fail('index.html starts neither early.js nor main.js');
const page = index
    .replace(early, (tag) => `<script type="application/json" id="parts">${JSON.stringify(parts)}</script>\n${tag}`)
    .replace(marker, (tag) => [...first.slice(1).map((module) => `<link rel="modulepreload" href="./${module}">`), tag].join('\n'))
    .replace(/(<(?:link|script|img)\b[^>]*?\s(?:href|src)=")\.\/([^"]+)/g, (_, before, served) => before + (contents.has(served) ? base : './') + served);

writeFileSync(output, page);
writeFileSync(versionFile, `${version}\n`);
