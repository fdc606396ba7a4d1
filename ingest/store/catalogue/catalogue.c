/* Runs and traces as the outside sees them: only what is published. */
#include "ingest/base/text/buf.h"
#include "ingest/base/text/json_write.h"
#include "ingest/base/text/utf8.h"
#include "ingest/store/db/match.h"
#include "ingest/store/db/sort.h"
#include "ingest/store/history/points.h"
#include "ingest/store/internal.h"
#include "ingest/store/runs/run_names.h"
#include "ingest/store/schema/sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SQL_MAX_BYTES 8192
/* So many runs that a search finds are counted, and as many as lie before the end of its page. */
#define FOUND_MAX 1000
#define FOUND_MAX_BYTES ((size_t)64 << 20)

/* ---- shared ---- */

static bool check_id(struct db *db, const char *sql, int64_t trace_id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_int(&st, trace_id);
    bool found = db_next(&st);
    if (!db_done(&st, err)) {
        return false;
    }
    return found || err_set(err, ERR_NOT_FOUND, "Trace %lld not found: it may have been deleted",
                            (long long)trace_id);
}

bool store_check_trace(struct db *db, int64_t trace_id, struct err *err)
{
    return check_id(db, "SELECT 1" STORE_VISIBLE_TRACES " WHERE t.id = ?", trace_id, err);
}

bool store_check_figures(struct db *db, int64_t trace_id, struct err *err)
{
    return check_id(db, "SELECT 1" STORE_PUBLISHED_ROWS " WHERE t.id = ?", trace_id, err);
}

bool store_trace_check(struct store_snapshot *snapshot, int64_t id, struct err *err)
{
    struct db *db;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    return store_check_trace(db, id, err);
}

bool store_read_ids(struct db *db,
                    const char *sql,
                    int64_t id,
                    struct arena *arena,
                    int64_t **ids,
                    size_t *count,
                    struct err *err)
{
    struct db_stmt st;
    size_t cap = 0;
    *ids = NULL;
    *count = 0;
    db_prepare(&st, db, sql);
    db_put_int(&st, id);
    while (db_next(&st)) {
        int64_t *grown = arena_grow(arena, *ids, *count, &cap, sizeof *grown);
        if (grown == NULL) {
            db_fail_memory(&st);
            break;
        }
        grown[(*count)++] = db_get_int(&st);
        *ids = grown;
    }
    return db_done(&st, err);
}

/* ---- runs ---- */

#define RUN_SELECT                                                                              \
    "SELECT r.id, r.name, r.note, r.tags, r.project, r.pinned, r.uploaded_at_s, r.trace_count," \
    " r.worker_count, r.size_bytes, r.device_types, r.views, r.trace_id, r.steps_ns,"           \
    " r.step_count, r.step_times_ns, r.device, r.utilisation FROM run AS r"
#define VISIBLE " r.newest_upload_id > 0"

static void read_run(struct db_stmt *st, struct arena *arena, struct store_run *run)
{
    run->id = db_get_int(st);
    run->name = db_get_text(st, arena);
    run->note = db_get_text(st, arena);
    run->tags = db_get_text(st, arena);
    run->project = db_get_text(st, arena);
    run->pinned = db_get_bool(st);
    run->uploaded_at_s = db_get_int(st);
    run->trace_count = db_get_int(st);
    run->worker_count = db_get_int(st);
    run->size_bytes = (uint64_t)db_get_int(st);
    run->device_types = db_get_text(st, arena);
    run->views = (uint32_t)db_get_int(st);
    run->trace_id = db_get_int(st);
    int64_t steps_ns = db_get_int(st);
    run->step_count = db_get_int(st);
    run->step_ns = run->step_count > 0 ? (double)steps_ns / (double)run->step_count : (double)NAN;
    run->step_times_ns = db_get_text(st, arena);
    run->device = db_get_text(st, arena);
    run->utilisation = db_get_real(st);
}

static const struct sort_column run_sorts[] = {
    {"name", "r.name"},
    {"uploaded_at", "r.uploaded_at_s"},
    {"traces", "r.trace_count"},
    {"workers", "r.worker_count"},
    {"size_bytes", "r.size_bytes"},
};

