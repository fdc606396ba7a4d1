#include "ingest/store/runs/run_tags.h"

#include "ingest/base/text/json_small.h"
#include "ingest/store/history/points.h"
#include "ingest/store/internal.h"

#include <stdlib.h>
#include <string.h>

#define TAGS_MAX 64

static bool has_tag(const json_t *tags, const json_t *tag)
{
    const char *text = json_string_value(tag);
    for (size_t i = 0; text != NULL && i < json_array_size(tags); i++) {
        const char *there = json_string_value(json_array_get(tags, i));
        if (there != NULL && strcmp(there, text) == 0) {
            return true;
        }
    }
    return false;
}

/* NULL with an error; the caller frees it. */
static char *merge(const char *tags, const char *more, struct err *err)
{
    json_t *all = json_small_parse(tags, strlen(tags), 0, "The tags", err);
    json_t *added = all == NULL ? NULL : json_small_parse(more, strlen(more), 0, "The tags", err);
    char *text = NULL;
    if (added != NULL) {
        for (size_t i = 0; i < json_array_size(added) && json_array_size(all) < TAGS_MAX; i++) {
            json_t *tag = json_array_get(added, i);
            if (!has_tag(all, tag)) {
                (void)json_array_append(all, tag);
            }
        }
        text = json_dumps(all, 0);
        if (text == NULL) {
            (void)err_set(err, ERR_NO_MEMORY, "no memory for the tags");
        }
    }
    json_decref(added);
    json_decref(all);
    return text;
}

/* `lock` returns the tags of a row and holds it; `set` takes the new text and the id. */
static bool add(struct db *db,
                const char *lock,
                const char *set,
                int64_t id,
                const char *more,
                bool *found,
                struct err *err)
{
    struct db_stmt st;
    struct arena arena;
    arena_init(&arena, 0);
    db_prepare(&st, db, lock);
    db_put_int(&st, id);
    *found = db_next(&st);
    const char *tags = *found ? db_get_text(&st, &arena) : NULL;
    bool ok = db_done(&st, err) &&
              (!*found || tags != NULL || err_set(err, ERR_NO_MEMORY, "no memory for the tags"));
    char *text = ok && tags != NULL ? merge(tags, more, err) : NULL;
    if (text != NULL) {
        db_prepare(&st, db, set);
        db_put_text(&st, text);
        db_put_int(&st, id);
        ok = db_run(&st, err);
    } else {
        ok = ok && !*found;
    }
    free(text);
    arena_free(&arena);
    return ok;
}

static bool add_to_run(struct db *db, int64_t run_id, const char *more, struct err *err)
{
    bool found;
    return add(db, "UPDATE run SET tags = tags WHERE id = ? RETURNING tags",
               "UPDATE run SET tags = ? WHERE id = ?", run_id, more, &found, err);
}

/* NULL: there is no such job, or its tags are "[]". */
static bool
read_brought(struct db *db, int64_t job_id, struct arena *arena, const char **tags, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT tags FROM job WHERE id = ? AND tags <> '[]'");
    db_put_int(&st, job_id);
    *tags = db_next(&st) ? db_get_text(&st, arena) : NULL;
    return db_done(&st, err);
}

bool run_tags_settle(struct db *db, int64_t job_id, int64_t run_id, struct err *err)
{
    struct arena arena;
    const char *tags;
    arena_init(&arena, 0);
    bool ok = read_brought(db, job_id, &arena, &tags, err);
    if (ok && tags != NULL) {
        ok = add_to_run(db, run_id, tags, err) &&
             db_run_id(db, "UPDATE job SET tags = '[]' WHERE id = ?", job_id, err);
    }
    arena_free(&arena);
    return ok;
}

/* The run of a job that is done. */
static bool tag_run_of(struct db *db, int64_t job_id, const char *tags, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT r.id, r.name FROM job AS j JOIN run AS r ON r.name = j.run WHERE j.id = ?");
    db_put_int(&st, job_id);
    struct arena arena;
    arena_init(&arena, 0);
    bool found = db_next(&st);
    int64_t run_id = found ? db_get_int(&st) : 0;
    const char *run = found ? db_get_text(&st, &arena) : NULL;
    bool ok = db_done(&st, err);
    if (ok && run != NULL) {
        ok = add_to_run(db, run_id, tags, err) && series_points_refresh_run(db, run, err);
    }
    arena_free(&arena);
    return ok;
}

bool store_job_tag(struct store *store, int64_t id, const char *tags, struct err *err)
{
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    bool waits = false;
    bool ok = add(store->writer,
                  "UPDATE job SET tags = tags WHERE id = ? AND state IN ('queued', 'running')"
                  " RETURNING tags",
                  "UPDATE job SET tags = ? WHERE id = ?", id, tags, &waits, err) &&
              (waits || tag_run_of(store->writer, id, tags, err));
    return store_write_end(store, ok, err);
}
