-- The catalogue: runs, jobs, uploads, who may read what.
--
-- A trace is visible when its upload is published. Deleting an upload leaves its traces without one: invisible at once, their rows
-- are then removed in small transactions (catalogue/purge.c). _s: Unix seconds.

PRAGMA application_id = 1263747918; -- 0x4B53434E, "KSCN"

CREATE TABLE run (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    name    TEXT NOT NULL UNIQUE,      -- as the client named it, not percent-encoded
    note    TEXT NOT NULL DEFAULT '',  -- free text of the users
    tags    TEXT NOT NULL DEFAULT '[]', -- JSON array of strings
    project TEXT NOT NULL DEFAULT '', -- whose readers may read it, '': every reader
    pinned  INTEGER NOT NULL DEFAULT 0, -- 1: neither age nor quota removes it
    -- What its visible traces say (runs/run_figures.h):
    newest_upload_id INTEGER NOT NULL DEFAULT 0, -- 0: none is visible, so the run is not
    uploaded_at_s INTEGER NOT NULL DEFAULT 0,    -- of the newest one
    trace_count   INTEGER NOT NULL DEFAULT 0,
    worker_count  INTEGER NOT NULL DEFAULT 0,
    size_bytes    INTEGER NOT NULL DEFAULT 0,    -- of the uploads
    device_types  TEXT,                          -- comma-separated, the one of most traces first
    views         INTEGER NOT NULL DEFAULT 0,    -- bits (1 << enum view) of all
    trace_id      INTEGER NOT NULL DEFAULT 0,    -- whose figures follow, 0: none's
    steps_ns      INTEGER NOT NULL DEFAULT 0,    -- of all steps together
    step_count    INTEGER NOT NULL DEFAULT 0,
    step_times_ns TEXT NOT NULL DEFAULT '[]',    -- JSON array: of the first steps
    device        TEXT,                          -- names of devices at work, comma-separated, NULL: not said
    utilisation   ANY                            -- 0..1, mean of these devices, NULL: unknown
) STRICT;
CREATE INDEX run_newest ON run (newest_upload_id, project, trace_count);
CREATE INDEX run_uploaded_at ON run (uploaded_at_s, newest_upload_id, project);
CREATE INDEX run_traces ON run (trace_count, newest_upload_id, project);
CREATE INDEX run_workers ON run (worker_count, newest_upload_id, project);
CREATE INDEX run_size ON run (size_bytes, newest_upload_id, project);
CREATE INDEX run_name ON run (name, newest_upload_id, project);
CREATE INDEX run_project ON run (project, newest_upload_id);

-- How many visible traces of a run have a worker, a device type, a set of views.
CREATE TABLE run_part (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    kind   INTEGER NOT NULL, -- 0: worker, 1: device type, 2: bits (1 << enum view)
    value  TEXT NOT NULL,
    traces INTEGER NOT NULL,
    PRIMARY KEY (run_id, kind, value)
) STRICT, WITHOUT ROWID;

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
    error_message TEXT,               -- what the client is told
    marker        TEXT, -- function whose calls are the cycles, NULL: they are found
    rank          INTEGER, -- of the process that wrote the trace, NULL: not told
    project       TEXT NOT NULL DEFAULT '', -- of the run, should this job be what makes it
    tags          TEXT NOT NULL DEFAULT '[]', -- JSON array, what the run gets when the job is done; then '[]'
    -- Who does it (store_leases.h):
    node          TEXT NOT NULL DEFAULT '',    -- id of a server, '': nobody, or the one server of an embedded catalogue
    fence         INTEGER NOT NULL DEFAULT 0,  -- grows with every claim
    lease_until_s INTEGER NOT NULL DEFAULT 0,  -- afterwards another may claim it
    attempts      INTEGER NOT NULL DEFAULT 0,  -- begun, but for those that were given back
    twin          TEXT -- bytes, rank and marker as one text: of equal uploads under one name only one is queued; NULL: that does not count
) STRICT;
CREATE UNIQUE INDEX job_twin ON job (run, file_name, twin) WHERE state IN ('queued', 'running');
CREATE INDEX job_unfinished ON job (sha256) WHERE state IN ('queued', 'running');
CREATE INDEX job_crashing ON job (sha256) WHERE attempts >= 3; -- STORE_ATTEMPTS_MAX

