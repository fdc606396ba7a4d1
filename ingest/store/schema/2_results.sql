-- Traces and the results of their analysis.
--
-- Units: _ns integer nanoseconds, relative to the trace's start unless said otherwise; _s Unix seconds; shares 0..1; _pct 0..100.
-- Columns of type ANY hold a REAL, an INTEGER for a whole number, or NULL (not a number): a REAL column would turn -0.0 into 0.0.
-- Columns <x>_id name a row of `text` of the same trace; they are no declared foreign keys, because then each text that goes would
-- be looked for in every table. `position` is the place of a row in the order in which the analysis gave it, from 0.

CREATE TABLE trace (
    id                      INTEGER PRIMARY KEY AUTOINCREMENT,
    upload_id               INTEGER REFERENCES upload (id) ON DELETE SET NULL, -- NULL: being removed
    worker                  TEXT NOT NULL,    -- process of the run
    span_digits             TEXT NOT NULL,    -- digits of the file name that order the spans, '' when none
    format                  TEXT NOT NULL,    -- recognised format, "chrome-trace"
    derived_of               INTEGER REFERENCES trace (id) ON DELETE SET NULL, -- not NULL: no trace of its own but
                                              -- the figures of that one as the plugin rounds them
    note                    TEXT NOT NULL DEFAULT '',   -- free text of the users
    tags                    TEXT NOT NULL DEFAULT '[]', -- JSON array of strings
    device_type             TEXT NOT NULL,    -- "CPU", "GPU", "MLU"
    event_count             INTEGER NOT NULL, -- elements of traceEvents read
    start_ns                INTEGER NOT NULL, -- absolute
    first_event_ns         INTEGER NOT NULL, -- absolute without the base time
    duration_ns             INTEGER NOT NULL, -- from the first to the last kept event
    decimal_times           INTEGER NOT NULL, -- 1: plugin answers print microseconds as doubles
    ticks_per_us            INTEGER NOT NULL, -- unit of the times of steps, operators and launches, 1000: ns
    steps_undefined         INTEGER NOT NULL, -- 1: no step marker and no host event
    has_steps      INTEGER NOT NULL, -- 0: the one step is the whole host range
    views                   INTEGER NOT NULL, -- bits (1 << enum view)
    has_runtime             INTEGER NOT NULL, -- 1: runtime calls occur
    has_kernel              INTEGER NOT NULL, -- 1: kernels occur
    has_communication       INTEGER NOT NULL, -- 1: communication occurs
    has_memcpy_or_memset    INTEGER NOT NULL, -- 1: memory copies or sets occur
    has_blocks_per_sm       INTEGER NOT NULL, -- 1: kernel tables show blocks per SM
    has_occupancy           INTEGER NOT NULL, -- 1: kernel tables show the occupancy
    operators_have_device   INTEGER NOT NULL, -- 1: operator tables show device times
    mlu                     INTEGER NOT NULL, -- 1: labels and columns of the MLU fork
    is_amd                  INTEGER NOT NULL, -- 1: its matrix units are called Matrix Cores
    tensor_pie_used         ANY,              -- the same by our list
    step_count              INTEGER NOT NULL, -- rows in step
    operator_count          INTEGER NOT NULL, -- rows in operator with grouping 0, and so on
    operator_count_1        INTEGER NOT NULL, -- grouping 1
    operator_count_2        INTEGER NOT NULL, -- grouping 2
    operator_count_3        INTEGER NOT NULL, -- grouping 3
    kernel_count            INTEGER NOT NULL, -- rows in kernel
    kernel_launch_count     INTEGER NOT NULL,  -- rows in kernel_launch
    has_kernel_use          INTEGER NOT NULL DEFAULT 0, -- 1: a kernel table, kernel_use_total has its row
    cycle_source            INTEGER NOT NULL DEFAULT 0, -- enum cycle_source: 0 none, 1 profiler steps, 2 annotation,
                                                        -- 3 anchor, 4 marker, 5 table
    kernel_use_count        INTEGER NOT NULL DEFAULT 0, -- rows in kernel_use
    kernel_use_launch_count INTEGER NOT NULL DEFAULT 0, -- rows in kernel_use_launch
    cycle_count             INTEGER NOT NULL DEFAULT 0, -- rows in cycle
    cycle_use_count         INTEGER NOT NULL DEFAULT 0, -- rows in cycle_use
    device_property_count   INTEGER NOT NULL DEFAULT 0, -- entries of deviceProperties
    collective_count        INTEGER NOT NULL DEFAULT 0, -- by our rule
    events_offset           INTEGER NOT NULL DEFAULT -1, -- byte behind the [ of the events
    events_end_offset       INTEGER NOT NULL DEFAULT -1, -- and at their ], in the text
    log_id                  INTEGER REFERENCES event_log (id), -- NULL: no events were kept
    role_kernel_ns          INTEGER NOT NULL DEFAULT 0, -- how the whole time divides, inside of steps
                                                -- and outside; all add up to duration_ns
    role_memcpy_ns          INTEGER NOT NULL DEFAULT 0,
    role_memset_ns          INTEGER NOT NULL DEFAULT 0,
    role_communication_ns   INTEGER NOT NULL DEFAULT 0,
    role_runtime_ns         INTEGER NOT NULL DEFAULT 0,
    role_dataloader_ns      INTEGER NOT NULL DEFAULT 0,
    role_cpu_exec_ns        INTEGER NOT NULL DEFAULT 0,
    role_other_ns           INTEGER NOT NULL DEFAULT 0,
    device_ns               INTEGER NOT NULL DEFAULT -1, -- time of all device work, whoever launched it
    steps_ns                INTEGER NOT NULL DEFAULT 0 -- of all steps together; 0: no steps
) STRICT;
CREATE INDEX trace_upload ON trace (upload_id);
CREATE INDEX trace_derived_of ON trace (derived_of) WHERE derived_of IS NOT NULL;

