/* The store: uploads as files under their SHA-256, events and timelines in a file a trace,
 * everything else in one SQLite database (WAL). All access goes through this header, so that a
 * second engine can implement it.
 *
 * Threads: call every function from any thread. One writer connection stands behind a lock. What a
 * request reads it reads through one snapshot (struct store_snapshot); other readers see the state
 * at the start of their call. Reading functions allocate rows
 * and texts in the caller's arena (one arena per request). Every function may fail with ERR_STORE,
 * ERR_NO_MEMORY, ERR_NO_SPACE or ERR_NOT_FOUND; comments name only further errors.
 *
 * Layout of the data directory: kinetoscope.db (+ -wal, -shm), raw/<2 hex>/<62 hex>,
 * results/<2 hex>/<30 hex>.db (results_files.h), incoming/ (what is not finished; emptied at
 * start), lock (held while a process has the store open). */
#ifndef KS_STORE_STORE_H
#define KS_STORE_STORE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/log.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/sha256.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* Opens or creates the store, brings the database of an older version up to date, and removes what
 * was never published. Refuses, with an error that says why, a database newer than this program and
 * a data directory that another process uses. */
bool store_open(struct store **out, const char *data_dir, const struct log *log, struct err *err)
    KS_MUST_USE;
/* Uploads as objects in a folder or a bucket (objects/objects.h). */
struct store_objects {
    const char *url;
    uint64_t cache_bytes; /* of uploads that are kept in raw/ as well */
};
struct store_place {
    const char *data_dir;
    /* postgresql://… of the catalogue, which servers with objects share; without, one has it,
     * always with this data_dir: ERR_CONFLICT otherwise. NULL: it is embedded in data_dir. */
    const char *database_url;
    /* What the other servers call this one, and where they reach it (store_nodes.h). NULL: by the
     * name of the machine; nowhere. */
    const char *node_name, *node_address;
    /* NULL: uploads are kept in raw/; ERR_BAD_REQUEST if some are objects already, which store_open
     * does not mind: it is for callers that need no uploads. */
    const struct store_objects *objects;
};
/* As store_open. Uploads are sent to the objects while they arrive, and raw/ is a cache. */
bool store_open_at(struct store **out,
                   const struct store_place *place,
                   const struct log *log,
                   struct err *err) KS_MUST_USE;
void store_close(struct store *store); /* NULL is allowed */
bool store_is_on_server(const struct store *store);
/* On a server, with objects: other servers may join. */
bool store_is_shared(const struct store *store);
/* Runs a cheap query (for /readyz). False when the database does not answer now. */
bool store_ready(struct store *store, struct err *err) KS_MUST_USE;
/* False, with ERR_UNAVAILABLE and the cause, while the objects do not answer: then uploads are
 * refused, and of the rest only what needs an upload's bytes. Asks nobody. */
bool store_objects_ready(struct store *store, struct err *err) KS_MUST_USE;
/* Syncs everything that earlier calls wrote. True: all of it is on disk. */
bool store_sync(struct store *store, struct err *err) KS_MUST_USE;
/* Checkpoints the write-ahead log when it is long; others read and write meanwhile. Call it from a
 * thread that nobody waits for: commits checkpoint only a very long log. */
void store_checkpoint(struct store *store);
/* A version of everything visible except jobs and tokens. It grows before the call that makes a
 * change returns. Read it before reading data: as long as it is the same, the data still hold. */
uint64_t store_version(struct store *store);
/* Bytes of the database, files of traces among it, and of the uploads. */
bool store_size(struct store *store, uint64_t *database_bytes, uint64_t *raw_bytes, struct err *err)
    KS_MUST_USE;

/* ---- snapshots ---- */

struct db;

#define RESULTS_KEY_BYTES 33 /* 32 hex digits and a NUL */
#define STORE_SNAPSHOT_FILES 4

/* One state of the store, for all that one request reads. The first read opens it, and it holds a
 * connection until it is closed: close it before waiting for others, above all for a client. For
 * one thread at a time. */
