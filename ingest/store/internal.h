/* What the files of the store share. Lock order: blob_lock before the writer's mutex; a reader
 * may be acquired while either is held. */
#ifndef KS_STORE_INTERNAL_H
#define KS_STORE_INTERNAL_H

#include "ingest/store/db/db.h"
#include "ingest/store/db/fair_mutex.h"
#include "ingest/store/store.h"
#include "ingest/store/store_nodes.h"

#include <pthread.h>
#include <stdatomic.h>

#define STORE_READERS_MAX 16
/* So long a database on a server may be away, and what was read lately is good enough to read; and
 * good enough to know who asks. */
#define STORE_RECENT_MS 300000
#define STORE_RECENT_ACCESS_MS 60000
/* Request threads have little stack and name several paths at once; longer ones are refused. */
#define STORE_PATH_BYTES 1024
#define STORE_NODE_BYTES 64 /* of the id of a server, and of its name */
#define STORE_ADDRESS_BYTES 256

/* Files of raw/ by the begin of their hash: when one was given out last. */
#define STORE_GIVEN_OUT_SLOTS 4096

struct lease;
struct blob_checks;
struct blob_objects;
struct blob_put;
struct results_files;
struct run_names;
struct series_cache;

/* A committed file whose job has not arrived yet. */
struct blob_pin {
    struct blob_pin *next;
    unsigned count;
    int unsynced_fd; /* open descriptor of the committed file until it is synced; -1 afterwards */
    struct blob_put *put; /* of the same bytes, until it is stored; NULL without objects */
    bool is_stored;       /* the bytes are an object */
    bool is_syncing;      /* a thread is syncing it: see blob_synced */
    bool is_lost;         /* the sync failed: without objects the file was removed */
    char sha256_hex[SHA256_HEX_BYTES];
};

struct store {
    char *data_dir;
    char *db_path;      /* of an embedded catalogue */
    char *database_url; /* of a catalogue on a server; NULL: it is embedded */
    const struct log *log;
    int lock_fd;
    int log_fd; /* the write-ahead log, beside SQLite's own */

    struct db_shared shared; /* of all connections to a catalogue on a server */
    struct fair_mutex writer_mutex;
    struct db *writer;
    atomic_flag is_checkpointing;     /* a thread runs store_checkpoint and uses `checkpointer` */
    struct db *checkpointer;          /* opened on first use */
    _Atomic int64_t jobs_purged_at_s; /* 0: not yet */
    _Atomic uint64_t version;         /* see store_version */
    _Atomic uint64_t token_changes;   /* tokens that this process added or revoked */
    _Atomic uint64_t losses;          /* see store_losses */
    _Atomic uint64_t snapshots_opened;
    _Atomic unsigned sql_running; /* statements of store_sql_select */
    bool writer_is_durable;       /* synchronous = FULL is set */
    bool log_is_doubtful;         /* a sync of it failed: see store_write_begin in access.c */
    int log_pages_begun;          /* write-back has started for this many pages */
    char rules[SHA256_HEX_BYTES]; /* of kernel classes: see store_follow_rules */

    /* Of a catalogue on a server, but for name and start: see nodes/leases.h. Whoever has the
     * writer has these. */
    char node[STORE_NODE_BYTES]; /* "": embedded */
    struct lease *leases;
    size_t lease_count, lease_capacity;
    _Atomic int64_t renewed_at_ms; /* monotonic */
    bool is_shared;                /* other servers may join: uploads are objects */
    int64_t started_at_s;
    char node_name[STORE_NODE_BYTES];
    char node_address[STORE_ADDRESS_BYTES];
    _Atomic bool is_draining;
    _Atomic int64_t duty_ask_at_ms[STORE_DUTIES]; /* monotonic */
    _Atomic int64_t duty_until_ms[STORE_DUTIES];

    pthread_mutex_t readers_lock;
    pthread_cond_t reader_returned;
    struct db *idle_readers[STORE_READERS_MAX];
    unsigned idle_reader_count;
    unsigned open_reader_count;

    pthread_mutex_t blob_lock;  /* guards what follows, and moves and removals of stored files */
    pthread_cond_t blob_synced; /* a sync of one of them has ended */
    struct blob_pin *pins;
    uint64_t raw_bytes;
    uint64_t incoming_serial;

