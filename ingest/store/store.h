/* What is kept: raw uploads as files under their SHA-256, everything else in one SQLite database
 * (WAL). All access goes through this header, so that a second engine can stand behind it.
 *
 * Threads: every function may be called from any thread. There is one writer connection behind a
 * lock and a pool of readers; a reader sees the state of its own call's start. Reading functions
 * put their rows and texts into the caller's arena (one arena a request). Errors unless said
 * otherwise: ERR_STORE, ERR_NO_MEMORY, ERR_NO_SPACE, ERR_NOT_FOUND.
 *
 * Layout of the data directory: kinetoscope.db (+ -wal, -shm), raw/<2 hex>/<62 hex>, incoming/
 * (uploads not finished; emptied at start), lock (held while a process has the store open).
 */
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

/* Opens or creates the store, migrates the schema, removes what never became visible. A database
 * newer than this program, or a data directory in use by another process, is refused with a clear
 * error. */
bool store_open(struct store **out, const char *data_dir, const struct log *log, struct err *err)
    KS_MUST_USE;
void store_close(struct store *store); /* NULL is allowed */
/* A cheap query; false when the database does not answer (for /readyz). */
bool store_ready(struct store *store, struct err *err) KS_MUST_USE;
/* All that the calls before it have written is on disk when it returns true. */
bool store_sync(struct store *store, struct err *err) KS_MUST_USE;
/* Brings the log into the database when it is long; others read and write meanwhile. For threads
 * that nobody waits for: commits leave it alone until it is very long. */
void store_checkpoint(struct store *store);
/* Grows with every change of what can be seen, jobs and tokens left aside, before the call that
 * makes it returns: what was read after a look at it holds for as long as it is the same. */
uint64_t store_version(const struct store *store);
/* Bytes of the database files and of the raw uploads. */
bool store_size(struct store *store, uint64_t *database_bytes, uint64_t *raw_bytes, struct err *err)
    KS_MUST_USE;
struct store_disk {
    uint64_t wal_bytes;               /* the write-ahead log, a part of the database files */
    uint64_t free_bytes, total_bytes; /* of the file system */
};
bool store_disk(struct store *store, struct store_disk *out, struct err *err) KS_MUST_USE;

/* ---- raw bytes ---- */

struct store_blob;

/* A new file in incoming/; bytes are hashed as they are written. */
bool store_blob_create(struct store *store, struct store_blob **out, struct err *err) KS_MUST_USE;
bool store_blob_write(struct store_blob *blob, const void *bytes, size_t len, struct err *err)
    KS_MUST_USE;
/* The file in incoming/, until it is committed; valid as long as the blob. NULL without memory. */
const char *store_blob_incoming(struct store_blob *blob);
/* So many bytes can be read there; the rest of what was given is not written yet. */
uint64_t store_blob_there_bytes(const struct store_blob *blob);
/* Moved to its place under its hash, where it can be read. A file that is there already stays when
 * it still has these bytes (it is read to know that), and is replaced when the disk damaged it. It
 * may be lost with the power until store_blob_sync. Frees the blob, also on false. */
bool store_blob_commit(struct store_blob *blob,
                       char sha256_hex[SHA256_HEX_BYTES],
                       uint64_t *size_bytes,
                       struct err *err) KS_MUST_USE;
void store_blob_discard(struct store_blob *blob); /* NULL is allowed */
/* Syncs a committed blob, its name too; does nothing when that is done. On false the file is gone:
 * what was to be written cannot be relied on. */
bool store_blob_sync(struct store *store, const char *sha256_hex, struct err *err) KS_MUST_USE;
/* Path of a kept upload in the arena. ERR_GONE when it is not kept any more. Does not look into the
 * file: see store_blob_checked_path. */
bool store_blob_path(struct store *store,
                     struct arena *arena,
                     const char *sha256_hex,
                     const char **path,
                     struct err *err) KS_MUST_USE;