/* How a query is looked for. */
enum searching {
    SEARCH_NOTHING,
    SEARCH_EACH_TAG,
    SEARCH_TAGS_AS_STORED /* what stands in a tag stands in the JSON text of all as well */
};

/* Parameters: enum searching, matcher, projects, tag, project. Tags are taken apart only where they
 * may match: most runs have none, `[]`. */
#define LISTED                                                                                   \
    " FROM run AS r WHERE" VISIBLE " AND (?1 = 0 OR ks_match(r.name, ?2) OR (r.tags <> '[]' AND" \
    " (?1 = 1 OR ks_match(r.tags, ?2)) AND"                                                      \
    " EXISTS (SELECT 1 FROM json_each(r.tags) AS j WHERE ks_match(j.value, ?2)))) "              \
    "AND " STORE_IN_PROJECTS(                                                                    \
        "r.project",                                                                             \
        "?3") " AND (?4 IS NULL OR EXISTS (SELECT 1 FROM"                                        \
              " json_each(r.tags) AS j WHERE j.value = ?4)) AND (?5 IS NULL OR r.project = ?5)"

/* Parameters: what find_runs has found, projects. What is in memory may be newer than the snapshot,
 * and who may read a run is for its row to say. */
#define FOUND                                                                         \
    " FROM run AS r WHERE" VISIBLE " AND r.id IN (SELECT CAST(value AS BIGINT) FROM " \
    "json_each(?1)) AND " STORE_IN_PROJECTS("r.project", "?2")

/* JSON writes quotes, backslashes and control characters in another way. */
static enum searching searching_of(const struct matcher *matcher)
{
    if (matcher == NULL) {
        return SEARCH_NOTHING;
    }
    bool is_plain = !matcher->is_regex;
    for (const char *at = matcher->needle; is_plain && *at != '\0'; at++) {
        is_plain = (unsigned char)*at >= ' ' && *at != '"' && *at != '\\';
    }
    return is_plain ? SEARCH_TAGS_AS_STORED : SEARCH_EACH_TAG;
}

static void put_list(struct db_stmt *st, const struct store_page *page, struct matcher *matcher)
{
    db_put_int(st, searching_of(matcher));
    db_put_matcher(st, matcher);
    db_put_text(st, page->projects);
    db_put_text(st, page->tag);
    db_put_text(st, page->project);
}

/* At most so many, as a JSON array. */
static bool find_in_rows(struct db *db,
                         const struct store_page *page,
                         struct matcher *matcher,
                         int64_t enough,
                         struct buf *ids,
                         struct store_total *total,
                         struct err *err)
{
    struct db_stmt st;
    struct json_write w;
    jw_init(&w, ids, true);
    jw_array_begin(&w);
    db_prepare(&st, db, "SELECT r.id" LISTED " LIMIT ?6");
    put_list(&st, page, matcher);
    db_put_int(&st, enough);
    while (db_next(&st)) {
        jw_int(&w, db_get_int(&st));
        total->rows++;
    }
    jw_array_end(&w);
    return db_done(&st, err);
}

/* A search: one look at the runs, in no order, which ends where enough are found. `ids` gets all
 * that match as a JSON array, and stays empty where there may be more. */
static bool find_runs(struct store *store,
                      struct db *db,
                      const struct store_page *page,
                      struct matcher *matcher,
                      struct buf *ids,
                      struct store_total *total,
                      struct err *err)
{
    int64_t enough = page->limit == 0 ? INT64_MAX : page->offset + page->limit + 1;
    enough = enough < FOUND_MAX ? FOUND_MAX : enough;
    bool has_looked = false;
    bool is_plain = page->tag == NULL && searching_of(matcher) == SEARCH_TAGS_AS_STORED &&
                    utf8_is_valid(page->q, strlen(page->q));
    bool ok = !is_plain || run_names_find(store->run_names, db, page, enough, ids, &total->rows,
                                          &has_looked, err);
    ok = ok && (has_looked || find_in_rows(db, page, matcher, enough, ids, total, err));
    total->is_least = total->rows == enough;
    if (total->is_least) {
        ids->len = 0;
    }
    return ok && (!ids->failed || err_set(err, ERR_NO_MEMORY, "no memory for the runs"));
}

