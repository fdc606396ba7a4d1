-- Schema 3: what the views of memory, modules, call trees and collectives are answered from.

ALTER TABLE trace ADD COLUMN device_property_count INTEGER NOT NULL DEFAULT 0; -- entries of deviceProperties
ALTER TABLE trace ADD COLUMN collective_count INTEGER NOT NULL DEFAULT 0;   -- by our rule
ALTER TABLE trace ADD COLUMN communication_rule INTEGER NOT NULL DEFAULT 0; -- 0 the plugin's, 1 ours

ALTER TABLE trace ADD COLUMN events_offset INTEGER NOT NULL DEFAULT -1; -- byte behind the [ of the events
ALTER TABLE trace ADD COLUMN events_end_offset INTEGER NOT NULL DEFAULT -1; -- and at their ], in the text

-- Columns that are read whole, packed and compressed (store/codec/pack.h): call trees, memory records,
-- collectives. With row ids: they can be megabytes long.
CREATE TABLE block (
    trace_id INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL, -- "call_tree", "memory_log", "comm_log", "comm_log_ours", "gpu_counters"
    bytes    BLOB NOT NULL,
    PRIMARY KEY (trace_id, kind)
) STRICT;

CREATE TABLE module (
    trace_id     INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL, -- parents stand before their children
    name_id      INTEGER,
    module_id    INTEGER NOT NULL, -- Python's number of the module object
    parent       INTEGER NOT NULL, -- position, -1 at the top
    occurrences  INTEGER NOT NULL,
    operators    INTEGER NOT NULL, -- real operators directly below
    host_total   INTEGER NOT NULL, -- times in ticks of the trace
    host_self    INTEGER NOT NULL,
    device_total INTEGER NOT NULL,
    device_self  INTEGER NOT NULL,
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

-- Devices that did work and that the trace's properties know.
CREATE TABLE gpu (
    trace_id      INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    id            INTEGER NOT NULL, -- process number of its events
    name          TEXT,
    memory_bytes  INTEGER NOT NULL,
    compute_major INTEGER NOT NULL, -- compute capability
    compute_minor INTEGER NOT NULL,
    has           INTEGER NOT NULL, -- bits DEVICE_SUM_HAS_*
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;
