/* Reads of tests: each in a snapshot of its own, so that it sees what was written just before. */
#ifndef KS_TESTS_UNIT_INGEST_STORE_READ_H
#define KS_TESTS_UNIT_INGEST_STORE_READ_H

#include "ingest/store/store.h"

static _Thread_local struct store_snapshot read_snapshot;

static inline struct store_snapshot *read_begin(struct store *store)
{
    store_snapshot_init(&read_snapshot, store);
    return &read_snapshot;
}

static inline bool read_end(bool ok)
{
    store_snapshot_close(&read_snapshot);
    return ok;
}

/* Calls a function that reads through a snapshot: READ(store, store_trace_check, id, &err). */
#define READ(store, read, ...) read_end(read(read_begin(store), __VA_ARGS__))

#endif
