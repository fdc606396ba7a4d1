/* Which traces a list has: filters, order and page.
 *
 * Every order but that by run is an index of `trace`, which is walked from where a page begins:
 * the cursor, or the end after `offset` rows. Where a filter may leave little, a page by cursor
 * ends after so many rows looked at, with the cursor of the last one. */
#include "ingest/base/text/buf.h"
#include "ingest/store/db/match.h"
#include "ingest/store/db/sort.h"
#include "ingest/store/internal.h"
#include "ingest/store/schema/sums.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQL_MAX_BYTES 4096
#define CURSOR_MAX_BYTES 65536
#define NUMBER_BYTES 24
/* Rows that a page by cursor looks at: at most, and in the first statement. */
#define LOOKED_AT_MAX 4000
#define LOOKED_AT_FIRST 500

static const struct sort_column trace_sorts[] = {
    {"uploaded_at", "t.listed_at_s"},
    {"id", "t.id"},
    {"run", "r.name"},
    {"worker", "t.worker"},
    {"start_clock_ns", "t.start_ns"},
    {"duration_ns", "t.duration_ns"},
    {"events", "t.event_count"},
    {"steps", "t.step_count"},
    {"size_bytes", "t.listed_bytes"},
};

/* Parameters: has a query, matcher, projects, run, project, tag, device type. */
#define HAS_TAG(tags) "EXISTS (SELECT 1 FROM json_each(" tags ") WHERE value = ?6)"
#define LISTED                                                                                   \
    "(?1 = 0 OR ks_match(r.name, ?2) OR ks_match(t.worker, ?2)"                                  \
    " OR ks_match(u.file_name, ?2)) AND " STORE_IN_PROJECTS(                                     \
        "r.project", "?3") " AND (?4 IS NULL OR r.name = ?4) AND (?5 IS NULL OR r.project = ?5)" \
                           " AND (?6 IS NULL OR " HAS_TAG("t.tags") " OR " HAS_TAG(              \
                               "r.tags") ")"                                                     \
                                         " AND (?7 IS NULL OR t.device_type = ?7)"
/* No planner is to choose the order of the tables: one walks from the index, one from the run. */
#define FROM_TRACES                                                                      \
    " FROM trace AS t CROSS JOIN upload AS u CROSS JOIN run AS r WHERE t.listed_at_s IS" \
    " NOT NULL AND u.id = t.upload_id AND u.published = 1 AND r.id = u.run_id"
#define FROM_RUNS                                                                       \
    " FROM run AS r CROSS JOIN upload AS u CROSS JOIN trace AS t WHERE u.run_id = r.id" \
    " AND u.published = 1 AND t.upload_id = u.id AND t.listed_at_s IS NOT NULL"

/* A list while it is read. */
struct listing {
    struct db *db;
    struct arena *arena;
    const struct store_trace_filter *filter;
    struct matcher *matcher; /* NULL: no query */
    const char *name;        /* of the order, "id" where none is given */
    const char *key;         /* its SQL */
    bool is_text;
    bool descends; /* as read: `before` reads backwards */
    const char *cursor_key;
    int64_t cursor_id;
    struct store_trace_page *out;
    size_t rows_max;
    bool has_more; /* behind what was looked at */
    struct place {
        int64_t id;
        const char *key; /* NULL: no row was looked at */
        char number[NUMBER_BYTES];
    } first, last; /* rows looked at */
};

static void put_filter(const struct listing *l, struct db_stmt *st)
{
    db_put_int(st, l->matcher != NULL);
    db_put_matcher(st, l->matcher);
    db_put_text(st, l->filter->page.projects);
    db_put_text(st, l->filter->run);
    db_put_text(st, l->filter->project);
    db_put_text(st, l->filter->tag);
    db_put_text(st, l->filter->device_type);
}

/* Of a run all traces are listed or none: the runs tell how many there are, where to count a
 * million rows takes a second. */
static bool lists_whole_runs(const struct listing *l)
{
    return l->matcher == NULL && l->filter->tag == NULL && l->filter->device_type == NULL;
}

static bool lists_all(const struct listing *l)
{
    return lists_whole_runs(l) && l->filter->page.projects == NULL && l->filter->project == NULL;
}

