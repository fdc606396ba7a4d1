/* The lossless event log of a trace (model/event_log.h): write it while a file is read, read single
 * events, search it, export it as a document.
 *
 * Threads, arenas, errors: as in store.h. Positions are relative to the trace's start. */
#ifndef KS_STORE_STORE_EVENTS_H
#define KS_STORE_STORE_EVENTS_H

#include "ingest/model/event_log.h"
#include "ingest/store/store.h"

/* ---- writing: between store_ingest_begin and the store_ingest_trace that takes it all ----
 *
 * Another thread than that of the other store_ingest_ functions may call the first two, if no two
 * calls for one ingest run at once: each call acquires the writer anew. */

/* Takes the next batch of the trace being read. Collects some megabytes, then writes them in
 * bounded transactions, invisible. */
bool store_ingest_events(struct store_ingest *ingest,
                         const struct event_log *log,
                         const struct event_batch *batch,
                         struct err *err) KS_MUST_USE;
/* Call it after the last batch. */
bool store_ingest_events_end(struct store_ingest *ingest,
                             const struct event_log *log,
                             struct err *err) KS_MUST_USE;
/* Removes events and timeline written since the last store_ingest_trace. Call it when the file, or
 * this archive member, could not be read. */
bool store_ingest_drop_events(struct store_ingest *ingest, struct err *err) KS_MUST_USE;

/* ---- reading ---- */

struct store_event {
    uint32_t event;   /* its number */
    int64_t start_ns; /* 0 without a time stamp */
    int64_t dur_ns;   /* as written; 0 when it has none */
    bool has_start;
    bool has_dur;
    const char *name;     /* decoded; "" when absent or not a string */
    const char *category; /* the same */
    const char *phase;
    const char *pid; /* strings without quotes, other values as written, "" when absent */
    const char *tid;
    const char *json; /* the whole element as one line of JSON, as it was written */
};

/* Reads one event; costs one block. ERR_NOT_FOUND: no such event; ERR_GONE: the trace was stored
 * without events (by a program older than schema 4, or it is not a trace). */
bool store_event_get(struct store_snapshot *snapshot,
                     struct arena *arena,
                     int64_t trace_id,
                     uint32_t event,
                     struct store_event *out,
                     struct err *err) KS_MUST_USE;

/* Reads several events, without `json`: out[i] is events[i]; event numbers ascend. Reads each block
 * once. */
bool store_events_get(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t trace_id,
                      const uint32_t *events,
                      size_t count,
                      struct store_event *out,
                      struct err *err) KS_MUST_USE;

struct store_event_hit {
    struct store_event event; /* without `json` */
    const char *key;          /* where the text was found: "name", or the key of an argument */
};

struct store_event_query {
    const char *q;
    const char *key; /* the one argument that is looked at; needs no escapes; NULL: all */
    int64_t start_ns, end_ns;
    size_t limit, count_max;
};

/* Finds events that contain `q` in their name, category or the value of an argument; ASCII case is
 * ignored. Matches strings decoded, lists and objects as JSON, and numbers only whole, so that a
 * correlation id finds its launch and its kernels. Does not match keys. If several places match,
 * `key` names the name first, then the first argument.
 *
 * Finds only events that overlap [start_ns, end_ns]; events without a start match only INT64_MIN to
 * INT64_MAX. Returns the first `limit` by start (none: last), then number. *total counts all
 * matches up to `count_max`, where the search ends; then it is a lower bound. Skips blocks whose
 * texts and numbers cannot match. ERR_BAD_REQUEST: `q` is longer than 1000 bytes; ERR_NOT_FOUND and
 * ERR_GONE as above. */
bool store_events_search(struct store_snapshot *snapshot,
                         struct arena *arena,
                         int64_t trace_id,
                         const struct store_event_query *query,
                         struct store_event_hit **hits,
                         size_t *count,
                         size_t *total,
                         struct err *err) KS_MUST_USE;

/* ---- export ---- */

struct store_export;

/* Opens the trace as a Chrome trace document: events in file order, numbers as they were written.
 * With a range: metadata (phase M, or no time) and the events that overlap [start_ns, end_ns];
 * INT64_MIN and INT64_MAX export everything. Needs memory for one block and some texts; between
 * calls it holds the file of the events, and no state of the store. ERR_NOT_FOUND, ERR_GONE as
 * above. */
bool store_export_open(struct store_snapshot *snapshot,
                       int64_t trace_id,
                       int64_t start_ns,
                       int64_t end_ns,
                       struct store_export **out,
                       struct err *err) KS_MUST_USE;
/* The next piece, about 256 kB, valid until the next call; *len is 0 at the end. The head of the
 * document, up to the bracket that opens the list of events, is a piece of its own; so is its tail.
 * ERR_NOT_FOUND: the trace was deleted meanwhile. */
bool store_export_next(struct store_export *from, const char **text, size_t *len, struct err *err)
    KS_MUST_USE;
void store_export_close(struct store_export *from); /* NULL is allowed */
/* The events in place of their text, after store_export_next has given the head. The source is
 * valid until the export is closed; store_export_next must not be called again. */
struct event_source store_export_events(struct store_export *from);

#endif