/* The same for a reader that relies on the bytes: a download, an analysis. Reads and hashes the
 * whole file first, unless that was done within BLOB_CHECK_MS (blob_check.h). ERR_GONE, with what
 * to do, also when the disk has damaged it. `size_bytes` is what was uploaded. */
bool store_blob_checked_path(struct store *store,
                             struct arena *arena,
                             const char *sha256_hex,
                             uint64_t size_bytes,
                             const char **path,
                             struct err *err) KS_MUST_USE;
/* What store_blob_checked_path found and uploads repaired, since the store was opened. */
struct store_blob_faults {
    uint64_t damaged; /* files with other bytes than were uploaded; again after BLOB_CHECK_MS */
    uint64_t missing; /* readers of files that are not kept */
    uint64_t mended;  /* damaged files that an upload of the same bytes replaced */
};
void store_blob_faults(const struct store *store, struct store_blob_faults *out);
/* A committed blob stays until its job has arrived (store_job_arrived). Who commits one and adds no
 * job, says so here: the file goes unless an upload or an unfinished job refers to the same bytes.
 */
bool store_blob_release(struct store *store, const char *sha256_hex, struct err *err) KS_MUST_USE;
/* Removes the blob of this hash (--retain-raw no); the rows stay. While an unfinished job still
 * has to read it, nothing happens. */
bool store_blob_forget(struct store *store, const char *sha256_hex, struct err *err) KS_MUST_USE;

/* ---- jobs: one a file that was received ---- */

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED };

#define STORE_NO_RANK INT64_C(-1)

struct store_job {
    int64_t id;
    const char *run;
    const char *file_name;
    const char *sha256_hex;
    uint64_t size_bytes;
    bool replace; /* other bytes under a taken name replace what was there, when this job is done */
    enum job_state state;
    const char *marker;  /* function whose calls are the cycles, as given at upload; NULL: found */
    int64_t rank;        /* as given at upload; STORE_NO_RANK */
    const char *project; /* of the run, should this job be what makes it; NULL: none */
    /* JOB_FAILED: the error as it was */
    enum err_code error_code;
    uint64_t error_offset;
    const char *error_message;
};

/* Records a received file, whose blob is committed, as a queued job. It may run, but until it has
 * arrived it cannot be published, and the next start knows nothing of it. ERR_CONFLICT: the run has
 * another project, or will have. */
bool store_job_add(struct store *store, const struct store_job *job, int64_t *id, struct err *err)
    KS_MUST_USE;
/* In this order: the blob is on disk, and the row of its job says so. The row itself is on disk
 * with the next that is published, or after store_sync. On false the blob is gone and the job can
 * only fail. */
bool store_job_arrived(struct store *store, int64_t id, const char *sha256_hex, struct err *err)
    KS_MUST_USE;
bool store_job_get(struct store *store,
                   struct arena *arena,
                   int64_t id,
                   struct store_job **out,
                   struct err *err) KS_MUST_USE;
/* Jobs that are queued or were running when the process ended, oldest first. */
bool store_jobs_unfinished(struct store *store,
                           struct arena *arena,
                           struct store_job **jobs,
                           size_t *count,
                           struct err *err) KS_MUST_USE;
bool store_job_running(struct store *store, int64_t id, struct err *err) KS_MUST_USE;
/* `error` is what the client is told; a blob that no trace and no unfinished job refers to
 * goes. */
bool store_job_failed(struct store *store, int64_t id, const struct err *error, struct err *err)
    KS_MUST_USE;
/* Ids of the visible traces that the job made (ascending). */
bool store_job_traces(struct store *store,
                      struct arena *arena,
                      int64_t id,
                      int64_t **trace_ids,
                      size_t *count,
                      struct err *err) KS_MUST_USE;
/* What of a job's archive gave no trace: a member by its path in it, or, with "", a place of the
 * archive itself. */
struct store_job_failure {
    const char *member;
    struct err error;
};
/* In the place of what was kept before; order stays. */
bool store_job_set_failures(struct store *store,
                            int64_t id,
                            const struct store_job_failure *failures,
                            size_t count,
                            struct err *err) KS_MUST_USE;
