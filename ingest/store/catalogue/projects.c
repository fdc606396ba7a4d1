/* Which reader may read what. Each check answers for what he may not read as it does for what is
 * not there. */
#include "ingest/store/history/points.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_access.h"

#include <string.h>

/* ---- names and lists ---- */

bool store_project_check(const char *name, struct err *err)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/";
    size_t len = strlen(name);
    return (len > 0 && len <= STORE_PROJECT_MAX_BYTES && strspn(name, allowed) == len) ||
           err_set(err, ERR_BAD_REQUEST,
                   "the name of a project is 1 to %d letters without accents, digits, and . _ - /",
                   STORE_PROJECT_MAX_BYTES);
}

/* Names have no quotation mark, so that quotation marks are where a name begins and ends. */
static bool is_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; (at = strchr(at, '"')) != NULL;) {
        const char *end = strchr(++at, '"');
        if (end == NULL) {
            return false;
        }
        if ((size_t)(end - at) == len && memcmp(at, name, len) == 0) {
            return true;
        }
        at = end + 1;
    }
    return false;
}

void store_projects_add(struct buf *list, const char *name)
{
    if (list->len > 0 && is_listed(list->ptr, name)) {
        return;
    }
    if (list->len > 0) {
        list->ptr[--list->len] = '\0';
    }
    buf_printf(list, "%s\"%s\"]", list->len == 0 ? "[" : ", ", name);
}

bool store_projects_have(const char *projects, const char *project)
{
    return projects == NULL || *project == '\0' || is_listed(projects, project);
}

/* ---- checks ---- */

/* The projects that `st` answers with, one a row: whether all of them may be read. */
static bool read_projects(struct db_stmt *st, const char *projects, bool *readable, struct err *err)
{
    size_t rows = 0;
    bool all = true;
    while (db_next(st)) {
        size_t len;
        const char *project = db_peek_text(st, &len);
        all = all && project != NULL && store_projects_have(projects, project);
        rows++;
    }
    *readable = all && rows > 0;
    return db_done(st, err);
}

/* Of what has this name or, without one, this id. */
static bool is_readable(struct store_snapshot *snapshot,
                        const char *sql,
                        const char *name,
                        int64_t id,
                        const char *projects,
                        bool *readable,
                        struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    db_prepare(&st, db, sql);
    if (name != NULL) {
        db_put_text(&st, name);
    } else {
        db_put_int(&st, id);
    }
    return read_projects(&st, projects, readable, err);
}

static bool id_readable(struct store_snapshot *snapshot,
                        const char *sql,
                        const char *what,
                        int64_t id,
                        const char *projects,
                        struct err *err)
{
    bool readable = false;
    return is_readable(snapshot, sql, NULL, id, projects, &readable, err) &&
           (readable || err_set(err, ERR_NOT_FOUND, "%s %lld not found: it may have been deleted",
                                what, (long long)id));
}

bool store_trace_readable(struct store_snapshot *snapshot,
                          int64_t id,
                          const char *projects,
                          struct err *err)
{
    return id_readable(snapshot, "SELECT r.project" STORE_VISIBLE_TRACES " WHERE t.id = ?", "Trace",
                       id, projects, err);
}

bool store_job_readable(struct store_snapshot *snapshot,
                        int64_t id,
                        const char *projects,
                        struct err *err)
{
    return id_readable(snapshot, "SELECT project FROM job WHERE id = ?", "Job", id, projects, err);
}

bool store_comparison_readable(struct store_snapshot *snapshot,
                               int64_t id,
                               const char *projects,
                               struct err *err)
{
    return id_readable(snapshot,
                       "SELECT k.project FROM comparison AS c JOIN compared_trace AS k"
                       " ON k.comparison_id = coalesce(c.group_id, c.id) WHERE c.id = ?1"
                       " UNION SELECT r.project" STORE_VISIBLE_TRACES
                       " JOIN comparison AS c ON c.trace_id = t.id WHERE c.id = ?1",
                       "Comparison", id, projects, err);
}

bool store_run_readable(struct store_snapshot *snapshot,
                        const char *name,
                        const char *projects,
                        struct err *err)
{
    bool readable = false;
    return is_readable(snapshot,
                       "SELECT r.project FROM run AS r WHERE r.name = ? AND EXISTS"
                       " (SELECT 1 FROM upload AS u WHERE u.run_id = r.id AND u.published = 1)",
                       name, 0, projects, &readable, err) &&
           (readable || err_set(err, ERR_NOT_FOUND,
                                "Run \"%s\" not found: it may have been deleted or renamed", name));
}

/* ---- the project of a run ---- */

bool store_project_of_name(
    struct db *db, struct arena *arena, const char *name, const char **project, struct err *err)
{
    struct db_stmt st;
    *project = NULL;
    db_prepare(&st, db,
               "SELECT coalesce((SELECT project FROM run WHERE name = ?1), (SELECT project FROM job"
               " WHERE run = ?1 AND state IN ('queued', 'running') ORDER BY id LIMIT 1))");
    db_put_text(&st, name);
    if (db_next(&st)) {
        *project = db_get_text(&st, arena);
    }
    return db_done(&st, err);
}

bool store_run_project(struct store *store,
                       struct arena *arena,
                       const char *name,
                       const char **project,
                       struct err *err)
{
    struct db *db;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool ok = store_project_of_name(db, arena, name, project, err);
    store_read_end(store, db);
    return ok;
}

static bool
move_rows(struct db *db, const char *sql, const char *name, const char *project, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_text(&st, name);
    db_put_text(&st, project);
    return db_run(&st, err);
}

/* Jobs of an earlier run of this name, in another project, stay what they are. */
static bool move_run(struct db *db, const char *name, const char *project, struct err *err)
{
    if (!move_rows(db,
                   "UPDATE job SET project = ?2 WHERE run = ?1"
                   " AND project = (SELECT project FROM run WHERE name = ?1)",
                   name, project, err) ||
        !move_rows(db,
                   "UPDATE compared_trace SET project = ?2 WHERE trace_id IN (SELECT t.id"
                   " FROM trace AS t JOIN upload AS u ON u.id = t.upload_id"
                   " JOIN run AS r ON r.id = u.run_id WHERE r.name = ?1)",
                   name, project, err) ||
        !move_rows(db,
                   "UPDATE run SET project = ?2 WHERE name = ?1"
                   " AND EXISTS (SELECT 1 FROM upload WHERE run_id = run.id AND published = 1)",
                   name, project, err)) {
        return false;
    }
    if (db_changes(db) == 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "Run \"%s\" not found: it may have been deleted or renamed", name);
    }
    return series_points_refresh_run(db, name, err);
}

bool store_run_move(struct store *store, const char *name, const char *project, struct err *err)
{
    return store_write_begin(store, STORE_DURABLE, err) &&
           store_write_end(store, move_run(store->writer, name, project, err), err);
}
