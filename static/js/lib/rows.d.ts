// What rows of declared tables hold. Written by api/rows.py from ingest/model/tables/: change it there.

/** Kernels of one name. */
interface KernelRow {
    name: string;
    calls: number;
    total_ns: number; // [ns]
    share: number; // Of the sum of total_ns. [share]
    mean_ns: number; // [ns]
    min_ns: number; // [ns]
    max_ns: number; // [ns]
    p50_ns: number; // [ns]
    p95_ns: number; // [ns]
    p99_ns: number; // [ns]
    tensor_cores: boolean; // By our list of kernels.
    blocks_per_sm: number; // Mean weighted by time; a missing one weighs as 0.
    occupancy_pct: number; // The same. [percent]
    calls_per_step: number;
    tensor?: number | null; // Only with `utilisation`. Use of the tensor pipes, 0 to 1, weighted by time. [share]
    dram?: number | null; // Only with `utilisation`. Of the DRAM throughput, 0 to 1. [share]
    sm?: number | null; // Only with `utilisation`. Of the SM throughput, 0 to 1. [share]
    class?: 'both_low' | 'low_compute' | 'low_dram' | 'neither_low' | null; // Only with `utilisation`. Low is below 1/3; compute is the larger of tensor and SM use that was measured. null: not measured.
    headroom_ns?: number | null; // Only with `utilisation`. total_ns x (1 - the larger of the measured uses). [ns]
    utilisation_match?: 'name' | 'launch' | null; // Only with `utilisation`. What was equal in the table; null: nothing.
}

/** Kernels of one name, operator and launch configuration. */
interface KernelLaunchRow {
    name: string;
    operator: string; // That launched it, as in GET operators; empty when none did.
    config: Array<string>; // Grid, block, registers, shared memory; MLU: kernel type, dim, tasktopo, node.
    calls: number;
    total_ns: number; // [ns]
    share: number; // Of the sum of total_ns. [share]
    mean_ns: number; // [ns]
    min_ns: number; // [ns]
    max_ns: number; // [ns]
    p50_ns: number; // [ns]
    p95_ns: number; // [ns]
    p99_ns: number; // [ns]
    tensor_cores: boolean; // By our list of kernels.
    blocks_per_sm: number; // Mean weighted by time; a missing one weighs as 0.
    occupancy_pct: number; // The same. [percent]
    operator_tensor_core_eligible: boolean; // By our list of operators.
    tensor?: number | null; // Only with `utilisation`. Use of the tensor pipes, 0 to 1, weighted by time. [share]
    dram?: number | null; // Only with `utilisation`. Of the DRAM throughput, 0 to 1. [share]
    sm?: number | null; // Only with `utilisation`. Of the SM throughput, 0 to 1. [share]
    class?: 'both_low' | 'low_compute' | 'low_dram' | 'neither_low' | null; // Only with `utilisation`. Low is below 1/3; compute is the larger of tensor and SM use that was measured. null: not measured.
    headroom_ns?: number | null; // Only with `utilisation`. total_ns x (1 - the larger of the measured uses). [ns]
    utilisation_match?: 'name' | 'launch' | null; // Only with `utilisation`. What was equal in the table; null: nothing.
}

/** See api/openapi.json. */
interface KernelUseRow {
    name: string; // Without return type, template and argument lists and the namespaces at::native::, cutlass:: and unnamed ones.
    full_name: string; // Of the first launch.
    launches: number;
    total_ns: number; // [ns]
    share: number; // Of the total time. [share]
    mean_ns: number | null; // [ns]
    min_ns: number | null; // [ns]
    max_ns: number | null; // [ns]
    p50_ns: number | null; // [ns]
    p95_ns: number | null; // [ns]
    p99_ns: number | null; // [ns]
    tensor: number | null; // Use of the tensor pipes, 0 to 1, weighted by time. [share]
    dram: number | null; // Of the DRAM throughput, 0 to 1. [share]
    sm: number | null; // Of the SM throughput, 0 to 1. [share]
    class: 'both_low' | 'low_compute' | 'low_dram' | 'neither_low' | null; // Low is below 1/3; compute is the larger of tensor and SM use that was measured. null: not measured.
    headroom_ns: number | null; // total_ns x (1 - the larger of the measured uses). [ns]
    metrics: Array<{ metric: string; unit: string; launches: number; mean: number | null; min: number | null; max: number | null }>; // Every other metric of the file; not in CSV.
}

/** See api/openapi.json. */
interface KernelUseLaunchRow {
    position: number; // In the file, from 0.
    name: string;
    full_name: string;
    grid: string | null; // `[128, 1, 1]`
    block: string | null;
    start_ns: number | null; // From the earliest launch. [ns]
    duration_ns: number; // [ns]
    device: number | null;
    stream: number | null;
    tensor: number | null; // Use of the tensor pipes, 0 to 1, weighted by time. [share]
    dram: number | null; // Of the DRAM throughput, 0 to 1. [share]
    sm: number | null; // Of the SM throughput, 0 to 1. [share]
    class: 'both_low' | 'low_compute' | 'low_dram' | 'neither_low' | null; // Low is below 1/3; compute is the larger of tensor and SM use that was measured. null: not measured.
    metrics: Record<string, number | null>; // Every other metric of the file by its name; not in CSV.
}

/** A call that launches with one piece of the device work of its correlation. */
interface LaunchRow {
    correlation: number;
    launch_event: number; // Number of the call in the file's list of events, from 0.
    device_event: number; // That of the device work.
    name: string; // The call.
    kernel: string; // What it launched.
    thread: string; // Thread of the call, as the file names it.
    device: number;
    stream: number;
    start_ns: number; // Of the call, from the start of the trace. [ns]
    host_ns: number; // Duration of the call. [ns]
    device_ns: number; // Duration of the device work. [ns]
    launch_delay_ns: number; // From the end of the call to the start of the device work; 0 where it starts before. [ns]
}

/** Calls of one operator. */
interface OperatorRow {
    name: string;
    input_shape?: string; // Where `group_by` has the shape.
    call_stack?: string; // Where `group_by` has the stack; innermost frame first.
    calls: number;
    host_total_ns: number; // With the operators called by it. [ns]
    host_self_ns: number; // Without them. [ns]
    host_mean_ns: number; // Of a call. [ns]
    host_min_ns: number; // [ns]
    host_max_ns: number; // [ns]
    host_p50_ns: number; // [ns]
    host_p95_ns: number; // [ns]
    host_p99_ns: number; // [ns]
    device_total_ns: number; // Of the work that it and the operators called by it launched. [ns]
    device_self_ns: number; // Of the work that it launched itself. [ns]
    device_p50_ns: number; // Of the totals of its calls. [ns]
    device_p95_ns: number; // [ns]
    device_p99_ns: number; // [ns]
    share: number; // Of the sum of device_self_ns, or of host_self_ns without device work. [share]
    tensor_core_eligible: boolean; // By our list of operators.
    tensor_core_self_share: number; // Of device_self_ns in Tensor Core kernels. [share]
    tensor_core_total_share: number; // Of device_total_ns. [share]
    has_call_stack: boolean; // A call of the group has one.
}
