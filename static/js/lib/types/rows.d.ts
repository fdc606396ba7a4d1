// What rows of declared tables hold. Written by api/rows.py from ingest/model/tables/: change it there.

/** A figure of idle time or efficiency that both traces have. */
interface CauseChangeRow {
    part: string; // idle, cause, host (what it did while the devices waited), efficiency, bound (time of operators by what limits them).
    figure: string; // A cause, a kind of the host, mfu, modelled (share of the time that formulas cover), headroom, compute, memory, none.
    unit: string; // ns or share.
    base: number; // Times: per step, or of the whole trace where one has no steps.
    candidate: number;
    delta: number;
}

/** The clock of a rank against the reference. */
interface RankClockRow {
    rank: number;
    trace: number; // Id of its trace.
    offset_ns: number; // How far its clock is ahead. [ns]
    samples: number | null; // Collectives that told it; of a reference null.
    residual_ns: number | null; // Median distance of its ends from the others'. [ns]
    confidence: 'reference' | 'high' | 'medium' | 'low'; // reference, high, medium or low.
}

/** A collective of a run, matched over the ranks that took part. */
interface RankCollectiveRow {
    group: string | null; // Name of the process group.
    group_ranks: string | null; // Its ranks, as the profiler wrote them.
    sequence: number; // Its Seq, or its place among the group's collectives, from 0.
    matched_by: 'sequence' | 'order'; // sequence or order.
    name: string; // As the profiler names it; unknown where only a kernel tells.
    kind: 'all_reduce' | 'reduce_scatter' | 'all_gather' | 'all_to_all' | 'barrier' | 'broadcast' | 'reduce' | 'send_receive' | 'other';
    ranks_n: number; // Ranks whose traces have it.
    size: number; // Ranks of the group.
    complete: boolean; // All ranks of the group have it.
    mismatch: boolean; // Ranks name it differently: it counts nowhere else.
    dtype: string | null;
    step: number | null; // Number of its step on the lowest rank.
    in_bytes: number | null; // What the lowest rank sends. [bytes]
    out_bytes: number | null; // What it receives. [bytes]
    bytes: number | null; // out_bytes of an all-gather, else in_bytes. [bytes]
    start_ns: number; // When the first rank arrives, from the start of the run. [ns]
    skew_ns: number; // From the first rank's arrival to the last one's. [ns]
    end_skew_ns: number; // From the first rank's end to the last one's. [ns]
    transfer_ns: number; // The shortest duration of a rank. [ns]
    mean_wait_ns: number; // What a rank waits for the last one, on average. [ns]
    first_rank: number;
    last_rank: number;
    algorithm_bytes_per_s: number | null; // bytes over transfer_ns.
    bus_bytes_per_s: number | null; // The same times the bus factor of the kind.
}

/** Complete collectives of one kind, group and size. */
interface CollectiveSumRow {
    kind: 'all_reduce' | 'reduce_scatter' | 'all_gather' | 'all_to_all' | 'barrier' | 'broadcast' | 'reduce' | 'send_receive' | 'other';
    group: string | null;
    group_ranks: string | null;
    bytes: number | null; // [bytes]
    count: number;
    transfer_ns: number; // Of all of them together. [ns]
    mean_wait_ns: number; // Mean of their mean waits. [ns]
    bus_bytes_per_s: number | null; // Median of those that are known.
}

/** See api/openapi.json. */
interface ComparisonFindingRow {
    function: string;
    device: string;
    base_beta_pct: number | null; // [percent]
    candidate_beta_pct: number | null; // [percent]
    delta_beta: number | null; // [percent]
    p_beta: number | null;
    significant: boolean;
    metrics: Array<{ metric: string; base_mu: number | null; candidate_mu: number | null; delta_mu: number | null }>;
    text: string;
}

/** See api/openapi.json. */
interface ComparisonSideRow {
    label: string; // As it stands in column names: normal, abnormal_pid_17.
    host: string; // Empty: not known.
    pid: number | null; // null: not known.
    cycles: number;
    mean_cycle_ns: number | null; // [ns]
    name: string; // The side in words: `base (process 17)`.
}