struct store_snapshot {
    struct store *store;
    struct db *db; /* NULL: not open */
    /* Files of traces that were read from (results_files.h), the last few. */
    struct store_snapshot_file {
        char key[RESULTS_KEY_BYTES];
        struct db *db; /* NULL: none */
    } files[STORE_SNAPSHOT_FILES];
    unsigned next_file;
    int64_t away_ms;       /* see store_snapshot_may_be_old */
    int64_t closed_age_ms; /* of what was read before it was closed */
};
void store_snapshot_init(struct store_snapshot *snapshot, struct store *store);
/* The next read opens it anew, and sees what was written meanwhile. */
void store_snapshot_close(struct store_snapshot *snapshot);
/* For an answer that may be old: while a database on a server is away, for five minutes, it sees
 * what such snapshots have seen lately (db_begin_recent), and ERR_UNAVAILABLE for the rest. */
void store_snapshot_may_be_old(struct store_snapshot *snapshot);
/* How old what it has seen is; -1: it is the present. */
int64_t store_snapshot_age_ms(const struct store_snapshot *snapshot);
/* Whether a database on a server was missed and not found again. Asks nobody. */
bool store_is_away(const struct store *store);
/* Whether that was so long ago that nobody waits for it any more. */
bool store_is_given_up(const struct store *store);
/* Snapshots opened since store_open. */
uint64_t store_snapshots_opened(const struct store *store);

struct store_disk {
    uint64_t wal_bytes;               /* the write-ahead log, a part of the database files */
    uint64_t free_bytes, total_bytes; /* of the file system */
};
bool store_disk(struct store *store, struct store_disk *out, struct err *err) KS_MUST_USE;

/* ---- raw bytes ---- */

struct store_blob;

/* Creates a file in incoming/. Bytes are hashed as they are written, and sent to the objects.
 * ERR_UNAVAILABLE, here and in the next calls: the objects do not answer. */
bool store_blob_create(struct store *store, struct store_blob **out, struct err *err) KS_MUST_USE;
bool store_blob_write(struct store_blob *blob, const void *bytes, size_t len, struct err *err)
    KS_MUST_USE;
/* Path of the file in incoming/ until it is committed. Lives as long as the blob; NULL without
 * memory. */
const char *store_blob_incoming(struct store_blob *blob);
/* Number of bytes that a reader of that file finds. The rest of what was written so far is still in
 * memory. */
uint64_t store_blob_there_bytes(const struct store_blob *blob);
/* Moves the file to its place under its hash, where it can be read. A file already there stays if
 * it still has these bytes (it is read to know that) and is replaced if the disk damaged it. A
 * power cut may lose the file until store_blob_sync. Frees the blob, also on false. */
bool store_blob_commit(struct store_blob *blob,
                       char sha256_hex[SHA256_HEX_BYTES],
                       uint64_t *size_bytes,
                       struct err *err) KS_MUST_USE;
void store_blob_discard(struct store_blob *blob); /* NULL is allowed */
/* Syncs a committed blob and its name, or ends its way to the objects; does nothing the second
 * time. False: the sync failed and the file was removed, because its bytes cannot be relied on; or
 * (ERR_UNAVAILABLE) the objects do not have it. */
bool store_blob_sync(struct store *store, const char *sha256_hex, struct err *err) KS_MUST_USE;
/* Path of a stored upload, in the arena. ERR_GONE when the file was removed, or is an object that
 * is not in the cache. Does not look into the file: see store_blob_checked_path. */
bool store_blob_path(struct store *store,
                     struct arena *arena,
                     const char *sha256_hex,
                     const char **path,
                     struct err *err) KS_MUST_USE;
/* As store_blob_path, for readers that rely on the bytes: a download, an analysis. Reads and hashes
 * the whole file first, unless that was done within BLOB_CHECK_MS (blob_check.h). ERR_GONE, with
 * advice, also when the disk damaged the file. `size_bytes` is the size of the upload. Copies what
 * is an object into raw/ first, if it is not there; ERR_UNAVAILABLE when the objects do not answer.
 */
