#include "ingest/store/history/points.h"

#include "ingest/base/text/buf.h"
#include "ingest/model/results/environment.h"
#include "ingest/store/history/changes.h"
#include "ingest/store/store_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run with more traces is made anew when it is next read. */
#define AT_ONCE_MAX 128
#define NS_PER_S 1e9
/* 1 January 2000: earlier times count from the start of a machine or of a recording [HIST-1b]. */
#define WALL_CLOCK_MIN_NS INT64_C(946684800000000000)
#define TAG_BYTES 256
/* Ids of all traces of a span, some millions. */
#define TRACES_MAX_BYTES ((size_t)64 << 20)

/* ---- tags ---- */

static char unescape(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    default:
        return c;
    }
}

/* Reads the next string of the array into `tag`, cut to its size: what is written here is never
 * longer but for names of devices, whose first bytes tell them apart. NULL at the end. Beyond ASCII
 * the writers escape nothing. */
static const char *next_tag(const char *at, char tag[TAG_BYTES])
{
    size_t len = 0;
    at = strchr(at, '"');
    if (at == NULL) {
        return NULL;
    }
    for (at++; *at != '\0' && *at != '"'; at++) {
        char c = *at;
        if (c == '\\' && at[1] == 'u' && strlen(at) > 5) {
            char digits[5] = {at[2], at[3], at[4], at[5], '\0'};
            c = (char)(strtol(digits, NULL, 16) & 0x7F);
            at += 5;
        } else if (c == '\\' && at[1] != '\0') {
            c = unescape(*++at);
        }
        if (len + 1 < TAG_BYTES) {
            tag[len++] = c;
        }
    }
    tag[len] = '\0';
    return *at == '"' ? at + 1 : at;
}

static bool walk_finds(const char *tags, const char *tag)
{
    char one[TAG_BYTES];
    while ((tags = next_tag(tags, one)) != NULL) {
        if (strncmp(one, tag, TAG_BYTES - 1) == 0) {
            return true;
        }
    }
    return false;
}

/* A tag whose text stands in the array as it is, and which cannot lie across two strings. */
static bool is_plain(const char *tag)
{
    for (const char *at = tag; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == '"' || *at == '\\' || *at == 0x7F) {
            return false;
        }
    }
    return *tag != ',' && *tag != ']';
}

bool series_tags_have(const char *tags, const char *tag)
{
    size_t len = strlen(tag);
    if (!is_plain(tag) || len >= TAG_BYTES) {
        return walk_finds(tags, tag);
    }
    for (const char *at = tags; (at = strstr(at, tag)) != NULL; at++) {
        bool begins = at - tags >= 2 && at[-1] == '"' && strchr("[ ,", at[-2]) != NULL;
        if (begins && at[len] == '"') {
            return true;
        }
    }
    return false;
}

/* The number of the first tag "commit_time=<number>"; NaN: none. */
static double commit_time(const char *tags)
{
    static const char key[] = "commit_time=";
    char tag[TAG_BYTES];
    while ((tags = next_tag(tags, tag)) != NULL) {
        const char *number = tag + sizeof key - 1;
        if (strncmp(tag, key, sizeof key - 1) == 0 && *number != '\0' &&
            strspn(number, "0123456789.eE+-") == strlen(number)) {
            char *end = NULL;
            double value = strtod(number, &end);
            if (*end == '\0' && isfinite(value)) {
                return value;
            }
        }
    }
    return (double)NAN;
}

/* ---- one run ---- */

struct run_texts {
    const char *name, *tags, *project, *devices;
};

/* A point under way: its traces come one by one. */
struct point {
    int64_t span;
    int64_t trace_id;
    int64_t start_ns; /* smallest that a wall clock told; INT64_MAX: none */
    int64_t uploaded_at_s, upload_order;
    size_t trace_count;
    struct buf traces;
};