/** See api/openapi.json. */
interface ComparisonRow {
    function: string;
    metric: string; // `N/A` where the cycles have no counters.
    device: string;
    score: number | null; // |delta_beta| x (|z_beta| + |z_log_mu|).
    base_beta_pct: number | null; // Mean of its cycles: the sum of what the calls took, above 100 where several run at a time. [percent]
    candidate_beta_pct: number | null; // [percent]
    delta_beta: number | null; // In percentage points. [percent]
    z_beta: number | null;
    p_beta: number | null; // Welch's t test.
    u_beta: number | null; // p-value of the Mann-Whitney U test.
    base_mu: number | null; // Mean of the metric while the function ran.
    candidate_mu: number | null;
    delta_mu: number | null;
    z_mu: number | null;
    z_log_mu: number | null;
    p_mu: number | null;
    u_mu: number | null;
    q_beta: number | null; // p_beta corrected for the number of tests (Benjamini-Hochberg).
    q_mu: number | null;
    p_presence: number | null; // Fisher's exact test of the cycles that have the row among all of both sides; null with fewer than two cycles on a side.
    q_presence: number | null;
    presence: 'both' | 'added' | 'removed'; // Whether the function runs on both sides, only in the candidate, or only in the base.
    base_cycles: number | null; // Cycles with this row.
    candidate_cycles: number | null;
}

/** See api/openapi.json. */
interface CycleCounterRow {
    name: string;
    hostname: string; // Empty: not known.
    samples: number;
    mean: number | null;
    min: number | null;
    max: number | null;
    std: number | null; // Population deviation.
}

/** See api/openapi.json. */
interface CycleRow {
    number: number;
    kind: 'step' | 'prefill' | 'decode' | 'layer' | 'mixed' | 'idle' | 'diffusion';
    anchor: string; // The function, step or annotation that begins the cycle.
    start_ns: number; // After the start of the trace; in SQL on the profiler's clock. [ns]
    duration_ns: number; // [ns]
}

/** See api/openapi.json. */
interface CycleUseRow {
    cycle: number; // The cycle's number.
    pid: number;
    hostname: string; // Empty: not known.
    beta_pct: number | null; // Of the cycle: the sum of what the calls took, above 100 where several run at a time. [percent]
    function_name: string;
    simple_name: string;
    metric_name: string | null; // null: the cycles have no counters.
    device: string | null; // `Host`, `GPU 7`, `GPU 0 (virtual)`.
    func_type: string; // `gpu_compute`, `gpu_comm`, `h2d`, ..., `operator`.
    mu_pct: number | null; // Mean of the metric while the function ran.
    sigma_pct: number | null; // Its deviation.
    duration_ns: number | null; // [ns]
    interpolation_status: string; // `**` or `*`: the metric was interpolated.
    instances_count: number;
}

/** See api/openapi.json. */
interface DeviceRow {
    id: number;
    name: string | null;
    memory_bytes: number | null; // [bytes]
    compute_capability: string | null;
    utilisation: number | null; // 0 to 1: busy time of its window. [share]
    utilisation_of: 'steps' | 'window'; // The window: from the first step to the end of the last one, or of the work that the steps launched; without steps that of the device's own work.
    sm_efficiency: number | null; // 0 to 1. [share]
    occupancy_pct: number | null; // 0 to 100. [percent]
    tensor_core_share: number | null; // Of the time of its kernels, in kernels known to use matrix units. [share]
}

/** See api/openapi.json. */
interface DeviceContentsRow {
    device: number;
    activities: number;
    window_ns: number; // From the first start to the last end.
    busy_ns: number;
    idle_ns: number;
    computation_ns: number;
    communication_ns: number;
    overlap_ns: number;
    exposed_communication_ns: number;
    free_ns: number; // Neither kernel nor communication, within their window.
}

/** Device work of one owner. */
interface DeviceTimeOperatorRow {
    kind: 'operator' | 'call' | 'graph_launch' | 'launch_not_recorded';
    name: string; // Of the operator or the call; empty: the launch was not recorded.
    calls: number; // Of the operator or the call that launched work.
    kernels: number; // Pieces of work.
    device_ns: number; // Sum of their durations. [ns]
    share: number | null; // Of device_ns of the trace. null: that is 0. [share]
    class: string; // That of the largest part.
}

/** Device work of one name and class. */
interface DeviceTimeKernelRow {
    name: string;
    class: string;
    matrix_unit: boolean | null; // Whether Tensor Cores, Matrix Cores or their like do the work. null: the name does not say.
    communication_kind: string | null;
    events: number;
    device_ns: number; // [ns]
    share: number | null; // Of device_ns of the trace; null: a wait, or device_ns is 0. [share]
}

