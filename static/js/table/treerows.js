/** A tree as the long table sees it: the rows that are unfolded, in order. Branches may come later, when they are asked for. */

/**
 * @typedef {{row: Row, level: number, parent: TreeNode | null, count: number, children: TreeNode[] | null, unfolded: boolean, rest: number}} TreeNode
 *     count: of its children; children: null while they are not here; rest: of the last row of a branch, how many siblings
 *     it stands for that are not here
 */

/** @param {Row} row @param {TreeNode | null} parent @param {number} count @returns {TreeNode} */
export const treeNode = (row, parent, count) => ({ row, level: parent ? parent.level + 1 : 1, parent, count, children: count === 0 ? [] : null, unfolded: false, rest: 0 });

/** Stands for siblings that are not here. @param {TreeNode | null} parent @param {number} rest @param {string} name @returns {TreeNode} */
export const restNode = (parent, rest, name) => ({ ...treeNode({ name }, parent, 0), rest });

/** @implements {RowSource} */
export class TreeRows {
    constructor() {
        /** @type {TreeNode[]} */
        this.roots = [];
        /** @type {TreeNode[]} */
        this.visible = [];
        this.onRows = () => {};
    }

    get total() {
        return this.visible.length;
    }

    /** @param {number} index */
    row(index) {
        return this.visible[index]?.row;
    }

    has() {
        return true;
    }

    ensure() {}

    /** What is unfolded has changed. */
    refresh() {
        this.visible = [];
        // Trees of calls are deeper than a stack of this language.
        const waiting = [...this.roots].reverse();
        for (let node = waiting.pop(); node; node = waiting.pop()) {
            this.visible.push(node);
            if (!node.unfolded || !node.children) continue;
            for (let at = node.children.length - 1; at >= 0; at -= 1) waiting.push(node.children[at]);
        }
    }

    /** Unfolds what is above a node. @param {TreeNode} node */
    uncover(node) {
        for (let above = node.parent; above; above = above.parent) above.unfolded = true;
    }
}