static bool
read_run(struct db *db, struct arena *arena, int64_t run_id, struct run_texts *run, struct err *err)
{
    struct db_stmt st;
    db_prepare(
        &st, db,
        "SELECT name, tags, project, (SELECT json_group_array(name) FROM (SELECT t.device_type AS"
        " name" STORE_PUBLISHED_ROWS " WHERE u.run_id = ?1 AND t.derived_of IS NULL"
        " UNION SELECT d.name" STORE_PUBLISHED_ROWS " JOIN device AS d ON d.trace_id = t.id"
        " WHERE u.run_id = ?1 AND t.derived_of IS NULL AND d.name IS NOT NULL"
        " UNION SELECT e.value" STORE_PUBLISHED_ROWS " JOIN environment AS e ON e.trace_id = t.id"
        " WHERE u.run_id = ?1 AND t.derived_of IS NULL AND e.name = '" ENVIRONMENT_KEY_DEVICE
        "' ORDER BY 1) AS n) FROM run WHERE id = ?1");
    db_put_int(&st, run_id);
    *run = (struct run_texts){0};
    if (db_next(&st)) {
        run->name = db_get_text(&st, arena);
        run->tags = db_get_text(&st, arena);
        run->project = db_get_text(&st, arena);
        run->devices = db_get_text(&st, arena);
    }
    return db_done(&st, err);
}

static bool insert_point(struct db *db,
                         int64_t run_id,
                         const struct run_texts *run,
                         const struct point *point,
                         struct err *err)
{
    struct db_stmt st;
    double time = commit_time(run->tags);
    enum store_series_time source = SERIES_TIME_COMMIT;
    if (isnan(time)) {
        bool has_start = point->start_ns != INT64_MAX;
        source = has_start ? SERIES_TIME_START : SERIES_TIME_UPLOAD;
        time = has_start ? (double)point->start_ns / NS_PER_S : (double)point->uploaded_at_s;
    }
    if (point->traces.failed) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the traces of a point");
    }
    db_prepare(&st, db,
               "INSERT INTO series_point (time, upload_order, run, span, run_id, time_source,"
               " trace_id, traces, project, tags, devices)"
               " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    db_put_real(&st, time);
    db_put_int(&st, point->upload_order);
    db_put_text(&st, run->name);
    db_put_int(&st, point->span);
    db_put_int(&st, run_id);
    db_put_int(&st, source);
    db_put_int(&st, point->trace_id);
    db_put_text(&st, point->trace_count > 1 ? point->traces.ptr : NULL);
    db_put_text(&st, run->project);
    db_put_text(&st, run->tags);
    db_put_text(&st, run->devices);
    return db_run(&st, err);
}

static void add_trace(struct point *point, struct db_stmt *st)
{
    int64_t id = db_get_int(st);
    int64_t start_ns = db_get_int(st);
    int64_t uploaded_at_s = db_get_int(st);
    int64_t job_id = db_get_int(st);
    bool is_first = point->trace_count++ == 0;
    if (is_first) {
        buf_clear(&point->traces);
        point->trace_id = id;
        point->start_ns = INT64_MAX;
    }
    if (start_ns >= WALL_CLOCK_MIN_NS && start_ns < point->start_ns) {
        point->start_ns = start_ns;
    }
    point->uploaded_at_s =
        is_first || uploaded_at_s < point->uploaded_at_s ? uploaded_at_s : point->uploaded_at_s;
    point->upload_order = is_first || job_id < point->upload_order ? job_id : point->upload_order;
    buf_printf(&point->traces, "%s%lld", is_first ? "" : ",", (long long)id);
}

static bool
insert_points(struct db *db, int64_t run_id, const struct run_texts *run, struct err *err)
{
    struct db_stmt st;
    struct point point = {.trace_count = 0};
    struct err second = ERR_INIT;
    bool ok = true;
    buf_init(&point.traces, TRACES_MAX_BYTES);
    db_prepare(&st, db,
               "SELECT dense_rank() OVER (PARTITION BY t.worker, t.span_digits = ''"
               " ORDER BY t.span_digits) AS span, t.id, t.start_ns, u.uploaded_at_s, "
               "u.job_id" STORE_VISIBLE_TRACES " WHERE u.run_id = ? ORDER BY span, t.worker, t.id");
    db_put_int(&st, run_id);
    while (ok && db_next(&st)) {
        int64_t span = db_get_int(&st);
        if (point.trace_count > 0 && span != point.span) {
            ok = insert_point(db, run_id, run, &point, err);
            point.trace_count = 0;
        }
        point.span = span;
        add_trace(&point, &st);
    }
    ok = db_done(&st, ok ? err : &second) && ok;
    ok = ok && (point.trace_count == 0 || insert_point(db, run_id, run, &point, err));
    buf_free(&point.traces);
    return ok;
}

