/* One upload on its way into the store: an unpublished upload row holds its traces until
 * publishing. */
#include "ingest/base/memory/scratch.h"
#include "ingest/base/thread.h"
#include "ingest/store/events/writer.h"
#include "ingest/store/history/points.h"
#include "ingest/store/ingest_log.h"
#include "ingest/store/nodes/leases.h"
#include "ingest/store/results/ingest_rows.h"
#include "ingest/store/results/swap.h"
#include "ingest/store/runs/run_figures.h"
#include "ingest/store/runs/run_tags.h"
#include "ingest/store/schema/schema.h"
#include "ingest/store/store_events.h"
#include "ingest/store/timeline/rows.h"

#include <stdlib.h>
#include <string.h>

/* Of events, what is collected before it is written. */
#define PENDING_BYTES ((size_t)2 << 20)

/* A trace whose rows and file are whole, and wait for the publication. */
struct written_trace {
    int64_t id;
    struct results_file *file;
};

struct store_ingest {
    struct store *store;
    struct store_ingest_owner owner; /* `await` NULL: the job is known */
    int64_t job_id;                  /* 0: not known yet */
    int64_t fence;                   /* of the claim by which the upload was begun */
    int64_t upload_id;               /* 0: there is no row of it yet */
    struct results_file *file; /* of the trace that is being read; NULL: nothing of it came yet */
    struct written_trace *written;
    size_t written_count;
    size_t written_capacity;
    int64_t trace_id;            /* whose tables came before the rest; 0: none */
    struct event_writer *events; /* NULL: none came yet */
    struct timeline_rows *timeline;
    struct thread_helper sealer; /* of files, while rows of the catalogue are written */
    struct results_file *sealing;
    bool syncs; /* the file that is being sealed */
};

static bool insert_upload(struct store_ingest *ingest, struct err *err)
{
    struct db *db = ingest->store->writer;
    struct db_stmt st;
    ingest->fence = lease_fence(ingest->store, ingest->job_id);
    db_prepare(&st, db,
               "INSERT INTO run (name, project) SELECT run, project FROM job WHERE id = ?"
               " ON CONFLICT DO NOTHING");
    db_put_int(&st, ingest->job_id);
    if (!db_run(&st, err)) {
        return false;
    }
    db_prepare(&st, db,
               "INSERT INTO upload (run_id, job_id, file_name, sha256, size_bytes, uploaded_at_s,"
               " rules, analysis_version) SELECT r.id, j.id, j.file_name, j.sha256, j.size_bytes,"
               " j.received_at_s, ?, ?"
               " FROM job AS j JOIN run AS r ON r.name = j.run"
               " WHERE j.id = ? AND j.state IN ('queued', 'running')" LEASE_IS_OURS
               " RETURNING id");
    db_put_text(&st, ingest->store->rules);
    db_put_int(&st, ANALYSIS_VERSION);
    db_put_int(&st, ingest->job_id);
    db_put_text(&st, ingest->store->node);
    db_put_int(&st, ingest->fence);
    return db_run_returning(&st, &ingest->upload_id, err) &&
           (ingest->upload_id != 0 || err_set(err, ERR_NOT_FOUND, "there is no unfinished job %lld",
                                              (long long)ingest->job_id));
}

static bool seal(void *context, struct err *err)
{
    struct store_ingest *ingest = context;
    return results_file_seal(ingest->sealing, err) &&
           (!ingest->syncs || results_files_sync(&ingest->sealing, 1, err));
}

static struct store_ingest *new_ingest(struct store *store, struct err *err)
{
    struct store_ingest *ingest = calloc(1, sizeof *ingest);
    if (ingest == NULL) {
        (void)err_set(err, ERR_NO_MEMORY, "no memory to store a trace");
        return NULL;
    }
    ingest->store = store;
    thread_helper_init(&ingest->sealer, seal, ingest);
    return ingest;
}

bool store_ingest_begin(struct store *store,
                        int64_t job_id,
                        struct store_ingest **out,
                        struct err *err)
{
    struct store_ingest *ingest = new_ingest(store, err);
    if (ingest == NULL) {
        return false;
    }
    ingest->job_id = job_id;
    *out = ingest;
    return true;
}

bool store_ingest_begin_streaming(struct store *store,
                                  const struct store_ingest_owner *owner,
                                  struct store_ingest **out,
                                  struct err *err)
{
    *out = new_ingest(store, err);
    if (*out == NULL) {
        return false;
    }
    (*out)->owner = *owner;
    return true;
}

/* To be called before a row is written, outside of transactions. */
static bool await_job(struct store_ingest *ingest, struct err *err)
{
    return ingest->job_id != 0 || ingest->owner.await(ingest->owner.context, &ingest->job_id, err);
}

/* ---- the log of the trace that is being read ---- */

