-- A file with the events of one trace and its timeline, or with a timeline that was made later. It is written once, before there is
-- a row of its trace, and never changed (store/results_files.h). log_id is 1: a file has one log.

PRAGMA user_version = 1; -- RESULTS_VERSION of schema/schema.h

CREATE TABLE event_log (
    id          INTEGER PRIMARY KEY,
    event_count INTEGER NOT NULL DEFAULT 0,
    text_count  INTEGER NOT NULL DEFAULT 0,
    templates   BLOB, -- packed (store/codec/column_codec.h); NULL: a timeline alone
    head        BLOB  -- packed: members of the document beside the events
) STRICT;
INSERT INTO event_log (id) VALUES (1);

-- Events in file order, some thousands a row.
CREATE TABLE event_block (
    log_id       INTEGER NOT NULL,
    first_event  INTEGER NOT NULL,
    event_count  INTEGER NOT NULL,
    min_start_ns INTEGER NOT NULL, -- as the file gives times, without the base time; of no event:
    max_end_ns   INTEGER NOT NULL, -- the largest and the smallest number
    has_metadata INTEGER NOT NULL, -- 1: with events of phase M or without a time, which belong to every range
    texts        BLOB NOT NULL,    -- packed: ids of the texts in it, and the ranges of its numbers
    bytes        BLOB NOT NULL,    -- packed columns
    PRIMARY KEY (log_id, first_event)
) STRICT;

-- Values that are texts, some thousands a row, by id.
CREATE TABLE event_text (
    log_id   INTEGER NOT NULL,
    first_id INTEGER NOT NULL,
    bytes    BLOB NOT NULL, -- packed
    PRIMARY KEY (log_id, first_id)
) STRICT;

-- Parts of a level of the timeline, sorted by track and start (model/timeline.h).
CREATE TABLE timeline_block (
    log_id         INTEGER NOT NULL,
    kind           TEXT NOT NULL, -- "slices", "points", "flows", "flows_by_target"
    level          INTEGER NOT NULL, -- 0 for flows
    position       INTEGER NOT NULL,
    first_track    INTEGER NOT NULL, -- of flows: the first and the last event of the block's first column
    last_track     INTEGER NOT NULL,
    first_start_ns INTEGER NOT NULL, -- smallest start and largest end of its items; 0 for flows
    max_end_ns     INTEGER NOT NULL,
    bytes          BLOB NOT NULL, -- packed columns
    PRIMARY KEY (log_id, kind, level, position)
) STRICT;
-- What a window of a track needs is found here, without a look into the blocks, in the order of their positions.
CREATE INDEX timeline_block_place
    ON timeline_block (log_id, kind, level, first_track, last_track, first_start_ns, position, max_end_ns);

-- Tracks and levels in the first row, labels in the following ones, by their first id.
CREATE TABLE timeline (
    log_id      INTEGER NOT NULL,
    kind        TEXT NOT NULL, -- "tracks", "labels"
    first_id    INTEGER NOT NULL,
    label_count INTEGER NOT NULL, -- of this row
    bytes       BLOB NOT NULL,
    PRIMARY KEY (log_id, kind, first_id)
) STRICT;
