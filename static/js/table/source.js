/**
 * Rows of a long list, fetched by page as they come into sight. The server sorts, searches and counts,
 * so a hundred thousand rows cost what the visible ones cost.
 */

import { isAbort } from '../lib/api.js';

const PAGE = 200;

/** @typedef {(offset: number, limit: number, signal: AbortSignal) => Promise<RowPage>} FetchPage */

export class PagedRows {
    constructor() {
        /** @type {FetchPage} */
        this.fetchPage = async () => ({ rows: [], total: 0 });
        this.total = 0;
        /** @type {Map<number, Row[] | null>} null: on its way */
        this.pages = new Map();
        /** Of the pages of the rows at hand. */
        this.abort = new AbortController();
        /** Of the first page of the rows to come. */
        this.next = new AbortController();
        /** Called when rows have come. */
        this.onRows = () => {};
        /** @type {(error: unknown) => void} */
        this.onError = () => {};
    }

    /**
     * Fetches the first page of other rows; when it has come, the old ones are forgotten.
     * @param {FetchPage} fetchPage
     * @returns {Promise<RowPage | null>} null: overtaken by a later call
     */
    async reload(fetchPage) {
        this.next.abort();
        this.next = new AbortController();
        const { signal } = this.next;
        try {
            const first = await fetchPage(0, PAGE, signal);
            if (signal.aborted) return null;
            this.abort.abort();
            this.abort = new AbortController();
            this.fetchPage = fetchPage;
            this.pages = new Map([[0, first.rows]]);
            this.total = first.total;
            return first;
        } catch (error) {
            if (isAbort(error)) return null;
            throw error;
        }
    }

    /** @param {number} index @returns {Row | undefined} */
    row(index) {
        return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
    }

    /** Fetches the pages of a range that are not here yet. @param {number} from @param {number} to */
    ensure(from, to) {
        const last = Math.min(to, this.total - 1);
        for (let page = Math.floor(from / PAGE); page * PAGE <= last; page += 1) {
            if (!this.pages.has(page)) this.fetch(page);
        }
    }

    /** @param {number} page */
    async fetch(page) {
        const { signal } = this.abort;
        this.pages.set(page, null);
        try {
            const answer = await this.fetchPage(page * PAGE, PAGE, signal);
            if (signal.aborted) return;
            this.pages.set(page, answer.rows);
            this.onRows();
        } catch (error) {
            if (signal.aborted) return;
            this.pages.delete(page);
            this.onError(error);
        }
    }

    /** Whether all rows of a range are here. @param {number} from @param {number} to */
    has(from, to) {
        for (let page = Math.floor(from / PAGE); page * PAGE <= to; page += 1) if (!this.pages.get(page)) return false;
        return true;
    }

    destroy() {
        this.abort.abort();
        this.next.abort();
    }
}