CREATE TABLE upload (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    job_id        INTEGER NOT NULL REFERENCES job (id),
    file_name     TEXT NOT NULL,     -- as uploaded
    sha256        TEXT NOT NULL,     -- of the uploaded bytes, lower-case hex
    size_bytes    INTEGER NOT NULL,  -- of the uploaded bytes
    uploaded_at_s INTEGER NOT NULL,  -- when the upload was complete
    published     INTEGER NOT NULL DEFAULT 0, -- 1: its traces are visible
    rules         TEXT NOT NULL DEFAULT '', -- SHA-256 of the --kernel-classes by which it was analysed, '': built-in ones
    analysis_version INTEGER NOT NULL DEFAULT 0 -- of the program that analysed it: see schema/schema.h; -1: its file of results is lost
) STRICT;
CREATE UNIQUE INDEX upload_name ON upload (run_id, file_name) WHERE published = 1;
CREATE INDEX upload_run ON upload (run_id, published, uploaded_at_s, size_bytes);
CREATE INDEX upload_job ON upload (job_id);
CREATE INDEX upload_sha256 ON upload (sha256);

-- What of an archive could not be read.
CREATE TABLE job_failure (
    job_id        INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    member        TEXT NOT NULL,    -- its path in the archive, '' for the archive itself
    error_code    TEXT NOT NULL,    -- stable text of the code
    error_offset  INTEGER,          -- byte in the decompressed member or archive, NULL when no place is known
    error_message TEXT NOT NULL,    -- what the client is told
    PRIMARY KEY (job_id, position)
) STRICT;

-- Traces whose uploads are analysed again (catalogue/takeover.h, catalogue/reanalysis.c). Where the old ones are gone, each gets its id, note and tags back.
CREATE TABLE taken_over (
    job_id      INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    worker      TEXT NOT NULL,
    span_digits TEXT NOT NULL,
    trace_id    INTEGER NOT NULL,
    note        TEXT NOT NULL,
    tags        TEXT NOT NULL,
    PRIMARY KEY (job_id, worker, span_digits)
) STRICT, WITHOUT ROWID;

-- Of an upload with several traces those that were deleted alone: they stay so when it is analysed again.
CREATE TABLE deleted_trace (
    job_id      INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    worker      TEXT NOT NULL,
    span_digits TEXT NOT NULL,
    PRIMARY KEY (job_id, worker, span_digits)
) STRICT, WITHOUT ROWID;

-- What people say of a run: the trace is a plain number (0: the whole run), as its row goes and comes again when it is analysed anew.
CREATE TABLE pinned_note (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id       INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    trace_id     INTEGER NOT NULL,
    kind         INTEGER NOT NULL, -- enum store_note_kind: 0 window, 1 kernel, 2 operator, 3 known regression
    name         TEXT NOT NULL,    -- of the kernel, the operator, the metric; '' for a window
    start_ns     INTEGER NOT NULL, -- of a window, else 0; so the next
    end_ns       INTEGER NOT NULL,
    text         TEXT NOT NULL,
    author       TEXT NOT NULL,    -- name of the token, '' when anonymous
    created_at_s INTEGER NOT NULL
) STRICT;
CREATE INDEX pinned_note_run ON pinned_note (run_id);
CREATE INDEX pinned_note_metric ON pinned_note (name) WHERE kind = 3;

CREATE TABLE token (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    name           TEXT NOT NULL,               -- of a revoked token it may be given anew
    role           TEXT NOT NULL CHECK (role IN ('viewer', 'uploader', 'admin')),
    sha256         TEXT NOT NULL UNIQUE,        -- of the token, lower-case hex; the token itself is nowhere
    projects       TEXT NOT NULL DEFAULT '[]',  -- JSON array of the projects that it may read
    created_at_s   INTEGER NOT NULL,
    revoked_at_s   INTEGER,                     -- NULL: valid
    last_used_at_s INTEGER                      -- to the day, so that reading writes next to nothing; NULL: never
) STRICT;
CREATE UNIQUE INDEX token_name ON token (name) WHERE revoked_at_s IS NULL;
CREATE TABLE session (
    sha256       TEXT PRIMARY KEY,    -- of the cookie's secret, lower-case hex
    token_sha256 TEXT NOT NULL,       -- of the token that logged in, of a file or of the table: with it the session ends
    created_at_s INTEGER NOT NULL,
    expires_at_s INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_expiry ON session (expires_at_s);

-- Whose copy this is (copy/copy.h), until a server has it: one row, or none.
CREATE TABLE copy_state (
    source TEXT PRIMARY KEY,     -- in words: "the directory /var/lib/kinetoscope"
    state  TEXT NOT NULL CHECK (state IN ('copying', 'copied')),
    at_s   INTEGER NOT NULL      -- when it became so
) STRICT, WITHOUT ROWID;

-- Steps that brought this database here (schema/steps.h); the first row is the version that it was made with.
CREATE TABLE schema_step (
    version      INTEGER PRIMARY KEY, -- afterwards
    applied_at_s INTEGER NOT NULL
) STRICT;
