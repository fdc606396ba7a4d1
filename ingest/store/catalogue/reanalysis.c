/* Results of an older version of the analyses, by other rules of kernel classes than today's, or
 * whose file is missing or cut off, and those that someone asks for: their uploads get their jobs
 * back. What is queued looks as after a takeover (catalogue/takeover.h). The old results stay until
 * the new ones take their place (results/swap.h). At a start each upload is one transaction: a
 * crash leaves the rest for the next one. */
#include "ingest/store/internal.h"
#include "ingest/store/results_files.h"
#include "ingest/store/schema/schema.h"

#include <stdio.h>
#include <string.h>

enum stale_reason { STALE_RULES, STALE_VERSION, STALE_LOST, STALE_REASONS };

struct stale {
    int64_t upload_id;
    enum stale_reason reason;
    char sha256_hex[SHA256_HEX_BYTES];
};

/* The next after `after` that is not analysed again already; upload_id 0: there is none. */
static bool next_stale(struct store *store, int64_t after, struct stale *out, struct err *err)
{
    struct db *db;
    struct db_stmt st;
    size_t len;
    *out = (struct stale){0};
    /* Not by the writer: the sweeper of objects runs already. */
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(
        &st, db,
        "SELECT id, CASE WHEN analysis_version = " STORE_VERSION_LOST " THEN 2"
        " WHEN analysis_version < ?3 THEN 1 ELSE 0 END, sha256 FROM upload WHERE id > ?1"
        " AND published = 1 AND NOT EXISTS (SELECT 1 FROM job WHERE id = upload.job_id AND state IN"
        " ('queued', 'running')) AND analysis_version <= ?3 AND"
        " (analysis_version < ?3 OR (rules <> ?2 AND EXISTS"
        " (SELECT 1 FROM trace WHERE upload_id = upload.id AND has_kernel = 1)))"
        " ORDER BY id LIMIT 1");
    db_put_int(&st, after);
    db_put_text(&st, store->rules);
    db_put_int(&st, ANALYSIS_VERSION);
    if (db_next(&st)) {
        out->upload_id = db_get_int(&st);
        out->reason = (enum stale_reason)db_get_int(&st);
        const char *sha256_hex = db_peek_text(&st, &len);
        if (sha256_hex != NULL && len < sizeof out->sha256_hex) {
            memcpy(out->sha256_hex, sha256_hex, len + 1);
        }
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

/* *queued: false for an upload that was deleted meanwhile. */
static bool queue_again(struct db *db, int64_t upload_id, bool *queued, struct err *err)
{
    bool ok = db_run_id(db,
                        "UPDATE job SET state = 'queued', node = '', lease_until_s = 0,"
                        " attempts = 0, replace = 0, twin = NULL, received_at_s ="
                        " (SELECT uploaded_at_s FROM upload WHERE id = ?1) WHERE id ="
                        " (SELECT job_id FROM upload WHERE id = ?1 AND published = 1)"
                        " AND state NOT IN ('queued', 'running')",
                        upload_id, err);
    *queued = ok && db_changes(db) == 1;
    return ok && (!*queued ||
                  db_run_id(db,
                            "INSERT INTO taken_over (job_id, worker, span_digits, trace_id,"
                            " note, tags) SELECT u.job_id, t.worker, t.span_digits, t.id, t.note,"
                            " t.tags FROM trace AS t JOIN upload AS u ON u.id = t.upload_id"
                            " WHERE u.id = ? AND t.derived_of IS NULL"
                            " ON CONFLICT (job_id, worker, span_digits) DO UPDATE SET"
                            " trace_id = excluded.trace_id, note = excluded.note,"
                            " tags = excluded.tags",
                            upload_id, err));
}

static bool requeue(struct store *store, const struct stale *stale, struct err *err)
{
    bool queued;
    return store_write_begin(store, STORE_DURABLE, err) &&
           store_write_end(store, queue_again(store->writer, stale->upload_id, &queued, err), err);
}

/* ---- lost files ---- */

static bool mark_lost_files(struct store *store, struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool ok = true;
    /* Of a shared catalogue, those that this server made. */
    db_prepare(&st, store->writer,
               "SELECT f.trace_id, f.size_bytes, f.key FROM results_file AS f WHERE f.bytes IS NULL"
               " AND f.is_object = 0 AND (?1 = 0 OR (f.kind = 0 AND EXISTS (SELECT 1 FROM trace AS"
               " t JOIN upload AS u ON u.id = t.upload_id JOIN job AS j ON j.id = u.job_id"
               " WHERE t.id = f.trace_id AND j.node = ?2)))");
    db_put_int(&st, store->is_shared);
    db_put_text(&st, store->node);
    while (ok && db_next(&st)) {
        size_t len;
        bool is_there = false;
        int64_t trace_id = db_get_int(&st);
        uint64_t size_bytes = (uint64_t)db_get_int(&st);
        ok = results_file_is_there(store, db_peek_text(&st, &len), size_bytes, &is_there, err) &&
             (is_there || db_run_id(store->writer,
                                    "UPDATE upload SET analysis_version = " STORE_VERSION_LOST
                                    " WHERE id = (SELECT upload_id FROM trace WHERE id = ?)",
                                    trace_id, err));
    }
    return db_done(&st, ok ? err : &second) && ok;
}

/* ---- all of them ---- */

/* Of one reason. */
struct stale_count {
    size_t queued;
    size_t left; /* their bytes were not kept */
};

static void say(const struct store *store, enum stale_reason reason, struct stale_count count)
{
    static const char *const causes[STALE_REASONS] = {
        "the rules of kernel classes are others",
        "an older version of the analyses has made results",
        "files of results are missing or cut off",
    };
    static const char *const states[STALE_REASONS] = {
        "follow other rules of kernel classes",
        "were analysed by an older version",
        "have lost their files of results",
    };
    if (count.queued > 0) {
        log_write(store->log, LOG_INFO, "%s: %zu uploads are analysed again", causes[reason],
                  count.queued);
    }
    if (count.left > 0) {
        log_write(store->log, LOG_WARN,
                  "%zu uploads %s and stay as they are: their bytes were not kept", count.left,
                  states[reason]);
    }
}

static bool
queue_stale(struct store *store, struct stale_count counts[STALE_REASONS], struct err *err)
{
    struct stale stale = {0};
    bool ok = next_stale(store, 0, &stale, err);
    while (ok && stale.upload_id != 0) {
        bool kept = false;
        struct err ignored = ERR_INIT; /* what cannot be found out stays as it is */
        kept = store_blob_is_kept(store, stale.sha256_hex, &kept, &ignored) && kept;
        counts[stale.reason].queued += kept;
        counts[stale.reason].left += !kept;
        ok = (!kept || requeue(store, &stale, err)) &&
             next_stale(store, stale.upload_id, &stale, err);
    }
    return ok;
}

bool store_follow_rules(struct store *store, const char *rules_sha256_hex, struct err *err)
{
    struct stale_count counts[STALE_REASONS] = {{0}};
    (void)snprintf(store->rules, sizeof store->rules, "%s", rules_sha256_hex);
    bool ok = store_write_begin(store, STORE_BATCH, err) &&
              store_write_end(store, mark_lost_files(store, err), err) &&
              queue_stale(store, counts, err);
    for (int reason = 0; reason < STALE_REASONS; reason++) {
        say(store, (enum stale_reason)reason, counts[reason]);
    }
    return ok;
}

/* ---- on request ---- */

#define BATCH_UPLOADS 128

struct asked {
    int64_t upload_id, job_id;
    const char *sha256_hex;
};

static bool find_asked(struct store *store,
                       struct arena *arena,
                       const struct store_again *which,
                       int64_t after_id,
                       struct asked asked[BATCH_UPLOADS],
                       size_t *count,
                       struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT u.id, u.job_id, u.sha256 FROM upload AS u JOIN run AS r ON r.id = u.run_id"
               " JOIN job AS j ON j.id = u.job_id WHERE u.id > ?1 AND u.published = 1"
               " AND (?2 IS NULL OR r.name = ?2) AND " STORE_IN_PROJECTS("r.project", "?3") //
               " AND (?4 IS NULL OR u.id IN (SELECT t.upload_id FROM trace AS t WHERE t.id IN"
               " (SELECT CAST(value AS BIGINT) FROM json_each(?4))))"
               " AND (?5 = 0 OR u.analysis_version = " STORE_VERSION_LOST ")"
               " AND u.analysis_version <= ?7" // a newer program's results stay
               " AND (j.run, j.file_name) NOT IN (SELECT run, file_name FROM job WHERE state IN"
               " ('queued', 'running')) ORDER BY u.id LIMIT ?6");
    db_put_int(&st, after_id);
    db_put_text(&st, which->run);
    db_put_text(&st, which->projects);
    db_put_text(&st, which->trace_ids);
    db_put_int(&st, which->lost_only);
    db_put_int(&st, BATCH_UPLOADS);
    db_put_int(&st, ANALYSIS_VERSION);
    for (*count = 0; *count < BATCH_UPLOADS && db_next(&st); (*count)++) {
        asked[*count].upload_id = db_get_int(&st);
        asked[*count].job_id = db_get_int(&st);
        asked[*count].sha256_hex = db_get_text(&st, arena);
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

/* Leaves those in `asked` whose bytes are there. */
static bool keep_kept(struct store *store, struct asked *asked, size_t *count, struct err *err)
{
    size_t kept_count = 0;
    for (size_t i = 0; i < *count; i++) {
        bool kept = false;
        if (!store_blob_is_kept(store, asked[i].sha256_hex, &kept, err)) {
            return false;
        }
        asked[kept_count] = asked[i];
        kept_count += kept;
    }
    *count = kept_count;
    return true;
}

static bool queue_asked(struct store *store,
                        const struct asked *asked,
                        size_t count,
                        struct store_again_batch *batch,
                        struct err *err)
{
    bool ok = true;
    if (count == 0) {
        return true;
    }
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    for (size_t i = 0; ok && i < count; i++) {
        bool queued = false;
        ok = queue_again(store->writer, asked[i].upload_id, &queued, err);
        batch->job_ids[batch->count] = asked[i].job_id;
        batch->count += queued;
    }
    return store_write_end(store, ok, err);
}

bool store_queue_again(struct store *store,
                       struct arena *arena,
                       const struct store_again *which,
                       struct store_again_batch *batch,
                       struct err *err)
{
    size_t count = 0;
    struct asked *asked = arena_calloc(arena, BATCH_UPLOADS, sizeof *asked);
    batch->job_ids = arena_calloc(arena, BATCH_UPLOADS, sizeof *batch->job_ids);
    batch->count = 0;
    if (asked == NULL || batch->job_ids == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the uploads to analyse again");
    }
    if (!find_asked(store, arena, which, batch->after_id, asked, &count, err)) {
        return false;
    }
    batch->is_last = count < BATCH_UPLOADS;
    batch->after_id = count == 0 ? batch->after_id : asked[count - 1].upload_id;
    batch->left = count;
    bool ok = keep_kept(store, asked, &count, err);
    batch->left -= count;
    return ok && queue_asked(store, asked, count, batch, err);
}

uint64_t store_losses(const struct store *store)
{
    return atomic_load(&store->losses);
}
