-- Values of traces whose history is kept, and the points of all series [HIST-1]: derived from traces, runs and their tags.

CREATE TABLE series_metric (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE -- "step_time", "kernel:gemm"
) STRICT;

CREATE TABLE series_value (
    metric_id INTEGER NOT NULL REFERENCES series_metric (id), -- a server checks neither: schema_free_values
    trace_id  INTEGER NOT NULL REFERENCES trace (id) ON UPDATE CASCADE ON DELETE CASCADE,
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

-- Which changes have crossed which line of --webhooks [HIST-5a]: each is told once.
CREATE TABLE webhook_crossing (
    hook TEXT NOT NULL, -- SHA-256 of the line, lower-case hex
    run  TEXT NOT NULL, -- name of the run at the change
    PRIMARY KEY (hook, run)
) STRICT, WITHOUT ROWID;

-- What webhooks are told, the newest some thousands.
CREATE TABLE webhook_delivery (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    hook         TEXT NOT NULL,    -- as above
    place        TEXT NOT NULL,    -- scheme and host of its address: the path may be a secret
    metric       TEXT NOT NULL,
    run          TEXT NOT NULL,
    body         TEXT NOT NULL,    -- JSON, as it is sent
    state        TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'given_up')),
    attempts     INTEGER NOT NULL DEFAULT 0,
    created_at_s INTEGER NOT NULL,
    next_at_s    INTEGER NOT NULL, -- of the next attempt
    status       INTEGER,          -- of the last answer, NULL: none came
    error        TEXT              -- of the last attempt, NULL: none
) STRICT;
CREATE INDEX webhook_delivery_waiting ON webhook_delivery (next_at_s) WHERE state = 'waiting';

-- Runs of many traces whose points are made anew when they are next read.
CREATE TABLE series_stale (
    run_id INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE
) STRICT;
