#include "ingest/store/history/cache.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/text/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* After more changed runs all points are read again. */
#define CHANGES_MAX 256

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the points of series");
}

/* ---- life ---- */

struct series_cache *series_cache_create(void)
{
    struct series_cache *cache = calloc(1, sizeof *cache);
    if (cache != NULL && pthread_rwlock_init(&cache->lock, NULL) != 0) {
        free(cache);
        cache = NULL;
    }
    return cache;
}

static void forget_metric(struct cached_metric *metric)
{
    free(metric->name);
    scratch_free(metric->values);
    metric->name = NULL;
    metric->values = NULL;
}

static void empty(struct series_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++) {
        free(cache->points[i].run);
    }
    for (size_t i = 0; i < SERIES_SLOTS; i++) {
        forget_metric(&cache->metrics[i]);
    }
    scratch_free(cache->points);
    cache->points = NULL;
    cache->count = 0;
    cache->cap = 0;
    cache->is_filled = false;
}

void series_cache_destroy(struct series_cache *cache)
{
    if (cache != NULL) {
        empty(cache);
        (void)pthread_rwlock_destroy(&cache->lock);
        free(cache);
    }
}

/* ---- points ---- */

#define POINT_SELECT                                                                          \
    "SELECT run, project, tags, devices, traces, time, upload_order, span, run_id, trace_id," \
    " time_source FROM series_point"

enum { TEXT_RUN, TEXT_PROJECT, TEXT_TAGS, TEXT_DEVICES, TEXT_TRACES, TEXT_COUNT };

/* False without memory. */
static bool read_point(struct db_stmt *st, struct cached_point *point)
{
    const char *text[TEXT_COUNT];
    size_t len[TEXT_COUNT];
    size_t at[TEXT_COUNT];
    size_t total = 0;
    for (int i = 0; i < TEXT_COUNT; i++) {
        text[i] = db_peek_text(st, &len[i]);
        len[i] = text[i] == NULL ? 0 : len[i];
        at[i] = total;
        total += len[i] + 1;
    }
    *point = (struct cached_point){.run = malloc(total)};
    if (point->run == NULL) {
        return false;
    }
    for (int i = 0; i < TEXT_COUNT; i++) {
        if (len[i] > 0) {
            memcpy(point->run + at[i], text[i], len[i]);
        }
        point->run[at[i] + len[i]] = '\0';
    }
    point->run_len = (uint32_t)len[TEXT_RUN];
    point->project = point->run + at[TEXT_PROJECT];
    point->tags = point->run + at[TEXT_TAGS];
    point->tags_len = (uint32_t)len[TEXT_TAGS];
    point->devices = point->run + at[TEXT_DEVICES];
    point->traces = text[TEXT_TRACES] == NULL ? NULL : point->run + at[TEXT_TRACES];
    point->time = db_get_real(st);
    point->upload_order = db_get_int(st);
    point->span = db_get_int(st);
    point->run_id = db_get_int(st);
    point->trace_id = db_get_int(st);
    point->time_source = (enum store_series_time)db_get_enum(st, SERIES_TIME_UPLOAD);
    return true;
}

/* For one point more, in all arrays. */
static bool make_room(struct series_cache *cache)
{
    size_t cap = cache->cap == 0 ? 64 : cache->cap * 2;
    if (cache->count < cache->cap) {
        return true;
    }
    struct cached_point *points = scratch_resize(cache->points, cap, sizeof *points);
    if (points == NULL) {
        return false;
    }
    cache->points = points;
    for (size_t i = 0; i < SERIES_SLOTS; i++) {
        struct cached_metric *metric = &cache->metrics[i];
        double *values =
            metric->name == NULL ? NULL : scratch_resize(metric->values, cap, sizeof *values);
        if (metric->name != NULL && values == NULL) {
            return false;
        }
        metric->values = values;
    }
    cache->cap = cap;
    return true;
}

static bool fill_points(struct series_cache *cache, struct db *db, struct err *err)
{
    struct db_stmt st;
    empty(cache);
    db_prepare(&st, db, POINT_SELECT " ORDER BY time, upload_order, run, span");
    while (db_next(&st)) {
        if (!make_room(cache) || !read_point(&st, &cache->points[cache->count])) {
            db_fail_memory(&st);
            break;
        }
        cache->count++;
    }
    return db_done(&st, err);
}

/* The order of series [HIST-1b]. */
static bool comes_before(const struct cached_point *a, const struct cached_point *b)
{
    if (a->time != b->time) {
        return a->time < b->time;
    }
    if (a->upload_order != b->upload_order) {
        return a->upload_order < b->upload_order;
    }
    int names = strcmp(a->run, b->run);
    return names != 0 ? names < 0 : a->span < b->span;
}

static size_t place_of(const struct series_cache *cache, const struct cached_point *point)
{
    size_t first = 0;
    ORDER_SEARCH(first, cache->count, at, comes_before(&cache->points[at], point));
    return first;
}

