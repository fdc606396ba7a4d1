-- The servers that share a catalogue (store_nodes.h): empty where it is embedded.

CREATE TABLE node (
    id           TEXT PRIMARY KEY,            -- of its data directory
    name         TEXT NOT NULL,
    address      TEXT NOT NULL,               -- under which the others reach it, '': not told
    version      TEXT NOT NULL,               -- of its program
    started_at_s INTEGER NOT NULL,
    seen_at_s    INTEGER NOT NULL,            -- its last heartbeat
    draining     INTEGER NOT NULL DEFAULT 0   -- 1: it takes nothing new
) STRICT, WITHOUT ROWID;

-- Wrong tokens by address of the client, which these servers count together (access/wrong_tokens.c).
CREATE TABLE wrong_token (
    address       TEXT PRIMARY KEY,
    forgiven_at_s INTEGER NOT NULL            -- each puts it off by a second
) STRICT, WITHOUT ROWID;

-- What one of them does for all.
CREATE TABLE duty (
    name          TEXT PRIMARY KEY,
    node          TEXT NOT NULL,
    lease_until_s INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