struct store *ingest_log_store(struct store_ingest *ingest)
{
    return ingest->store;
}

struct store_ingest *ingest_log_of_timeline(struct store *store, struct err *err)
{
    struct store_ingest *ingest = new_ingest(store, err);
    if (ingest != NULL && !results_file_create(store, &ingest->file, err)) {
        free(ingest);
        return NULL;
    }
    return ingest;
}

struct results_file *ingest_log_take(struct store_ingest *ingest)
{
    struct results_file *file = ingest->file;
    ingest->file = NULL;
    return file;
}

struct timeline_rows **ingest_log_timeline(struct store_ingest *ingest)
{
    return &ingest->timeline;
}

bool ingest_log_open(struct store_ingest *ingest, struct results_file **file, struct err *err)
{
    if (ingest->file == NULL && !results_file_create(ingest->store, &ingest->file, err)) {
        return false;
    }
    *file = ingest->file;
    return true;
}

static void end_events(struct store_ingest *ingest)
{
    event_writer_destroy(ingest->events);
    ingest->events = NULL;
}

/* Its rows may be on their way. */
static void end_timeline(struct store_ingest *ingest)
{
    timeline_rows_free(ingest->timeline);
    ingest->timeline = NULL;
}

static bool begin_events(struct store_ingest *ingest, struct err *err)
{
    if (ingest->events == NULL) {
        ingest->events = event_writer_create();
    }
    return ingest->events != NULL || err_set(err, ERR_NO_MEMORY, "no memory to store events");
}

bool store_ingest_events(struct store_ingest *ingest,
                         const struct event_log *log,
                         const struct event_batch *batch,
                         struct err *err)
{
    struct results_file *file;
    if (!begin_events(ingest, err) || !event_writer_add(ingest->events, log, batch, err)) {
        return false;
    }
    bool is_enough = event_writer_pending_bytes(ingest->events) >= PENDING_BYTES;
    return !is_enough || (ingest_log_open(ingest, &file, err) &&
                          event_writer_flush(ingest->events, file, log, err));
}

bool store_ingest_events_end(struct store_ingest *ingest,
                             const struct event_log *log,
                             struct err *err)
{
    struct results_file *file;
    bool ok = begin_events(ingest, err) && ingest_log_open(ingest, &file, err) &&
              event_writer_end(ingest->events, file, log, err);
    end_events(ingest);
    return ok;
}

bool store_ingest_drop_events(struct store_ingest *ingest, struct err *err)
{
    struct store *store = ingest->store;
    int64_t trace_id = ingest->trace_id;
    struct err ignored = ERR_INIT;
    end_events(ingest);
    end_timeline(ingest);
    (void)!thread_helper_wait(&ingest->sealer, &ignored);
    results_file_discard(ingest_log_take(ingest));
    ingest->trace_id = 0;
    if (trace_id == 0) {
        return true;
    }
    /* Without its upload it is to be purged. */
    return store_write_begin(store, STORE_BATCH, err) &&
           store_write_end(store,
                           db_run_id(store->writer,
                                     "UPDATE trace SET upload_id = NULL WHERE id = ?", trace_id,
                                     err),
                           err) &&
           store_purge(store, err);
}

/* ---- traces ---- */

/* With the row of the upload, if this is its first trace. */
static bool insert_trace(struct store_ingest *ingest,
                         struct trace_place *place,
                         const struct trace_results *results,
                         struct err *err)
{
    struct store *store = ingest->store;
    int64_t had_upload_id = ingest->upload_id;
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    bool ok = had_upload_id != 0 || insert_upload(ingest, err);
    place->upload_id = ingest->upload_id;
    ok = ok && ingest_rows_trace(store, place, results, &ingest->trace_id, err);
    if (!store_write_end(store, ok, err)) {
        ingest->upload_id = had_upload_id;
        ingest->trace_id = 0;
        return false;
    }
    return ingest_rows_comparison(store, ingest->trace_id, results, err);
}

/* Nothing more comes into the file. The first one of an upload, mostly the only one, is made
 * durable at once, the others together. */
static bool begin_sealing(struct store_ingest *ingest, struct err *err)
{
    struct err ignored = ERR_INIT;
    (void)!thread_helper_wait(&ingest->sealer, &ignored);
    ingest->sealing = ingest->file;
    ingest->syncs = ingest->written_count == 0 && ingest->store->objects == NULL;
    return thread_helper_give(&ingest->sealer, err);
}

static bool write_tables(struct store_ingest *ingest,
                         bool is_whole,
                         const char *worker,
                         const char *span_digits,
                         const char *format,
                         const struct trace_results *results,
                         struct err *err)
{
    struct results_file *file;
    struct trace_place place = {.has_events = ingest->file != NULL,
                                .worker = worker,
                                .span_digits = span_digits,
                                .format = format};
    return ingest_log_open(ingest, &file, err) && ingest_rows_write(file, results, err) &&
           (!is_whole || begin_sealing(ingest, err)) && insert_trace(ingest, &place, results, err);
}

