#include "ingest/store/catalogue/retention.h"

#include "ingest/store/internal.h"
#include "ingest/store/results_files.h"
#include "ingest/store/schema/sums.h"

#include <inttypes.h>
#include <string.h>

bool retention_has_rules(const struct retention_rules *rules)
{
    return rules->max_age_s > 0 || rules->quota_bytes > 0 || rules->project_quota_bytes > 0;
}

const char *retention_reason_text(enum retention_reason reason)
{
    static const char *const texts[RETENTION_REASON_COUNT] = {[RETENTION_AGE] = "age",
                                                              [RETENTION_PROJECT_QUOTA] =
                                                                  "project quota",
                                                              [RETENTION_QUOTA] = "quota"};
    return texts[reason];
}

/* ---- which run goes ---- */

static bool is_due(const struct retention_catalogue *catalogue,
                   size_t at,
                   enum retention_reason reason,
                   const struct retention_rules *rules,
                   int64_t now_s,
                   uint64_t used_bytes)
{
    const struct retention_run *run = &catalogue->runs[at];
    const struct retention_project *project = &catalogue->projects[run->project];
    if (run->stays || run->is_gone) {
        return false;
    }
    switch (reason) {
    case RETENTION_AGE:
        return rules->max_age_s > 0 && run->uploaded_at_s < now_s - rules->max_age_s;
    case RETENTION_PROJECT_QUOTA:
        return rules->project_quota_bytes > 0 && at != project->newest &&
               project->size_bytes > rules->project_quota_bytes;
    case RETENTION_QUOTA:
        return rules->quota_bytes > 0 && at + 1 != catalogue->run_count &&
               used_bytes > rules->quota_bytes;
    case RETENTION_REASON_COUNT:
        break;
    }
    return false;
}

size_t retention_next(const struct retention_catalogue *catalogue,
                      size_t from,
                      enum retention_reason reason,
                      const struct retention_rules *rules,
                      int64_t now_s,
                      uint64_t used_bytes)
{
    size_t at = from;
    while (at < catalogue->run_count && !is_due(catalogue, at, reason, rules, now_s, used_bytes)) {
        at++;
    }
    return at;
}

void retention_note_removed(struct retention_catalogue *catalogue, size_t run)
{
    struct retention_run *gone = &catalogue->runs[run];
    gone->is_gone = true;
    catalogue->projects[gone->project].size_bytes -= gone->size_bytes;
}

/* ---- what may come ---- */

static bool exceeds(uint64_t a, uint64_t b, uint64_t quota_bytes)
{
    return a > quota_bytes || b > quota_bytes - a;
}

static bool has_quota_left(const struct retention_catalogue *catalogue,
                           const struct retention_rules *rules,
                           const struct retention_upload *upload,
                           const struct retention_usage *usage,
                           struct err *err)
{
    uint64_t quota_bytes = rules->quota_bytes;
    if (quota_bytes == 0 || !exceeds(usage->used_bytes, upload->size_bytes, quota_bytes)) {
        return true;
    }
    bool may_free = false;
    for (size_t i = 0; i < catalogue->run_count && !may_free; i++) {
        const struct retention_run *run = &catalogue->runs[i];
        may_free = !run->stays && strcmp(run->name, upload->run) != 0;
    }
    if (may_free && !exceeds(usage->fixed_raw_bytes, upload->size_bytes, quota_bytes)) {
        return true;
    }
    return err_set(err, ERR_NO_SPACE,
                   "The server keeps at most %" PRIu64 " bytes (its --quota); %" PRIu64
                   " are taken, and of that not enough may go by itself for this upload: the rest "
                   "is pinned or being read, or belongs to the same run. Unpin or delete runs, or "
                   "have the quota raised",
                   quota_bytes, usage->used_bytes);
}

