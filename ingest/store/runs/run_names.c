#include "ingest/store/runs/run_names.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/text/json_small.h"
#include "ingest/base/text/json_write.h"
#include "ingest/store/db/db.h"
#include "ingest/store/db/match.h"
#include "ingest/store/history/changes.h"
#include "ingest/store/store_access.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After more changed runs all are read again. */
#define CHANGES_MAX 1024
/* What is looked for has no such character. */
#define END '\n'

struct run_name {
    int64_t id;
    size_t begin; /* of its texts: project, then name and tags, folded; each ends with END */
    size_t name;
};

struct run_names {
    pthread_rwlock_t lock;
    bool is_filled;
    struct changes changes; /* that the runs hold */
    struct buf texts;
    int64_t changed[CHANGES_MAX]; /* while it catches up */
    struct run_name *runs;        /* by `begin`; those that changed last come last */
    size_t count, cap;
};

/* ---- life ---- */

struct run_names *run_names_create(void)
{
    struct run_names *names = calloc(1, sizeof *names);
    if (names != NULL && pthread_rwlock_init(&names->lock, NULL) != 0) {
        free(names);
        names = NULL;
    }
    if (names != NULL) {
        buf_init(&names->texts, SIZE_MAX);
    }
    return names;
}

void run_names_destroy(struct run_names *names)
{
    if (names != NULL) {
        buf_free(&names->texts);
        scratch_free(names->runs);
        (void)pthread_rwlock_destroy(&names->lock);
        free(names);
    }
}

/* ---- reading ---- */

static void put_text(struct buf *texts, const char *text, size_t len)
{
    buf_append(texts, text, len);
    buf_putc(texts, END);
}

static void put_folded(struct buf *texts, const char *text, size_t len)
{
    size_t at = texts->len;
    put_text(texts, text, len);
    if (!texts->failed) {
        match_fold(texts->ptr + at, len);
    }
}

/* Most runs have none: []. What is no JSON has none either. */
static void put_tags(struct buf *texts, const char *tags, size_t len)
{
    struct err ignored = ERR_INIT;
    json_t *all = len <= 2 ? NULL : json_small_parse(tags, len, 0, "The tags", &ignored);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *tag = json_array_get(all, i);
        put_folded(texts, json_string_value(tag), json_string_length(tag));
    }
    json_decref(all);
}

/* False without memory. */
static bool add_run(struct run_names *names, struct db_stmt *st)
{
    struct run_name *runs = scratch_grow(names->runs, names->count, &names->cap, sizeof *runs);
    if (runs == NULL) {
        return false;
    }
    names->runs = runs;
    struct run_name *run = &runs[names->count++];
    size_t len;
    *run = (struct run_name){.id = db_get_int(st), .begin = names->texts.len};
    const char *text = db_peek_text(st, &len);
    put_text(&names->texts, text, len);
    run->name = names->texts.len;
    text = db_peek_text(st, &len);
    put_folded(&names->texts, text, len);
    text = db_peek_text(st, &len);
    put_tags(&names->texts, text, len);
    return !names->texts.failed;
}

#define SELECT_RUNS "SELECT id, project, name, tags FROM run WHERE newest_upload_id > 0"

/* `ids`: a JSON array; NULL: all. */
static bool add_runs(struct run_names *names, struct db *db, const char *ids, struct err *err)
{
    struct db_stmt st;
    bool ok = true;
    if (ids == NULL) {
        db_prepare(&st, db, SELECT_RUNS);
    } else {
        db_prepare(&st, db,
                   SELECT_RUNS " AND id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))");
        db_put_text(&st, ids);
    }
    while (ok && db_next(&st)) {
        ok = add_run(names, &st);
    }
    if (!ok) {
        db_fail_memory(&st);
    }
    return db_done(&st, err);
}

static bool fill(struct run_names *names, struct db *db, struct err *err)
{
    buf_clear(&names->texts);
    names->count = 0;
    return add_runs(names, db, NULL, err);
}

/* The others move together. `ids` ascend. */
static void drop_runs(struct run_names *names, const int64_t *ids, size_t count)
{
    size_t kept = 0;
    size_t len = 0;
    if (names->count == 0) {
        return;
    }
    for (size_t i = 0; i < names->count; i++) {
        struct run_name run = names->runs[i];
        size_t end = i + 1 < names->count ? names->runs[i + 1].begin : names->texts.len;
        if (bsearch(&run.id, ids, count, sizeof *ids, order_i64_at) != NULL) {
            continue;
        }
        memmove(names->texts.ptr + len, names->texts.ptr + run.begin, end - run.begin);
        names->runs[kept++] = (struct run_name){run.id, len, len + (run.name - run.begin)};
        len += end - run.begin;
    }
    names->count = kept;
    names->texts.len = len;
    names->texts.ptr[len] = '\0';
}

