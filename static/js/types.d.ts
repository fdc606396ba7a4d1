/** Shapes of /api/v1 as the page reads them (api/openapi.json describes them in full), and of what we use of Chart.js. */

interface Warning { code: string; message: string; count: number; first_offset: number | null }

interface Trace {
    id: number; run: string; worker: string; span: number; span_digits: string; file_name: string;
    format: string; device_type: string; events: number; steps: number; start_ns: string;
    duration_ns: number; size_bytes: number; sha256: string; uploaded_at: string; state: string;
    tags: string[]; note: string; views: string[]; warnings: Warning[]; url: string;
}

interface Run {
    name: string; note: string; tags: string[]; uploaded_at: string; traces: number; workers: number;
    size_bytes: number; device_types: string[]; views: string[]; url: string; trace_list?: Trace[];
}

interface Role { role: string; label: string; mean_ns: number; share: number }

interface Step {
    name: string; start_ns: number; duration_ns: number; computation_ns: number; overlap_ns: number;
    launches: number; device_activities: number; [role_ns: string]: number | string;
}

interface Device {
    id: number; name: string | null; memory_bytes: number | null; compute_capability: string | null;
    utilisation: number | null; sm_efficiency: number | null; occupancy_pct: number | null;
    tensor_core_share: number | null; tensor_core_share_plugin: number | null;
}

interface Missing { view: string; reason: string; record: string }

interface Overview {
    trace: Trace; device_type: string; steps: number; has_profiler_steps: boolean;
    average_step_ns: number | null; roles: Role[]; devices: Device[];
    environment: { name: string; value: string }[]; recommendations: { code: string; text: string }[];
    health: { warnings: Warning[]; missing: Missing[] };
    tensor_core: { used_share: number; used_share_plugin: number } | null;
    top_operator: { name: string; device_self_ns: number | null; host_self_ns: number; calls: number } | null;
    top_kernel: { name: string; total_ns: number; calls: number; share: number } | null;
    step_rows: Step[]; idle_share: number | null;
}

/** A row of any table of the API: figures and texts by field name. */
interface Row { name: string; [field: string]: any }

interface RowPage {
    rows: Row[]; total: number; sums?: Record<string, number>; has_device?: boolean;
    has_blocks_per_sm?: boolean; has_occupancy?: boolean; config_labels?: string[]; tensor_core_share?: number | null;
}

interface Problem { title: string; status: number; detail?: string; code?: string; byte_offset?: number }

interface Job {
    id: string | number; state: 'queued' | 'running' | 'done' | 'failed'; stage: string; bytes_done: number;
    bytes_total: number; trace_id?: number; trace_ids?: number[]; error?: Problem; url?: string;
}

interface Route { view: string; id: string; params: URLSearchParams; href: string }

/** What a view gives back: how to take a change of parameters, and what to stop when it goes. */
interface Mounted { update?: (route: Route) => void; destroy?: () => void }

interface Column {
    key: string; label: string; kind: 'name' | 'text' | 'int' | 'time' | 'share' | 'pct' | 'num' | 'bool';
    /** In CSS pixels; the name column takes what is left, at least this. */
    width: number;
    /** Small numbers stay longest when room is short. */
    priority: number;
    help?: string;
    /** The figure, where it is not `row[key]`. */
    value?: (row: Row) => any;
    /** Time columns of one family share a unit. */
    family?: string;
    /** False where the server has no such order. */
    sortable?: boolean;
}

interface ChartInstance {
    data: any; options: any; destroy(): void; update(mode?: string): void; resize(): void;
    setDatasetVisibility(index: number, visible: boolean): void;
    toggleDataVisibility(index: number): void; getDataVisibility(index: number): boolean;
    setActiveElements(elements: { datasetIndex: number; index: number }[]): void;
    tooltip?: { setActiveElements(elements: { datasetIndex: number; index: number }[], at: { x: number; y: number }): void };
}

declare var Chart: (new (canvas: HTMLCanvasElement, config: object) => ChartInstance) & { defaults: any } | undefined;