-- Names, shapes, call stacks and launch configurations, each once a trace.
CREATE TABLE text (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    id       INTEGER NOT NULL, -- from 0, in order of first use
    value    TEXT NOT NULL,
    PRIMARY KEY (trace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE warning (
    trace_id     INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    code         TEXT NOT NULL,    -- stable text of the code
    count        INTEGER NOT NULL, -- occurrences
    first_offset INTEGER,          -- byte in the decompressed input of the first one, NULL when unknown
    PRIMARY KEY (trace_id, code)
) STRICT, WITHOUT ROWID;

CREATE TABLE step (
    trace_id              INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position              INTEGER NOT NULL,
    name                  TEXT,             -- number of ProfilerStep#N
    start_ns              INTEGER NOT NULL,
    end_ns                INTEGER NOT NULL,
    cost_kernel_ns        INTEGER NOT NULL, -- time of the step by role: parts that no role above it covers
    cost_memcpy_ns        INTEGER NOT NULL,
    cost_memset_ns        INTEGER NOT NULL,
    cost_communication_ns INTEGER NOT NULL,
    cost_runtime_ns       INTEGER NOT NULL,
    cost_dataloader_ns    INTEGER NOT NULL,
    cost_cpu_exec_ns      INTEGER NOT NULL,
    cost_other_ns         INTEGER NOT NULL,
    computation_ns        INTEGER NOT NULL, -- merged computation inside the step
    communication_ns      INTEGER NOT NULL, -- merged communication inside the step
    overlap_ns            INTEGER NOT NULL, -- their intersection
    launches              INTEGER NOT NULL, -- runtime calls that put work on a device
    device_start_ns       INTEGER,          -- device work launched in the step: its span, NULL without any
    device_end_ns         INTEGER,
    device_busy_ns        INTEGER NOT NULL, -- its union
    device_ns             INTEGER NOT NULL, -- sum of its durations
    device_activities     INTEGER NOT NULL, -- kernels, copies and sets that these calls started
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE operator (
    trace_id        INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    grouping        INTEGER NOT NULL, -- enum operator_group: 0 name, 1 + shape, 2 + stack, 3 + shape + stack
    position        INTEGER NOT NULL,
    name_id         INTEGER,          -- operator
    input_shape_id  INTEGER,          -- NULL where the grouping has none
    call_stack_id   INTEGER,          -- NULL where the grouping has none
    calls           INTEGER NOT NULL,
    host_total_ns   INTEGER NOT NULL, -- with the operators called by it
    host_self_ns    INTEGER NOT NULL, -- without them
    device_total_ns INTEGER NOT NULL,
    device_self_ns  INTEGER NOT NULL,
    tensor_total_ns INTEGER NOT NULL, -- the same by our list
    tensor_self_ns  INTEGER NOT NULL,
    host_min_ns     INTEGER NOT NULL, -- of the durations of the calls
    host_max_ns     INTEGER NOT NULL,
    host_p50_ns     INTEGER NOT NULL,
    host_p95_ns     INTEGER NOT NULL,
    host_p99_ns     INTEGER NOT NULL,
    device_p50_ns   INTEGER NOT NULL, -- of the device totals of the calls
    device_p95_ns   INTEGER NOT NULL,
    device_p99_ns   INTEGER NOT NULL,
    tensor_eligible INTEGER NOT NULL, -- 1: the same by our list
    has_call_stack  INTEGER NOT NULL, -- 1: a call of the group has a call stack
    PRIMARY KEY (trace_id, grouping, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernel (
    trace_id      INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    name_id       INTEGER,          -- kernel
    calls         INTEGER NOT NULL,
    total_ns      INTEGER NOT NULL, -- sum of the durations
    min_ns        INTEGER NOT NULL,
    max_ns        INTEGER NOT NULL,
    p50_ns        INTEGER NOT NULL,
    p95_ns        INTEGER NOT NULL,
    p99_ns        INTEGER NOT NULL,
    tensor_used   INTEGER NOT NULL, -- 1: it is known that matrix units do the work
    blocks_per_sm ANY,              -- mean weighted by duration
    occupancy_pct ANY,              -- mean weighted by duration
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernel_launch (
    trace_id         INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position         INTEGER NOT NULL,
    name_id          INTEGER,          -- kernel
    operator_name_id INTEGER,          -- operator that launched it
    config_1_id      INTEGER,          -- grid; on MLU the kernel type
    config_2_id      INTEGER,          -- block; dim
    config_3_id      INTEGER,          -- registers per thread; tasktopo
    config_4_id      INTEGER,          -- shared memory; tasktopo node
    calls            INTEGER NOT NULL,
    total_ns         INTEGER NOT NULL, -- sum of the durations
    min_ns           INTEGER NOT NULL,
    max_ns           INTEGER NOT NULL,
    p50_ns           INTEGER NOT NULL,
    p95_ns           INTEGER NOT NULL,
    p99_ns           INTEGER NOT NULL,
    tensor_used      INTEGER NOT NULL, -- 1: it is known that matrix units do the work
    op_tensor_eligible INTEGER NOT NULL, -- 1: the same by our list
    blocks_per_sm    ANY,              -- mean weighted by duration
    occupancy_pct    ANY,              -- mean weighted by duration
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE device (
    trace_id      INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    id            INTEGER NOT NULL, -- as in the trace
    name          TEXT,             -- NULL when no property entry names it
    memory_bytes  ANY,
    compute_major INTEGER NOT NULL, -- compute capability
    compute_minor INTEGER NOT NULL,
    utilisation   ANY,              -- share of the steps
    sm_efficiency ANY,              -- share
    occupancy_pct ANY,
    tensor_share  ANY,              -- the same by our list
    has           INTEGER NOT NULL, -- bits DEVICE_SUM_HAS_*
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE recommendation (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    code     TEXT, -- "dataloader", "tensor_cores", ...
    text     TEXT, -- for the reader
    evidence TEXT, -- view and search that show it
    documentation TEXT, -- address
    saving_ns INTEGER, -- of the average step, at most; NULL: not known
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name     TEXT,
    value    TEXT,
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE missing (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    view     TEXT, -- that cannot be shown in full
    reason   TEXT, -- for the reader
    record   TEXT, -- the profiler option that would record it
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

-- With row ids: the answers can be megabytes long, which a table without them would carry in its keys.
CREATE TABLE uploaded_answer (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    route    TEXT, -- of the plugin
    group_by TEXT, -- value of the parameter, '' when none
    json     TEXT, -- the answer, word for word
    PRIMARY KEY (trace_id, position)
) STRICT;

-- Kernel tables. Utilisations are shares of the peak, weighted by latency; `use` is enum use_class: 0 both
-- low, 1 low compute, 2 low DRAM, 3 neither low, 4 not measured.

CREATE TABLE kernel_use_total (
    trace_id             INTEGER PRIMARY KEY REFERENCES trace (id) ON DELETE CASCADE,
    launches             INTEGER NOT NULL,
    kernels              INTEGER NOT NULL, -- cleaned names
    total_ns             INTEGER NOT NULL, -- sum of the latencies
    tensor               ANY,
    dram                 ANY,
    sm                   ANY,
    headroom_ns          ANY,              -- time x (1 - the larger of the measured uses)
    both_low_ns          INTEGER NOT NULL, -- time of the launches in each class
    low_compute_ns       INTEGER NOT NULL,
    low_dram_ns          INTEGER NOT NULL,
    neither_low_ns       INTEGER NOT NULL,
    unknown_ns           INTEGER NOT NULL,
    both_low_launches    INTEGER NOT NULL, -- and their number
    low_compute_launches INTEGER NOT NULL,
    low_dram_launches    INTEGER NOT NULL,
    neither_low_launches INTEGER NOT NULL,
    unknown_launches     INTEGER NOT NULL
) STRICT;

CREATE TABLE kernel_use (
    trace_id     INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    name_id      INTEGER,          -- cleaned name
    full_name_id INTEGER,          -- of the first launch
    launches     INTEGER NOT NULL,
    total_ns     INTEGER NOT NULL, -- sum of the latencies
    mean_ns      ANY,
    min_ns       INTEGER,
    max_ns       INTEGER,
    p50_ns       ANY,
    p95_ns       ANY,
    p99_ns       ANY,
    tensor       ANY,
    dram         ANY,
    sm           ANY,
    headroom_ns  ANY,              -- time x (1 - the larger of the measured uses)
    use          INTEGER NOT NULL, -- class
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernel_use_launch (
    trace_id     INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL, -- order of the file
    name_id      INTEGER,          -- cleaned name
    full_name_id INTEGER,
    grid_id      INTEGER,
    block_id     INTEGER,
    start_ns     INTEGER,          -- from the earliest launch on
    dur_ns       INTEGER NOT NULL,
    device       INTEGER,
    stream       INTEGER,
    tensor       ANY,
    dram         ANY,
    sm           ANY,
    use          INTEGER NOT NULL, -- class
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

-- Other metrics of the file, over the launches of one kernel and at each launch.
CREATE TABLE kernel_use_metric (
    trace_id  INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    kernel    INTEGER NOT NULL, -- position in kernel_use
    metric_id INTEGER,
    unit_id   INTEGER,
    launches  INTEGER NOT NULL, -- with a value
    mean      ANY,              -- weighted by latency
    min       ANY,
    max       ANY,
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernel_use_value (
    trace_id  INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    launch    INTEGER NOT NULL, -- position in kernel_use_launch
    position  INTEGER NOT NULL,
    metric_id INTEGER,
    unit_id   INTEGER,
    value     ANY,
    PRIMARY KEY (trace_id, launch, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE transfer (
    trace_id   INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    name       TEXT,
    kind       TEXT,             -- "memcpy", "memset"
    operations INTEGER NOT NULL,
    total_ns   INTEGER NOT NULL, -- sum of the durations
    min_ns     INTEGER,
    max_ns     INTEGER,
    size_bytes INTEGER,          -- sum
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE bad_row (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text     TEXT, -- which row of the uploaded table could not be read, and why
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

-- Cycles and what each function took of each of them. `kind` is enum cycle_kind: 0 step, 1 prefill, 2 decode,
-- 3 layer, 4 mixed, 5 idle, 6 diffusion.

CREATE TABLE cycle (
    trace_id  INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    anchor_id INTEGER,          -- what begins it
    start_ns  INTEGER NOT NULL, -- absolute, as in the file
    dur_us    ANY,
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE counter (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name_id  INTEGER,
    host_id  INTEGER,
    samples  INTEGER NOT NULL,
    mean     ANY,
    min      ANY,
    max      ANY,
    std      ANY, -- population deviation
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

-- Columns that are read whole, packed and compressed (store/codec/column_codec.h): call trees, memory records,
-- collectives. With row ids: they can be megabytes long.
CREATE TABLE block (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL, -- "call_tree", "memory_log", "comm_log", "gpu_counters"
    bytes    BLOB NOT NULL,
    PRIMARY KEY (trace_id, kind)
) STRICT;

CREATE TABLE module (
    trace_id     INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL, -- parents stand before their children
    name_id      INTEGER,
    module_id    INTEGER NOT NULL, -- Python's number of the module object
    parent       INTEGER NOT NULL, -- position, -1 at the top
    occurrences  INTEGER NOT NULL,
    operators    INTEGER NOT NULL, -- real operators directly below
    host_total   INTEGER NOT NULL, -- times in ticks of the trace
    host_self    INTEGER NOT NULL,
    device_total INTEGER NOT NULL,
    device_self  INTEGER NOT NULL,
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

-- Devices that did work and that the trace's properties know.
CREATE TABLE gpu (
    trace_id      INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    id            INTEGER NOT NULL, -- process number of its events
    name          TEXT,
    memory_bytes  INTEGER NOT NULL,
    compute_major INTEGER NOT NULL, -- compute capability
    compute_minor INTEGER NOT NULL,
    has           INTEGER NOT NULL, -- bits DEVICE_SUM_HAS_*
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;
