-- Values of traces whose history is kept, and the points of all series [HIST-1]: derived from traces, runs and their tags.

CREATE TABLE series_metric (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE -- "step_time", "kernel:gemm"
) STRICT;

CREATE TABLE series_value (
    metric_id INTEGER NOT NULL REFERENCES series_metric (id),
    trace_id  INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    value     ANY NOT NULL, -- in the unit of the metric
    PRIMARY KEY (metric_id, trace_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX series_value_trace ON series_value (trace_id);

-- A span of a run, in the order of all series; with it what filters look at, so that one scan answers.
CREATE TABLE series_point (
    time         REAL NOT NULL,    -- Unix seconds
    upload_order INTEGER NOT NULL, -- smallest job of its traces: jobs count up in order of arrival
    run          TEXT NOT NULL,    -- name
    span         INTEGER NOT NULL,
    run_id       INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    time_source  INTEGER NOT NULL, -- enum store_series_time
    trace_id     INTEGER NOT NULL, -- of the first worker by name
    traces       TEXT,             -- "12,13": ids of several; NULL: only trace_id
    project      TEXT NOT NULL,
    tags         TEXT NOT NULL,    -- JSON array of strings, as of the run
    devices      TEXT NOT NULL,    -- JSON array of strings: types and names of the run's devices
    PRIMARY KEY (time, upload_order, run, span)
) STRICT, WITHOUT ROWID;
CREATE INDEX series_point_run ON series_point (run_id);

-- Which runs' points changed, the newest some thousands: whoever holds points in memory follows it.
CREATE TABLE series_change (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id INTEGER NOT NULL
) STRICT;

-- Runs of many traces whose points are made anew when they are next read.
CREATE TABLE series_stale (
    run_id INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE
) STRICT;