bool store_blob_checked_path(struct store *store,
                             struct arena *arena,
                             const char *sha256_hex,
                             uint64_t size_bytes,
                             const char **path,
                             struct err *err) KS_MUST_USE;
/* Whether the upload is a file in raw/, or an object. */
bool store_blob_is_kept(struct store *store, const char *sha256_hex, bool *kept, struct err *err)
    KS_MUST_USE;
/* Counts since the store was opened: what store_blob_checked_path found, and what uploads repaired.
 */
struct store_blob_faults {
    uint64_t damaged; /* files whose bytes changed on disk; counted again after BLOB_CHECK_MS */
    uint64_t missing; /* reads of files that were removed */
    uint64_t mended;  /* damaged files that an upload of the same bytes replaced */
};
void store_blob_faults(const struct store *store, struct store_blob_faults *out);
/* A committed blob is pinned until its job arrives (store_job_arrived). Call this if you commit a
 * blob but then add no job. The file is deleted unless another upload or an unfinished job has the
 * same bytes. */
bool store_blob_release(struct store *store, const char *sha256_hex, struct err *err) KS_MUST_USE;
/* Deletes the file of this hash and leaves the rows (--retain-raw no). Does nothing while an
 * unfinished job still has to read it. */
bool store_blob_forget(struct store *store, const char *sha256_hex, struct err *err) KS_MUST_USE;

/* ---- jobs: one per received file ---- */

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED };

#define STORE_NO_RANK INT64_C(-1)

struct store_job {
    int64_t id;
    const char *run;
    const char *file_name;
    const char *sha256_hex;
    uint64_t size_bytes;
    bool replace; /* when the job is done, its traces replace those of the same run and file name */
    bool is_again;      /* its traces were there before, and are analysed again: uploads go first */
    bool is_for_others; /* the server that adds it does not do it (store_leases.h) */
    bool may_have_twin; /* it is queued even where an equal one is unfinished */
    enum job_state state;
    const char *marker;  /* function whose calls mark cycles, from the upload; NULL: find it */
    int64_t rank;        /* as given at upload; STORE_NO_RANK */
    const char *project; /* of the run, if this job creates it; NULL: none */
    const char *tags; /* that the run gets when the job is done, JSON array of strings; NULL: none.
                         Not read back. */
    /* JOB_FAILED: the error */
    enum err_code error_code;
    uint64_t error_offset;
    const char *error_message;
};

/* Adds tags to those of the job's run, or, until it is done, to those that the job will add. A run
 * has at most 64: what is beyond them is left out. `tags` as in store_job. */
bool store_job_tag(struct store *store, int64_t id, const char *tags, struct err *err) KS_MUST_USE;
/* Records a committed blob as a queued job. The job may run at once, but until store_job_arrived it
 * cannot be published, and a restart forgets it. Of equal ones under one name, which several
 * servers may add at once, one is queued: *is_new (NULL: not asked) is false then and *id is that
 * of the other one, or 0 if that has just ended. ERR_CONFLICT: the run has, or is about to get,
 * another project. */
bool store_job_add(struct store *store,
                   const struct store_job *job,
                   int64_t *id,
                   bool *is_new,
                   struct err *err) KS_MUST_USE;
/* Syncs the blob, then marks the job as arrived. The mark itself reaches the disk with the next
 * publication, or with store_sync. False: the blob is lost and the job can only fail;
 * ERR_UNAVAILABLE: others have removed the job, as they do once its server is silent for
 * STORE_LEASE_S. */
bool store_job_arrived(struct store *store, int64_t id, const char *sha256_hex, struct err *err)
    KS_MUST_USE;
bool store_job_get(struct store_snapshot *snapshot,
                   struct arena *arena,
                   int64_t id,
                   struct store_job **out,
                   struct err *err) KS_MUST_USE;
