/** Shapes of the efficiency of operators. Rates are a second, times nanoseconds. */

interface DevicePeaks {
    name: string; source: string | null; bandwidth_bytes_per_second: number | null;
    matrix: Record<string, number | null>; vector: Record<string, number | null>;
}

interface Efficiency {
    device: DevicePeaks | null; rows: EfficiencyRow[]; total: number;
    totals: { calls: number; flops: number; matrix_flops: number; bytes: number; time_ns: number; mfu: number | null };
    outside_operators: { events: number; time_ns: number }; modelled_time_ns: number;
}

/** Figures of idle time and efficiency that two traces have; missing: why a side has none. */
interface DiffCauses extends Sides<Trace> { per: 'step' | 'total'; rows: CauseChangeRow[]; missing: { part: string; side: string; reason: string }[] }

interface PowerTable {
    rows: PowerRow[]; total: number; totals: { energy_j: number; sampled_ns: number; tokens: number; energy_per_token_j: number | null };
    counters: { name: string; measures: 'power' | 'clock'; device: number | null; is_used: boolean; samples: number; first_ns: number; last_ns: number }[];
}