static void put_order(struct buf *sql, const char *key, bool descending, bool newest_first)
{
    buf_puts(sql, " ORDER BY ");
    if (key != NULL) {
        buf_printf(sql, "%s%s, ", key, descending ? " DESC" : "");
    }
    buf_printf(sql, "r.newest_upload_id%s", newest_first ? " DESC" : "");
}

/* The page is chosen in an index that has all that choosing needs, from its nearer end; only its
 * rows are read. Newest upload first; among equals in the direction of the sort, so that one index
 * serves both. */
static void
page_sql(struct buf *sql, const char *listed, const char *key, bool descending, bool from_end)
{
    bool newest_first = key == NULL || descending;
    buf_printf(sql, RUN_SELECT " WHERE r.id IN (SELECT r.id%s", listed);
    put_order(sql, key, descending != from_end, newest_first != from_end);
    buf_puts(sql, " LIMIT ? OFFSET ?)");
    put_order(sql, key, descending, newest_first);
}

static bool read_runs(struct db *db,
                      struct arena *arena,
                      const struct store_page *page,
                      struct matcher *matcher,
                      struct store_run **rows,
                      size_t *count,
                      const char *ids,
                      const struct store_total *total,
                      struct err *err)
{
    const char *key = NULL;
    if (!sort_find(run_sorts, sizeof run_sorts / sizeof run_sorts[0], page->sort, &key, err)) {
        return false;
    }
    size_t rows_max = sort_page_rows(page, total->rows);
    *count = 0;
    *rows = arena_calloc(arena, rows_max, sizeof **rows);
    if (*rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the runs");
    }
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    int64_t left = total->rows - page->offset - (int64_t)rows_max;
    bool from_end = !total->is_least && left >= 0 && left < page->offset;
    page_sql(&sql, ids == NULL ? LISTED : FOUND, key, page->descending, from_end);

    struct db_stmt st;
    db_prepare_buf(&st, db, &sql);
    if (ids == NULL) {
        put_list(&st, page, matcher);
    } else {
        db_put_text(&st, ids);
        db_put_text(&st, page->projects);
    }
    db_put_int(&st, (int64_t)rows_max);
    db_put_int(&st, from_end ? left : page->offset);
    while (*count < rows_max && db_next(&st)) {
        read_run(&st, arena, &(*rows)[(*count)++]);
    }
    return db_done(&st, err);
}

static bool list_runs(struct store *store,
                      struct db *db,
                      struct arena *arena,
                      const struct store_page *page,
                      struct matcher *matcher,
                      struct store_run **rows,
                      size_t *count,
                      struct store_total *total,
                      struct err *err)
{
    *total = (struct store_total){0};
    if (matcher == NULL && page->tag == NULL) {
        struct sums sums;
        bool ok = sums_read(db, SUMS_RUNS, page->projects, page->project, &sums, err);
        total->rows = sums.items;
        return ok && read_runs(db, arena, page, NULL, rows, count, NULL, total, err);
    }
    struct buf ids;
    buf_init(&ids, FOUND_MAX_BYTES);
    bool ok =
        find_runs(store, db, page, matcher, &ids, total, err) &&
        read_runs(db, arena, page, matcher, rows, count, ids.len == 0 ? NULL : ids.ptr, total, err);
    buf_free(&ids);
    return ok;
}

bool store_runs(struct store_snapshot *snapshot,
                struct arena *arena,
                const struct store_page *page,
                struct store_run **rows,
                size_t *count,
                struct store_total *total,
                struct err *err)
{
    struct db *db;
    struct matcher matcher = {0};
    bool has_query = page->q != NULL && page->q[0] != '\0';
    if (has_query && !match_init(&matcher, page->q, err)) {
        return false;
    }
    bool ok = store_snapshot_read(snapshot, &db, err) &&
              list_runs(snapshot->store, db, arena, page, has_query ? &matcher : NULL, rows, count,
                        total, err);
    match_free(&matcher);
    return ok;
}

bool store_count(struct store_snapshot *snapshot,
                 const char *projects,
                 int64_t *runs,
                 int64_t *traces,
                 struct err *err)
{
    struct db *db;
    struct sums sums = {0};
    bool ok = store_snapshot_read(snapshot, &db, err) &&
              sums_read(db, SUMS_RUNS, projects, NULL, &sums, err);
    *runs = sums.items;
    *traces = sums.traces;
    return ok;
}

