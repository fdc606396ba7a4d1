-- Schema 1: the catalogue (run, job, upload, trace) and the results of each trace.
--
-- A trace is visible when its upload is published. Deleting an upload leaves its traces without one:
-- invisible at once, their rows are then removed in small transactions (store_purge.c).
--
-- Units: _ns integer nanoseconds, relative to the trace's start unless said otherwise; _s Unix seconds;
-- shares 0..1; _pct 0..100. Columns of type ANY hold a REAL or NULL (not a number): a REAL column would
-- turn -0.0 into 0.0. Columns <x>_id name a row of `text` of the same trace; they are no declared foreign
-- keys, because then each text that goes would be looked for in every table.
-- `position` is the place of a row in the order in which the analysis gave it, from 0.

PRAGMA application_id = 1263747918; -- 0x4B53434E, "KSCN"

CREATE TABLE run (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,      -- as the client named it, not percent-encoded
    note TEXT NOT NULL DEFAULT '',  -- free text of the users
    tags TEXT NOT NULL DEFAULT '[]' -- JSON array of strings
) STRICT;

CREATE TABLE job (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    run           TEXT NOT NULL,     -- name of the run; its row exists from the first ingest on
    file_name     TEXT NOT NULL,     -- as uploaded
    sha256        TEXT NOT NULL,     -- of the uploaded bytes, lower-case hex
    size_bytes    INTEGER NOT NULL,  -- of the uploaded bytes
    replace       INTEGER NOT NULL,  -- 1: takes the place of other bytes under the same run and name
    state         TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
    received_at_s INTEGER NOT NULL,  -- when the upload was complete
    error_code    TEXT,              -- of a failed job: the stable text of the code
    error_offset  INTEGER,           -- byte in the decompressed input; NULL when no place is known
    error_message TEXT               -- what the client is told
) STRICT;
CREATE INDEX job_unfinished ON job (sha256) WHERE state IN ('queued', 'running');

CREATE TABLE upload (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    job_id        INTEGER NOT NULL REFERENCES job (id),
    file_name     TEXT NOT NULL,     -- as uploaded
    sha256        TEXT NOT NULL,     -- of the uploaded bytes, lower-case hex
    size_bytes    INTEGER NOT NULL,  -- of the uploaded bytes
    uploaded_at_s INTEGER NOT NULL,  -- when the upload was complete
    published     INTEGER NOT NULL DEFAULT 0 -- 1: its traces are visible
) STRICT;
CREATE UNIQUE INDEX upload_name ON upload (run_id, file_name) WHERE published = 1;
CREATE INDEX upload_run ON upload (run_id);
CREATE INDEX upload_job ON upload (job_id);
CREATE INDEX upload_sha256 ON upload (sha256);

CREATE TABLE trace (
    id                      INTEGER PRIMARY KEY AUTOINCREMENT,
    upload_id               INTEGER REFERENCES upload (id) ON DELETE SET NULL, -- NULL: being removed
    worker                  TEXT NOT NULL,    -- process of the run
    span_digits             TEXT NOT NULL,    -- digits of the file name that order the spans, '' when none
    format                  TEXT NOT NULL,    -- recognised format, "chrome-trace"
    plugin_of               INTEGER REFERENCES trace (id) ON DELETE SET NULL, -- not NULL: no trace of its own but
                                              -- the figures of that one as the plugin rounds them
    note                    TEXT NOT NULL DEFAULT '',   -- free text of the users
    tags                    TEXT NOT NULL DEFAULT '[]', -- JSON array of strings
    device_type             TEXT NOT NULL,    -- "CPU", "GPU", "MLU"
    event_count             INTEGER NOT NULL, -- elements of traceEvents read
    start_ns                INTEGER NOT NULL, -- absolute
    plugin_start_ns         INTEGER NOT NULL, -- absolute without the base time
    duration_ns             INTEGER NOT NULL, -- from the first to the last kept event
    decimal_times           INTEGER NOT NULL, -- 1: plugin answers print microseconds as doubles
    ticks_per_us            INTEGER NOT NULL, -- unit of the times of steps, operators and launches, 1000: ns
    steps_undefined         INTEGER NOT NULL, -- 1: no step marker and no host event
    has_profiler_steps      INTEGER NOT NULL, -- 0: the one step is the whole host range
    views                   INTEGER NOT NULL, -- bits (1 << enum view)
    has_runtime             INTEGER NOT NULL, -- 1: runtime calls occur
    has_kernel              INTEGER NOT NULL, -- 1: kernels occur
    has_communication       INTEGER NOT NULL, -- 1: communication occurs
    has_memcpy_or_memset    INTEGER NOT NULL, -- 1: memory copies or sets occur
    has_blocks_per_sm       INTEGER NOT NULL, -- 1: kernel tables show blocks per SM
    has_occupancy           INTEGER NOT NULL, -- 1: kernel tables show the occupancy
    operators_have_device   INTEGER NOT NULL, -- 1: operator tables show device times
    mlu                     INTEGER NOT NULL, -- 1: labels and columns of the MLU fork
    communication_nodes     INTEGER NOT NULL, -- number of communication operators
    communication_signature INTEGER NOT NULL, -- hash over the number of ranges of each of them
    tc_pie_used             ANY,              -- share of kernel time on Tensor Cores, the plugin's list
    tensor_pie_used         ANY,              -- the same by our list
    step_count              INTEGER NOT NULL, -- rows in step
    operator_count          INTEGER NOT NULL, -- rows in operator with grouping 0, and so on
    operator_count_1        INTEGER NOT NULL, -- grouping 1
    operator_count_2        INTEGER NOT NULL, -- grouping 2
    operator_count_3        INTEGER NOT NULL, -- grouping 3
    kernel_count            INTEGER NOT NULL, -- rows in kernel
    kernel_launch_count     INTEGER NOT NULL  -- rows in kernel_launch
) STRICT;
CREATE INDEX trace_upload ON trace (upload_id);
CREATE INDEX trace_plugin_of ON trace (plugin_of) WHERE plugin_of IS NOT NULL;

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
    tc_total_ns     INTEGER NOT NULL, -- device time in Tensor Core kernels, the plugin's list
    tc_self_ns      INTEGER NOT NULL,
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
    tc_eligible     INTEGER NOT NULL, -- 1: could run on Tensor Cores, the plugin's list
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
    tc_used       INTEGER NOT NULL, -- 1: on Tensor Cores by the plugin's list
    tensor_used   INTEGER NOT NULL, -- 1: by our list
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
    tc_used          INTEGER NOT NULL, -- 1: on Tensor Cores by the plugin's list
    tensor_used      INTEGER NOT NULL, -- 1: by our list
    op_tc_eligible   INTEGER NOT NULL, -- 1: the operator could run on Tensor Cores, the plugin's list
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
    tc_share      ANY,              -- share of kernel time on Tensor Cores, the plugin's list
    tensor_share  ANY,              -- the same by our list
    has           INTEGER NOT NULL, -- bits DEVICE_SUM_HAS_*
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE recommendation (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    code     TEXT, -- "dataloader", "tensor_cores", ...
    text     TEXT, -- for the reader
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
CREATE TABLE plugin_answer (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    route    TEXT, -- of the plugin
    group_by TEXT, -- value of the parameter, '' when none
    json     TEXT, -- the answer, word for word
    PRIMARY KEY (trace_id, position)
) STRICT;
