/** Shapes of idle time, launches and the critical path. Times are nanoseconds after the trace's start. */

type IdleCauseName = 'host_wait' | 'kernel_wait' | 'other';
type IdleHostName = 'synchronisation' | 'data_loading' | 'operator' | 'runtime' | 'python' | 'nothing' | 'unknown';

interface IdleCause {
    cause: IdleCauseName; gaps: number; idle_ns: number; ratio: number | null; mean_ns: number | null; std_ns: number | null;
    min_ns: number | null; p25_ns: number | null; p50_ns: number | null; p75_ns: number | null; max_ns: number | null;
}

interface IdleHost { host: IdleHostName; idle_ns: number; ratio: number | null }

/** Of a device with all its streams as one, or of one stream. */
interface IdleBlock {
    device: number; stream?: number; kernels?: number; first_ns: number; last_ns: number; busy_ns: number; idle_ns: number;
    causes: IdleCause[]; host: IdleHost[];
}

interface IdleGap {
    device: number; stream: number; start_ns: number; duration_ns: number; cause: IdleCauseName; host: IdleHostName;
    host_name: string | null; host_event: number | null; previous_event: number; next_event: number; launch_event: number | null;
}

/** A gap of a device that the lane of the timeline has chosen. */
interface IdleGapChosen extends IdleGap { host_kinds: IdleHost[] }

/** Gaps of a device as columns, in order of start; cause: place in `causes`. */
interface IdleGapsDevice {
    device: number; first_ns: number; last_ns: number; busy_ns: number; idle_ns: number;
    start_ns: number[]; duration_ns: number[]; cause: number[]; next_event: number[];
}

interface IdleGaps { total: number; left_out: { gaps: number; idle_ns: number }; causes: IdleCauseName[]; devices: IdleGapsDevice[]; gap: IdleGapChosen | null }

interface Idle { threshold_ns: number; streams: IdleBlock[]; devices: IdleBlock[]; longest: { total: number; rows: IdleGap[] } }

interface LaunchSpread {
    count: number; mean_ns: number | null; std_ns: number | null; min_ns: number | null; p50_ns: number | null;
    p95_ns: number | null; p99_ns: number | null; max_ns: number | null;
}

interface LaunchStream {
    device: number; stream: number; launches: number;
    queue: { points: number; mean: number | null; std: number | null; min: number | null; p25: number | null; p50: number | null; p75: number | null; max: number | null };
}

interface QueuePoint { ts_ns: number; length: number; event: number }

interface Launches {
    rows: LaunchRow[]; total: number; launch_delay: LaunchSpread; host: LaunchSpread; device: LaunchSpread;
    short_kernels: number; slow_calls: number; slow_launches: number; streams: LaunchStream[]; series: QueuePoint[];
}

interface WhatIfName { name: string; path_ns: number; length_ns: number; saved_ns: number; ratio: number | null; saved_at_most_ns: number }

interface CriticalPath {
    annotation: string; instance: string; window: { start_ns: number; end_ns: number }; length_ns: number;
    dropped_edges: number; unmatched_waits: number; path: { nodes: number; events: number; edges: number };
    boundedness: { bound: string; ns: number; ratio: number | null }[]; events: { total: number; rows: PathEventRow[] };
    what_if: { length_ns: number; saved_ns: number; ratio: number | null; names: WhatIfName[] };
}