/* Says by which rules of kernel classes uploads are analysed from now on: the SHA-256 of their
 * file, "" for the built-in ones. What other rules, or an older version of the analyses
 * (schema/schema.h), have analysed is stale, and so is what has lost its file of results: its jobs
 * are queued again, and its traces, which keep their ids, notes and tags, are invisible until they
 * are done. Traces without device work do not depend on rules, and uploads whose bytes were not
 * kept stay as they are. New uploads are analysed first. Call it before jobs_create. */
bool store_follow_rules(struct store *store,
                        const char *rules_sha256_hex,
                        struct err *err) KS_MUST_USE;
/* Which published uploads are to be analysed again; all conditions hold together. */
struct store_again {
    const char *projects;  /* as in struct store_page */
    const char *run;       /* NULL: of any run */
    const char *trace_ids; /* JSON array: those with one of these traces; NULL: any */
    bool lost_only;        /* whose file of results was found lost */
};
/* The next uploads of a walk by ascending ids: zeroed for the first call, its end has `is_last`. */
struct store_again_batch {
    int64_t after_id; /* the last upload that was looked at */
    bool is_last;
    int64_t *job_ids; /* queued by this call, ascending; in the caller's arena */
    size_t count;
    size_t left; /* of this call: stay as they are, because their bytes are not kept */
};
/* Queues the jobs of the next uploads again, durably. An upload is passed over while a job of its
 * run and file name is unfinished: it is queued already, or about to be replaced. No job may be
 * added meanwhile. Old results answer until the new ones are published. */
bool store_queue_again(struct store *store,
                       struct arena *arena,
                       const struct store_again *which,
                       struct store_again_batch *batch,
                       struct err *err) KS_MUST_USE;
/* Grows when a file of results is found lost whose upload was not known to be so. */
uint64_t store_losses(const struct store *store);
/* Jobs that were queued or running when the last process ended, oldest first. */
bool store_jobs_unfinished(struct store *store,
                           struct arena *arena,
                           struct store_job **jobs,
                           size_t *count,
                           struct err *err) KS_MUST_USE;
/* Marks the job as failed with the error that the client will see. Deletes its file unless a trace
 * or an unfinished job has the same bytes. */
bool store_job_failed(struct store *store, int64_t id, const struct err *error, struct err *err)
    KS_MUST_USE;
/* Ids of the published traces of a job, ascending. */
bool store_job_traces(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t id,
                      int64_t **trace_ids,
                      size_t *count,
                      struct err *err) KS_MUST_USE;
/* A part of an archive that became no trace: a member by its path, or "" for the archive itself. */
struct store_job_failure {
    const char *member;
    struct err error;
};
/* Replaces the failures of a job; keeps their order. */
bool store_job_set_failures(struct store *store,
                            int64_t id,
                            const struct store_job_failure *failures,
                            size_t count,
                            struct err *err) KS_MUST_USE;
bool store_job_failures(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t id,
                        struct store_job_failure **failures,
                        size_t *count,
                        struct err *err) KS_MUST_USE;

/* ---- writing traces ---- */

struct store_ingest;

/* Begins to write the traces of a job, invisible until published. The first trace creates the run
 * if needed. */
bool store_ingest_begin(struct store *store,
                        int64_t job_id,
                        struct store_ingest **out,
                        struct err *err) KS_MUST_USE;
/* The job of an ingest that starts before the job exists (streaming ingest). */
struct store_ingest_owner {
    void *context;
    /* Waits for the job. False: there will be none. */
    bool (*await)(void *context, int64_t *job_id, struct err *err);
};
/* As store_ingest_begin, before the job exists. Events go to the file of their trace meanwhile;
 * `owner` is asked once, when the first row of the catalogue is due, and must outlive the ingest.
 */
bool store_ingest_begin_streaming(struct store *store,
                                  const struct store_ingest_owner *owner,
                                  struct store_ingest **out,
                                  struct err *err) KS_MUST_USE;
/* Packs the columns of a log into the bytes that are stored: a result_log_encoder
 * (model/results/results.h). Any thread. */
