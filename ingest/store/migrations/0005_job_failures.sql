-- Schema 5: the rank that an upload was handed in with, and what of an archive could not be read.
ALTER TABLE job ADD COLUMN rank INTEGER; -- of the process that wrote the trace, NULL: not told
CREATE TABLE job_failure (
    job_id        INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    member        TEXT NOT NULL,    -- its path in the archive, '' for the archive itself
    error_code    TEXT NOT NULL,    -- stable text of the code
    error_offset  INTEGER,          -- byte in the decompressed member or archive, NULL when no place is known
    error_message TEXT NOT NULL,    -- what the client is told
    PRIMARY KEY (job_id, position)
) STRICT;
