-- Comparisons. All pairs of one request make a group: the first, most suspicious one stands for it. A
-- comparison is visible in state 'there', that of an uploaded report only while its trace is. What is not
-- visible goes in small transactions (purge.c). <x>_id names a row of comparison_text of the same group.

CREATE TABLE comparison (
    id                    INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id              INTEGER REFERENCES comparison (id) ON DELETE CASCADE, -- the first one; NULL: this is it
    trace_id              INTEGER REFERENCES trace (id) ON UPDATE CASCADE ON DELETE CASCADE, -- the uploaded report; NULL: computed
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
    project       TEXT NOT NULL DEFAULT '', -- of its run; the last one when it is gone
    PRIMARY KEY (comparison_id, side, position)
) STRICT, WITHOUT ROWID;

-- What the sides of a group were recorded on.
CREATE TABLE comparison_environment (
    comparison_id INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE, -- the first one of the group
    name          TEXT NOT NULL, -- environment_fact_name(): "device", "world_size", ...
    base          TEXT,          -- in words; NULL: unknown
    candidate     TEXT,
    PRIMARY KEY (comparison_id, name)
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
    p_presence         ANY,              -- Fisher's exact test of whether the function is there
    q_presence         ANY,
    presence           INTEGER NOT NULL, -- enum comparison_presence: 0 both, 1 new, 2 gone
    cycles_base        INTEGER,          -- distinct cycles with this row; NULL: not known
    cycles_candidate   INTEGER,
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