    struct blob_objects *objects; /* NULL: uploads are files in raw/ and nothing else */
    _Atomic int64_t given_out_ms[STORE_GIVEN_OUT_SLOTS];

    struct results_files *files;
    struct series_cache *series;
    struct run_names *run_names;
    struct blob_checks *blob_checks;
    struct {
        _Atomic uint64_t damaged;
        _Atomic uint64_t missing;
        _Atomic uint64_t mended;
    } blob_faults; /* see struct store_blob_faults */
};

/* ---- store.c ---- */

/* `data_dir` and what is missing above it. */
bool store_make_data_dir(const char *data_dir, struct err *err) KS_MUST_USE;
/* Keeps other processes from the data directory; the lock goes with the process, however it ends.
 */
bool store_lock_dir(struct store *store, struct err *err) KS_MUST_USE;
/* Names and paths alone, for what is no server: neither opens nor makes anything. The caller may
 * set `writer`, which is closed with it. */
bool store_open_bare(struct store **out,
                     const struct store_place *place,
                     struct err *err) KS_MUST_USE;
void store_close_bare(struct store *store); /* NULL is allowed */

/* ---- access.c ---- */

bool store_access_init(struct store *store, struct err *err) KS_MUST_USE;
/* A connection to the catalogue, wherever it is. */
bool store_connect(const struct store *store, enum db_mode mode, struct db **out, struct err *err)
    KS_MUST_USE;
void store_access_destroy(struct store *store);

/* Acquires a reader in a transaction: all its statements see one state. */
bool store_read_begin(struct store *store, struct db **db, struct err *err) KS_MUST_USE;
/* As store_read_begin, for an answer that may be old while a database on a server is away, for at
 * most `away_ms` (db_begin_recent). */
#define STORE_NEVER_RECENT (-1)
bool store_read_begin_recent(struct store *store, struct db **db, int64_t away_ms, struct err *err)
    KS_MUST_USE;
void store_read_end(struct store *store, struct db *db);

/* The connection of a snapshot, which it opens if it is not open. store_snapshot_close ends it. */
bool store_snapshot_read(struct store_snapshot *snapshot,
                         struct db **db,
                         struct err *err) KS_MUST_USE;

enum store_durability {
    /* part of something invisible: a power cut may lose it; leaves store_version as it is */
    STORE_BATCH,
    STORE_DURABLE /* on disk when the commit returns, with all batches before it */
};

/* Waits for the writer and opens a transaction on store->writer. */
bool store_write_begin(struct store *store,
                       enum store_durability durability,
                       struct err *err) KS_MUST_USE;
/* Commits when `ok`, else rolls back and leaves the error as it is. Releases the writer either way.
 */
bool store_write_end(struct store *store, bool ok, struct err *err) KS_MUST_USE;

/* ---- purge.c ---- */

/* Removes the rows of traces without upload, in bounded transactions, and runs without uploads. */
bool store_purge(struct store *store, struct err *err) KS_MUST_USE;
/* Like store_purge, but stops between two transactions once `stop` is set; the next purge removes
 * the rest. */
bool store_purge_until(struct store *store, const _Atomic bool *stop, struct err *err) KS_MUST_USE;
/* Removes the rows of jobs that ended over 30 days ago and whose upload is gone. Does nothing if it
 * ran within a day. */
bool store_purge_jobs(struct store *store, struct err *err) KS_MUST_USE;

/* ---- blobs.c ---- */

bool store_blobs_init(struct store *store, struct err *err) KS_MUST_USE;
/* The path of the upload with this hash, whether or not it exists. ERR_BAD_REQUEST: not a hash. */
bool store_blob_file_path(const struct store *store,
                          const char *sha256_hex,
                          char out[STORE_PATH_BYTES],
                          struct err *err) KS_MUST_USE;
void store_blobs_destroy(struct store *store);
/* Empties incoming/, removes blobs that no row refers to, counts the bytes of the rest. */
bool store_blobs_sweep(struct store *store, struct err *err) KS_MUST_USE;
/* Call it before the first table of a new database is written: moves uploads that an earlier, lost
 * database referred to into a folder of their own, where no sweep finds them. */