bool store_job_failures(struct store *store,
                        struct arena *arena,
                        int64_t id,
                        struct store_job_failure **failures,
                        size_t *count,
                        struct err *err) KS_MUST_USE;

/* ---- writing traces ---- */

struct store_ingest;

/* Begins the traces of a job, invisible until published. Creates the run when it is new. */
bool store_ingest_begin(struct store *store,
                        int64_t job_id,
                        struct store_ingest **out,
                        struct err *err) KS_MUST_USE;
/* The job of an ingest that begins before it. */
struct store_ingest_owner {
    void *context;
    /* Waits until there is a job. False: there will be none. */
    bool (*await)(void *context, int64_t *job_id, struct err *err);
};
/* The same for a job to come: some megabytes of events are kept in memory, and `owner` (which must
 * outlive the ingest) is asked, once, when the first row is to be written. */
bool store_ingest_begin_streaming(struct store *store,
                                  const struct store_ingest_owner *owner,
                                  struct store_ingest **out,
                                  struct err *err) KS_MUST_USE;
/* A result_log_encoder (model/results/results.h): the bytes in which a trace's log is stored. Any
 * thread. */
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
/* Writes one trace in bounded batches (other uploads commit in between). Several may be written. */
bool store_ingest_trace(struct store_ingest *ingest,
                        const char *worker,
                        const char *span_digits,
                        const char *format,
                        const struct trace_results *results,
                        struct err *err) KS_MUST_USE;
/* Stores figures of a visible trace that follow other rules than ours, beside its own. They appear
 * at once when they are whole; a crash before leaves nothing. Call it once a trace: the caller sees
 * to it that no two threads do. *derived_id answers like a trace's id. ERR_NOT_FOUND: there is no
 * such trace, or not any more. */
bool store_derived_write(struct store *store,
                         int64_t trace_id,
                         const struct trace_results *results,
                         int64_t *derived_id,
                         struct err *err) KS_MUST_USE;
/* One small transaction: what an earlier upload had under the same run and file name goes, the new
 * traces become visible, the job is done. Frees the ingest, also on false. */
bool store_ingest_publish(struct store_ingest *ingest, struct err *err) KS_MUST_USE;
/* Removes what was written. Frees the ingest; NULL is allowed. */
void store_ingest_abort(struct store_ingest *ingest);

/* ---- catalogue ---- */

struct store_run {
    int64_t id;
    const char *name;
    const char *note;      /* "" when none */
    const char *tags;      /* JSON array of strings, "[]" when none */
    const char *project;   /* "" when none (store_access.h) */
    bool pinned;           /* neither age nor quota removes it (retention.h) */
    int64_t uploaded_at_s; /* Unix time of the newest upload */
    int64_t trace_count;
    int64_t worker_count;
    uint64_t size_bytes;      /* of the uploads */
    const char *device_types; /* distinct, comma-separated: "GPU,CPU" */
    uint32_t views; /* union over the traces; VIEW_DISTRIBUTED where one has collectives */
};

struct store_trace {
    int64_t id;
    const char *run;
    const char *worker;
    const char *span_digits; /* "" when the file name has none */
    int64_t span;            /* from 1 over the sorted digit strings of the worker [TB-2a] */
    const char *file_name;
    int64_t rank; /* as given at upload; STORE_NO_RANK */
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
    int64_t communication_nodes;
    int64_t communication_signature;
    int64_t collective_count; /* by COLLECTIVES_OWN_RULE */
    int64_t operator_count;   /* names */
    int64_t kernel_count;     /* names */
    /* The id under which store_overview, store_operators, ... answer with the figures that
     * store_derived_write stored; 0: there are none yet. A trace without events, from which they
     * could be made, has its own id here. */
    int64_t derived_id;
    struct warnings warnings;
};

/* Part of a table: which rows, in which order. Zeroed = all, in stored order. */
struct store_page {
    const char *sort; /* a column name of the row struct, or NULL for the stored order */
    bool descending;
    const char
        *q; /* name contains this (case-insensitive); "/…/" is an extended regular expression */
    int64_t limit; /* 0: no limit */
    int64_t offset;
    /* Of runs and comparisons only those that a reader of these projects may read
     * (store_access.h); NULL: all. */
    const char *projects;
};

