/** Shapes of /api/v1 as the page reads them (api/openapi.json describes them in full), and of what we use of Chart.js. */

interface Warning { code: string; message: string; count: number; first_offset: number | null }

interface Trace {
    id: number; run: string; worker: string; span: number; span_digits: string; file_name: string;
    format: string; device_type: string; events: number; has_events: boolean; steps: number; start_clock_ns: string;
    duration_ns: number; size_bytes: number; sha256: string; uploaded_at: string; state: string;
    tags: string[]; note: string; views: string[]; warnings: Warning[]; url: string;
    /** As the file tells, else as given at upload. */
    rank: number | null;
    /** Of an uploaded report: the comparison that it holds. */
    comparison?: number | null;
}

interface Me {
    name: string | null; role: string; projects: string[]; every_project: boolean;
    anonymous: boolean; session: boolean; asks_for_tokens: boolean; source_url: string | null; perfetto_url: string | null;
}

/** Pinned to what a view shows; `trace` null: of the whole run. */
interface Note {
    id: number;
    run: string;
    trace: number | null;
    kind: 'window' | 'kernel' | 'operator' | 'regression';
    name: string | null;
    start_ns?: number;
    end_ns?: number;
    text: string;
    author: string | null;
    created_at_s: number;
}

interface Run {
    name: string; project: string; note: string; tags: string[]; pinned: boolean; uploaded_at: string; traces: number; workers: number;
    size_bytes: number; device_types: string[]; views: string[]; url: string; trace_list?: Trace[];
    figures: { trace_id: number | null; device: string | null; utilisation: number | null; steps: number; step_ns: number | null; step_times_ns: number[] };
}

/** Its traces by rank; a part of them where a page was asked for. */
interface OpenRun extends Run { spans: number[]; formats: string[]; trace_list: Trace[]; last_trace: Trace }

interface Role { role: string; label: string; mean_ns: number; share: number }

interface Step {
    name: string; start_ns: number; duration_ns: number; computation_ns: number; overlap_ns: number;
    launches: number; device_activities: number; [role_ns: string]: number | string;
}

interface Device {
    id: number; name: string | null; memory_bytes: number | null; compute_capability: string | null;
    utilisation: number | null; utilisation_of: 'steps' | 'window'; sm_efficiency: number | null; occupancy_pct: number | null;
    tensor_core_share: number | null;
}

/** Evidence is a view of the trace with its search: `kernels?q=ampere_sgemm`. */
interface Advice { code: string; text: string; evidence: string | null; documentation: string | null; saving_ns: number | null }

/** Time of the average step, or of the trace, in which no device works. */
interface IdleShare { of: 'steps' | 'trace'; idle_ns: number; share: number; cause: string | null; cause_ns: number }

interface OddStep { place: 'first' | 'last'; name: string; duration_ns: number; median_ns: number }

interface Missing { view: string; reason: string; record: string }

interface Overview {
    trace: Trace; device_type: string; steps: number; has_steps: boolean;
    average_step_ns: number | null; roles: Role[]; devices: Device[];
    environment: { name: string; value: string }[]; recommendations: Advice[];
    health: { warnings: Warning[]; odd_steps: OddStep[]; missing: Missing[] };
    tensor_core: { name: string; used_share: number; } | null;
    top_operator: { name: string; device_self_ns: number | null; host_self_ns: number; calls: number } | null;
    top_kernel: { name: string; total_ns: number; calls: number; share: number } | null;
    step_rows: Step[]; idle: IdleShare | null;
}

/** A window of time of the devices; computing, exposed and idle parts add up to it. */
interface DeviceTimeBlock {
    start_ns: number; end_ns: number; total_ns: number; busy_ns: number; computation_ns: number; communication_ns: number;
    exposed_communication_ns: number; memcpy_ns: number; exposed_memcpy_ns: number; idle_ns: number; events: number; utilisation: number | null;
}

interface DeviceTimeBlocks { window: DeviceTimeBlock | null; launched: DeviceTimeBlock | null; steps: DeviceTimeBlock | null }

interface DeviceTime extends DeviceTimeBlocks {
    device_ns: number; matrix_unit_ns: number;
    classes: { class: string; events: number; device_ns: number; share: number; busy_ns: number }[];
    communication_kinds: { kind: string; events: number; device_ns: number; busy_ns: number }[];
    devices: ({ device: number | null; device_ns: number } & DeviceTimeBlocks)[];
}

