#include "ingest/store/nodes/leases.h"
#include "ingest/store/objects/blob_objects.h"

#include <inttypes.h>
#include <string.h>

/* Texts of states and codes are what the database holds: numbers of enums may change, these may
 * not. */
static const char *const state_texts[] = {[JOB_QUEUED] = "queued",
                                          [JOB_RUNNING] = "running",
                                          [JOB_DONE] = "done",
                                          [JOB_FAILED] = "failed"};

static enum job_state state_of(const char *text)
{
    for (size_t i = 0; i < sizeof state_texts / sizeof state_texts[0]; i++) {
        if (text != NULL && strcmp(text, state_texts[i]) == 0) {
            return (enum job_state)i;
        }
    }
    return JOB_FAILED;
}

enum err_code store_error_code_of(const char *text)
{
    static const enum err_code codes[] = {
#define CODE_ITEM(code, text, status, title) code,
        ERR_LIST(CODE_ITEM)
#undef CODE_ITEM
    };
    for (size_t i = 0; text != NULL && i < sizeof codes / sizeof codes[0]; i++) {
        if (strcmp(text, err_code_text(codes[i])) == 0) {
            return codes[i];
        }
    }
    return text == NULL ? ERR_NONE : ERR_INTERNAL;
}

/* The project that its run has, or will have. */
static bool settle_project(struct db *db,
                           const struct store_job *job,
                           struct arena *arena,
                           const char **project,
                           struct err *err)
{
    if (!store_project_of_name(db, arena, job->run, project, err)) {
        return false;
    }
    if (*project == NULL) {
        *project = job->project == NULL ? "" : job->project;
    }
    return job->project == NULL || strcmp(*project, job->project) == 0 ||
           err_set(err, ERR_CONFLICT, "the run \"%s\" has just changed; try again", job->run);
}

#define TWIN_MAX_BYTES ((size_t)1 << 20)

/* What makes two uploads of one name equal. */
static bool
make_twin(struct buf *twin, const struct store_job *job, const char **out, struct err *err)
{
    *out = NULL;
    if (job->may_have_twin) {
        return true;
    }
    buf_printf(twin, "%s %" PRId64 " %s", job->sha256_hex, job->rank,
               job->marker == NULL ? "" : job->marker);
    *out = twin->ptr;
    return !twin->failed || err_set(err, ERR_NO_MEMORY, "no memory for a job");
}

/* Claimed in the same statement, unless it is for whoever has room. *id stays 0 beside a twin. */
static bool insert_row(struct store *store,
                       const struct store_job *job,
                       const char *project,
                       const char *twin,
                       int64_t *id,
                       struct err *err)
{
    int64_t fence = store->database_url == NULL ? 0 : 1;
    struct db_stmt st;
    *id = 0;
    db_prepare(&st, store->writer,
               "INSERT INTO job (run, project, file_name, sha256, size_bytes, replace, marker,"
               " rank, tags, node, fence, lease_until_s, attempts, twin, state, received_at_s)"
               " VALUES (?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, '[]'), ?, ?, unixepoch() + ?, ?, ?,"
               " 'queued', 0) ON CONFLICT DO NOTHING RETURNING id");
    db_put_text(&st, job->run);
    db_put_text(&st, project);
    db_put_text(&st, job->file_name);
    db_put_text(&st, job->sha256_hex);
    db_put_int(&st, (int64_t)job->size_bytes);
    db_put_int(&st, job->replace);
    db_put_text(&st, job->marker);
    db_put_optional(&st, job->rank == STORE_NO_RANK ? INT64_MIN : job->rank);
    db_put_text(&st, job->tags);
    db_put_text(&st, store->node);
    db_put_int(&st, fence);
    db_put_int(&st, STORE_LEASE_S);
    db_put_int(&st, !job->is_for_others);
    db_put_text(&st, twin);
    return db_run_returning(&st, id, err) &&
           (fence == 0 || *id == 0 || lease_note(store, (struct lease){*id, fence}, err));
}

static bool find_twin(struct db *db,
                      const char *sql,
                      const struct store_job *job,
                      const char *twin,
                      int64_t *id,
                      struct err *err)
{
    struct db_stmt st;
    *id = 0;
    db_prepare(&st, db, sql);
    db_put_text(&st, job->run);
    db_put_text(&st, job->file_name);
    db_put_text(&st, twin);
    return db_run_returning(&st, id, err);
}

/* Another server may have published it since this one has looked. */
static bool is_published(
    struct store *store, const struct store_job *job, const char *twin, bool *is, struct err *err)
{
    int64_t id = 0;
    bool ok = !store->is_shared ||
              find_twin(store->writer,
                        "SELECT j.id FROM run AS r JOIN upload AS u ON u.run_id = r.id"
                        " AND u.published = 1 JOIN job AS j ON j.id = u.job_id"
                        " WHERE r.name = ? AND u.file_name = ? AND j.twin = ?",
                        job, twin, &id, err);
    *is = id != 0;
    return ok;
}

