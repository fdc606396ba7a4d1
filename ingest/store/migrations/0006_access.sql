-- Schema 6: who may read what, and what is kept.
ALTER TABLE run ADD COLUMN project TEXT NOT NULL DEFAULT '';  -- whose readers may read it, '': every reader
ALTER TABLE run ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0; -- 1: neither age nor quota removes it
ALTER TABLE job ADD COLUMN project TEXT NOT NULL DEFAULT '';  -- of the run, should this job be what makes it
ALTER TABLE compared_trace ADD COLUMN project TEXT NOT NULL DEFAULT ''; -- of its run; the last one when it is gone
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
