-- Schema 2: kernel tables, cycles, comparisons, and the marker that an upload was handed in with.
--
-- As in schema 1: units in names; columns of type ANY hold a REAL or NULL (not a number), since this schema
-- also an INTEGER for a whole number, which takes less room; <x>_id names a row of `text` of the same trace;
-- `position` counts from 0. An INTEGER that may be NULL is one that the file may not tell.

ALTER TABLE job ADD COLUMN marker TEXT; -- function whose calls are the cycles, NULL: they are found

ALTER TABLE trace ADD COLUMN has_kernel_use          INTEGER NOT NULL DEFAULT 0; -- 1: a kernel table, kernel_use_total has its row
ALTER TABLE trace ADD COLUMN cycle_source            INTEGER NOT NULL DEFAULT 0; -- enum cycle_source: 0 none, 1 profiler
                                                     -- steps, 2 annotation, 3 anchor, 4 marker, 5 table
ALTER TABLE trace ADD COLUMN kernel_use_count        INTEGER NOT NULL DEFAULT 0; -- rows in kernel_use
ALTER TABLE trace ADD COLUMN kernel_use_launch_count INTEGER NOT NULL DEFAULT 0; -- rows in kernel_use_launch
ALTER TABLE trace ADD COLUMN cycle_count             INTEGER NOT NULL DEFAULT 0; -- rows in cycle
ALTER TABLE trace ADD COLUMN cycle_use_count         INTEGER NOT NULL DEFAULT 0; -- rows in cycle_use

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
-- 3 layer.

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

CREATE TABLE cycle_use (
    trace_id         INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position         INTEGER NOT NULL,
    cycle            INTEGER NOT NULL, -- position in cycle
    pid              INTEGER,
    host_id          INTEGER,
    function_id      INTEGER,
    simple_name_id   INTEGER,
    type_id          INTEGER,          -- "gpu_compute", "h2d", "operator", ...
    metric_id        INTEGER,          -- NULL: the cycle has no counters
    device_id        INTEGER,
    beta_pct         ANY,              -- of the cycle's time
    mu_pct           ANY,              -- mean of the metric during the function
    sigma_pct        ANY,              -- its deviation
    duration_us      ANY,
    interpolation_id INTEGER,          -- "**", "*" or " "
    instances        INTEGER NOT NULL,
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

-- Comparisons. All pairs of one request make a group: the first, most suspicious one stands for it. A
-- comparison is visible in state 'there', that of an uploaded report only while its trace is. What is not
-- visible goes in small transactions (purge.c). <x>_id names a row of comparison_text of the same group.

CREATE TABLE comparison (
    id                    INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id              INTEGER REFERENCES comparison (id) ON DELETE CASCADE, -- the first one; NULL: this is it
    trace_id              INTEGER REFERENCES trace (id) ON DELETE CASCADE, -- the uploaded report; NULL: computed
    state                 TEXT NOT NULL CHECK (state IN ('writing', 'there', 'removed')),
    created_at_s          INTEGER NOT NULL,
    top_score             ANY,              -- highest score of a row
    kind                  INTEGER NOT NULL, -- of the cycles
    title                 TEXT,             -- what was compared
    strict                INTEGER NOT NULL, -- 1: the two processes have the same number
    cycle_p               ANY,              -- Welch's test of the durations of the cycles
    cycle_u               ANY,              -- Mann-Whitney's
    verdict               INTEGER NOT NULL, -- enum comparison_verdict: 0 no difference, 1 different, 2 undecided
    kernel_us_base        ANY,              -- mean time a cycle of kernels
    kernel_us_candidate   ANY,
    operator_us_base      ANY,              -- the same of operators
    operator_us_candidate ANY
) STRICT;
CREATE INDEX comparison_group ON comparison (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX comparison_trace ON comparison (trace_id) WHERE trace_id IS NOT NULL;

-- `side` is enum comparison_side: 0 base, 1 candidate.
CREATE TABLE comparison_role (
    comparison_id INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE,
    side          INTEGER NOT NULL,
    label         TEXT,
    host          TEXT,
    pid           INTEGER,
    cycles        INTEGER NOT NULL,
    mean_cycle_us ANY,
    PRIMARY KEY (comparison_id, side)
) STRICT, WITHOUT ROWID;

-- The traces that a group compares: plain numbers, because comparisons outlive them.
CREATE TABLE compared_trace (
    comparison_id INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE, -- the first one of the group
    side          INTEGER NOT NULL,
    position      INTEGER NOT NULL,
    trace_id      INTEGER NOT NULL,
    PRIMARY KEY (comparison_id, side, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparison_text (
    comparison_id INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE, -- the first one of the group
    id            INTEGER NOT NULL, -- from 0, in order of first use
    value         TEXT NOT NULL,
    PRIMARY KEY (comparison_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparison_cycle (
    comparison_id    INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE,
    position         INTEGER NOT NULL, -- rank
    dur_us_base      ANY,
    dur_us_candidate ANY,
    PRIMARY KEY (comparison_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparison_row (
    comparison_id      INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE,
    position           INTEGER NOT NULL,
    function_id        INTEGER,
    metric_id          INTEGER,
    device_id          INTEGER,
    score              ANY,
    beta_pct_base      ANY,
    beta_pct_candidate ANY,
    delta_beta         ANY,
    z_beta             ANY,
    p_beta             ANY,
    u_beta             ANY,
    mu_base            ANY,
    mu_candidate       ANY,
    delta_mu           ANY,
    z_mu               ANY,
    z_log_mu           ANY,
    p_mu               ANY,
    u_mu               ANY,
    q_beta             ANY,              -- p corrected for the number of tests
    q_mu               ANY,
    presence           INTEGER NOT NULL, -- enum comparison_presence: 0 both, 1 new, 2 gone
    cycles_base        INTEGER NOT NULL, -- distinct cycles with this row, -1: not known
    cycles_candidate   INTEGER NOT NULL,
    PRIMARY KEY (comparison_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparison_finding (
    comparison_id      INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE,
    position           INTEGER NOT NULL,
    function_id        INTEGER,
    device_id          INTEGER,
    beta_pct_base      ANY,
    beta_pct_candidate ANY,
    delta_beta         ANY,
    p_beta             ANY,
    PRIMARY KEY (comparison_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparison_finding_metric (
    comparison_id INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE,
    finding       INTEGER NOT NULL, -- position in comparison_finding
    position      INTEGER NOT NULL,
    metric_id     INTEGER,
    mu_base       ANY,
    mu_candidate  ANY,
    PRIMARY KEY (comparison_id, finding, position)
) STRICT, WITHOUT ROWID;

-- Functions that took time only on one side.
CREATE TABLE comparison_appeared (
    comparison_id INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    row_position  INTEGER NOT NULL, -- in comparison_row
    PRIMARY KEY (comparison_id, position)
) STRICT, WITHOUT ROWID;
