-- Traces, and of the results of their analysis what lists read. The rest stands in files (results/).
--
-- Units: _ns integer nanoseconds, relative to the trace's start unless said otherwise; _s Unix seconds; shares 0..1; _pct 0..100.
-- Columns of type ANY hold a REAL, an INTEGER for a whole number, or NULL (not a number): a REAL column would turn -0.0 into 0.0.
-- `position` is the place of a row in the order in which the analysis gave it, from 0.

CREATE TABLE trace (
    id                      INTEGER PRIMARY KEY AUTOINCREMENT,
    upload_id               INTEGER REFERENCES upload (id) ON DELETE SET NULL, -- NULL: being removed
    worker                  TEXT NOT NULL,    -- process of the run
    span_digits             TEXT NOT NULL,    -- digits of the file name that order the spans, '' when none
    format                  TEXT NOT NULL,    -- recognised format, "chrome-trace"
    rank                    INTEGER NOT NULL DEFAULT -1, -- distributedInfo.rank, else as given at upload, -1: neither
    derived_of               INTEGER REFERENCES trace (id) ON UPDATE CASCADE ON DELETE SET NULL, -- not NULL: no trace of its own but
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
    has_events              INTEGER NOT NULL DEFAULT 0, -- 1: its file has events
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
    step_times_ns           TEXT NOT NULL DEFAULT '[]', -- JSON array: of the first steps, for a curve
    warnings                TEXT NOT NULL DEFAULT '', -- lines of code, occurrences, byte in the decompressed input of the first or "-"
    -- Of its upload since that was published, so that an index has every order of a list (catalogue/trace_list.c); NULL: never in a list
    listed_at_s             INTEGER,
    listed_bytes            INTEGER
) STRICT;
CREATE INDEX trace_listed_at ON trace (listed_at_s, id) WHERE listed_at_s IS NOT NULL;
CREATE INDEX trace_by_worker ON trace (worker, id) WHERE listed_at_s IS NOT NULL;
CREATE INDEX trace_by_start ON trace (start_ns, id) WHERE listed_at_s IS NOT NULL;
CREATE INDEX trace_by_duration ON trace (duration_ns, id) WHERE listed_at_s IS NOT NULL;
CREATE INDEX trace_by_events ON trace (event_count, id) WHERE listed_at_s IS NOT NULL;
CREATE INDEX trace_by_steps ON trace (step_count, id) WHERE listed_at_s IS NOT NULL;
CREATE INDEX trace_by_bytes ON trace (listed_bytes, id) WHERE listed_at_s IS NOT NULL;
CREATE INDEX trace_upload ON trace (upload_id);
CREATE INDEX trace_derived_of ON trace (derived_of) WHERE derived_of IS NOT NULL;

-- The files of published traces (store/results_files.h). The file goes before its row. With row ids: see uploaded_answer.
CREATE TABLE results_file (
    trace_id   INTEGER NOT NULL REFERENCES trace (id) ON UPDATE CASCADE,
    kind       INTEGER NOT NULL, -- enum results_kind: 0 events, and the timeline if it was made at once; 1 one that was made later
    key        TEXT NOT NULL UNIQUE, -- 32 hex digits, never used again: results/ab/cdef....db
    size_bytes INTEGER NOT NULL,
    bytes      BLOB, -- a small file itself, packed with zstd; NULL: it lies in results/
    sha256     TEXT NOT NULL DEFAULT '', -- of a file in results/, lower-case hex; '' for one that is in its row
    is_object  INTEGER NOT NULL DEFAULT 0, -- 1: it is an object as well, under the name that it has in results/, which is a cache then
    PRIMARY KEY (trace_id, kind)
) STRICT;

-- Of these, lists and histories read; they stand in the file, too.
CREATE TABLE device (
    trace_id      INTEGER NOT NULL REFERENCES trace (id) ON UPDATE CASCADE ON DELETE CASCADE,
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
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON UPDATE CASCADE ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name     TEXT,
    value    TEXT,
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;