bool series_points_drop(struct db *db, int64_t run_id, struct err *err)
{
    return db_run_id(db, "DELETE FROM series_point WHERE run_id = ?", run_id, err) &&
           changes_add(db, run_id, err);
}

static bool make_points(struct db *db, int64_t run_id, struct err *err)
{
    struct arena arena;
    struct run_texts run;
    arena_init(&arena, 0);
    bool ok = series_points_drop(db, run_id, err) &&
              db_run_id(db, "DELETE FROM series_stale WHERE run_id = ?", run_id, err) &&
              read_run(db, &arena, run_id, &run, err) &&
              (run.name == NULL || insert_points(db, run_id, &run, err));
    arena_free(&arena);
    return ok;
}

static bool has_many_traces(struct db *db, int64_t run_id, bool *has_many, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT count(*) > ?2 FROM (SELECT 1 FROM upload AS u JOIN trace AS t ON"
               " t.upload_id = u.id WHERE u.run_id = ?1 LIMIT ?2 + 1) AS t");
    db_put_int(&st, run_id);
    db_put_int(&st, AT_ONCE_MAX);
    *has_many = db_next(&st) && db_get_bool(&st);
    return db_done(&st, err);
}

bool series_points_refresh(struct db *db, int64_t run_id, struct err *err)
{
    bool has_many = false;
    if (!has_many_traces(db, run_id, &has_many, err)) {
        return false;
    }
    /* Its name and tags have changed already, as far as those are concerned who follow them. */
    return has_many
               ? db_run_id(db,
                           "INSERT INTO series_stale (run_id) VALUES (?) ON CONFLICT DO NOTHING",
                           run_id, err) &&
                     changes_add(db, run_id, err)
               : make_points(db, run_id, err);
}

bool series_points_refresh_run(struct db *db, const char *run, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT id FROM run WHERE name = ?");
    db_put_text(&st, run);
    bool is_there = db_next(&st);
    int64_t id = is_there ? db_get_int(&st) : 0;
    return db_done(&st, err) && (!is_there || series_points_refresh(db, id, err));
}

static bool next_stale(struct db *db, int64_t *run_id, struct err *err)
{
    return db_read_int(db, "SELECT run_id FROM series_stale LIMIT 1", run_id, err);
}

bool series_points_settle(struct store *store, struct err *err)
{
    struct db *db;
    int64_t run_id = 0;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool ok = next_stale(db, &run_id, err);
    store_read_end(store, db);
    while (ok && run_id != 0) {
        ok = store_write_begin(store, STORE_BATCH, err) &&
             store_write_end(store,
                             next_stale(store->writer, &run_id, err) &&
                                 (run_id == 0 || make_points(store->writer, run_id, err)),
                             err);
    }
    return ok;
}

#define PURGE_METRICS                                           \
    "DELETE FROM series_metric WHERE NOT EXISTS (SELECT 1 FROM" \
    " series_value WHERE metric_id = series_metric.id)"

/* On a server nobody may be storing values meanwhile, who has the lock of an insert of metrics
 * until they are committed: then the next start does it. */
bool series_metrics_purge(struct store *store, struct err *err)
{
    return store_write_begin(store, STORE_BATCH, err) &&
           store_write_end(
               store,
               db_exec(store->writer,
                       store_is_on_server(store)
                           ? "DO $$ BEGIN LOCK TABLE series_metric IN SHARE ROW EXCLUSIVE MODE"
                             " NOWAIT; " PURGE_METRICS "; EXCEPTION WHEN lock_not_available THEN"
                             " NULL; END $$"
                           : PURGE_METRICS,
                       err),
               err);
}