static void drop_run(struct series_cache *cache, int64_t run_id)
{
    size_t kept = 0;
    for (size_t i = 0; i < cache->count; i++) {
        if (cache->points[i].run_id == run_id) {
            free(cache->points[i].run);
            continue;
        }
        if (kept != i) {
            cache->points[kept] = cache->points[i];
            for (size_t m = 0; m < SERIES_SLOTS; m++) {
                if (cache->metrics[m].name != NULL) {
                    cache->metrics[m].values[kept] = cache->metrics[m].values[i];
                }
            }
        }
        kept++;
    }
    cache->count = kept;
}

/* ---- values ---- */

static bool
read_value(struct db *db, const char *metric, int64_t trace_id, double *value, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT value FROM series_value WHERE metric_id ="
               " (SELECT id FROM series_metric WHERE name = ?) AND trace_id = ?");
    db_put_text(&st, metric);
    db_put_int(&st, trace_id);
    *value = db_next(&st) ? db_get_real(&st) : (double)NAN;
    return db_done(&st, err);
}

/* Reads the value of one trace: of `from`, whatever that is. */
typedef bool trace_value(void *from, int64_t trace_id, double *value, struct err *err);

/* The median over the workers that have a value [HIST-1c]. */
static bool value_of_point(const struct cached_point *point,
                           trace_value *of_trace,
                           void *from,
                           double *value,
                           struct err *err)
{
    if (point->traces == NULL) {
        return of_trace(from, point->trace_id, value, err);
    }
    double *workers = NULL;
    size_t count = 0;
    size_t cap = 0;
    bool ok = true;
    for (const char *at = point->traces; ok && *at != '\0';) {
        char *end = NULL;
        double one = (double)NAN;
        ok = of_trace(from, strtoll(at, &end, 10), &one, err);
        at = *end == ',' ? end + 1 : end;
        if (!ok || isnan(one)) {
            continue;
        }
        double *grown = scratch_grow(workers, count, &cap, sizeof *grown);
        if (grown == NULL) {
            ok = no_memory(err);
        } else {
            workers = grown;
            workers[count++] = one;
        }
    }
    *value = num_median(workers, count);
    scratch_free(workers);
    return ok;
}

struct stored_metric {
    struct db *db;
    const char *name;
};

static bool value_in_store(void *from, int64_t trace_id, double *value, struct err *err)
{
    const struct stored_metric *metric = from;
    return read_value(metric->db, metric->name, trace_id, value, err);
}

static bool
insert_point(struct series_cache *cache, struct db *db, struct cached_point *point, struct err *err)
{
    double values[SERIES_SLOTS] = {0};
    bool ok = make_room(cache) || no_memory(err);
    for (size_t m = 0; ok && m < SERIES_SLOTS; m++) {
        struct stored_metric from = {db, cache->metrics[m].name};
        ok = from.name == NULL || value_of_point(point, value_in_store, &from, &values[m], err);
    }
    if (!ok) {
        free(point->run);
        return false;
    }
    size_t place = place_of(cache, point);
    size_t behind = cache->count - place;
    memmove(&cache->points[place + 1], &cache->points[place], behind * sizeof *point);
    cache->points[place] = *point;
    for (size_t m = 0; m < SERIES_SLOTS; m++) {
        double *of_metric = cache->metrics[m].values;
        if (of_metric != NULL) {
            memmove(&of_metric[place + 1], &of_metric[place], behind * sizeof *of_metric);
            of_metric[place] = values[m];
        }
    }
    cache->count++;
    return true;
}

static bool refresh_run(struct series_cache *cache, struct db *db, int64_t run_id, struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool ok = true;
    drop_run(cache, run_id);
    db_prepare(&st, db, POINT_SELECT " WHERE run_id = ?");
    db_put_int(&st, run_id);
    while (ok && db_next(&st)) {
        struct cached_point point;
        if (!read_point(&st, &point)) {
            db_fail_memory(&st);
            break;
        }
        ok = insert_point(cache, db, &point, err);
    }
    return db_done(&st, ok ? err : &second) && ok;
}

struct trace_entry {
    int64_t trace_id;
    double value;
};

struct loaded_metric {
    struct trace_entry *entries; /* by trace */
    size_t count, cap;
    size_t next; /* behind the entry that was found last */
};

/* The first entry of a trace from `trace_id` on. */
static size_t entry_from(const struct loaded_metric *loaded, int64_t trace_id)
{
    size_t first = 0;
    ORDER_SEARCH(first, loaded->count, at, loaded->entries[at].trace_id < trace_id);
    return first;
}

/* Points are in order of time and traces in order of arrival, so that the entry is mostly the next:
 * only otherwise is it searched for. */
static bool value_loaded(void *from, int64_t trace_id, double *value, struct err *err)
{
    struct loaded_metric *loaded = from;
    size_t at = loaded->next;
    (void)err;
    if (at == loaded->count || loaded->entries[at].trace_id != trace_id) {
        at = entry_from(loaded, trace_id);
    }
    bool found = at < loaded->count && loaded->entries[at].trace_id == trace_id;
    *value = found ? loaded->entries[at].value : (double)NAN;
    loaded->next = found ? at + 1 : at;
    return true;
}

