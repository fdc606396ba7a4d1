/**
 * Names of Python frames, as PyTorch's profiler writes them.
 *
 *   model/net.py(34): forward                              -> { func: 'forward', place: 'model/net.py:34' }
 *   <built-in method mm of type object at 0x7f4f7dff0640>  -> { func: 'mm', place: 'built-in' }
 *   nn.Module: Linear_0                                    -> { func: 'Linear_0', place: 'nn.Module' }
 */

/**
 * What is not of the program that was profiled: installed packages, the standard library, torch and what stands beneath it.
 * The server folds by the same list (ingest/base/text/python_frame.c).
 */
const LIBRARIES = new Set(('_collections_abc _weakrefset abc ast asyncio bdb codecs collections concurrent contextlib copy copyreg ctypes dataclasses datetime ' +
    'enum functools gzip hashlib importlib inspect json logging multiprocessing numpy operator os pathlib pickle pkgutil queue random re runpy selectors ' +
    'shutil socket socketserver ssl string subprocess tempfile textwrap threading tokenize torch torchaudio torchvision traceback triton typing unittest ' +
    'urllib uuid warnings weakref').split(' '));
const INSTALLED = /site-packages\/|dist-packages\/|lib\/python/;

/** Where a module stands in. */
export const MODULE = 'nn.Module';

/** @typedef {{func: string, place: string, path: string, line: number, library: boolean, builtIn?: boolean}} Frame path '' and line 0: it names no file */

/** @param {string} name @returns {Frame | null} null: no Python frame */
export function readFrame(name) {
    const [, path, line, func] = /^(.+)\((\d+)\): (.+)$/s.exec(name) ?? [];
    if (func) return { func, place: `${lastParts(path, 2)}:${line}`, path, line: Number(line), library: isLibrary(path) };
    const [, builtIn, of] = /^<built-in (?:function|method) (.+?)(?: of (.+?))?(?: at 0x[0-9a-f]+)?>$/s.exec(name) ?? [];
    if (builtIn) return { func: builtIn, place: of ? `built-in of ${of.replace(/ object$/, '')}` : 'built-in', path: '', line: 0, library: true, builtIn: true };
    const [, module] = /^nn\.Module: (.+)$/s.exec(name) ?? [];
    return module ? { func: module, place: MODULE, path: '', line: 0, library: false } : null;
}

/** @param {string} path @param {number} count */
const lastParts = (path, count) => path.split('/').slice(-count).join('/');

/** @param {string} path */
const isLibrary = (path) => path.startsWith('<') || INSTALLED.test(path) || LIBRARIES.has(path.includes('/') ? path.slice(0, path.indexOf('/')) : path.replace(/\.py$/, ''));

/** `a.py(3): f;b.py(9): g`, innermost first; some profilers break lines instead. @param {string} stack */
export const frameList = (stack) => stack.split(/;|\r?\n/).map((frame) => frame.trim()).filter(Boolean);