bool store_ingest_tables(struct store_ingest *ingest,
                         const char *worker,
                         const char *span_digits,
                         const char *format,
                         const struct trace_results *results,
                         struct err *err)
{
    return ingest->file == NULL ||
           (await_job(ingest, err) &&
            write_tables(ingest, false, worker, span_digits, format, results, err));
}

static bool add_written(struct store_ingest *ingest, int64_t trace_id, struct err *err)
{
    struct written_trace *grown = scratch_grow(ingest->written, ingest->written_count,
                                               &ingest->written_capacity, sizeof *grown);
    if (grown == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store a trace");
    }
    ingest->written = grown;
    ingest->written[ingest->written_count++] =
        (struct written_trace){trace_id, ingest_log_take(ingest)};
    return true;
}

bool store_ingest_trace(struct store_ingest *ingest,
                        const char *worker,
                        const char *span_digits,
                        const char *format,
                        const struct trace_results *results,
                        struct err *err)
{
    bool has_tables = ingest->trace_id != 0;
    /* The next events are those of the next trace. */
    end_events(ingest);
    end_timeline(ingest);
    if (!await_job(ingest, err) ||
        !(has_tables ? ingest_rows_warnings(ingest->store, ingest->trace_id, results, err) &&
                           begin_sealing(ingest, err)
                     : write_tables(ingest, true, worker, span_digits, format, results, err))) {
        return false;
    }
    int64_t trace_id = ingest->trace_id;
    ingest->trace_id = 0;
    return add_written(ingest, trace_id, err);
}

/* ---- publishing ---- */

/* An upload that is visible under the same run and name. */
struct rival {
    int64_t upload_id; /* 0: none */
    int64_t job_id;
    bool same_bytes;
    bool may_replace; /* the job being published was told to replace it */
    int64_t version;  /* of the analyses */
    char sha256_hex[SHA256_HEX_BYTES];
};

static bool find_rival(struct store_ingest *ingest, struct rival *rival, struct err *err)
{
    struct db_stmt st;
    size_t len;
    db_prepare(
        &st, ingest->store->writer,
        "SELECT o.id, o.job_id, o.sha256 = u.sha256, j.replace, o.analysis_version, o.sha256"
        " FROM upload AS u JOIN job AS j ON j.id = u.job_id"
        " JOIN upload AS o ON o.run_id = u.run_id AND o.file_name = u.file_name AND o.published = 1"
        " WHERE u.id = ?");
    db_put_int(&st, ingest->upload_id);
    if (db_next(&st)) {
        rival->upload_id = db_get_int(&st);
        rival->job_id = db_get_int(&st);
        rival->same_bytes = db_get_bool(&st);
        rival->may_replace = db_get_bool(&st);
        rival->version = db_get_int(&st);
        const char *sha256_hex = db_peek_text(&st, &len);
        if (sha256_hex != NULL && len < sizeof rival->sha256_hex) {
            memcpy(rival->sha256_hex, sha256_hex, len + 1);
        }
    }
    return db_done(&st, err);
}

static bool replace_rival(struct store_ingest *ingest, const struct rival *rival, struct err *err)
{
    if (rival->upload_id == 0) {
        return true;
    }
    if (rival->job_id > ingest->job_id) {
        return err_set(err, ERR_CONFLICT, "a later upload has taken the name of this one");
    }
    if (!rival->same_bytes && !rival->may_replace) {
        return err_set(
            err, ERR_CONFLICT,
            "other content is there under this name; upload with ?replace=1 to replace it");
    }
    struct db *db = ingest->store->writer;
    bool is_again = rival->job_id == ingest->job_id;
    if (is_again && rival->version > ANALYSIS_VERSION) {
        return err_set(err, ERR_CONFLICT,
                       "a newer program has analysed this upload, whose results stay");
    }
    return run_figures_count(db, rival->upload_id, 0, RUN_TRACES_GO, err) &&
           (!is_again || swap_traces(db, rival->upload_id, ingest->upload_id, err)) &&
           db_run_id(db, "DELETE FROM upload WHERE id = ?", rival->upload_id, err);
}

static bool find_run(struct store_ingest *ingest, int64_t *run_id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, ingest->store->writer, "SELECT run_id FROM upload WHERE id = ?");
    db_put_int(&st, ingest->upload_id);
    *run_id = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

static bool renew_run(struct store_ingest *ingest, struct err *err)
{
    struct db *db = ingest->store->writer;
    int64_t run_id;
    return find_run(ingest, &run_id, err) &&
           run_figures_count(db, ingest->upload_id, 0, RUN_TRACES_COME, err) &&
           run_figures_renew(db, run_id, err) && run_tags_settle(db, ingest->job_id, run_id, err) &&
           series_points_refresh(db, run_id, err);
}

