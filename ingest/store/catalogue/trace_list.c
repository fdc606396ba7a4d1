/* Which traces a list has: filters, order and page. */
#include "ingest/base/text/buf.h"
#include "ingest/store/db/match.h"
#include "ingest/store/db/sort.h"
#include "ingest/store/internal.h"

#include <string.h>

#define SQL_MAX_BYTES 4096

static const struct sort_column trace_sorts[] = {
    {"uploaded_at", "u.uploaded_at_s"},
    {"id", "t.id"},
    {"run", "r.name"},
    {"worker", "t.worker"},
    {"start_clock_ns", "t.start_ns"},
    {"duration_ns", "t.duration_ns"},
    {"events", "t.event_count"},
    {"steps", "t.step_count"},
    {"size_bytes", "u.size_bytes"},
};

/* Parameters: has a query, matcher, projects, run, project, tag, device type. */
#define HAS_TAG(tags) "EXISTS (SELECT 1 FROM json_each(" tags ") WHERE value = ?6)"
#define LISTED                                                                                   \
    STORE_VISIBLE_TRACES                                                                         \
    " WHERE (?1 = 0 OR ks_match(r.name, ?2) OR ks_match(t.worker, ?2)"                           \
    " OR ks_match(u.file_name, ?2)) AND " STORE_IN_PROJECTS(                                     \
        "r.project", "?3") " AND (?4 IS NULL OR r.name = ?4) AND (?5 IS NULL OR r.project = ?5)" \
                           " AND (?6 IS NULL OR " HAS_TAG("t.tags") " OR " HAS_TAG(              \
                               "r.tags") ")"                                                     \
                                         " AND (?7 IS NULL OR t.device_type = ?7)"

/* The newest n traces are in those runs that are as new as the n-th one, which an index finds; ?8
 * and ?9 are the rows of the page and those before it. */
#define IN_NEWEST_RUNS                                                                         \
    " AND u.run_id IN (SELECT n.id FROM run AS n WHERE n.uploaded_at_s >= coalesce((SELECT"    \
    " k.uploaded_at_s FROM run AS k WHERE k.trace_count > 0 AND " STORE_IN_PROJECTS(           \
        "k.project", "?3") " AND (?5 IS NULL OR k.project = ?5) ORDER BY k.uploaded_at_s DESC" \
                           " LIMIT 1 OFFSET ?8 + ?9 - 1), 0))"

static void
put_filter(struct db_stmt *st, const struct store_trace_filter *filter, struct matcher *matcher)
{
    db_put_int(st, matcher != NULL);
    db_put_matcher(st, matcher);
    db_put_text(st, filter->page.projects);
    db_put_text(st, filter->run);
    db_put_text(st, filter->project);
    db_put_text(st, filter->tag);
    db_put_text(st, filter->device_type);
}

/* Of a run all traces are listed or none: the runs tell how many there are, where to count a
 * million rows takes a second. */
static bool lists_whole_runs(const struct store_trace_filter *filter, bool has_query)
{
    return !has_query && filter->tag == NULL && filter->device_type == NULL;
}

static bool lists_newest(const struct store_trace_filter *filter, bool has_query)
{
    const char *sort = filter->page.sort;
    return lists_whole_runs(filter, has_query) && filter->run == NULL && sort != NULL &&
           strcmp(sort, trace_sorts[0].name) == 0 && filter->page.descending;
}

static bool count_listed(struct db *db,
                         const struct store_trace_filter *filter,
                         struct matcher *matcher,
                         int64_t *total,
                         struct err *err)
{
    struct db_stmt st;
    if (lists_whole_runs(filter, matcher != NULL)) {
        db_prepare(&st, db,
                   "SELECT coalesce(sum(r.trace_count), 0) FROM run AS r WHERE " STORE_IN_PROJECTS(
                       "r.project",
                       "?1") " AND (?2 IS NULL OR r.name = ?2) AND (?3 IS NULL OR r.project = ?3)");
        db_put_text(&st, filter->page.projects);
        db_put_text(&st, filter->run);
        db_put_text(&st, filter->project);
    } else {
        db_prepare(&st, db, "SELECT count(*)" LISTED);
        put_filter(&st, filter, matcher);
    }
    *total = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

static bool list_ids(struct db *db,
                     struct arena *arena,
                     const struct store_trace_filter *filter,
                     struct matcher *matcher,
                     int64_t **ids,
                     size_t *count,
                     int64_t *total,
                     struct err *err)
{
    const char *key = NULL;
    if (!sort_find(trace_sorts, sizeof trace_sorts / sizeof trace_sorts[0], filter->page.sort, &key,
                   err) ||
        !count_listed(db, filter, matcher, total, err)) {
        return false;
    }
    size_t rows_max = sort_page_rows(&filter->page, *total);
    *ids = arena_calloc(arena, rows_max, sizeof **ids);
    if (*ids == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a list of traces");
    }
    /* The newest first, also among equals. */
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    buf_puts(&sql, "SELECT t.id" LISTED);
    buf_puts(&sql, lists_newest(filter, matcher != NULL) ? IN_NEWEST_RUNS : "");
    buf_puts(&sql, " ORDER BY ");
    if (key != NULL) {
        buf_printf(&sql, "%s%s, ", key, filter->page.descending ? " DESC" : "");
    }
    buf_puts(&sql, "t.id DESC LIMIT ?8 OFFSET ?9");
    struct db_stmt st;
    db_prepare_buf(&st, db, &sql);
    put_filter(&st, filter, matcher);
    db_put_int(&st, (int64_t)rows_max);
    db_put_int(&st, filter->page.offset);
    while (*count < rows_max && db_next(&st)) {
        (*ids)[(*count)++] = db_get_int(&st);
    }
    return db_done(&st, err);
}

bool store_trace_list(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const struct store_trace_filter *filter,
                      int64_t **ids,
                      size_t *count,
                      int64_t *total,
                      struct err *err)
{
    struct db *db;
    struct matcher matcher = {0};
    const char *q = filter->page.q;
    bool has_query = q != NULL && *q != '\0';
    *ids = NULL;
    *count = 0;
    if (has_query && !match_init(&matcher, q, err)) {
        return false;
    }
    bool ok = store_snapshot_read(snapshot, &db, err) &&
              list_ids(db, arena, filter, has_query ? &matcher : NULL, ids, count, total, err);
    match_free(&matcher);
    return ok;
}
