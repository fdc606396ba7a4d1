-- What lists and quotas would have to count: kept by triggers of the tables that it counts (schema/sums.h).

CREATE TABLE kept_sum (
    kind       TEXT NOT NULL,    -- the table: run (visible ones), object (live ones), results_file (those in results/)
    project    TEXT NOT NULL,    -- of the runs; '' of what has none
    part       INTEGER NOT NULL, -- on a server those who write at once have a row each: only all together are the sum
    items      INTEGER NOT NULL, -- rows
    traces     INTEGER NOT NULL, -- of the runs
    size_bytes INTEGER NOT NULL, -- of the uploads of the runs, of the objects, of the files
    PRIMARY KEY (kind, project, part)
) STRICT, WITHOUT ROWID;
