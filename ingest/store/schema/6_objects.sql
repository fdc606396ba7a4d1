-- Uploads that are kept as objects (objects/blob_objects.h): empty where they are files of the data directory.

CREATE TABLE object (
    key        TEXT PRIMARY KEY,            -- in the place of --objects-url; never used again
    state      TEXT NOT NULL CHECK (state IN ('writing', 'live', 'damaged', 'dying', 'deleting')),
    since_s    INTEGER NOT NULL,            -- when the state began
    sha256     TEXT NOT NULL DEFAULT '',    -- of the bytes, lower-case hex; '' while they are written
    size_bytes INTEGER NOT NULL DEFAULT 0,
    tag        TEXT NOT NULL DEFAULT '',    -- what the place calls the bytes (an ETag)
    node       TEXT NOT NULL DEFAULT ''     -- the server that writes it, '' where the catalogue is embedded
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX object_sha256 ON object (sha256) WHERE state IN ('live', 'damaged', 'dying');
CREATE INDEX object_ending ON object (state, since_s) WHERE state IN ('writing', 'dying', 'deleting');