/* *is_new is false: nothing is to be committed. */
static bool add_beside_twins(struct store *store,
                             const struct store_job *job,
                             const char *twin,
                             int64_t *id,
                             bool *is_new,
                             struct err *err)
{
    struct arena arena;
    const char *project = NULL;
    bool is_there = false;
    arena_init(&arena, 0);
    bool ok = settle_project(store->writer, job, &arena, &project, err) &&
              insert_row(store, job, project, twin, id, err);
    arena_free(&arena);
    *is_new = ok && *id != 0;
    if (!ok || !*is_new) {
        return ok && find_twin(store->writer,
                               "SELECT id FROM job WHERE run = ? AND file_name = ? AND twin = ?"
                               " AND state IN ('queued', 'running')",
                               job, twin, id, err);
    }
    ok = is_published(store, job, twin, &is_there, err);
    if (is_there) {
        *is_new = false;
        *id = 0;
    }
    return ok;
}

static bool insert_job(
    struct store *store, const struct store_job *job, int64_t *id, bool *is_new, struct err *err)
{
    struct buf text;
    const char *twin = NULL;
    buf_init(&text, TWIN_MAX_BYTES);
    bool ok =
        make_twin(&text, job, &twin, err) && add_beside_twins(store, job, twin, id, is_new, err);
    buf_free(&text);
    return ok;
}

bool store_job_add(
    struct store *store, const struct store_job *job, int64_t *id, bool *is_new, struct err *err)
{
    bool added = false;
    bool committed = false;
    int64_t new_id = 0;
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    bool ok = insert_job(store, job, &new_id, &added, err);
    committed = store_write_end(store, ok && added, err);
    if (!ok || (added && !committed)) {
        return false;
    }
    *id = new_id;
    if (is_new != NULL) {
        *is_new = added;
    }
    /* Who hands nothing in makes no rows either: so a day's first job is the time to look. */
    struct err second = ERR_INIT;
    if (!store_purge_jobs(store, &second)) {
        log_write(store->log, LOG_WARN, "old jobs stay for another day: %s", second.msg);
    }
    return true;
}

struct arrived {
    int64_t job_id;
    bool is_there;
};

/* Also of a job that has failed meanwhile. */
static bool set_received(void *context, struct db *db, struct err *err)
{
    struct arrived *arrived = context;
    struct db_stmt st;
    db_prepare(&st, db,
               "UPDATE job SET received_at_s = " DB_CLOCK_S
               ", node = CASE WHEN attempts = 0 THEN '' ELSE node"
               " END, lease_until_s = CASE WHEN attempts = 0 THEN 0 ELSE lease_until_s END"
               " WHERE id = ?");
    db_put_clock(&st);
    db_put_int(&st, arrived->job_id);
    bool ok = db_run(&st, err);
    arrived->is_there = db_changes(db) > 0;
    return ok;
}

/* Unless that went with the row of the object. */
static bool note_received(struct store *store, struct blob_also *also, struct err *err)
{
    return also->is_done ||
           (store_write_begin(store, STORE_BATCH, err) &&
            store_write_end(store, set_received(also->context, store->writer, err), err));
}

bool store_job_arrived(struct store *store, int64_t id, const char *sha256_hex, struct err *err)
{
    struct err second = ERR_INIT;
    struct arrived arrived = {.job_id = id};
    struct blob_also also = {.run = set_received, .context = &arrived};
    bool ok =
        blob_sync_also(store, sha256_hex, &also, err) && note_received(store, &also, err) &&
        (arrived.is_there ||
         err_set(err, ERR_UNAVAILABLE,
                 "this server stood still for so long that the others gave the upload up; send "
                 "the file again"));
    if (!store_blob_release(store, sha256_hex, &second)) {
        log_write(store->log, LOG_WARN, "a raw file stays until the next start: %s", second.msg);
    }
    return ok;
}

#define JOB_SELECT                                                                         \
    "SELECT id, run, file_name, sha256, size_bytes, replace, marker, coalesce(rank, -1), " \
    "project, EXISTS (SELECT 1 FROM taken_over WHERE job_id = job.id), CASE WHEN"          \
    " state = 'queued' AND node <> '' AND attempts > 0 THEN 'running' ELSE state END,"     \
    " error_code, error_offset, error_message FROM job"

static void read_job(struct db_stmt *st, struct arena *arena, struct store_job *job)
{
    size_t len;
    job->id = db_get_int(st);
    job->run = db_get_text(st, arena);
    job->file_name = db_get_text(st, arena);
    job->sha256_hex = db_get_text(st, arena);
    job->size_bytes = (uint64_t)db_get_int(st);
    job->replace = db_get_bool(st);
    job->marker = db_get_text(st, arena);
    job->rank = db_get_int(st);
    job->project = db_get_text(st, arena);
    job->is_again = db_get_bool(st);
    job->state = state_of(db_peek_text(st, &len));
    job->error_code = store_error_code_of(db_peek_text(st, &len));
    job->error_offset = db_get_is_null(st) ? ERR_NO_OFFSET : 0;
    job->error_offset |= (uint64_t)db_get_int(st);
    job->error_message = db_get_text(st, arena);
}

