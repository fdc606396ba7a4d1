/* The lossless log of a trace's events in the store (model/event_log.h): written while a file is
 * read, asked event by event, searched, or given back as a document.
 *
 * Threads, arenas, errors: as in store.h. Positions are relative to the trace's start. */
#ifndef KS_STORE_STORE_EVENTS_H
#define KS_STORE_STORE_EVENTS_H

#include "ingest/model/event_log.h"
#include "ingest/store/store.h"

/* ---- writing: between store_ingest_begin and the store_ingest_trace that takes it all ----
 *
 * Another thread than that of the other store_ingest_ functions may call the first two, if no two
 * calls for one ingest run at a time: the store asks for its writer at each of them anew. */

/* The next batch of the trace that is being read. Some megabytes are collected, then written in
 * bounded transactions, invisible. */
bool store_ingest_events(struct store_ingest *ingest,
                         const struct event_log *log,
                         const struct event_batch *batch,
                         struct err *err) KS_MUST_USE;
/* Behind the last batch. */
bool store_ingest_events_end(struct store_ingest *ingest,
                             const struct event_log *log,
                             struct err *err) KS_MUST_USE;
/* Removes what was written since the last store_ingest_trace, events and timeline: the file, or
 * this member of it, could not be read. */
bool store_ingest_drop_events(struct store_ingest *ingest, struct err *err) KS_MUST_USE;

/* ---- asking ---- */

struct store_event {
    uint32_t event;   /* its number */
    int64_t start_ns; /* 0 without a time stamp */
    int64_t dur_ns;   /* as written; 0 when it has none */
    bool has_start;
    bool has_dur;
    const char *name;     /* decoded, "" when there is none or it is no string */
    const char *category; /* the same */
    const char *phase;
    const char *pid; /* strings without quotes, other values as written, "" when absent */
    const char *tid;
    const char *json; /* the whole element as one line of JSON, as it was written */
};

/* ERR_NOT_FOUND: no such event; ERR_GONE: the trace was stored without its events (by a program
 * older than schema 4, or it is no trace). Costs the reading of one block. */
bool store_event_get(struct store *store,
                     struct arena *arena,
                     int64_t trace_id,
                     uint32_t event,
                     struct store_event *out,
                     struct err *err) KS_MUST_USE;

/* Several at once, without `json`: out[i] is events[i], which ascend. A block is read once,
 * whatever number of them it has. */
bool store_events_get(struct store *store,
                      struct arena *arena,
                      int64_t trace_id,
                      const uint32_t *events,
                      size_t count,
                      struct store_event *out,
                      struct err *err) KS_MUST_USE;

struct store_event_hit {
    struct store_event event; /* without `json` */
    const char *key;          /* in which the text was found: "name", or that of an argument */
};

/* Events that have `q` in their name, category or in a value of their arguments (without regard to
 * ASCII case). Strings are matched decoded, lists and objects on their JSON; numbers by their whole
 * text, so that a correlation id finds its launch and kernels. Keys are not matched; of several
 * places the name counts, then the first one. Only those that overlap [start_ns, end_ns]; what has
 * no start is found only from INT64_MIN to INT64_MAX. The first `limit` by start (none: last), then
 * number; *total counts all, up to `count_max`: there the search ends and *total is a lower bound.
 * Blocks whose texts and numbers cannot match are not read. ERR_BAD_REQUEST: `q` has more than 1000
 * bytes; ERR_NOT_FOUND and ERR_GONE as above. */
bool store_events_search(struct store *store,
                         struct arena *arena,
                         int64_t trace_id,
                         const char *q,
                         int64_t start_ns,
                         int64_t end_ns,
                         size_t limit,
                         size_t count_max,
                         struct store_event_hit **hits,
                         size_t *count,
                         size_t *total,
                         struct err *err) KS_MUST_USE;

/* ---- giving back ---- */

struct store_export;

/* The trace as a clean Chrome trace document, events in file order, every number as it was written.
 * With a range: metadata (of phase M or without a time), and the events that overlap [start_ns,
 * end_ns]; INT64_MIN and INT64_MAX give everything. Memory: one block and some texts. No connection
 * is held between calls. ERR_NOT_FOUND, ERR_GONE as above. */
bool store_export_open(struct store *store,
                       int64_t trace_id,
                       int64_t start_ns,
                       int64_t end_ns,
                       struct store_export **out,
                       struct err *err) KS_MUST_USE;
/* The next piece, some 256 kB, valid until the next call; *len 0 at the end. ERR_NOT_FOUND: the
 * trace was removed meanwhile. What stands before the events, down to the bracket that opens their
 * list, is a piece of its own; so is what stands behind them. */
bool store_export_next(struct store_export *from, const char **text, size_t *len, struct err *err)
    KS_MUST_USE;
void store_export_close(struct store_export *from); /* NULL is allowed */

#endif
