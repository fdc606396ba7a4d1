/** Shapes of the timeline: its resources, and what the page makes of them. Times are nanoseconds after the trace's start. */

interface TimelineTrack {
    id: number; kind: 'thread' | 'stream' | 'async' | 'counter' | 'group' | 'idle' | 'rank'; process: string; label: string; pid: string | null; tid: string | null;
    lanes: number; members: number; items: number; first_ns: number; end_ns: number; busy_ns: number; series?: string[];
}

interface TimelineStep { name: string; start_ns: number; end_ns: number }

interface TimelineTracks { start_ns: number; end_ns: number; events: number; flows: number; tracks: TimelineTrack[]; steps: TimelineStep[] }

interface TimelineLabel { name: string; category: string; role: string }

/** A slice as lists name it: track and lane are null where the timeline does not show it, dur_ns is null of an instant. */
interface TimelinePlace { event: number; name: string; track: number | null; lane: number | null; start_ns: number; dur_ns: number | null }

/** A slice around another. */
interface EnclosingPlace extends TimelinePlace { category: string }

interface TimelineFlow extends TimelinePlace { kind: 'launch' | 'fwdbwd' | 'other'; direction: 'in' | 'out' }

interface TimelineEvent {
    event: number; name: string; category: string; phase: string; start_ns: number | null; dur_ns: number | null; track: number | null; lane: number | null;
    pid: string | null; tid: string | null; args: Record<string, any>; raw: unknown; flows: TimelineFlow[]; more_flows: boolean; enclosing: EnclosingPlace[];
    /** Around the call that launched it; where no Python frame is around it, its forward operator last, after what is around that. */
    launch_enclosing: EnclosingPlace[]; forward: EnclosingPlace[];
}

interface TimelineHit { event: number; name: string; category: string; start_ns: number; dur_ns: number | null; key: string; pid: string; tid: string }

interface TimelineSearch {
    q: string; total: number; total_is_lower_bound: boolean; hits: TimelineHit[];
    names: (TimelineLabel & { count: number; total_ns: number })[];
}

interface TimelineWindow {
    start_ns: number; end_ns: number; duration_ns: number; whole: boolean; roles: Record<string, number>; events: number;
    operators: { total: number; rows: Row[] }; kernels: { total: number; rows: Row[] };
}

/** What a window of a track holds, lane after lane and by time within one: lane l stands at offsets[l] .. offsets[l + 1]. */
interface LaneColumns {
    /** Whether every slice stands for itself: no closer look shows more. */
    exact: boolean;
    offsets: Uint32Array; start: Float64Array; end: Float64Array; label: Int32Array; event: Uint32Array;
    instant: Uint8Array | null;
    /** Of slices too short to be told apart: how many one item stands for, and their time. */
    count: Uint32Array | null; busy: Float64Array | null;
    /** Of counters: a value holds until the next one. */
    points: { last: Float64Array; min: Float64Array; max: Float64Array } | null;
}

/** A part of the answer to a window, with the labels that it numbers. */
interface WindowColumns { labels: TimelineLabel[]; tracks: { id: number; columns: LaneColumns }[] }

/** A line of the timeline: the name of a trace, of a process, or a track with its lanes. */
interface TimelineRow {
    kind: 'trace' | 'process' | 'track'; key: string; pane: number; track: TimelineTrack | null; label: string; note: string;
    top: number; height: number; laneHeight: number; collapsed: boolean;
    /** Whether it stays in sight while the others scroll: `top` then counts from the rulers. */
    pinned: boolean;
    /** Tracks of a process. */
    holds?: number[];
}

/** The chosen slice. `slice` follows when the server has told it. */
interface TimelineSelection { pane: number; event: number; place: TimelinePlace | null; detail: TimelineEvent | null }

/** A call at the other end of a tensor; without a place where the trace does not have it. */
interface TensorEnd { node: number; name: string; event: number | null; track: number | null; lane: number | null; start_ns: number | null; dur_ns: number | null }

/** A tensor that a call reads (`written_by`) or gives (`read_by`). */
interface CallTensor {
    position: number; tensor: number; storage: number; dtype: string | null; shape: string | null; device: string | null; elements: number; element_bytes: number;
    written_by?: TensorEnd[]; read_by?: TensorEnd[]; more: boolean; by_storage: boolean;
}

interface CallTensors { event: number; record_function_id: number | null; execution_trace: { id: number; file_name: string; node: number } | null; inputs: CallTensor[]; outputs: CallTensor[] }