bool store_encode_log(enum result_log log, const void *columns, struct packed_log *out) KS_MUST_USE;
/* Writes the tables of a trace whose events are all there, before store_ingest_trace, which then
 * writes only the warnings: the results must be the same but for these. The functions of the
 * timeline may run beside it on another thread. Does nothing without events: then
 * store_ingest_trace writes the tables. */
bool store_ingest_tables(struct store_ingest *ingest,
                         const char *worker,
                         const char *span_digits,
                         const char *format,
                         const struct trace_results *results,
                         struct err *err) KS_MUST_USE;
/* Writes one trace in bounded batches, so that other uploads commit in between. Call it once per
 * trace. */
bool store_ingest_trace(struct store_ingest *ingest,
                        const char *worker,
                        const char *span_digits,
                        const char *format,
                        const struct trace_results *results,
                        struct err *err) KS_MUST_USE;
/* Stores figures of a visible trace by other rules than ours, beside its own. They appear at once
 * when they are complete; a crash before leaves nothing. Call it once per trace: the caller ensures
 * that no two threads do. *derived_id is used like a trace's id. ERR_NOT_FOUND: the trace does not
 * exist, or no longer. */
bool store_derived_write(struct store *store,
                         int64_t trace_id,
                         const struct trace_results *results,
                         int64_t *derived_id,
                         struct err *err) KS_MUST_USE;
/* In one small transaction: removes what an earlier upload stored under the same run and file name,
 * makes the new traces visible, marks the job as done. Frees the ingest, also on false. */
bool store_ingest_publish(struct store_ingest *ingest, struct err *err) KS_MUST_USE;
/* Removes what was written and frees the ingest. NULL is allowed. */
void store_ingest_abort(struct store_ingest *ingest);

/* ---- catalogue ---- */

#define STORE_RUN_STEPS_MAX 60

struct store_run {
    int64_t id;
    const char *name;
    const char *note;      /* "" when none */
    const char *tags;      /* JSON array of strings, "[]" when none */
    const char *project;   /* "" when none (store_access.h) */
    bool pinned;           /* retention never removes it (retention.h) */
    int64_t uploaded_at_s; /* Unix time of the newest upload */
    int64_t trace_count;
    int64_t worker_count;
    uint64_t size_bytes;      /* of the uploads */
    const char *device_types; /* distinct, comma-separated: "GPU,CPU" */
    uint32_t views; /* union over the traces, with VIEW_DISTRIBUTED if one has collectives */
    /* Figures of one trace: of the newest span the first worker's that has steps, else of any. */
    int64_t trace_id;
    int64_t step_count;        /* 0: none */
    double step_ns;            /* mean of all steps; NaN: none */
    const char *step_times_ns; /* JSON array: of the first STORE_RUN_STEPS_MAX steps */
    const char *device;        /* names of devices at work, comma-separated; NULL: not said */
    double utilisation;        /* mean over these devices, 0..1; NaN: unknown */
};

struct store_trace {
    int64_t id;
    const char *run;
    const char *worker;
    const char *span_digits; /* "" when the file name has none */
    int64_t span;            /* from 1 over the sorted digit strings of the worker [TB-2a] */
    const char *file_name;
    int64_t rank; /* distributedInfo.rank, else as given at upload; STORE_NO_RANK */
    const char *format;
    const char *device_type;
    int64_t event_count;
    int64_t step_count;
    int64_t start_ns; /* absolute */
    int64_t duration_ns;
    uint64_t size_bytes; /* of the uploaded file */
    const char *sha256_hex;
    int64_t uploaded_at_s;
    const char *note;
    const char *tags;
    uint32_t views;
    uint32_t derived_views; /* those of the figures of derived_id; where there are none, `views` */
    int64_t collective_count;
    int64_t operator_count; /* names */
    int64_t kernel_count;   /* names */
    bool has_events;        /* a trace, not a table: they may yet be gone (ERR_GONE) */
    /* Pass this id to store_overview, store_operators, ... to get the figures that
     * store_derived_write stored; 0: none yet. A trace without events, from which they could be
     * made, has its own id here. */
    int64_t derived_id;
    struct warnings warnings;
};

