/** The perf-data rows of a trace, a line a function, or a line a function and metric. */

/** @typedef {{cycle: number, beta_pct: number, duration_ns: number, instances_count: number, mu_pct: number | null, sigma_pct: number | null}} Use */

/**
 * A cycle without the function counts as 0, as it took nothing of it.
 * @param {CycleAnswer} data
 * @param {boolean} byMetric otherwise the rows of a cycle that differ in the metric alone are one
 * @returns {Row[]}
 */
export function groupUses({ cycles, rows }, byMetric) {
    /** @type {Map<string, CycleUse[]>} */
    const groups = new Map();
    for (const row of rows) {
        const key = [row.function_name, row.device, row.pid, byMetric ? row.metric_name : ''].join('\n');
        const group = groups.get(key);
        if (group) group.push(row);
        else groups.set(key, [row]);
    }
    return [...groups.values()].map((uses) => line(uses, cycles.length)).sort((a, b) => b.beta - a.beta);
}

/** @param {CycleUse[]} uses @param {number} cycles of the whole trace @returns {Row} */
function line(uses, cycles) {
    const [first] = uses;
    // Beta, time and calls stand on each metric's row of a cycle alike.
    const each = [...new Map(uses.map((use) => [use.cycle, use])).values()];
    const mean = (/** @type {(use: CycleUse) => number} */ of) => each.reduce((total, use) => total + of(use), 0) / Math.max(1, cycles);
    const metrics = metricsOf(uses);
    return {
        name: first.function_name, device: first.device, pid: first.pid, hostname: first.hostname, type: first.func_type, metric: first.metric_name,
        each, metrics,
        beta: mean((use) => use.beta_pct ?? 0),
        beta_max: each.reduce((max, use) => Math.max(max, use.beta_pct ?? 0), 0),
        duration_ns: mean((use) => use.duration_ns ?? 0),
        calls: mean((use) => use.instances_count),
        in_cycles: each.length,
        mu: metrics[0]?.mu ?? null,
        metric_count: metrics.length,
    };
}

/** Mu and sigma of each metric, means of the cycles that have it. @param {CycleUse[]} uses */
function metricsOf(uses) {
    /** @type {Map<string, {metric: string, mu: number, sigma: number, cycles: number}>} */
    const byName = new Map();
    for (const use of uses) {
        if (use.mu_pct === null || use.metric_name === null) continue;
        const sum = byName.get(use.metric_name) ?? { metric: use.metric_name, mu: 0, sigma: 0, cycles: 0 };
        byName.set(use.metric_name, { ...sum, mu: sum.mu + use.mu_pct, sigma: sum.sigma + (use.sigma_pct ?? 0), cycles: sum.cycles + 1 });
    }
    return [...byName.values()].map((sum) => ({ ...sum, mu: sum.mu / sum.cycles, sigma: sum.sigma / sum.cycles }))
        .sort((a, b) => a.metric.localeCompare(b.metric, 'en'));
}