static bool publish_files(struct store_ingest *ingest, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < ingest->written_count; i++) {
        ok = results_file_publish(ingest->written[i].file, ingest->written[i].id, RESULTS_EVENTS,
                                  err);
    }
    return ok;
}

static bool sync_files(const struct store_ingest *ingest, struct err *err)
{
    struct results_file **files = calloc(ingest->written_count + 1, sizeof(struct results_file *));
    if (files == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store a trace");
    }
    for (size_t i = 0; i < ingest->written_count; i++) {
        files[i] = ingest->written[i].file;
    }
    bool ok = results_files_sync(files, ingest->written_count, err);
    free(files);
    return ok;
}

static bool publish_rows(struct store_ingest *ingest, struct rival *rival, struct err *err)
{
    struct db *db = ingest->store->writer;
    if (!publish_files(ingest, err) || !find_rival(ingest, rival, err) ||
        !replace_rival(ingest, rival, err) ||
        !db_run_id(db,
                   "UPDATE upload SET published = 1,"
                   " uploaded_at_s = (SELECT received_at_s FROM job WHERE id = job_id)"
                   " WHERE id = ?1 AND EXISTS (SELECT 1 FROM trace WHERE upload_id = ?1)",
                   ingest->upload_id, err)) {
        return false;
    }
    if (db_changes(db) != 1) {
        return err_set(err, ERR_INTERNAL, "an upload without a trace cannot be published");
    }
    const struct lease lease = {ingest->job_id, ingest->fence};
    bool done = false;
    if (!lease_end(db, ingest->store->node, &lease, &done, err)) {
        return false;
    }
    if (!done) {
        return err_set(
            err, ERR_INTERNAL,
            "an upload that is not on disk, that another server has, or that was deleted "
            "while it was analysed again, cannot be published");
    }
    return db_run_id(db, "DELETE FROM taken_over WHERE job_id = ?", ingest->job_id, err) &&
           db_run_id(db,
                     "UPDATE trace SET (listed_at_s, listed_bytes) = (SELECT uploaded_at_s,"
                     " size_bytes FROM upload WHERE id = ?1) WHERE upload_id = ?1"
                     " AND derived_of IS NULL",
                     ingest->upload_id, err) &&
           swap_leave_deleted(db, ingest->upload_id, err) && renew_run(ingest, err);
}

static void free_ingest(struct store_ingest *ingest)
{
    thread_helper_end(&ingest->sealer);
    end_events(ingest);
    end_timeline(ingest);
    results_file_discard(ingest->file);
    for (size_t i = 0; i < ingest->written_count; i++) {
        results_file_discard(ingest->written[i].file);
    }
    scratch_free(ingest->written);
    free(ingest);
}

bool store_ingest_publish(struct store_ingest *ingest, struct err *err)
{
    struct store *store = ingest->store;
    struct rival rival = {0};
    bool ok = thread_helper_wait(&ingest->sealer, err) && sync_files(ingest, err) &&
              store_write_begin(store, STORE_DURABLE, err);
    ok = ok && store_write_end(
                   store, lease_is_fresh(store, err) && publish_rows(ingest, &rival, err), err);
    if (!ok) {
        store_ingest_abort(ingest);
        return false;
    }
    for (size_t i = 0; i < ingest->written_count; i++) {
        results_file_keep(ingest->written[i].file);
    }
    ingest->written_count = 0;
    free_ingest(ingest);
    /* The upload is visible; what it replaced is not any more and goes now or at the next start. */
    struct err second = ERR_INIT;
    bool replaced = rival.upload_id != 0;
    if (replaced &&
        !(store_blob_drop(store, rival.sha256_hex, &second) && store_purge(store, &second))) {
        log_write(store->log, LOG_WARN, "a replaced upload stays until the next start: %s",
                  second.msg);
    }
    return true;
}

/* ---- giving up ---- */

static bool remove_upload(struct store_ingest *ingest, struct err *err)
{
    struct store *store = ingest->store;
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    int64_t run_id;
    bool ok = find_run(ingest, &run_id, err) &&
              db_run_id(store->writer, "DELETE FROM upload WHERE id = ?", ingest->upload_id, err) &&
              db_run_id(store->writer, STORE_DELETE_RUN_IF_EMPTY, run_id, err);
    return store_write_end(store, ok, err) && store_purge(store, err);
}

void store_ingest_abort(struct store_ingest *ingest)
{
    if (ingest == NULL) {
        return;
    }
    struct err err = ERR_INIT;
    if (ingest->upload_id != 0 && !remove_upload(ingest, &err)) {
        log_write(ingest->store->log, LOG_WARN,
                  "an upload that was given up stays until the next start: %s", err.msg);
    }
    free_ingest(ingest);
}