/* Selects and orders the rows of a table. Zeroed: all rows in stored order. */
struct store_page {
    const char *sort; /* a column name of the row struct, or NULL for the stored order */
    bool descending;
    const char
        *q; /* name contains this (case-insensitive); "/…/" is an extended regular expression */
    int64_t limit; /* 0: no limit */
    int64_t offset;
    /* Runs and comparisons: only those that a reader of these projects may see (store_access.h).
     * NULL: all. */
    const char *projects;
    /* Runs: only those with this tag, of this project. NULL: any. */
    const char *tag, *project;
};

/* Rows that match, whatever the page shows. */
struct store_total {
    int64_t rows;
    bool is_least; /* counting ended there: more than the page reaches, perhaps more than that */
};

bool store_runs(struct store_snapshot *snapshot,
                struct arena *arena,
                const struct store_page *page,
                struct store_run **rows,
                size_t *count,
                struct store_total *total,
                struct err *err) KS_MUST_USE;
/* Counts the runs and traces that a reader of these projects sees (struct store_page). */
bool store_count(struct store_snapshot *snapshot,
                 const char *projects,
                 int64_t *runs,
                 int64_t *traces,
                 struct err *err) KS_MUST_USE;
bool store_run_get(struct store_snapshot *snapshot,
                   struct arena *arena,
                   const char *name,
                   struct store_run **out,
                   struct err *err) KS_MUST_USE;
/* Published traces of a run, by worker, then span. ERR_NOT_FOUND when there are none. */
bool store_traces(struct store_snapshot *snapshot,
                  struct arena *arena,
                  const char *run,
                  struct store_trace **rows,
                  size_t *count,
                  struct err *err) KS_MUST_USE;
/* Those of `ids`, in their order. ERR_NOT_FOUND where one is not there. */
bool store_traces_get(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const int64_t *ids,
                      size_t count,
                      struct store_trace **rows,
                      struct err *err) KS_MUST_USE;
bool store_trace_get(struct store_snapshot *snapshot,
                     struct arena *arena,
                     int64_t id,
                     struct store_trace **out,
                     struct err *err) KS_MUST_USE;
/* Which traces a list has. NULL: any. */
struct store_trace_filter {
    struct store_page page; /* q: in the name of run, worker or file */
    const char *run;
    const char *project;
    const char *tag; /* of the trace or of its run */
    const char *device_type;
    /* The page by its place instead of page.offset: any page of any list takes milliseconds. Where
     * a filter leaves little it may be shorter than page.limit, and yet not the last. */
    bool by_cursor;
    const char *cursor; /* `next` or `previous` of another page; NULL: the first page */
    bool before;        /* the page before the cursor, not behind it */
};
#define STORE_NOT_COUNTED (-1)
struct store_trace_page {
    int64_t *ids; /* of published traces, in the arena */
    size_t count;
    int64_t total;               /* how many the filter leaves; by cursor STORE_NOT_COUNTED */
    const char *next, *previous; /* cursors, in the arena; NULL: no page there */
};
/* Equal ones stand by id, in the direction of the order. */
bool store_trace_list(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const struct store_trace_filter *filter,
                      struct store_trace_page *out,
                      struct err *err) KS_MUST_USE;
/* ERR_NOT_FOUND unless a published trace has this id. The functions below that read results do not
 * check this: they also accept a derived_id. */
bool store_trace_check(struct store_snapshot *snapshot, int64_t id, struct err *err) KS_MUST_USE;
/* What is published under a run and file name. Zeroed, without rank, when nothing is. */
struct store_file {
    const char *sha256_hex; /* NULL: nothing is there */
    int64_t job_id;         /* of the job that read it */
    const char *marker;     /* that it was read with; NULL: none */
    int64_t rank;           /* that it was read with; STORE_NO_RANK */
    int64_t *trace_ids;
    size_t trace_count;
};
bool store_find_file(struct store *store,
                     struct arena *arena,
                     const char *run,
                     const char *file_name,
                     struct store_file *out,
                     struct err *err) KS_MUST_USE;