bool store_blobs_set_aside(struct store *store, struct err *err) KS_MUST_USE;
/* Removes the file unless an upload, an unfinished job or a pin needs it. */
bool store_blob_drop(struct store *store, const char *sha256_hex, struct err *err) KS_MUST_USE;
/* Of all uploads that are kept. */
uint64_t store_blobs_bytes(struct store *store);
/* Of the files in raw/, which is a cache where uploads are objects. */
uint64_t store_blob_files_bytes(struct store *store);
/* Removes the file alone, unless a pin or an unfinished job needs it. */
bool store_blob_uncache(struct store *store, const char *sha256_hex, struct err *err) KS_MUST_USE;
/* The file may be opened within a minute: blob_cache_trim keeps it so long. */
void store_blob_given_out(struct store *store, const char *sha256_hex);
/* 0: there is no such file. */
uint64_t store_file_bytes(const char *path);
bool store_make_dir(const char *path, struct err *err) KS_MUST_USE;
/* Names created, renamed or removed in the folder before survive a power loss afterwards. */
bool store_sync_dir(const char *path, struct err *err) KS_MUST_USE;

/* ---- projects.c ---- */

/* As store_run_project, on the given connection. */
bool store_project_of_name(struct db *db,
                           struct arena *arena,
                           const char *name,
                           const char **project,
                           struct err *err) KS_MUST_USE;

/* ---- shared statements ---- */

/* The analysis_version of an upload whose file of results is lost. */
#define STORE_VERSION_LOST "-1"

/* A run goes with its last upload, but waits for uploads that are analysed again
 * (catalogue/takeover.h). */
#define STORE_DELETE_EMPTY_RUNS                                                            \
    "DELETE FROM run WHERE NOT EXISTS (SELECT 1 FROM upload WHERE run_id = run.id)"        \
    " AND name NOT IN (SELECT j.run FROM taken_over AS t JOIN job AS j ON j.id = t.job_id" \
    " WHERE j.state IN ('queued', 'running'))"
#define STORE_DELETE_RUN_IF_EMPTY STORE_DELETE_EMPTY_RUNS " AND id = ?"

/* A job whose servers ended in the middle of it keeps its bytes (store_leases.h). */
#define STORE_JOB_CRASHED " attempts >= 3 AND state = 'failed'"

/* Parses the stable text of an error code: ERR_NONE for NULL, ERR_INTERNAL for an unknown text. */
enum err_code store_error_code_of(const char *text);

/* ERR_NOT_FOUND when no visible trace has this id. */
bool store_check_trace(struct db *db, int64_t trace_id, struct err *err) KS_MUST_USE;
/* As store_check_trace; also accepts the id of derived figures of a visible trace. */
bool store_check_figures(struct db *db, int64_t trace_id, struct err *err) KS_MUST_USE;

/* Warnings as the text of a column, and back. */
void store_put_warnings(struct buf *text, const struct warnings *warnings);
bool store_read_warnings(struct db *db,
                         int64_t trace_id,
                         struct warnings *warnings,
                         struct err *err) KS_MUST_USE;
/* Reads all ids that `sql` returns for its one parameter `id`, in the arena. */
bool store_read_ids(struct db *db,
                    const char *sql,
                    int64_t id,
                    struct arena *arena,
                    int64_t **ids,
                    size_t *count,
                    struct err *err) KS_MUST_USE;

/* FROM clause of visible traces: t, u and r are trace, upload and run. */
#define STORE_PUBLISHED_ROWS \
    " FROM trace AS t JOIN upload AS u ON u.id = t.upload_id AND u.published = 1"
#define STORE_VISIBLE_TRACES \
    STORE_PUBLISHED_ROWS " AND t.derived_of IS NULL JOIN run AS r ON r.id = u.run_id"

/* Of a page of runs: the run r belongs to no project, or to one of the JSON array `param` (NULL:
 * to any). */
#define STORE_IN_PROJECTS(project, param)                                                          \
    "(" param " IS NULL OR " project " = '' OR " project " IN (SELECT value FROM json_each(" param \
    ")))"

#endif