/** See api/openapi.json. */
interface DiffKernelRow {
    name: string;
    presence: 'both' | 'added' | 'removed';
    base_calls: number;
    candidate_calls: number;
    delta_calls: number;
    base_total_ns: number; // [ns]
    candidate_total_ns: number; // [ns]
    delta_ns: number; // [ns]
    change: number | null; // Share of the base.
}

/** See api/openapi.json. */
interface DiffOperatorRow {
    name: string;
    presence: 'both' | 'added' | 'removed';
    base_calls: number;
    candidate_calls: number;
    delta_calls: number;
    base_host_ns: number; // [ns]
    candidate_host_ns: number; // [ns]
    delta_host_ns: number; // [ns]
    base_host_self_ns: number; // [ns]
    candidate_host_self_ns: number; // [ns]
    delta_host_self_ns: number; // [ns]
    base_device_ns: number; // [ns]
    candidate_device_ns: number; // [ns]
    delta_device_ns: number; // [ns]
    base_device_self_ns: number; // [ns]
    candidate_device_self_ns: number; // [ns]
    delta_device_self_ns: number; // [ns]
    change: number | null; // Share of the base: of the device time, of the host time where neither side has any.
}

/** Calls of one group; what they do not share is null. */
interface EfficiencyRow {
    name: string | null; // Of the operator, or of the call that launched work outside of operators.
    input_dims: unknown[] | null; // As the recorder wrote them.
    input_types: unknown[] | null;
    input_strides: unknown[] | null;
    concrete_inputs: unknown[] | null;
    module: string | null; // The innermost nn.Module that runs at the call's start.
    step: string | null; // The number of ProfilerStep#N, or the annotation of an engine's step.
    calls: number;
    flops: number | null; // Of one call. null: no formula, or not the same.
    bytes: number | null; // That one call moves at least. [bytes]
    total_flops: number | null; // Of the calls with a formula.
    total_bytes: number | null; // [bytes]
    time_ns: number; // Union of the device work of a call, summed over the calls. [ns]
    mean_ns: number; // Of one call. [ns]
    intensity: number | null; // Operations a byte.
    flops_per_second: number | null; // Of all calls together.
    bytes_per_second: number | null;
    flops_per_second_mean: number | null; // Mean of the rates of the calls.
    bytes_per_second_mean: number | null;
    unit: string | null;
    precision: string | null; // Of the first matrix or input; tf32 where the name of a kernel says so.
    bound: string | null; // What the device's peaks limit first.
    roofline_ns: number | null; // What the calls would take at the device's peaks. null: a peak, the FLOPs or the bytes of a call are not known. [ns]
    roofline_ratio: number | null; // Of the time; above 1 where caches help.
    headroom_ns: number | null; // Time above the roofline, at least 0. [ns]
    matrix_flops: number | null; // Of matrix units.
    mfu: number | null; // Matrix FLOPs of what the devices could do, from their first work to their last; of a step while it runs. [share]
}

/** A step of a serving engine. */
interface EngineStepRow {
    index: number; // From 0, in order of start.
    annotation: string;
    engine: 'vllm' | 'sglang' | 'atom' | 'diffusion';
    detailed: boolean; // The annotation has kv, sqsq and sqsk.
    phase: 'prefill' | 'decode' | 'mixed' | 'idle' | 'diffusion';
    requests: number;
    tokens: number | null;
    context_requests: number; // Requests that read their prompt.
    context_tokens: number | null; // Sum of their queries.
    context_kv: number | null; // Sum of their keys.
    context_sqsq: number | null; // Sum of the squares of their queries.
    context_sqsk: number | null; // Sum of queries times keys.
    generation_requests: number; // Requests that write their answer.
    generation_tokens: number | null; // Sum of their queries.
    generation_kv: number | null; // Sum of their keys.
    generation_sqsq: number | null; // Sum of the squares of their queries.
    generation_sqsk: number | null; // Sum of queries times keys.
    attention_pairs: number | null; // Pairs of query and key, causal in the prompt.
    attention_flops_per_layer: number | null; // heads * (head_dim_qk + head_dim_v) * attention_pairs.
    padded_batch: number | null; // What the batch was padded to.
    resolution: string | null;
    start_ns: number; // From the start of the trace. [ns]
    duration_ns: number; // [ns]
    host_gap_ns: number | null; // From the largest end of earlier steps; negative: they overlap. [ns]
    device_start_ns: number | null; // Of the work launched in the step. [ns]
    device_end_ns: number | null; // [ns]
    device_gap_ns: number | null; // From the largest device_end_ns of earlier steps. [ns]
    device_busy_ns: number; // While at least one piece of the work ran. [ns]
    device_ns: number; // Sum of the durations. [ns]
    device_events: number;
    classes: Record<string, number>; // Device time in ns by class of work.
}