/* Changes a run; NULL leaves a field as it is. `tags` is a JSON array of strings; the caller checks
 * it. */
bool store_run_patch(struct store *store,
                     const char *name,
                     const char *tags,
                     const char *note,
                     const bool *pinned,
                     struct err *err) KS_MUST_USE;
bool store_trace_patch(struct store *store,
                       int64_t id,
                       const char *tags,
                       const char *note,
                       struct err *err) KS_MUST_USE;
/* Also deletes files that nothing refers to any more, and a run that has no traces left. */
bool store_run_delete(struct store *store, const char *name, struct err *err) KS_MUST_USE;
bool store_trace_delete(struct store *store, int64_t id, struct err *err) KS_MUST_USE;

/* ---- results ---- */

/* All results of a trace except large tables: operators, kernels, launches, the rows of kernel
 * tables, cycles and their uses (their counts are set, their arrays NULL), counters, and the
 * comparison of a report. */
bool store_overview(struct store_snapshot *snapshot,
                    struct arena *arena,
                    int64_t trace_id,
                    struct trace_results **out,
                    struct err *err) KS_MUST_USE;

/* Operators of one grouping. `name` and `shape` select rows with exactly this text (NULL: any).
 * *total counts the rows that match, before limit and offset. Sort by the field names of the row
 * struct, or by the quantities that tables.c names ("mean_ns"). ERR_BAD_REQUEST for an unknown sort
 * column; the message lists the known ones. */
bool store_operators(struct store_snapshot *snapshot,
                     struct arena *arena,
                     int64_t trace_id,
                     enum operator_group group,
                     const char *name,
                     const char *shape,
                     const struct store_page *page,
                     struct operator_row **rows,
                     size_t *count,
                     int64_t *total,
                     struct err *err) KS_MUST_USE;
bool store_kernels(struct store_snapshot *snapshot,
                   struct arena *arena,
                   int64_t trace_id,
                   const struct store_page *page,
                   struct kernel_row **rows,
                   size_t *count,
                   int64_t *total,
                   struct err *err) KS_MUST_USE;
bool store_kernel_launches(struct store_snapshot *snapshot,
                           struct arena *arena,
                           int64_t trace_id,
                           const struct store_page *page,
                           struct kernel_launch_row **rows,
                           size_t *count,
                           int64_t *total,
                           struct err *err) KS_MUST_USE;
/* ---- kernel tables ---- */

/* Rows per kernel. Sort by the field names, "share" (of the total time) or "class". `q` searches
 * cleaned and full names. store_overview returns the totals, transfers, bad_rows and
 * kernel_utilisation_metrics. */
bool store_kernel_utilisation(struct store_snapshot *snapshot,
                              struct arena *arena,
                              int64_t trace_id,
                              const struct store_page *page,
                              struct kernel_utilisation_row **rows,
                              size_t *count,
                              int64_t *total,
                              struct err *err) KS_MUST_USE;
/* Rows per launch; "position" and "duration_ns" also sort them. `name`: only launches of this
 * cleaned name (NULL: any). `values` (may be NULL) receives the other metrics of the launches of
 * this page; their `launch` is the index into *rows. */
bool store_kernel_utilisation_launches(struct store_snapshot *snapshot,
                                       struct arena *arena,
                                       int64_t trace_id,
                                       const char *name,
                                       const struct store_page *page,
                                       struct kernel_utilisation_launch_row **rows,
                                       size_t *count,
                                       int64_t *total,
                                       struct kernel_utilisation_value_row **values,
                                       size_t *value_count,
                                       struct err *err) KS_MUST_USE;

/* ---- call trees, memory, modules, collectives ---- */

/* These return NULL where the trace has none, and also accept a derived_id. */
bool store_call_tree(struct store_snapshot *snapshot,
                     struct arena *arena,
                     int64_t trace_id,
                     struct call_tree **out,
                     struct err *err) KS_MUST_USE;