/* Those that changed. */
static bool read_again(struct run_names *names, struct db *db, size_t count, struct err *err)
{
    struct buf list;
    struct json_write w;
    qsort(names->changed, count, sizeof *names->changed, order_i64_at);
    drop_runs(names, names->changed, count);
    buf_init(&list, SIZE_MAX);
    jw_init(&w, &list, true);
    jw_array_begin(&w);
    for (size_t i = 0; i < count; i++) {
        jw_int(&w, names->changed[i]);
    }
    jw_array_end(&w);
    bool ok = list.failed ? err_set(err, ERR_NO_MEMORY, "no memory for the names of runs")
                          : add_runs(names, db, list.ptr, err);
    buf_free(&list);
    return ok;
}

/* ---- following the store ---- */

static bool catch_up(struct run_names *names, struct db *db, struct err *err)
{
    size_t count;
    bool are_all;
    bool ok = changes_see(&names->changes, db, !names->is_filled, names->changed, CHANGES_MAX,
                          &count, &are_all, err) &&
              (are_all ? read_again(names, db, count, err) : fill(names, db, err));
    names->is_filled = ok && db_recalled_ms(db) < 0;
    return ok;
}

static bool has_followed(struct run_names *names, struct db *db, bool *has, struct err *err)
{
    *has = false;
    return !names->is_filled || changes_are_seen(&names->changes, db, has, err);
}

/* Locks the names as they are in the database. What it answered before it went away is no ground to
 * change them. */
static bool lock_names(struct run_names *names, struct db *db, bool *has, struct err *err)
{
    (void)pthread_rwlock_rdlock(&names->lock);
    bool ok = has_followed(names, db, has, err);
    if (ok && (*has || db_recalled_ms(db) >= 0)) {
        return true;
    }
    (void)pthread_rwlock_unlock(&names->lock);
    if (!ok) {
        return false;
    }
    (void)pthread_rwlock_wrlock(&names->lock);
    ok = has_followed(names, db, has, err) && (*has || catch_up(names, db, err));
    *has = ok;
    if (!ok) {
        (void)pthread_rwlock_unlock(&names->lock);
    }
    return ok;
}

/* ---- looking ---- */

static bool is_of(const struct store_page *page, const char *begin, size_t len)
{
    char project[STORE_PROJECT_MAX_BYTES + 1];
    (void)snprintf(project, sizeof project, "%.*s", (int)len, begin);
    return (page->projects == NULL || store_projects_have(page->projects, project)) &&
           (page->project == NULL || strcmp(page->project, project) == 0);
}

/* The texts lie one behind the other, so that what is in none of them costs one walk. */
static int64_t look(const struct run_names *names,
                    const struct store_page *page,
                    const char *needle,
                    int64_t enough,
                    struct buf *ids)
{
    const struct buf *texts = &names->texts;
    struct json_write w;
    int64_t found = 0;
    size_t from = 0;
    jw_init(&w, ids, true);
    jw_array_begin(&w);
    while (found < enough && from < texts->len) {
        const char *hit = strstr(texts->ptr + from, needle);
        if (hit == NULL) {
            break;
        }
        size_t at = (size_t)(hit - texts->ptr);
        size_t behind = 0;
        ORDER_SEARCH(behind, names->count, i, names->runs[i].begin <= at);
        const struct run_name *run = &names->runs[behind - 1];
        if (at < run->name) { /* in its project */
            from = run->name;
            continue;
        }
        if (is_of(page, texts->ptr + run->begin, run->name - run->begin - 1)) {
            jw_int(&w, run->id);
            found++;
        }
        from = behind < names->count ? names->runs[behind].begin : texts->len;
    }
    jw_array_end(&w);
    return found;
}

bool run_names_find(struct run_names *names,
                    struct db *db,
                    const struct store_page *page,
                    int64_t enough,
                    struct buf *ids,
                    int64_t *count,
                    bool *has_looked,
                    struct err *err)
{
    char *needle = strdup(page->q);
    if (needle == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a search");
    }
    match_fold(needle, strlen(needle));
    *count = 0;
    bool ok = lock_names(names, db, has_looked, err);
    if (ok) {
        *count = *has_looked ? look(names, page, needle, enough, ids) : 0;
        (void)pthread_rwlock_unlock(&names->lock);
    }
    free(needle);
    return ok;
}
