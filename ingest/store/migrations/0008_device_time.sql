-- Schema 8: how long all device work of a trace took, whoever launched it. Traces stored before do not say.
ALTER TABLE trace ADD COLUMN device_ns INTEGER NOT NULL DEFAULT -1;