static bool has_project_quota_left(const struct retention_catalogue *catalogue,
                                   const struct retention_rules *rules,
                                   const struct retention_upload *upload,
                                   const struct retention_usage *usage,
                                   struct err *err)
{
    uint64_t quota_bytes = rules->project_quota_bytes;
    uint64_t fixed_bytes = usage->project_queue_bytes;
    if (quota_bytes == 0) {
        return true;
    }
    for (size_t i = 0; i < catalogue->run_count; i++) {
        const struct retention_run *run = &catalogue->runs[i];
        bool is_fixed = run->stays || strcmp(run->name, upload->run) == 0;
        if (is_fixed && strcmp(catalogue->projects[run->project].name, upload->project) == 0) {
            fixed_bytes += run->size_bytes;
        }
    }
    if (!exceeds(fixed_bytes, upload->size_bytes, quota_bytes)) {
        return true;
    }
    return err_set(err, ERR_NO_SPACE,
                   "The project \"%.100s\" may have uploads of %" PRIu64
                   " bytes (the server's --project-quota); %" PRIu64
                   " are taken by what does not go by itself: runs that are pinned or being read, "
                   "and the run of this upload. Unpin or delete runs, or have the quota raised",
                   upload->project, quota_bytes, fixed_bytes);
}

bool retention_admits(const struct retention_catalogue *catalogue,
                      const struct retention_rules *rules,
                      const struct retention_upload *upload,
                      const struct retention_usage *usage,
                      struct err *err)
{
    return has_quota_left(catalogue, rules, upload, usage, err) &&
           has_project_quota_left(catalogue, rules, upload, usage, err);
}

/* ---- reading ---- */

bool store_used_bytes(struct store *store, uint64_t *bytes, struct err *err)
{
    struct db *db;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    uint64_t results_bytes = 0;
    bool ok = db_used_bytes(db, bytes, err);
    store_read_end(store, db);
    ok = ok && results_files_bytes(store, &results_bytes, err);
    *bytes += store_blobs_bytes(store) + results_bytes;
    return ok;
}

#define BUSY_RUNS "(SELECT run FROM job WHERE state IN ('queued', 'running'))"

static bool count_runs(struct db *db, size_t *runs, size_t *projects, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT count(*), count(DISTINCT project) FROM run WHERE EXISTS"
               " (SELECT 1 FROM upload WHERE run_id = run.id AND published = 1)");
    bool found = db_next(&st);
    *runs = found ? (size_t)db_get_int(&st) : 0;
    *projects = found ? (size_t)db_get_int(&st) : 0;
    return db_done(&st, err);
}

/* The same transaction counted the rows. */
static void
read_run(struct db_stmt *st, struct arena *arena, struct retention_catalogue *out, size_t at)
{
    struct retention_run *run = &out->runs[at];
    run->name = db_get_text(st, arena);
    run->stays = db_get_bool(st);
    run->newest_upload_id = db_get_int(st);
    run->uploaded_at_s = db_get_int(st);
    run->size_bytes = (uint64_t)db_get_int(st);
    run->project = (size_t)db_get_int(st) - 1;
    struct retention_project *project = &out->projects[run->project];
    const char *name = db_get_text(st, arena);
    project->name = name;
    project->size_bytes += run->size_bytes;
    project->newest = at;
}

static bool
read_catalogue(struct db *db, struct arena *arena, struct retention_catalogue *out, struct err *err)
{
    size_t run_count;
    if (!db_clock(db, &out->now_s, err) || !count_runs(db, &run_count, &out->project_count, err)) {
        return false;
    }
    out->run_count = 0;
    out->runs = arena_calloc(arena, run_count, sizeof *out->runs);
    out->projects = arena_calloc(arena, out->project_count, sizeof *out->projects);
    if (out->runs == NULL || out->projects == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to look through the runs");
    }
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT r.name, r.pinned <> 0 OR r.name IN " BUSY_RUNS ", max(u.id),"
               " max(u.uploaded_at_s), sum(u.size_bytes), dense_rank() OVER (ORDER BY r.project),"
               " r.project FROM run AS r JOIN upload AS u ON u.run_id = r.id AND u.published = 1"
               " GROUP BY r.id ORDER BY max(u.uploaded_at_s), max(u.id)");
    while (out->run_count < run_count && db_next(&st)) {
        read_run(&st, arena, out, out->run_count++);
    }
    return db_done(&st, err);
}

