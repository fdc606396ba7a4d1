/* Reads series: which points have what a filter wants, each with its value. */
#include "ingest/store/db/match.h"
#include "ingest/store/history/cache.h"
#include "ingest/store/history/points.h"
#include "ingest/store/store_access.h"
#include "ingest/store/store_history.h"

#include <math.h>
#include <string.h>

struct reading {
    const struct store_series_filter *filter;
    struct matcher *matcher; /* NULL: the run's name is compared */
    struct arena *arena;
    struct store_series_point *points;
    size_t count;
};

static bool is_run(const struct reading *r, const char *run)
{
    if (r->filter->run == NULL) {
        return true;
    }
    return r->matcher != NULL ? match_test(r->matcher, run) : strcmp(run, r->filter->run) == 0;
}

static bool has_tags(const struct store_series_filter *filter, const char *tags)
{
    for (size_t i = 0; i < filter->tag_count; i++) {
        if (!series_tags_have(tags, filter->tags[i])) {
            return false;
        }
    }
    return true;
}

static bool belongs(const struct reading *r, const struct cached_point *point)
{
    const struct store_series_filter *filter = r->filter;
    return store_projects_have(filter->projects, point->project) &&
           (filter->project == NULL || strcmp(point->project, filter->project) == 0) &&
           is_run(r, point->run) && has_tags(filter, point->tags) &&
           (filter->device == NULL || series_tags_have(point->devices, filter->device));
}

/* False without memory. */
static bool take_point(struct reading *r, const struct cached_point *from, double value)
{
    const struct store_series_filter *filter = r->filter;
    bool is_on_page =
        r->count >= filter->page_offset && r->count - filter->page_offset < filter->page_count;
    struct store_series_point *point = &r->points[r->count++];
    *point = (struct store_series_point){.run = arena_strndup(r->arena, from->run, from->run_len),
                                         .trace_id = from->trace_id,
                                         .span = from->span,
                                         .time = from->time,
                                         .time_source = from->time_source,
                                         .value = value};
    if (is_on_page) {
        point->tags = arena_strndup(r->arena, from->tags, from->tags_len);
    }
    return point->run != NULL && (!is_on_page || point->tags != NULL);
}

static bool read_points(const struct series_cache *cache, const double *values, struct reading *r)
{
    bool ok = true;
    r->points = arena_calloc(r->arena, cache->count + 1, sizeof *r->points);
    for (size_t i = 0; ok && r->points != NULL && i < cache->count; i++) {
        ok = !belongs(r, &cache->points[i]) || take_point(r, &cache->points[i], values[i]);
    }
    return ok && r->points != NULL;
}

static bool
read_series(struct store_snapshot *snapshot, struct reading *r, const char *metric, struct err *err)
{
    const double *values = NULL;
    struct store *store = snapshot->store;
    if (!series_points_settle(store, err) || !series_cache_lock(store, metric, &values, err)) {
        return false;
    }
    bool ok = read_points(store->series, values, r);
    series_cache_unlock(store);
    return ok || err_set(err, ERR_NO_MEMORY, "no memory for a series");
}

static bool is_expression(const struct store_series_filter *filter)
{
    const char *run = filter->run;
    size_t len = run == NULL ? 0 : strlen(run);
    return filter->run_may_match && len > 2 && run[0] == '/' && run[len - 1] == '/';
}

bool store_series_read(struct store_snapshot *snapshot,
                       struct arena *arena,
                       const char *metric,
                       const struct store_series_filter *filter,
                       struct store_series_point **points,
                       size_t *count,
                       struct err *err)
{
    struct matcher matcher = {0};
    struct reading r = {.filter = filter, .arena = arena};
    if (is_expression(filter)) {
        if (!match_init(&matcher, filter->run, err)) {
            return false;
        }
        r.matcher = &matcher;
    }
    bool ok = read_series(snapshot, &r, metric, err);
    *points = r.points;
    *count = r.count;
    match_free(&matcher);
    return ok;
}

bool store_series_value(struct store_snapshot *snapshot,
                        int64_t trace_id,
                        const char *metric,
                        double *value,
                        struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT value FROM series_value WHERE trace_id = ? AND metric_id ="
               " (SELECT id FROM series_metric WHERE name = ?)");
    db_put_int(&st, trace_id);
    db_put_text(&st, metric);
    *value = db_next(&st) ? db_get_real(&st) : (double)NAN;
    return db_done(&st, err);
}

bool store_series_metrics(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t trace_id,
                          const char *q,
                          int64_t limit,
                          struct store_series_metric **rows,
                          size_t *count,
                          struct err *err)
{
    struct db *db;
    struct db_stmt st;
    *count = 0;
    *rows = arena_calloc(arena, (size_t)limit + 1, sizeof **rows);
    if (*rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the names of metrics");
    }
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT m.name, v.value FROM series_value AS v JOIN series_metric AS m"
               " ON m.id = v.metric_id WHERE v.trace_id = ?1"
               " AND (?2 IS NULL OR instr(lower(m.name), lower(?2)) > 0)"
               " ORDER BY v.value DESC, m.name LIMIT ?3");
    db_put_int(&st, trace_id);
    db_put_text(&st, q);
    db_put_int(&st, limit);
    while (*count < (size_t)limit && db_next(&st)) {
        struct store_series_metric *row = &(*rows)[(*count)++];
        row->name = db_get_text(&st, arena);
        row->value = db_get_real(&st);
    }
    return db_done(&st, err);
}