bool store_runs(struct store *store,
                struct arena *arena,
                const struct store_page *page,
                struct store_run **rows,
                size_t *count,
                int64_t *total,
                struct err *err) KS_MUST_USE;
/* How many runs and traces a reader of these projects sees (see struct store_page). */
bool store_count(struct store *store,
                 const char *projects,
                 int64_t *runs,
                 int64_t *traces,
                 struct err *err) KS_MUST_USE;
bool store_run_get(struct store *store,
                   struct arena *arena,
                   const char *name,
                   struct store_run **out,
                   struct err *err) KS_MUST_USE;
/* Visible traces of a run, ordered by worker, then span. ERR_NOT_FOUND when there are none. */
bool store_traces(struct store *store,
                  struct arena *arena,
                  const char *run,
                  struct store_trace **rows,
                  size_t *count,
                  struct err *err) KS_MUST_USE;
bool store_trace_get(struct store *store,
                     struct arena *arena,
                     int64_t id,
                     struct store_trace **out,
                     struct err *err) KS_MUST_USE;
/* ERR_NOT_FOUND when there is no visible trace with this id. The functions below that read results
 * do not ask: they also answer for a derived_id. */
bool store_trace_check(struct store *store, int64_t id, struct err *err) KS_MUST_USE;
/* What is visible under a run and file name; zeroed, without rank, when nothing is. */
struct store_file {
    const char *sha256_hex; /* NULL: nothing is there */
    int64_t job_id;         /* that read it */
    const char *marker;     /* with which it was read; NULL: none */
    int64_t rank;           /* the same; STORE_NO_RANK */
    int64_t *trace_ids;
    size_t trace_count;
};
bool store_find_file(struct store *store,
                     struct arena *arena,
                     const char *run,
                     const char *file_name,
                     struct store_file *out,
                     struct err *err) KS_MUST_USE;
/* NULL leaves a field as it is. `tags` is a JSON array of strings, checked by the caller. */
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
/* Blobs that nothing refers to any more go too. A run without traces goes. */
bool store_run_delete(struct store *store, const char *name, struct err *err) KS_MUST_USE;
bool store_trace_delete(struct store *store, int64_t id, struct err *err) KS_MUST_USE;

/* ---- results ---- */

/* Everything but operators, kernels, launches, the kernels and launches of a kernel table, cycles
 * and their uses (their counts are set, their arrays NULL), counters, and the comparison of a
 * report. */
bool store_overview(struct store *store,
                    struct arena *arena,
                    int64_t trace_id,
                    struct trace_results **out,
                    struct err *err) KS_MUST_USE;

/* Rows of one grouping. `name` / `shape`: only rows with exactly this name / shape (NULL: any).
 * *total counts the rows that match, before limit and offset. Sort columns: the field names of the
 * row struct, also "total_ns / calls" quantities named in tables.c ("mean_ns"). An unknown one:
 * ERR_BAD_REQUEST with the list of known ones. */