static bool no_run(const char *name, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "Run \"%s\" not found: it may have been deleted or renamed",
                   name);
}

bool store_run_get(struct store_snapshot *snapshot,
                   struct arena *arena,
                   const char *name,
                   struct store_run **out,
                   struct err *err)
{
    struct db *db;
    struct store_run *run = arena_calloc(arena, 1, sizeof *run);
    if (run == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a run");
    }
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, db, RUN_SELECT " WHERE r.name = ? AND" VISIBLE);
    db_put_text(&st, name);
    bool found = db_next(&st);
    if (found) {
        read_run(&st, arena, run);
    }
    bool ok = db_done(&st, err);
    if (ok && !found) {
        return no_run(name, err);
    }
    *out = run;
    return ok;
}

/* ---- traces ---- */

/* Spans are numbered over the distinct digit strings of a worker, so the number of one trace needs
 * its neighbours: `which` chooses whole workers, `one` what is asked for. A name without digits is
 * span 1. */
#define TRACE_SELECT(which, one)                                                              \
    "SELECT * FROM (SELECT t.id AS id, r.name, t.worker AS worker, t.span_digits,"            \
    " dense_rank() OVER (PARTITION BY u.run_id, t.worker, t.span_digits = ''"                 \
    "     ORDER BY t.span_digits) AS span,"                                                   \
    " u.file_name, t.rank, t.format, "                                                        \
    "t.device_type, t.event_count, CASE WHEN t.has_steps <> 0 THEN t.step_count ELSE 0 END, " \
    "t.start_ns,"                                                                             \
    " t.duration_ns, u.size_bytes, u.sha256, u.uploaded_at_s, t.note, t.tags, t.warnings,"    \
    " t.views,"                                                                               \
    " coalesce((SELECT p.views FROM trace AS p"                                               \
    " WHERE p.derived_of = t.id AND p.upload_id = t.upload_id), t.views),"                    \
    " t.collective_count, t.operator_count,"                                                  \
    " t.kernel_count, t.has_events <> 0 OR t.format = 'chrome-trace',"                        \
    " CASE WHEN t.has_events = 0 THEN t.id ELSE coalesce((SELECT max(p.id) FROM trace AS p"   \
    " WHERE p.derived_of = t.id AND p.upload_id = t.upload_id), 0) END" STORE_VISIBLE_TRACES  \
    " WHERE " which ") AS listed " one

void store_put_warnings(struct buf *text, const struct warnings *warnings)
{
    for (int code = 0; code < WARNING_CODE_COUNT; code++) {
        const struct warning_count *entry = &warnings->by_code[code];
        if (entry->count == 0) {
            continue;
        }
        buf_printf(text, "%s %" PRIu64, warning_code_text((enum warning_code)code), entry->count);
        if (entry->first_offset == WARNING_NO_OFFSET) {
            buf_puts(text, " -\n");
        } else {
            buf_printf(text, " %" PRIu64 "\n", entry->first_offset);
        }
    }
}

/* The entry of the code that `text` begins with, up to a space; NULL: of another version. */
static struct warning_count *find_warning(struct warnings *warnings, const char *text, size_t len)
{
    for (int code = 0; code < WARNING_CODE_COUNT; code++) {
        const char *known = warning_code_text((enum warning_code)code);
        if (strlen(known) == len && memcmp(known, text, len) == 0) {
            return &warnings->by_code[code];
        }
    }
    return NULL;
}