/** What an engine said of a step, and the device work launched in it; null: it did not say, or there is none. */
interface EngineStep {
    index: number; annotation: string; engine: string; phase: string; requests: number; tokens: number | null;
    context_kv: number | null; generation_kv: number | null; start_ns: number; duration_ns: number; host_gap_ns: number | null;
    device_gap_ns: number | null; device_busy_ns: number; device_ns: number; classes: Record<string, number>;
}

interface EnginePhase {
    phase: string; steps: number; requests: number; tokens: number | null; duration_ns: number; device_ns: number; classes: Record<string, number>;
}

interface EngineSteps { engine: string | null; phases: EnginePhase[]; rows: EngineStep[]; total: number }

/** A row of any table of the API: figures and texts by field name. */
interface Row { name: string; [field: string]: any }

interface RowPage {
    rows: Row[]; total: number; sums?: Record<string, number>; has_device?: boolean;
    has_blocks_per_sm?: boolean; has_occupancy?: boolean; config_labels?: string[]; tensor_core_share?: number | null; matrix_units?: string;
    utilisation?: Matched | null;
    /** Of the operators of device time: the capture that names kernels of graphs, and how its launches fitted. */
    companion?: number | null; alignment?: { equal: number; skipping: number; failed: number };
    /** Of slices: how many, and from the first to the last. */
    slices?: number; duration_ns?: number;
}

/** Where a long table has its rows from: fetched by page as they come into sight, or all at hand. */
interface RowSource {
    total: number; onRows: () => void;
    row(index: number): Row | undefined;
    has(from: number, to: number): boolean;
    ensure(from: number, to: number): void;
}

interface Problem { title: string; status: number; detail?: string; code?: string; byte_offset?: number }

/** A file, or a member of an archive, that could not be read. */
interface UploadError extends Problem { file_name: string; member?: string }

/** What an upload of several traces answers. */
interface UploadAnswer { traces: Trace[]; errors: UploadError[] }

interface Job {
    id: string | number; state: 'queued' | 'running' | 'done' | 'failed'; stage: string; bytes_done: number;
    bytes_total: number; trace_id?: number; trace_ids?: number[]; error?: Problem; errors?: UploadError[]; url?: string;
}

interface SqlRows { columns: string[]; rows: (string | number | null)[][]; truncated: boolean }
interface SqlTables { tables: { name: string; rows: string; columns: string[] }[] }

interface Route { view: string; id: string; params: URLSearchParams; href: string }

/**
 * What a view gives back as soon as its controls stand: when its figures are there too, how to take a change of
 * parameters, and what to stop when it goes.
 */
interface Mounted { ready?: Promise<unknown>; update?: (route: Route) => unknown; destroy?: () => void }

interface Column {
    key: string; label: string; kind: 'name' | 'text' | 'int' | 'time' | 'delta' | 'size' | 'share' | 'pct' | 'num' | 'bool';
    /** In CSS pixels; the name column takes what is left, at least this. */
    width: number;
    /** Small numbers stay longest when room is short. */
    priority: number;
    help?: string;
    /** The figure, where it is not `row[key]`. */
    value?: (row: Row) => any;
    /** How the figure reads, where its kind does not say. */
    print?: (value: any) => string;
    /** Columns of times, or of sizes, of one family share a unit. */
    family?: string;
    /** False where the server has no such order. */
    sortable?: boolean;
    /** How much of the cell a thin bar fills, 0..1. */
    bar?: (row: Row) => number;
}

type Verdict = 'different' | 'no_difference' | 'undecided';

/** The two sides of a comparison: of base and candidate, as texts, figures or lists. */
interface Sides<T> { base: T; candidate: T }

type ComparisonSide = ComparisonSideRow;

interface ComparisonSummary extends Sides<ComparisonSide> {
    labels: [string, string]; delta_ns: number | null; change_pct: number | null;
    cycle_p: number | null; cycle_u: number | null; verdict_text: string;
}

interface CycleRank { rank: number; base_ns: number | null; candidate_ns: number | null; delta_ns: number | null; delta_pct: number | null }

type Finding = ComparisonFindingRow;

interface Appeared {
    function: string; device: string; presence: 'added' | 'removed'; base_beta_pct: number; candidate_beta_pct: number; delta_beta: number;
    p_presence: number | null; q_presence: number | null;
}