static bool count_listed(struct listing *l, struct err *err)
{
    struct db_stmt st;
    if (lists_whole_runs(l) && l->filter->run == NULL) {
        struct sums sums;
        bool ok =
            sums_read(l->db, SUMS_RUNS, l->filter->page.projects, l->filter->project, &sums, err);
        l->out->total = sums.traces;
        return ok;
    }
    if (lists_whole_runs(l)) {
        db_prepare(&st, l->db,
                   "SELECT coalesce(sum(r.trace_count), 0) FROM run AS r WHERE " STORE_IN_PROJECTS(
                       "r.project", "?1") " AND r.name = ?2 AND (?3 IS NULL OR r.project = ?3)");
        db_put_text(&st, l->filter->page.projects);
        db_put_text(&st, l->filter->run);
        db_put_text(&st, l->filter->project);
    } else {
        db_prepare(&st, l->db, "SELECT count(*)" FROM_TRACES " AND " LISTED);
        put_filter(l, &st);
    }
    l->out->total = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

/* ---- cursors: order, id and key of a row, "worker.17.host0" ---- */

/* NULL where there is no such place; false without memory. */
static bool
put_cursor(struct listing *l, const char **cursor, const struct place *place, struct err *err)
{
    struct buf text;
    *cursor = NULL;
    if (place == NULL || place->key == NULL) {
        return true;
    }
    buf_init(&text, CURSOR_MAX_BYTES);
    buf_printf(&text, "%s.%" PRId64 ".%s", l->name, place->id, place->key);
    *cursor = text.failed ? NULL : arena_strndup(l->arena, text.ptr, text.len);
    buf_free(&text);
    return *cursor != NULL || err_set(err, ERR_NO_MEMORY, "no memory for a list of traces");
}

static bool read_cursor(struct listing *l, const char *cursor, struct err *err)
{
    size_t len = strlen(l->name);
    char *end = NULL;
    bool ok = strncmp(cursor, l->name, len) == 0 && cursor[len] == '.';
    l->cursor_id = ok ? strtoll(cursor + len + 1, &end, 10) : 0;
    ok = ok && l->cursor_id > 0 && *end == '.';
    l->cursor_key = ok ? end + 1 : NULL;
    if (ok && !l->is_text) {
        (void)strtoll(l->cursor_key, &end, 10);
        ok = end != l->cursor_key && *end == '\0';
    }
    return ok || err_set(err, ERR_BAD_REQUEST,
                         "\"%.60s\" is no place in a list by %s: after= and before= take what an "
                         "answer in the same order calls next and previous",
                         cursor, l->name);
}

/* ---- rows ---- */

static void put_order(const struct listing *l, struct buf *sql)
{
    const char *word = l->descends ? " DESC" : "";
    buf_printf(sql, " ORDER BY %s%s, t.id%s LIMIT ?8 OFFSET ?9", l->key, word, word);
}

/* Rows behind the cursor. The key of a run is in another table, where no index has both. */
static void put_cursor_condition(const struct listing *l, struct buf *sql)
{
    const char *sign = l->descends ? "<" : ">";
    if (*l->key == 'r') {
        buf_printf(sql, " AND %s %s= ?10", l->key, sign);
    }
    buf_printf(sql, " AND (%s, t.id) %s (?10, ?11)", l->key, sign);
}

static void prepare(const struct listing *l, struct db_stmt *st)
{
    bool by_cursor = l->filter->by_cursor;
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    bool from_runs = *l->key == 'r' || l->filter->run != NULL;
    buf_printf(&sql, "SELECT t.id, %s, ", l->key);
    buf_puts(&sql, by_cursor ? "CASE WHEN " LISTED " THEN 1 ELSE 0 END" : "1");
    buf_puts(&sql, from_runs ? FROM_RUNS : FROM_TRACES);
    buf_puts(&sql, l->filter->run != NULL ? " AND r.name = ?4" : "");
    buf_puts(&sql, by_cursor ? "" : " AND " LISTED);
    if (l->cursor_key != NULL) {
        put_cursor_condition(l, &sql);
    }
    put_order(l, &sql);
    db_prepare_buf(st, l->db, &sql);
    put_filter(l, st);
}

static void read_place(struct listing *l, struct db_stmt *st)
{
    struct place *place = &l->last;
    place->id = db_get_int(st);
    if (l->is_text) {
        place->key = db_get_text(st, l->arena);
    } else {
        (void)snprintf(place->number, sizeof place->number, "%" PRId64, db_get_int(st));
        place->key = place->number;
    }
    if (l->first.key == NULL) {
        l->first = *place;
        l->first.key = l->is_text ? place->key : l->first.number;
    }
}

static void put_page(struct listing *l, struct db_stmt *st, size_t rows, int64_t offset)
{
    db_put_int(st, (int64_t)rows + 1);
    db_put_int(st, offset);
    if (l->cursor_key == NULL) {
        return;
    }
    if (l->is_text) {
        db_put_text(st, l->cursor_key);
    } else {
        db_put_int(st, strtoll(l->cursor_key, NULL, 10));
    }
    db_put_int(st, l->cursor_id);
}

/* Looks at up to so many rows, and for one behind them. */
static bool look(struct listing *l, size_t rows, int64_t offset, struct err *err)
{
    struct db_stmt st;
    struct store_trace_page *out = l->out;
    prepare(l, &st);
    put_page(l, &st, rows, offset);
    l->has_more = db_next(&st);
    for (size_t seen = 0; l->has_more && seen < rows && out->count < l->rows_max; seen++) {
        read_place(l, &st);
        if (db_get_int(&st) != 0) {
            out->ids[out->count++] = l->last.id;
        }
        l->has_more = db_next(&st);
    }
    return db_done(&st, err);
}

static bool look_by_cursor(struct listing *l, struct err *err)
{
    if (lists_all(l)) {
        return look(l, l->rows_max, 0, err);
    }
    bool ok = look(l, LOOKED_AT_FIRST, 0, err);
    if (ok && l->has_more && l->out->count < l->rows_max) {
        struct place from = l->last;
        l->cursor_id = from.id;
        l->cursor_key = l->is_text ? from.key : from.number;
        ok = look(l, LOOKED_AT_MAX - LOOKED_AT_FIRST, 0, err);
    }
    return ok;
}

static void reverse(int64_t *ids, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        int64_t id = ids[i];
        ids[i] = ids[count - 1 - i];
        ids[count - 1 - i] = id;
    }
}

