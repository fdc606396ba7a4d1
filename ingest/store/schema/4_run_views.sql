-- What is derived from several traces of a run.

-- Answers about several traces of a run, made on the first request for them. They hold as long as the run has the
-- traces of `inputs`.
CREATE TABLE run_view (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    kind   INTEGER NOT NULL, -- enum run_view
    span   INTEGER NOT NULL, -- from 1
    inputs TEXT NOT NULL,    -- SHA-256 of the ids of its traces, lower-case hex
    bytes  BLOB NOT NULL,    -- packed and compressed
    PRIMARY KEY (run_id, kind, span)
) STRICT;
