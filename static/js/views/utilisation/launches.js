/** The launches of a table in columns of figures: a hundred thousand of them are a few megabytes. */

import { classIndex } from './classes.js';
import * as api from '../../lib/api.js';

/** Launches in one answer. */
const PAGE = 10000;

/** @param {number | null} value */
const known = (value) => (value === null || value === undefined ? NaN : value);

export class Launches {
    /** @param {number} total */
    constructor(total) {
        this.count = 0;
        /** Start of each on a line without gaps, and behind the last its end. */
        this.begin = new Float64Array(total + 1);
        this.use = new Uint8Array(total);
        this.tensor = new Float32Array(total);
        this.dram = new Float32Array(total);
        this.sm = new Float32Array(total);
        this.name = new Uint32Array(total);
        /** @type {string[]} */
        this.names = [];
        /** @type {Map<string, number>} */
        this.ids = new Map();
        /** @type {Uint32Array | undefined} of all launches, once it was asked for */
        this.ranks = undefined;
    }

    /** @param {KernelUseLaunchRow} launch */
    add(launch) {
        const at = this.count;
        this.begin[at + 1] = this.begin[at] + launch.duration_ns;
        this.use[at] = classIndex(launch.class);
        this.tensor[at] = known(launch.tensor);
        this.dram[at] = known(launch.dram);
        this.sm[at] = known(launch.sm);
        this.name[at] = this.id(launch.name);
        this.count += 1;
    }

    /** @param {string} name */
    id(name) {
        let id = this.ids.get(name);
        if (id === undefined) {
            id = this.names.length;
            this.names.push(name);
            this.ids.set(name, id);
        }
        return id;
    }

    /** The place of each name by its time, the longest first. */
    get rank() {
        this.ranks ??= this.ranking();
        return this.ranks;
    }

    ranking() {
        const time = new Float64Array(this.names.length);
        for (let at = 0; at < this.count; at += 1) time[this.name[at]] += this.duration(at);
        const order = [...time.keys()].sort((a, b) => time[b] - time[a]);
        const rank = new Uint32Array(time.length);
        order.forEach((name, place) => { rank[name] = place; });
        return rank;
    }

    /** @param {number} at */
    duration(at) {
        return this.begin[at + 1] - this.begin[at];
    }

    get total() {
        return this.begin[this.count];
    }

    /** The launch that runs at this time. @param {number} ns */
    at(ns) {
        let [low, high] = [0, this.count - 1];
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.begin[middle] <= ns) low = middle;
            else high = middle - 1;
        }
        return low;
    }
}

/**
 * @param {string} id of the trace
 * @param {(part: number, total: number) => void} onPart
 * @param {AbortSignal} signal
 */
export async function loadLaunches(id, onPart, signal) {
    let offset = 0;
    /** @type {Launches | undefined} */
    let launches;
    for (;;) {
        const page = await api.kernelLaunches(id, { limit: PAGE, offset }, signal);
        launches ??= new Launches(page.total);
        for (const launch of page.rows.slice(0, launches.use.length - launches.count)) launches.add(launch);
        offset += page.rows.length;
        if (page.rows.length === 0 || offset >= page.total) return launches;
        onPart(offset, page.total);
    }
}