static bool
load_metric(struct db *db, const char *name, struct loaded_metric *loaded, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT trace_id, value FROM series_value WHERE metric_id ="
               " (SELECT id FROM series_metric WHERE name = ?) ORDER BY trace_id");
    db_put_text(&st, name);
    while (db_next(&st)) {
        struct trace_entry *grown =
            scratch_grow(loaded->entries, loaded->count, &loaded->cap, sizeof *grown);
        if (grown == NULL) {
            db_fail_memory(&st);
            break;
        }
        loaded->entries = grown;
        grown[loaded->count].trace_id = db_get_int(&st);
        grown[loaded->count++].value = db_get_real(&st);
    }
    return db_done(&st, err);
}

static struct cached_metric *find_metric(struct series_cache *cache, const char *name)
{
    for (size_t i = 0; i < SERIES_SLOTS; i++) {
        struct cached_metric *metric = &cache->metrics[i];
        if (metric->name != NULL && strcmp(metric->name, name) == 0) {
            atomic_store(&metric->used_at, atomic_fetch_add(&cache->clock, 1) + 1);
            return metric;
        }
    }
    return NULL;
}

/* The place that was not used for longest. */
static struct cached_metric *free_place(struct series_cache *cache)
{
    struct cached_metric *oldest = &cache->metrics[0];
    for (size_t i = 1; i < SERIES_SLOTS && oldest->name != NULL; i++) {
        struct cached_metric *metric = &cache->metrics[i];
        bool is_older = atomic_load(&metric->used_at) < atomic_load(&oldest->used_at);
        oldest = metric->name == NULL || is_older ? metric : oldest;
    }
    forget_metric(oldest);
    return oldest;
}

static bool add_metric(struct series_cache *cache, struct db *db, const char *name, struct err *err)
{
    struct loaded_metric loaded = {.count = 0};
    struct cached_metric *metric = free_place(cache);
    size_t room = cache->cap == 0 ? 1 : cache->cap;
    double *values = scratch_alloc(room, sizeof *values);
    char *copy = strdup(name);
    bool ok =
        ((values != NULL && copy != NULL) || no_memory(err)) && load_metric(db, name, &loaded, err);
    for (size_t i = 0; ok && values != NULL && i < cache->count; i++) {
        ok = value_of_point(&cache->points[i], value_loaded, &loaded, &values[i], err);
    }
    scratch_free(loaded.entries);
    metric->name = copy;
    metric->values = values;
    if (!ok) {
        forget_metric(metric);
    }
    return ok;
}

/* ---- following the store ---- */

static bool
has_followed(const struct series_cache *cache, struct db *db, bool *has, struct err *err)
{
    *has = false;
    return !cache->is_filled || changes_are_seen(&cache->changes, db, has, err);
}

static bool catch_up(struct series_cache *cache, struct db *db, struct err *err)
{
    int64_t runs[CHANGES_MAX];
    size_t count;
    bool are_all;
    bool ok = changes_see(&cache->changes, db, !cache->is_filled, runs, CHANGES_MAX, &count,
                          &are_all, err) &&
              (are_all || fill_points(cache, db, err));
    for (size_t i = 0; ok && are_all && i < count; i++) {
        ok = refresh_run(cache, db, runs[i], err);
    }
    cache->is_filled = ok;
    return ok;
}

bool series_cache_lock(struct store *store,
                       const char *metric,
                       const double **values,
                       struct err *err)
{
    struct series_cache *cache = store->series;
    struct db *db;
    bool has = false;
    (void)pthread_rwlock_rdlock(&cache->lock);
    bool ok = store_read_begin_recent(store, &db, STORE_RECENT_MS, err);
    if (ok) {
        ok = has_followed(cache, db, &has, err);
        store_read_end(store, db);
    }
    struct cached_metric *found = ok && has ? find_metric(cache, metric) : NULL;
    if (found != NULL) {
        *values = found->values;
        return true;
    }
    (void)pthread_rwlock_unlock(&cache->lock);
    if (!ok) {
        return false;
    }
    (void)pthread_rwlock_wrlock(&cache->lock);
    ok = store_read_begin(store, &db, err);
    if (ok) {
        ok = has_followed(cache, db, &has, err) && (has || catch_up(cache, db, err)) &&
             (find_metric(cache, metric) != NULL || add_metric(cache, db, metric, err));
        store_read_end(store, db);
    }
    found = ok ? find_metric(cache, metric) : NULL;
    if (found == NULL) {
        (void)pthread_rwlock_unlock(&cache->lock);
        return false;
    }
    *values = found->values;
    return true;
}

void series_cache_unlock(struct store *store)
{
    (void)pthread_rwlock_unlock(&store->series->lock);
}