bool store_operators(struct store *store,
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
bool store_kernels(struct store *store,
                   struct arena *arena,
                   int64_t trace_id,
                   const struct store_page *page,
                   struct kernel_row **rows,
                   size_t *count,
                   int64_t *total,
                   struct err *err) KS_MUST_USE;
bool store_kernel_launches(struct store *store,
                           struct arena *arena,
                           int64_t trace_id,
                           const struct store_page *page,
                           struct kernel_launch_row **rows,
                           size_t *count,
                           int64_t *total,
                           struct err *err) KS_MUST_USE;
/* ---- kernel tables ---- */

/* Rows of kernel_utilisation; sort columns are the field names, also "share" (of the total time)
 * and "class". `q` looks in cleaned and full names. The totals come with store_overview, as do
 * transfers, bad_rows and kernel_utilisation_metrics. */
bool store_kernel_utilisation(struct store *store,
                              struct arena *arena,
                              int64_t trace_id,
                              const struct store_page *page,
                              struct kernel_utilisation_row **rows,
                              size_t *count,
                              int64_t *total,
                              struct err *err) KS_MUST_USE;
/* The same of launches; also "position" and "duration_ns" sort them.
 * `name`: only launches of this cleaned name (NULL: any). With `values` (may be NULL): the other
 * metrics of the launches of this page; their `launch` is the index into *rows. */
bool store_kernel_utilisation_launches(struct store *store,
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

/* NULL where the trace has none. All also answer for a derived_id. */
bool store_call_tree(struct store *store,
                     struct arena *arena,
                     int64_t trace_id,
                     struct call_tree **out,
                     struct err *err) KS_MUST_USE;
bool store_memory_log(struct store *store,
                      struct arena *arena,
                      int64_t trace_id,
                      struct memory_log **out,
                      struct err *err) KS_MUST_USE;
/* COLLECTIVES_OWN_RULE is kept with our own figures only: a derived_id that is not the trace's own
 * id has none. */
bool store_comm_log(struct store *store,
                    struct arena *arena,
                    int64_t trace_id,
                    enum collective_rule rule,
                    struct collective_log **out,
                    struct err *err) KS_MUST_USE;
bool store_gpu_counters(struct store *store,
                        struct arena *arena,
                        int64_t trace_id,
                        struct gpu_counters **out,
                        struct err *err) KS_MUST_USE;
bool store_modules(struct store *store,
                   struct arena *arena,
                   int64_t trace_id,
                   struct module_row **rows,
                   size_t *count,
                   struct err *err) KS_MUST_USE;

/* ---- cycles and comparisons ---- */

/* Results of which cycle_source, cycles, cycle_uses and counters are set, in stored order. */
bool store_cycles(struct store *store,
                  struct arena *arena,
                  int64_t trace_id,
                  struct trace_results **out,
                  struct err *err) KS_MUST_USE;

/* The counters of a trace alone. */
bool store_counters(struct store *store,
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
    int64_t *trace_ids[SIDE_COUNT]; /* compared traces, also those that are gone by now */
    size_t trace_count[SIDE_COUNT];
    struct comparison *comparison; /* without rows, cycles, findings and appeared in lists */
};

/* Stores all pairs of one request, most suspicious first: in bounded batches, then all of them
 * become visible at once. ids[i] for item i. */
bool store_comparisons_add(struct store *store,
                           const struct comparison_list *list,
                           const int64_t *const trace_ids[SIDE_COUNT],
                           const size_t trace_count[SIDE_COUNT],
                           int64_t *ids,
                           struct err *err) KS_MUST_USE;
/* One with everything. ERR_NOT_FOUND. Comparisons outlive the traces they compare; that of an
 * uploaded report goes with its trace. */
bool store_comparison_get(struct store *store,
                          struct arena *arena,
                          int64_t id,
                          struct store_comparison **out,
                          struct err *err) KS_MUST_USE;
/* Without group: the first one of each group, newest first; `page` gives limit and offset, q looks
 * in titles and labels. With group_id != 0: that group's, most suspicious first. */
bool store_comparisons(struct store *store,
                       struct arena *arena,
                       int64_t group_id,
                       const struct store_page *page,
                       struct store_comparison **rows,
                       size_t *count,
                       int64_t *total,
                       struct err *err) KS_MUST_USE;
/* The comparison of an uploaded report, or 0. */
bool store_trace_comparison(struct store *store, int64_t trace_id, int64_t *id, struct err *err)
    KS_MUST_USE;
/* With its whole group. ERR_CONFLICT for an uploaded report, which goes with its trace. */
bool store_comparison_delete(struct store *store, int64_t id, struct err *err) KS_MUST_USE;

/* An answer kept word for word, or *json NULL when the trace has none for this route. */
bool store_plugin_answer(struct store *store,
                         struct arena *arena,
                         int64_t trace_id,
                         const char *route,
                         const char *group_by,
                         const char **json,
                         struct err *err) KS_MUST_USE;

#endif