bool store_memory_log(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t trace_id,
                      struct memory_log **out,
                      struct err *err) KS_MUST_USE;
bool store_comm_log(struct store_snapshot *snapshot,
                    struct arena *arena,
                    int64_t trace_id,
                    struct collective_log **out,
                    struct err *err) KS_MUST_USE;
bool store_operations(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t trace_id,
                      struct operation_table **out,
                      struct err *err) KS_MUST_USE;
bool store_rank_digest(struct store_snapshot *snapshot,
                       struct arena *arena,
                       int64_t trace_id,
                       struct rank_digest **out,
                       struct err *err) KS_MUST_USE;
bool store_gpu_counters(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t trace_id,
                        struct gpu_counters **out,
                        struct err *err) KS_MUST_USE;
bool store_modules(struct store_snapshot *snapshot,
                   struct arena *arena,
                   int64_t trace_id,
                   struct module_row **rows,
                   size_t *count,
                   struct err *err) KS_MUST_USE;

/* ---- cycles and comparisons ---- */

/* Results with only cycle_source, cycles, cycle_uses and counters set, in stored order. */
bool store_cycles(struct store_snapshot *snapshot,
                  struct arena *arena,
                  int64_t trace_id,
                  struct trace_results **out,
                  struct err *err) KS_MUST_USE;

/* The counters of a trace alone. */
bool store_counters(struct store_snapshot *snapshot,
                    struct arena *arena,
                    int64_t trace_id,
                    struct counter_row **rows,
                    size_t *count,
                    struct err *err) KS_MUST_USE;

struct store_comparison {
    int64_t id;
    int64_t group_id; /* the id of the first comparison of the same request */
    int64_t trace_id; /* the uploaded report; 0: computed here */
    int64_t created_at_s;
    double top_score;               /* highest score of a row, 0 without rows */
    int64_t pair_count;             /* comparisons of the group */
    int64_t *trace_ids[SIDE_COUNT]; /* compared traces, also deleted ones */
    size_t trace_count[SIDE_COUNT];
    struct comparison *comparison; /* lists leave out rows, cycles, findings and appeared */
};

/* Stores all pairs of one request, most suspicious first: writes in bounded batches, then makes all
 * of them visible at once. ids[i] is the id of item i. */
bool store_comparisons_add(struct store *store,
                           const struct comparison_list *list,
                           const int64_t *const trace_ids[SIDE_COUNT],
                           const size_t trace_count[SIDE_COUNT],
                           int64_t *ids,
                           struct err *err) KS_MUST_USE;
/* One comparison, complete. ERR_NOT_FOUND. A comparison outlives the traces it compares; the
 * comparison of an uploaded report is deleted with its trace. */
bool store_comparison_get(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t id,
                          struct store_comparison **out,
                          struct err *err) KS_MUST_USE;
/* group_id 0: the first comparison of each group, newest first; `page` gives limit and offset, and
 * `q` searches titles and labels. Else the comparisons of that group, most suspicious first. */
bool store_comparisons(struct store_snapshot *snapshot,
                       struct arena *arena,
                       int64_t group_id,
                       const struct store_page *page,
                       struct store_comparison **rows,
                       size_t *count,
                       int64_t *total,
                       struct err *err) KS_MUST_USE;
/* The comparison of an uploaded report, or 0. */
bool store_trace_comparison(struct store_snapshot *snapshot,
                            int64_t trace_id,
                            int64_t *id,
                            struct err *err) KS_MUST_USE;
/* Deletes the whole group. ERR_CONFLICT for an uploaded report: delete its trace instead. */
bool store_comparison_delete(struct store *store, int64_t id, struct err *err) KS_MUST_USE;

/* An answer that was uploaded, byte for byte; *json is NULL when the trace has none for this route.
 */
bool store_uploaded_answer(struct store_snapshot *snapshot,
                           struct arena *arena,
                           int64_t trace_id,
                           const char *route,
                           const char *group_by,
                           const char **json,
                           struct err *err) KS_MUST_USE;

#endif