bool store_retention_read(struct store *store,
                          struct arena *arena,
                          struct retention_catalogue *out,
                          struct err *err)
{
    struct db *db;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool ok = read_catalogue(db, arena, out, err);
    store_read_end(store, db);
    return ok;
}

/* ---- asking ---- */

/* Where even all runs together leave room, as nearly always, none is looked at. */
static bool read_fits(struct db *db,
                      const struct retention_rules *rules,
                      const struct retention_upload *upload,
                      struct retention_usage *usage,
                      bool *fits,
                      struct err *err)
{
    struct db_stmt st;
    struct sums sums;
    db_prepare(&st, db,
               "SELECT coalesce(sum(size_bytes), 0) FROM job"
               " WHERE state IN ('queued', 'running') AND project = ?");
    db_put_text(&st, upload->project);
    usage->project_queue_bytes = db_next(&st) ? (uint64_t)db_get_int(&st) : 0;
    bool ok = db_done(&st, err) && sums_read(db, SUMS_RUNS, NULL, upload->project, &sums, err);
    *fits = ok &&
            (rules->quota_bytes == 0 ||
             !exceeds(usage->used_bytes, upload->size_bytes, rules->quota_bytes)) &&
            (rules->project_quota_bytes == 0 ||
             !exceeds(usage->project_queue_bytes + sums.size_bytes, upload->size_bytes,
                      rules->project_quota_bytes));
    return ok;
}

/* Equal bytes lie there once, whoever has them; with --retain-raw no they do not. */
static bool read_fixed(struct db *db,
                       const struct retention_upload *upload,
                       uint64_t raw_bytes,
                       struct retention_usage *usage,
                       struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT coalesce(sum(size_bytes), 0) FROM (SELECT DISTINCT u.sha256,"
               " u.size_bytes FROM upload AS u JOIN run AS r ON r.id = u.run_id"
               " WHERE r.pinned <> 0 OR r.name = ? OR r.name IN " BUSY_RUNS ") AS o");
    db_put_text(&st, upload->run);
    usage->fixed_raw_bytes = db_next(&st) ? (uint64_t)db_get_int(&st) : 0;
    if (usage->fixed_raw_bytes > raw_bytes) {
        usage->fixed_raw_bytes = raw_bytes;
    }
    return db_done(&st, err);
}

static bool admits(struct db *db,
                   uint64_t raw_bytes,
                   uint64_t results_bytes,
                   struct arena *arena,
                   const struct retention_rules *rules,
                   const struct retention_upload *given,
                   struct err *err)
{
    struct retention_upload upload = *given;
    struct retention_usage usage = {0};
    struct retention_catalogue catalogue;
    const char *project = NULL;
    bool fits = false;
    if (!store_project_of_name(db, arena, given->run, &project, err) ||
        !db_used_bytes(db, &usage.used_bytes, err)) {
        return false;
    }
    upload.project = project != NULL ? project : given->project != NULL ? given->project : "";
    usage.used_bytes += raw_bytes + results_bytes;
    return read_fits(db, rules, &upload, &usage, &fits, err) &&
           (fits || (read_fixed(db, &upload, raw_bytes, &usage, err) &&
                     read_catalogue(db, arena, &catalogue, err) &&
                     retention_admits(&catalogue, rules, &upload, &usage, err)));
}

bool store_retention_admits(struct store *store,
                            const struct retention_rules *rules,
                            const struct retention_upload *upload,
                            struct err *err)
{
    struct db *db;
    struct arena arena;
    if (rules->quota_bytes == 0 && rules->project_quota_bytes == 0) {
        return true;
    }
    /* First: who holds the lock of the blobs may be waiting for a reader. */
    uint64_t raw_bytes = store_blobs_bytes(store);
    uint64_t results_bytes = 0;
    if (!results_files_bytes(store, &results_bytes, err) || !store_read_begin(store, &db, err)) {
        return false;
    }
    arena_init(&arena, 0);
    bool ok = admits(db, raw_bytes, results_bytes, &arena, rules, upload, err);
    arena_free(&arena);
    store_read_end(store, db);
    return ok;
}