/* Where the pages before and behind this one begin. */
static bool put_cursors(struct listing *l, bool backwards, struct err *err)
{
    bool has_before = l->filter->cursor != NULL || l->filter->page.offset > 0;
    const struct place *first = has_before ? &l->first : NULL;
    const struct place *last = l->has_more ? &l->last : NULL;
    if (backwards) {
        reverse(l->out->ids, l->out->count);
    }
    return put_cursor(l, backwards ? &l->out->next : &l->out->previous, first, err) &&
           put_cursor(l, backwards ? &l->out->previous : &l->out->next, last, err);
}

static bool read_page(struct listing *l, struct err *err)
{
    const struct store_trace_filter *filter = l->filter;
    const struct store_page *page = &filter->page;
    bool backwards = filter->by_cursor && filter->before;
    l->name = page->sort == NULL || *page->sort == '\0' ? "id" : page->sort;
    l->is_text = strcmp(l->name, "run") == 0 || strcmp(l->name, "worker") == 0;
    l->descends = page->descending != backwards;
    if (!sort_find(trace_sorts, sizeof trace_sorts / sizeof trace_sorts[0], l->name, &l->key,
                   err) ||
        (filter->cursor != NULL && !read_cursor(l, filter->cursor, err)) ||
        (!filter->by_cursor && !count_listed(l, err))) {
        return false;
    }
    bool has_limit = page->limit > 0 && page->limit < LOOKED_AT_MAX;
    l->rows_max = filter->by_cursor ? (has_limit ? (size_t)page->limit : LOOKED_AT_MAX)
                                    : sort_page_rows(page, l->out->total);
    l->out->ids = arena_calloc(l->arena, l->rows_max, sizeof *l->out->ids);
    if (l->out->ids == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a list of traces");
    }
    return (filter->by_cursor ? look_by_cursor(l, err) : look(l, l->rows_max, page->offset, err)) &&
           put_cursors(l, backwards, err);
}

bool store_trace_list(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const struct store_trace_filter *filter,
                      struct store_trace_page *out,
                      struct err *err)
{
    struct matcher matcher = {0};
    const char *q = filter->page.q;
    bool has_query = q != NULL && *q != '\0';
    struct listing l = {.arena = arena, .filter = filter, .out = out};
    *out = (struct store_trace_page){.total = STORE_NOT_COUNTED};
    if (has_query && !match_init(&matcher, q, err)) {
        return false;
    }
    l.matcher = has_query ? &matcher : NULL;
    bool ok = store_snapshot_read(snapshot, &l.db, err) && read_page(&l, err);
    match_free(&matcher);
    return ok;
}
