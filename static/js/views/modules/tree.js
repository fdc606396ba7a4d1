/** The modules of an answer with their children at hand. A module is its place in that answer. */

/** @typedef {'device' | 'host'} Measure */

/** @typedef {{rows: ModuleRow[], children: number[][], roots: number[], lightning: boolean}} ModuleTree */

/** @type {Measure[]} */
export const MEASURES = ['device', 'host'];

/** @param {ModuleAnswer} data @returns {ModuleTree} */
export function moduleTree({ rows, kind }) {
    /** @type {number[][]} */
    const children = rows.map(() => []);
    /** @type {number[]} */
    const roots = [];
    rows.forEach(({ parent }, index) => (parent === null ? roots : children[parent]).push(index));
    return { rows, children, roots, lightning: kind === 'lightning' };
}

/** @param {ModuleRow} row @param {Measure} by */
export const totalOf = (row, by) => (by === 'device' ? row.device_total_ns : row.host_total_ns);

/** @param {ModuleRow} row @param {Measure} by */
export const selfOf = (row, by) => (by === 'device' ? row.device_self_ns : row.host_self_ns);

/** From the top down to a module. @param {ModuleTree} tree @param {number} index */
export function pathTo(tree, index) {
    const path = [];
    for (let at = /** @type {number | null} */ (index); at !== null; at = tree.rows[at].parent) path.push(at);
    return path.reverse();
}

/** What kind of module it is: `Conv2d_12` is a Conv2d, as is Lightning's `model.layer1`, of which only the path is known, a `layer`. @param {string} name */
export const typeOf = (name) => name.slice(name.lastIndexOf('.') + 1).replace(/[_.]?\d+$/, '') || name;

/** @param {string | null} text @param {ModuleTree} tree */
export function indexIn(text, tree) {
    return text !== null && /^\d{1,7}$/.test(text) && Number(text) < tree.rows.length ? Number(text) : -1;
}