interface ComparisonPair {
    id: number; kind: string; strict: boolean; base_pid: number | null; candidate_pid: number | null;
    base_host: string; candidate_host: string; top_score: number | null; verdict: Verdict;
}

interface ComparedCounter {
    name: string; hostname: string; base_mean: number | null; candidate_mean: number | null;
    base_samples: number | null; candidate_samples: number | null;
}

interface Comparison {
    id: number; url: string; created_at: string; trace_id: number | null; traces: Sides<number[]>;
    title: string; kind: string; strict: boolean; verdict: Verdict; comparable: boolean | null; environment: EnvironmentFact[]; summary: ComparisonSummary;
    cycles: CycleRank[]; overview: string; recommendation: string; findings: Finding[]; appeared: Appeared[];
    rows: ComparisonRow[]; total: number; devices: string[]; metrics: string[]; counters: ComparedCounter[]; pairs: ComparisonPair[];
}

/** A line of the list of comparisons: the most suspicious pair of a group. */
interface ComparisonItem {
    id: number; title: string; kind: string; strict: boolean; created_at: string; trace_id: number | null; labels: [string, string];
    base_pid: number | null; candidate_pid: number | null; base_cycles: number; candidate_cycles: number;
    top_score: number | null; verdict: Verdict; pairs: number; url: string;
}

/** What each cycle took, and beta of one row in it, in order of time. */
type BetaSeries = Sides<{ cycle_ns: number[]; beta_pct: number[] }>;

type Cycle = CycleRow;

/** What a function took of a cycle. */
type CycleUse = CycleUseRow;

type Counter = CycleCounterRow;

interface CycleAnswer { source: string; cycles: Cycle[]; rows: CycleUse[]; counters: Counter[] }

interface ChartInstance {
    data: any; options: any; destroy(): void; update(mode?: string): void; resize(): void; draw(): void;
    ctx: CanvasRenderingContext2D; chartArea: { left: number; right: number; top: number; bottom: number };
    scales: Record<string, { getPixelForValue(value: number): number; getValueForPixel(pixel: number): number }>;
    setDatasetVisibility(index: number, visible: boolean): void;
    toggleDataVisibility(index: number): void; getDataVisibility(index: number): boolean;
    setActiveElements(elements: { datasetIndex: number; index: number }[]): void;
    getDatasetMeta(index: number): { data: { x: number; y: number }[] };
    tooltip?: { setActiveElements(elements: { datasetIndex: number; index: number }[], at: { x: number; y: number }): void };
}

declare var Chart: (new (canvas: HTMLCanvasElement, config: object) => ChartInstance) & { defaults: any } | undefined;

type UseClass = 'both_low' | 'low_compute' | 'low_dram' | 'neither_low' | null;

/** Shares 0..1 of the peak, null where not measured. */
interface Uses { tensor: number | null; dram: number | null; sm: number | null }

interface ClassTime { class: UseClass; launches: number; total_ns: number; share: number }

type Transfer = TransferRow;

/** A kernel table: sums of all its launches, and a row a kernel. */
interface KernelUse extends Uses {
    launches: number; kernels: number; total_ns: number; headroom_ns: number | null; classes: ClassTime[];
    rows: KernelUseRow[]; total: number; transfers: Transfer[]; bad_rows: string[]; has_launches: boolean;
}

/** How a trace's kernels were matched with the kernel tables of its run. */
interface Matched { tables: number[]; matched_kernels: number; unmatched_kernels: number; unmatched: string[]; unmatched_in_table: string[] }

/** What a device's allocator had: null where the records say no totals. */
interface MemoryDevice {
    device: string; peak_bytes: number | null; peak_ns: number | null; allocated_end_bytes: number | null;
    reserved_peak_bytes: number | null; records: number;
}

type MemoryBlock = MemoryBlockRow;

interface MemoryAnswer extends RowPage {
    devices: MemoryDevice[]; device: string | null; start_ns: number | null; end_ns: number | null;
    unreleased: { count: number; size_bytes: number; rows: MemoryBlock[] }; at_peak: MemoryBlock[];
}

/** Records of a component, so many that the curve keeps its shape: time, allocated (null: not said), reserved. */
interface MemoryComponent { component: string | null; points: [number, number | null, number][]; total_points: number; peak: [number, number]; since_start: boolean }

/** Of a device, and beside it those of its other components. */
interface MemoryCurve extends MemoryComponent { device: string; components: MemoryComponent[] }

interface ModuleAnswer { kind: 'module' | 'lightning'; rows: ModuleRow[]; total: number }