bool store_job_get(struct store_snapshot *snapshot,
                   struct arena *arena,
                   int64_t id,
                   struct store_job **out,
                   struct err *err)
{
    struct db *db;
    struct store_job *job = arena_calloc(arena, 1, sizeof *job);
    if (job == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a job");
    }
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, db, JOB_SELECT " WHERE id = ?");
    db_put_int(&st, id);
    bool found = db_next(&st);
    if (found) {
        read_job(&st, arena, job);
    }
    bool ok = db_done(&st, err);
    if (ok && !found) {
        return err_set(err, ERR_NOT_FOUND, "Job %lld not found: it may have been deleted",
                       (long long)id);
    }
    *out = job;
    return ok;
}

bool store_job_unfinished(struct store *store,
                          struct arena *arena,
                          const char *run,
                          const char *file_name,
                          struct store_job **job,
                          struct err *err)
{
    struct db *db;
    struct db_stmt st;
    struct store_job *found = arena_calloc(arena, 1, sizeof *found);
    *job = NULL;
    if (found == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a job");
    }
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               JOB_SELECT " WHERE state IN ('queued', 'running') AND received_at_s > 0 AND run = ?"
                          " AND file_name = ?"
                          " ORDER BY id DESC LIMIT 1");
    db_put_text(&st, run);
    db_put_text(&st, file_name);
    if (db_next(&st)) {
        read_job(&st, arena, found);
        *job = found;
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

bool store_jobs_unfinished(struct store *store,
                           struct arena *arena,
                           struct store_job **jobs,
                           size_t *count,
                           struct err *err)
{
    struct db *db;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, db, "SELECT count(*) FROM job WHERE state IN ('queued', 'running')");
    size_t rows = db_next(&st) ? (size_t)db_get_int(&st) : 0;
    bool ok = db_done(&st, err);
    *jobs = ok ? arena_calloc(arena, rows, sizeof **jobs) : NULL;
    *count = 0;
    if (*jobs != NULL) {
        db_prepare(&st, db, JOB_SELECT " WHERE state IN ('queued', 'running') ORDER BY id");
        while (*count < rows && db_next(&st)) {
            read_job(&st, arena, &(*jobs)[(*count)++]);
        }
        ok = db_done(&st, err);
    } else if (ok) {
        ok = err_set(err, ERR_NO_MEMORY, "no memory for the unfinished jobs");
    }
    store_read_end(store, db);
    return ok;
}

static bool job_changed(struct store *store, int64_t id, bool ok, struct err *err)
{
    if (ok && db_changes(store->writer) == 0) {
        ok = err_set(err, ERR_NOT_FOUND, "there is no unfinished job %lld", (long long)id);
    }
    return store_write_end(store, ok, err);
}

static bool set_failed(struct store *store, int64_t id, const struct err *error, struct err *err)
{
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(
        &st, store->writer,
        "UPDATE job SET state = 'failed', error_code = ?, error_offset = ?, error_message = ?"
        " WHERE id = ? AND state IN ('queued', 'running')" LEASE_IS_OURS);
    db_put_text(&st, err_code_text(error->code));
    db_put_optional(&st, error->byte_off == ERR_NO_OFFSET ? INT64_MIN : (int64_t)error->byte_off);
    db_put_text(&st, error->msg);
    db_put_int(&st, id);
    db_put_text(&st, store->node);
    db_put_int(&st, lease_fence(store, id));
    return job_changed(store, id, db_run(&st, err), err);
}

static bool
read_hash(struct store *store, int64_t id, char sha256_hex[SHA256_HEX_BYTES], struct err *err)
{
    struct db *db;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    struct db_stmt st;
    size_t len = 0;
    db_prepare(&st, db, "SELECT sha256 FROM job WHERE id = ?");
    db_put_int(&st, id);
    const char *text = db_next(&st) ? db_peek_text(&st, &len) : NULL;
    sha256_hex[0] = '\0';
    if (text != NULL && len < SHA256_HEX_BYTES) {
        memcpy(sha256_hex, text, len + 1);
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

bool store_job_failed(struct store *store, int64_t id, const struct err *error, struct err *err)
{
    char sha256_hex[SHA256_HEX_BYTES];
    return set_failed(store, id, error, err) && read_hash(store, id, sha256_hex, err) &&
           store_blob_drop(store, sha256_hex, err);
}

bool store_job_traces(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t id,
                      int64_t **trace_ids,
                      size_t *count,
                      struct err *err)
{
    struct db *db;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    return store_read_ids(db,
                          "SELECT t.id FROM upload AS u JOIN trace AS t ON t.upload_id = u.id"
                          " AND t.derived_of IS NULL"
                          " WHERE u.job_id = ? AND u.published = 1 ORDER BY t.id",
                          id, arena, trace_ids, count, err);
}
