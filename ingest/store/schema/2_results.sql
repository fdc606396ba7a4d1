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
    kernel_utilisation_count INTEGER NOT NULL DEFAULT 0, -- rows in kernel_use
    kernel_utilisation_launch_count INTEGER NOT NULL DEFAULT 0, -- rows in kernel_use_launch
    cycle_count             INTEGER NOT NULL DEFAULT 0, -- rows in cycle
    cycle_use_count         INTEGER NOT NULL DEFAULT 0, -- rows in cycle_use
    device_property_count   INTEGER NOT NULL DEFAULT 0, -- entries of deviceProperties
    collective_count        INTEGER NOT NULL DEFAULT 0, -- by our rule
    has_events              INTEGER NOT NULL DEFAULT 0, -- 1: they are in its file (results_file)
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
    steps_ns                INTEGER NOT NULL DEFAULT 0, -- of all steps together; 0: no steps
    step_times_ns           TEXT NOT NULL DEFAULT '[]' -- JSON array: of the first steps, for a curve
) STRICT;
CREATE INDEX trace_upload ON trace (upload_id);
CREATE INDEX trace_derived_of ON trace (derived_of) WHERE derived_of IS NOT NULL;

-- The files of published traces (store/results_files.h). The file goes before its row. With row ids: see uploaded_answer.
CREATE TABLE results_file (
    trace_id   INTEGER NOT NULL REFERENCES trace (id),
    kind       INTEGER NOT NULL, -- enum results_kind: 0 events, and the timeline if it was made at once; 1 one that was made later
    key        TEXT NOT NULL UNIQUE, -- 32 hex digits, never used again: results/ab/cdef....db
    size_bytes INTEGER NOT NULL,
    bytes      BLOB, -- a small file itself, packed with zstd; NULL: it lies in results/
    PRIMARY KEY (trace_id, kind)
) STRICT;

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

CREATE TABLE device (
    trace_id      INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    id            INTEGER NOT NULL, -- as in the trace
    name          TEXT,             -- NULL when no property entry names it
    memory_bytes  ANY,
    capability    TEXT,             -- compute capability, "8.0"
    utilisation   ANY,              -- share of the steps
    sm_efficiency ANY,              -- share
    occupancy_pct ANY,
    tensor_share  ANY,              -- the same by our list
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name     TEXT,
    value    TEXT,
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

CREATE TABLE kernel_use_value (
    trace_id  INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    launch    INTEGER NOT NULL, -- position in kernel_use_launch
    position  INTEGER NOT NULL,
    metric_id INTEGER,
    unit_id   INTEGER,
    value     ANY,
    PRIMARY KEY (trace_id, launch, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE bad_row (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text     TEXT, -- which row of the uploaded table could not be read, and why
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

-- Cycles and what each function took of each of them. `kind` is enum cycle_kind: 0 step, 1 prefill, 2 decode,
-- 3 layer, 4 mixed, 5 idle, 6 diffusion.

-- Rows of the declared tables (ingest/model/tables), some thousands a row, packed (results/row_blocks.h).
CREATE TABLE row_block (
    trace_id  INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    name      TEXT NOT NULL,    -- of the table: "operator", "kernel", ...
    grouping  INTEGER NOT NULL, -- of operators enum operator_group: 0 name, 1 + shape, 2 + stack, 3 + shape + stack; else 0
    position  INTEGER NOT NULL, -- of the first row
    row_count INTEGER NOT NULL,
    bytes     BLOB NOT NULL,    -- packed columns
    PRIMARY KEY (trace_id, name, grouping, position)
) STRICT;

-- Columns that are read whole, packed and compressed (store/codec/column_codec.h): call trees, memory records,
-- collectives. With row ids: they can be megabytes long.
CREATE TABLE block (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL, -- "call_tree", "memory_log", "comm_log", "gpu_counters", "rank_digest", "operations"
    bytes    BLOB NOT NULL,
    PRIMARY KEY (trace_id, kind)
) STRICT;