/** See api/openapi.json. */
interface EnvironmentEntryRow {
    name: string;
    value: string;
}

/** See api/openapi.json. */
interface IdleGapRow {
    device: number;
    stream: number;
    start_ns: number; // From the start of the trace.
    duration_ns: number;
    cause: 'host_wait' | 'kernel_wait' | 'other';
    host: 'synchronisation' | 'data_loading' | 'operator' | 'runtime' | 'python' | 'nothing' | 'unknown'; // What took most of the gap.
    host_name: string | null; // The event of its longest stretch.
    host_event: number | null; // Its number in the file, from 0.
    previous_event: number; // Whose end begins the gap.
    next_event: number; // Whose start ends it.
    launch_event: number | null; // The call that launched next_event.
}

/** See api/openapi.json. */
interface IdleLaneRow {
    device: number;
    stream?: number;
    kernels?: number; // Pieces of device work.
    first_ns: number; // Start of the first work.
    last_ns: number; // The latest end of work.
    busy_ns: number; // With idle_ns it adds up to last_ns - first_ns.
    idle_ns: number;
    causes: Array<IdleCauseRow>;
    host: Array<IdleHostRow>; // What the launching thread did meanwhile; adds up to idle_ns.
}

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
    tensor_cores: boolean; // Whether it is known that matrix units do the work, by the list of kernels or by the rules for classes.
    blocks_per_sm: number; // Mean weighted by time; a missing one weighs as 0.
    occupancy_pct: number; // The same. [percent]
    calls_per_step: number;
    class?: string; // What it is for, by its name and by --kernel-classes: `gemm`, `attention`, ...
    matrix_unit?: boolean | null; // Whether Tensor Cores, Matrix Cores or their like do the work. null: the name does not say.
    communication_kind?: string | null; // Of class communication: `nccl`, ...
    tensor?: number | null; // Only with `utilisation`. Use of the tensor pipes, 0 to 1, weighted by time. [share]
    dram?: number | null; // Only with `utilisation`. Of the DRAM throughput, 0 to 1. [share]
    sm?: number | null; // Only with `utilisation`. Of the SM throughput, 0 to 1. [share]
    utilisation_class?: 'both_low' | 'low_compute' | 'low_dram' | 'neither_low' | null; // Only with `utilisation`. Low is below 1/3; compute is the larger of tensor and SM use that was measured. null: not measured.
    headroom_ns?: number | null; // Only with `utilisation`. total_ns x (1 - the larger of the measured uses). [ns]
    utilisation_match?: 'name' | 'launch' | null; // Only with `utilisation`. What was equal in the table; null: nothing.
}

/** Kernels of one name, operator and launch configuration. */
interface KernelLaunchRow {
    name: string;
    operator: string; // That launched it, as in GET operators; empty when none did.
    config: Array<string>; // Grid, block, registers, shared memory; MLU: kernel type, dim, tasktopo, node; NPU: core, block dim, input and output shapes.
    calls: number;
    total_ns: number; // [ns]
    share: number; // Of the sum of total_ns. [share]
    mean_ns: number; // [ns]
    min_ns: number; // [ns]
    max_ns: number; // [ns]
    p50_ns: number; // [ns]
    p95_ns: number; // [ns]
    p99_ns: number; // [ns]
    tensor_cores: boolean; // Whether it is known that matrix units do the work, by the list of kernels or by the rules for classes.
    blocks_per_sm: number; // Mean weighted by time; a missing one weighs as 0.
    occupancy_pct: number; // The same. [percent]
    operator_tensor_core_eligible: boolean; // By our list of operators.
    class?: string; // What it is for, by its name and by --kernel-classes: `gemm`, `attention`, ...
    matrix_unit?: boolean | null; // Whether Tensor Cores, Matrix Cores or their like do the work. null: the name does not say.
    communication_kind?: string | null; // Of class communication: `nccl`, ...
    tensor?: number | null; // Only with `utilisation`. Use of the tensor pipes, 0 to 1, weighted by time. [share]
    dram?: number | null; // Only with `utilisation`. Of the DRAM throughput, 0 to 1. [share]
    sm?: number | null; // Only with `utilisation`. Of the SM throughput, 0 to 1. [share]
    utilisation_class?: 'both_low' | 'low_compute' | 'low_dram' | 'neither_low' | null; // Only with `utilisation`. Low is below 1/3; compute is the larger of tensor and SM use that was measured. null: not measured.
    headroom_ns?: number | null; // Only with `utilisation`. total_ns x (1 - the larger of the measured uses). [ns]
    utilisation_match?: 'name' | 'launch' | null; // Only with `utilisation`. What was equal in the table; null: nothing.
}

