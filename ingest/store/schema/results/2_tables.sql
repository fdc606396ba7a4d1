-- The results of the analysis of one trace, in its file. Units and kinds of columns are those of ../2_results.sql; trace_id is 1.
-- Columns <x>_id name a row of `text`.

-- Names, shapes, call stacks and launch configurations, each once.
CREATE TABLE text (
    trace_id INTEGER NOT NULL,
    id       INTEGER NOT NULL, -- from 0, in order of first use
    value    TEXT NOT NULL,
    PRIMARY KEY (trace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE device (
    trace_id      INTEGER NOT NULL,
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
    trace_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    name     TEXT,
    value    TEXT,
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

-- With row ids: the answers can be megabytes long, which a table without them would carry in its keys.
CREATE TABLE uploaded_answer (
    trace_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    route    TEXT, -- of the plugin
    group_by TEXT, -- value of the parameter, '' when none
    json     TEXT, -- the answer, word for word
    PRIMARY KEY (trace_id, position)
) STRICT;

-- Kernel tables. Utilisations are shares of the peak, weighted by latency; `use` is enum use_class: 0 both
-- low, 1 low compute, 2 low DRAM, 3 neither low, 4 not measured.

CREATE TABLE kernel_use_total (
    trace_id             INTEGER PRIMARY KEY,
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
    trace_id  INTEGER NOT NULL,
    launch    INTEGER NOT NULL, -- position in kernel_use_launch
    position  INTEGER NOT NULL,
    metric_id INTEGER,
    unit_id   INTEGER,
    value     ANY,
    PRIMARY KEY (trace_id, launch, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE bad_row (
    trace_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    text     TEXT, -- which row of the uploaded table could not be read, and why
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

-- Cycles and what each function took of each of them. `kind` is enum cycle_kind: 0 step, 1 prefill, 2 decode,
-- 3 layer, 4 mixed, 5 idle, 6 diffusion.

-- Rows of the declared tables (ingest/model/tables), some thousands a row, packed (results/packed/row_blocks.h).
CREATE TABLE row_block (
    trace_id  INTEGER NOT NULL,
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
    trace_id INTEGER NOT NULL,
    kind     TEXT NOT NULL, -- "call_tree", "memory_log", "comm_log", "gpu_counters", "rank_digest", "operations"
    bytes    BLOB NOT NULL,
    PRIMARY KEY (trace_id, kind)
) STRICT;