interface CallThread { thread: number; tid: number; label: string | null; lightning_profile: boolean; nodes: number; start_ns: number; end_ns: number }

/** A place in a thread's tree. */
interface CallPlace { node: number; name: string }

interface CallRow extends CallPlace {
    parent: number; depth: number; class: string; type: string; start_ns: number; end_ns: number; duration_ns: number;
    host_self_ns: number; device_total_ns: number; device_self_ns: number; children: number;
    call_stack: string | null; partner: (CallPlace & { thread: number }) | null;
}

/** What lies below a node; the path leads from the thread's root to it. */
interface CallPart { thread: number; node: number; children: number; path: CallPlace[]; rows: CallRow[]; truncated: boolean }

/** The first matches of a search, in the order of the tree. */
interface CallMatches { rows: (CallPlace & { start_ns: number; duration_ns: number; path: CallPlace[] })[]; total: number }

interface DistributedWorker {
    worker: string; trace: number; rank: number | null; node: string | null; process: string | number | null; backend: string | null;
    collectives: number; matched: number;
}

/** Parts of a step that exclude each other. */
interface OverlapRow { worker: string; step: string; computation_ns: number; overlap_ns: number; communication_ns: number; other_ns: number | null }

/** Of the communication of a step; step null: outside of all steps. */
interface WaitRow { worker: string; step: string | null; transfer_ns: number; wait_ns: number }

interface OperationRow {
    worker: string; name: string; calls: number; size_bytes: number; mean_size_bytes: number; total_ns: number; mean_ns: number;
    transfer_ns: number; mean_transfer_ns: number;
}

interface DistributedDevice {
    node: string | null; process: string | number | null; worker: string; device: number | string; name: string | null; memory_bytes: number | null;
    compute_capability: string | null;
}

interface Distributed {
    run: string; span: number; spans: number[]; agrees: boolean; workers: DistributedWorker[];
    overlap: { steps: string[]; rows: OverlapRow[] }; wait: { rows: WaitRow[] }; operations: OperationRow[]; devices: DistributedDevice[];
}

/** Which rank of a run the others wait for; the matrices are by rank, then step. */
interface Stragglers {
    verdict: { kind: 'unknown' | 'balanced' | 'persistent' | 'scattered'; rank: number | null; steps: number; of_steps: number; lost_ns: number; cause: string | null; text: string };
    ranks: number[]; traces: number[]; steps: number[];
    step_ns: (number | null)[][]; wait_ns: (number | null)[][]; work_ns: (number | null)[][];
    culprits: { step: number; rank: number | null; margin_ns: number | null; cause: string | null }[];
    warnings: { code: string; count: number }[];
}

/** A name of two traces: figures as base_…, candidate_… and delta_…, change as a share of the base. */
interface DiffRow { name: string; presence: 'both' | 'added' | 'removed'; change: number | null; [figure: string]: any }

interface DiffSums { names: number; both: number; added: number; removed: number; [figure: string]: number }

type DiffUnit = 'step' | 'call' | 'total';

interface EnvironmentFact extends Sides<string | null> { name: string; label: string; match: 'same' | 'different' | 'unknown'; decisive: boolean }

interface DiffSummary extends Sides<Trace> {
    comparable: boolean | null; environment: EnvironmentFact[]; sentence: string; per: 'step' | 'total';
    step: { base_steps: number; candidate_steps: number; base_ns: number; candidate_ns: number; delta_ns: number; change: number | null; p: number | null; u: number | null };
    waterfall: { category: string; label: string; base_ns: number; candidate_ns: number; delta_ns: number }[];
}

interface NameDiff extends Sides<Trace> {
    per: DiffUnit; steps: Sides<number>;
    operators: DiffRow[]; kernels: DiffRow[]; sums: { operators: DiffSums; kernels: DiffSums };
}

interface DiffOperator { name: string; calls: number; host_ns: number; host_self_ns: number; device_ns: number; device_self_ns: number }

/** What one trace did at a node of the tree; total: on the device where there is any, else on the host. Steps: of its first and last node. */
interface DiffSide { name: string; nodes: number; first_step: string | null; last_step: string | null; host_ns: number; device_ns: number; total_ns: number; operators?: DiffOperator[] }

interface DiffChild extends Sides<DiffSide> { path: string; name: string; children: number }

interface DiffNode extends Sides<DiffSide> { path: string; name: string; children: DiffChild[] }