/* The next column, as store_put_warnings wrote it. */
static void get_warnings(struct db_stmt *st, struct warnings *warnings)
{
    size_t len;
    const char *line = db_peek_text(st, &len);
    while (line != NULL && *line != '\0') {
        size_t code_len = strcspn(line, " \n");
        const char *number = line + code_len;
        struct warning_count *entry = find_warning(warnings, line, code_len);
        if (entry != NULL && *number == ' ') {
            char *end;
            entry->count = strtoull(number, &end, 10);
            entry->first_offset =
                strncmp(end, " -", 2) == 0 ? WARNING_NO_OFFSET : strtoull(end, NULL, 10);
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

static void read_trace(struct db_stmt *st, struct arena *arena, struct store_trace *trace)
{
    trace->id = db_get_int(st);
    trace->run = db_get_text(st, arena);
    trace->worker = db_get_text(st, arena);
    trace->span_digits = db_get_text(st, arena);
    trace->span = db_get_int(st);
    trace->file_name = db_get_text(st, arena);
    trace->rank = db_get_int(st);
    trace->format = db_get_text(st, arena);
    trace->device_type = db_get_text(st, arena);
    trace->event_count = db_get_int(st);
    trace->step_count = db_get_int(st);
    trace->start_ns = db_get_int(st);
    trace->duration_ns = db_get_int(st);
    trace->size_bytes = (uint64_t)db_get_int(st);
    trace->sha256_hex = db_get_text(st, arena);
    trace->uploaded_at_s = db_get_int(st);
    trace->note = db_get_text(st, arena);
    trace->tags = db_get_text(st, arena);
    get_warnings(st, &trace->warnings);
    trace->views = (uint32_t)db_get_int(st);
    trace->derived_views = (uint32_t)db_get_int(st);
    trace->collective_count = db_get_int(st);
    trace->operator_count = db_get_int(st);
    trace->kernel_count = db_get_int(st);
    trace->has_events = db_get_bool(st);
    trace->derived_id = db_get_int(st);
}

bool store_read_warnings(struct db *db,
                         int64_t trace_id,
                         struct warnings *warnings,
                         struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT warnings FROM trace WHERE id = ?");
    db_put_int(&st, trace_id);
    if (db_next(&st)) {
        get_warnings(&st, warnings);
    }
    return db_done(&st, err);
}

static bool count_traces(struct db *db, const char *run, size_t *count, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT count(*)" STORE_VISIBLE_TRACES " WHERE r.name = ?");
    db_put_text(&st, run);
    *count = db_next(&st) ? (size_t)db_get_int(&st) : 0;
    if (!db_done(&st, err)) {
        return false;
    }
    return *count > 0 || no_run(run, err);
}

static bool read_traces(struct db *db,
                        struct arena *arena,
                        const char *run,
                        struct store_trace **rows,
                        size_t *count,
                        struct err *err)
{
    size_t rows_max = 0;
    if (!count_traces(db, run, &rows_max, err)) {
        return false;
    }
    struct db_stmt st;
    *rows = arena_calloc(arena, rows_max, sizeof **rows);
    if (*rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the traces of a run");
    }
    db_prepare(&st, db, TRACE_SELECT("r.name = ?", "ORDER BY worker, span, id"));
    db_put_text(&st, run);
    while (*count < rows_max && db_next(&st)) {
        read_trace(&st, arena, &(*rows)[(*count)++]);
    }
    return db_done(&st, err);
}

bool store_traces(struct store_snapshot *snapshot,
                  struct arena *arena,
                  const char *run,
                  struct store_trace **rows,
                  size_t *count,
                  struct err *err)
{
    struct db *db;
    *rows = NULL;
    *count = 0;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    return read_traces(db, arena, run, rows, count, err);
}

/* A list of numbers as SQL takes it: "[4,2]". */
static void put_ids(struct buf *text, const int64_t *ids, size_t count)
{
    buf_puts(text, "[");
    for (size_t i = 0; i < count; i++) {
        buf_printf(text, "%s%" PRId64, i == 0 ? "" : ",", ids[i]);
    }
    buf_puts(text, "]");
}

static bool read_traces_by_id(struct db *db,
                              struct arena *arena,
                              const int64_t *ids,
                              size_t count,
                              struct store_trace *rows,
                              struct err *err)
{
    size_t found = 0;
    struct buf list;
    buf_init(&list, SIZE_MAX);
    put_ids(&list, ids, count);
    if (list.failed) {
        buf_free(&list);
        return err_set(err, ERR_NO_MEMORY, "no memory for a list of traces");
    }
    struct db_stmt st;
    db_prepare(
        &st, db,
        TRACE_SELECT("(u.run_id, t.worker) IN (WITH workers AS MATERIALIZED (SELECT y.run_id,"
                     " x.worker FROM json_each(?1) AS asked"
                     " JOIN trace AS x ON x.id = CAST(asked.value AS BIGINT)"
                     " JOIN upload AS y ON y.id = x.upload_id)"
                     " SELECT run_id, worker FROM workers)",
                     "JOIN json_each(?1) AS asked ON CAST(asked.value AS BIGINT) = listed.id"
                     " ORDER BY asked.key"));
    db_put_text(&st, list.ptr);
    while (found < count && db_next(&st)) {
        read_trace(&st, arena, &rows[found]);
        if (rows[found].id != ids[found]) {
            break;
        }
        found++;
    }
    bool ok = db_done(&st, err);
    buf_free(&list);
    if (ok && found < count) {
        return err_set(err, ERR_NOT_FOUND, "Trace %lld not found: it may have been deleted",
                       (long long)ids[found]);
    }
    return ok;
}

bool store_traces_get(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const int64_t *ids,
                      size_t count,
                      struct store_trace **rows,
                      struct err *err)
{
    struct db *db;
    *rows = arena_calloc(arena, count, sizeof **rows);
    if (*rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for traces");
    }
    return count == 0 || (store_snapshot_read(snapshot, &db, err) &&
                          read_traces_by_id(db, arena, ids, count, *rows, err));
}

bool store_trace_get(struct store_snapshot *snapshot,
                     struct arena *arena,
                     int64_t id,
                     struct store_trace **out,
                     struct err *err)
{
    return store_traces_get(snapshot, arena, &id, 1, out, err);
}

static bool find_upload(struct db *db,
                        struct arena *arena,
                        const char *run,
                        const char *file_name,
                        struct store_file *out,
                        int64_t *upload_id,
                        struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT u.id, u.sha256, u.job_id, j.marker, coalesce(j.rank, -1) FROM upload AS u "
               "JOIN run AS r ON r.id = u.run_id"
               " JOIN job AS j ON j.id = u.job_id"
               " WHERE r.name = ? AND u.file_name = ? AND u.published = 1");
    db_put_text(&st, run);
    db_put_text(&st, file_name);
    *upload_id = 0;
    if (db_next(&st)) {
        *upload_id = db_get_int(&st);
        out->sha256_hex = db_get_text(&st, arena);
        out->job_id = db_get_int(&st);
        out->marker = db_get_text(&st, arena);
        out->rank = db_get_int(&st);
    }
    return db_done(&st, err);
}

bool store_find_file(struct store *store,
                     struct arena *arena,
                     const char *run,
                     const char *file_name,
                     struct store_file *out,
                     struct err *err)
{
    struct db *db;
    int64_t upload_id;
    *out = (struct store_file){.rank = STORE_NO_RANK};
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool ok = find_upload(db, arena, run, file_name, out, &upload_id, err) &&
              store_read_ids(
                  db, "SELECT id FROM trace WHERE upload_id = ? AND derived_of IS NULL ORDER BY id",
                  upload_id, arena, &out->trace_ids, &out->trace_count, err);
    store_read_end(store, db);
    return ok;
}

/* ---- tags, notes and pins ---- */

bool store_run_patch(struct store *store,
                     const char *name,
                     const char *tags,
                     const char *note,
                     const bool *pinned,
                     struct err *err)
{
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, store->writer,
               "UPDATE run SET tags = coalesce(?, tags), note = coalesce(?, note),"
               " pinned = coalesce(?, pinned) WHERE name = ? AND newest_upload_id > 0");
    db_put_text(&st, tags);
    db_put_text(&st, note);
    db_put_optional(&st, pinned == NULL ? INT64_MIN : *pinned);
    db_put_text(&st, name);
    bool ok = db_run(&st, err);
    bool found = ok && db_changes(store->writer) > 0;
    ok = ok && (tags == NULL || series_points_refresh_run(store->writer, name, err));
    return store_write_end(store, ok, err) && (found || no_run(name, err));
}

bool store_trace_patch(
    struct store *store, int64_t id, const char *tags, const char *note, struct err *err)
{
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, store->writer,
               "UPDATE trace SET tags = coalesce(?, tags), note = coalesce(?, note) WHERE id = ?"
               " AND EXISTS (SELECT 1 FROM upload WHERE id = trace.upload_id AND published = 1)");
    db_put_text(&st, tags);
    db_put_text(&st, note);
    db_put_int(&st, id);
    bool ok = db_run(&st, err);
    bool found = ok && db_changes(store->writer) > 0;
    return store_write_end(store, ok, err) &&
           (found || err_set(err, ERR_NOT_FOUND, "Trace %lld not found: it may have been deleted",
                             (long long)id));
}