/** What was measured at the launches of a kernel. */
interface KernelMetricRow {
    name: string; // The kernel.
    metric: string; // As the recorder names it: `SQ_WAVES`, `aic_mac_ratio`.
    calls: number; // Launches that have it.
    mean: number;
    mean_by_time: number; // Weighted by the launches' time.
    min: number;
    max: number;
}

/** See api/openapi.json. */
interface KernelStackRow {
    name: string;
    operator: string | null; // That launched it; null: none did.
    module: string | null; // The innermost nn.Module of the stack.
    call_stack: string | null; // `file.py(3): f;file.py(9): g`, innermost first, at most 128 frames; null: none is known.
    calls: number;
    total_ns: number; // [ns]
    share: number | null; // Of all device work, with a stack or without. [share]
    mean_ns: number; // [ns]
    min_ns: number; // [ns]
    max_ns: number; // [ns]
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
    kernel_class: string; // What it is for, as `class` of GET kernels.
    metrics: Array<KernelUseMetricRow>; // Every other metric of the file; not in CSV.
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

/** See api/openapi.json. */
interface KernelUseMetricRow {
    metric: string;
    unit: string; // Empty: none.
    launches: number; // With a value.
    mean: number | null; // Weighted by time.
    min: number | null;
    max: number | null;
}

/** A rank in the timeline of all ranks of its run. */
interface RankLaneRow {
    rank: number;
    trace: number; // Id of its trace.
    shift_ns: number; // Start of its trace on the aligned clock, from the start of the run. [ns]
    residual_ns: number | null; // Median distance of its ends of collectives from the others'. [ns]
    confidence: 'reference' | 'high' | 'medium' | 'low'; // reference, high, medium or low.
    wait_ns: number | null; // Its waiting in all steps; the least waits for nobody: it is late. [ns]
    late_steps: number; // Steps in which the others wait for it.
}

/** A call that launches with one piece of the device work of its correlation. */
interface LaunchRow {
    correlation: number;
    launch_event: number; // Number of the call in the file's list of events, from 0.
    device_event: number; // That of the device work.
    name: string; // The call.
    kernel: string; // What it launched.
    thread: number | null; // Thread of the call; null where it has no number.
    device: number;
    stream: number;
    start_ns: number; // Of the call, from the start of the trace. [ns]
    host_ns: number; // Duration of the call. [ns]
    device_ns: number; // Duration of the device work. [ns]
    launch_delay_ns: number; // From the end of the call to the start of the device work; 0 where it starts before. [ns]
}

/** Memory that was taken, given back, or both. */
interface MemoryBlockRow {
    name: string; // The operator that took it, `parent (aten::empty)` where only the parent tells more.
    device: string;
    size_bytes: number; // [bytes]
    address: string; // Hexadecimal.
    allocated_ns: number | null; // null: before the records (of the window) begin. [ns]
    released_ns: number | null; // null: never within them. [ns]
    duration_ns: number | null; // [ns]
}

/** Operators of one name. */
interface MemoryOperatorRow {
    name: string;
    calls: number; // On all devices.
    size_bytes: number; // Taken less given back, called operators included. [bytes]
    self_size_bytes: number; // The same without them. [bytes]
    allocations: number;
    self_allocations: number;
    allocated_bytes: number; // Everything taken, whether kept or not. [bytes]
    self_allocated_bytes: number; // [bytes]
}

/** See api/openapi.json. */
interface MissingViewRow {
    view: string;
    reason: string;
    record: string; // What to tell the profiler; empty: it was told that already.
}

/** A module, in pre-order. */
interface ModuleRow {
    name: string;
    module_id: number;
    parent: number | null; // Index of a row.
    depth: number;
    occurrences: number;
    operators: number; // Directly below.
    host_total_ns: number; // [ns]
    host_self_ns: number; // [ns]
    device_total_ns: number; // [ns]
    device_self_ns: number; // [ns]
}

/** Slices of the host of one name. */
interface NamedRow {
    name: string;
    calls: number;
    total_ns: number; // [ns]
    min_ns: number; // [ns]
    max_ns: number; // [ns]
    mean_ns: number; // [ns]
}

/** Kernels of one type on one kind of core. */
interface OpTypeRow {
    name: string | null; // The type: `MatMul`. Null where the recorder does not say.
    core: string | null; // `AI_CORE`, `AI_VECTOR_CORE`, `MIX_AIC`.
    calls: number;
    total_ns: number; // [ns]
    min_ns: number; // [ns]
    max_ns: number; // [ns]
    mean_ns: number; // [ns]
}

/** Calls of one operator. */
interface OperatorRow {
    name: string;
    input_shape?: string; // Where `group_by` has the shape.
    call_stack?: string; // Where `group_by` has the stack; innermost frame first.
    calls: number;
    host_total_ns: number; // With the operators called by it. A call inside another of its name counts in both. [ns]
    host_self_ns: number; // Without them. [ns]
    host_mean_ns: number; // Of a call. [ns]
    host_min_ns: number; // [ns]
    host_max_ns: number; // [ns]
    host_p50_ns: number; // [ns]
    host_p95_ns: number; // [ns]
    host_p99_ns: number; // [ns]
    device_total_ns: number; // Of the work that it and the operators called by it launched; work of a call inside another of its name counts in both. [ns]
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

/** See api/openapi.json. */
interface PathEdgeRow {
    type: 'operator' | 'dependency' | 'launch' | 'kernel_kernel' | 'sync';
    weight_ns: number;
    from_event: number;
    from_end: 'start' | 'end';
    to_event: number;
    to_end: 'start' | 'end';
    event: number | null; // To which its weight is attributed.
    on_path: boolean;
}

/** An event on the critical path. */
interface PathEventRow {
    event: number; // Its number in the file's list of events, from 0.
    name: string;
    category: string; // As the file has it.
    device: number | null; // Of device work.
    stream: number | null; // Of device work.
    start_ns: number; // From the start of the trace. [ns]
    duration_ns: number; // [ns]
    path_ns: number; // What it has of the path. [ns]
    bound: string; // What bounds the path while it is on it.
}

/** A stage of a pipeline in one step of one replica. */
interface PipelineStageRow {
    step: number;
    dp_rank: number; // Replica.
    stage: number;
    window_ns: number; // From the first computation of all stages to the end of the last. [ns]
    compute_ns: number; // In which the stage computes. [ns]
    bubble: number | null; // In which it does not; null of an empty window. [share]
    before_first_ns: number; // Until it first computes. [ns]
    after_last_ns: number; // After it last computed. [ns]
}

/** Energy of one device, step or class of device work. */
interface PowerRow {
    name: string; // Number of the device, annotation of the step, class of device work; idle: no work runs.
    start_ns: number | null; // Of a step, from the start of the trace. [ns]
    time_ns: number; // Duration of a step; sampled time of a device; device time of a class while its device was sampled. [ns]
    sampled_ns: number; // Sampled time within it, summed over the devices. [ns]
    energy_j: number; // Joule.
    mean_w: number | null; // Watt: energy_j over sampled_ns. Of a class: over its part of the time.
    share: number | null; // Of the energy of all devices. [share]
    clock_mhz: number | null; // Mean of the core clock over the sampled time; null: no counter, or a class.
    tokens: number | null; // Of a step of a serving engine that says so.
    energy_per_token_j: number | null; // Joule.
}

/** A series that measures power or the core clock. */
interface PowerCounterRow {
    name: string; // Of the event and its series.
    measures: 'power' | 'clock';
    device: number | null; // null: it does not say of which.
    is_used: boolean; // A device goes by one series of each kind.
    samples: number;
    first_ns: number; // [ns]
    last_ns: number; // [ns]
}

/** See api/openapi.json. */
interface RecommendationRow {
    code: string;
    text: string;
    evidence: string | null; // The view that shows it, with its search: `kernels?q=ampere_sgemm`.
    documentation: string | null; // An address to read on.
    saving_ns: number | null; // At most, of the average step; null: not known. [ns]
}

/** Slices of one name, track or category. */
interface SlicesRow {
    name?: string; // With group_by=name.
    category?: string; // With group_by=category.
    track?: string; // With group_by=track: `process / thread`, by name, else by number.
    pid?: string;
    tid?: string;
    process_name?: string | null;
    thread_name?: string | null;
    count: number;
    total_ns: number; // [ns]
    self_ns: number; // Without the slices inside on the same track; below 0 where these overlap each other. [ns]
    busy_ns: number; // Length of the union, over all tracks. [ns]
    min_ns: number; // [ns]
    max_ns: number; // [ns]
    p50_ns: number; // Linear between the nearest ranks, as the other percentiles. [ns]
    p95_ns: number; // [ns]
    p99_ns: number; // [ns]
    mean_ns: number; // [ns]
}

/** A block of memory. */
interface SnapshotBlockRow {
    address: string; // Hexadecimal.
    size_bytes: number; // With what the allocator added; the requested bytes where only its events are known. [bytes]
    requested_bytes: number; // [bytes]
    state: string | null; // At the end; null: not there any more.
    stream: number | null;
    segment: string | null; // Address of its segment at the end.
    frame: string; // The source line that took it.
}

/** Blocks that one source line took. */
interface SnapshotFrameRow {
    frame: string; // `file:line function`; or `(no frames)`, `(before the recording)`, `(no Python frame)`.
    blocks: number;
    bytes: number; // Requested. [bytes]
    share: number | null; // Of all bytes then. [share]
    baseline_blocks?: number; // In the trace `baseline`, at the same point.
    baseline_bytes?: number; // [bytes]
    delta_bytes?: number; // bytes - baseline_bytes. [bytes]
}

/** A step of the profiler. */
interface StepRow {
    name: string; // The number of ProfilerStep#N.
    start_ns: number | null; // From the trace's start: that of the annotation. [ns]
    duration_ns: number | null; // Of the annotation; the columns from kernel_ns to other_ns add up to it. [ns]
    host_gap_ns: number | null; // From the largest end of earlier steps, below 0 where they overlap; null for the first. [ns]
    kernel_ns: number; // [ns]
    memcpy_ns: number; // [ns]
    memset_ns: number; // [ns]
    communication_ns: number; // [ns]
    runtime_ns: number; // Calls of the runtime and of the driver. [ns]
    dataloader_ns: number; // [ns]
    cpu_exec_ns: number; // [ns]
    other_ns: number; // [ns]
    idle_ns: number; // No device works: runtime_ns + dataloader_ns + cpu_exec_ns + other_ns. [ns]
    computation_ns: number; // [ns]
    overlap_ns: number; // [ns]
    launches: number; // Calls inside the step that put work on a device.
    device_activities: number; // Device work launched in the step.
    device_start_ns: number | null; // Of that work, wherever it runs; null without any. [ns]
    device_end_ns: number | null; // [ns]
    device_busy_ns: number; // Union of that work. [ns]
    device_ns: number; // Sum of its durations. [ns]
}

/** Device work that calls of one step launched onto one stream. */
interface StepLaunchesRow {
    step: string | null; // Annotation of the step in which the calls start; null: in none.
    device: number;
    stream: number;
    start_ns: number; // Of its first work, from the start of the trace. [ns]
    launches: number; // Pieces of device work that have a call.
    device_ns: number; // Sum of their durations. [ns]
    delay_ns: number; // Sum of their delays, each from the end of the call, at least 0. [ns]
    mean_delay_ns: number; // [ns]
}

/** Copies or sets of memory of one name. */
interface TransferRow {
    name: string;
    kind: string;
    operations: number;
    total_ns: number; // [ns]
    min_ns: number | null; // [ns]
    max_ns: number | null; // [ns]
    size_bytes: number | null; // [bytes]
}

/** An operation of a job as it would run. */
interface WhatIfSliceRow {
    optype: string;
    seq_id: number;
    stage: number;
    start_ns: number; // From the start of the step; of a transfer without its waiting. [ns]
    duration_ns: number; // [ns]
}
