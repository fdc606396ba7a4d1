/* Pinned notes. A note belongs to its run and goes with it; its trace is a plain number, because
 * the row of a trace goes and comes again when its upload is analysed anew. */
#include "ingest/store/internal.h"
#include "ingest/store/store_notes.h"

static const char *const kind_texts[NOTE_KIND_COUNT] = {"window", "kernel", "operator",
                                                        "regression"};

const char *store_note_kind_text(enum store_note_kind kind)
{
    return kind_texts[kind];
}

/* ---- reading ---- */

#define NOTE_COLUMNS                                                                   \
    "SELECT n.id, r.name, n.trace_id, n.kind, n.name, n.start_ns, n.end_ns, n.text,"   \
    " n.author, n.created_at_s FROM pinned_note AS n JOIN run AS r ON r.id = n.run_id" \
    " AND r.newest_upload_id > 0"

static bool read_notes(struct db_stmt *st,
                       struct arena *arena,
                       size_t room,
                       struct store_note **notes,
                       size_t *count,
                       struct err *err)
{
    *count = 0;
    *notes = arena_calloc(arena, room + 1, sizeof **notes);
    if (*notes == NULL) {
        db_fail_memory(st);
    }
    while (*notes != NULL && *count < room && db_next(st)) {
        struct store_note *note = &(*notes)[(*count)++];
        note->id = db_get_int(st);
        note->run = db_get_text(st, arena);
        note->trace_id = db_get_int(st);
        note->kind = (enum store_note_kind)db_get_enum(st, NOTE_KIND_COUNT - 1);
        note->name = db_get_text(st, arena);
        note->start_ns = db_get_int(st);
        note->end_ns = db_get_int(st);
        note->text = db_get_text(st, arena);
        note->author = db_get_text(st, arena);
        note->created_at_s = db_get_int(st);
    }
    return db_done(st, err);
}

/* 0: there is no such run. */
static bool find_run(struct db *db, const char *name, int64_t *run_id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT id FROM run WHERE name = ? AND newest_upload_id > 0");
    db_put_text(&st, name);
    *run_id = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err) &&
           (*run_id != 0 || err_set(err, ERR_NOT_FOUND, "There is no run \"%.80s\"", name));
}

bool store_notes_of_run(struct store_snapshot *snapshot,
                        struct arena *arena,
                        const char *run,
                        struct store_note **notes,
                        size_t *count,
                        struct err *err)
{
    struct db *db;
    struct db_stmt st;
    int64_t run_id = 0;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    bool ok = find_run(db, run, &run_id, err);
    if (ok) {
        db_prepare(&st, db, NOTE_COLUMNS " WHERE n.run_id = ? ORDER BY n.id");
        db_put_int(&st, run_id);
        ok = read_notes(&st, arena, STORE_NOTES_MAX, notes, count, err);
    }
    return ok;
}

bool store_notes_of_trace(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t trace_id,
                          struct store_note **notes,
                          size_t *count,
                          struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    bool ok = store_check_trace(db, trace_id, err);
    if (ok) {
        db_prepare(&st, db,
                   NOTE_COLUMNS
                   " WHERE n.run_id = (SELECT u.run_id FROM trace AS t JOIN upload AS u"
                   " ON u.id = t.upload_id WHERE t.id = ?1)"
                   " AND n.trace_id IN (0, ?1) ORDER BY n.id");
        db_put_int(&st, trace_id);
        ok = read_notes(&st, arena, STORE_NOTES_MAX, notes, count, err);
    }
    return ok;
}

bool store_notes_of_metric(struct store_snapshot *snapshot,
                           struct arena *arena,
                           const char *metric,
                           struct store_note **notes,
                           size_t *count,
                           struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    /* The newest, should there be more than fit: turned round, so that a later one counts. The kind
     * is a literal for the sake of its index. */
    _Static_assert(NOTE_REGRESSION == 3, "the kind below, and that of the index");
    db_prepare(&st, db,
               "SELECT * FROM (" NOTE_COLUMNS " WHERE n.kind = 3 AND n.name = ?1"
               " ORDER BY n.id DESC LIMIT ?2) AS n ORDER BY 1");
    db_put_text(&st, metric);
    db_put_int(&st, STORE_NOTES_MAX);
    return read_notes(&st, arena, STORE_NOTES_MAX, notes, count, err);
}

/* ---- writing ---- */

static bool has_trace(struct db *db, int64_t run_id, const struct store_note *note, struct err *err)
{
    struct db_stmt st;
    if (note->trace_id == 0) {
        return true;
    }
    db_prepare(&st, db, "SELECT 1" STORE_VISIBLE_TRACES " WHERE t.id = ? AND u.run_id = ?");
    db_put_int(&st, note->trace_id);
    db_put_int(&st, run_id);
    bool found = db_next(&st);
    return db_done(&st, err) &&
           (found || err_set(err, ERR_NOT_FOUND, "The run \"%.80s\" has no trace %lld", note->run,
                             (long long)note->trace_id));
}

static bool has_room(struct db *db, int64_t run_id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT count(*) FROM pinned_note WHERE run_id = ?");
    db_put_int(&st, run_id);
    bool fits = db_next(&st) && db_get_int(&st) < STORE_NOTES_MAX;
    return db_done(&st, err) &&
           (fits ||
            err_set(err, ERR_CONFLICT, "The run has %d notes, which is all that it can have",
                    STORE_NOTES_MAX));
}

static bool insert(struct db *db, int64_t run_id, struct store_note *note, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO pinned_note (run_id, trace_id, kind, name, start_ns, end_ns, text,"
               " author, created_at_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, unixepoch())"
               " RETURNING id, created_at_s");
    db_put_int(&st, run_id);
    db_put_int(&st, note->trace_id);
    db_put_int(&st, note->kind);
    db_put_text(&st, note->name);
    db_put_int(&st, note->start_ns);
    db_put_int(&st, note->end_ns);
    db_put_text(&st, note->text);
    db_put_text(&st, note->author);
    if (db_next(&st)) {
        note->id = db_get_int(&st);
        note->created_at_s = db_get_int(&st);
    }
    return db_done(&st, err);
}

bool store_note_add(struct store *store, struct store_note *note, struct err *err)
{
    int64_t run_id = 0;
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    struct db *db = store->writer;
    bool ok = find_run(db, note->run, &run_id, err) && has_trace(db, run_id, note, err) &&
              has_room(db, run_id, err) && insert(db, run_id, note, err);
    return store_write_end(store, ok, err);
}

/* The note is there, and of the author if one is named. */
static bool check_note(
    struct db *db, int64_t run_id, const char *run, int64_t id, const char *author, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT ?3 IS NULL OR author = ?3 FROM pinned_note WHERE id = ?1 AND run_id = ?2");
    db_put_int(&st, id);
    db_put_int(&st, run_id);
    db_put_text(&st, author);
    bool is_there = db_next(&st);
    bool is_theirs = is_there && db_get_int(&st) != 0;
    if (!db_done(&st, err)) {
        return false;
    }
    if (!is_there) {
        return err_set(err, ERR_NOT_FOUND, "The run \"%.80s\" has no note %lld", run,
                       (long long)id);
    }
    return is_theirs ||
           err_set(err, ERR_FORBIDDEN,
                   "Another one wrote this note: its author or an admin may remove it");
}

bool store_note_delete(
    struct store *store, const char *run, int64_t id, const char *author, struct err *err)
{
    struct db_stmt st;
    int64_t run_id = 0;
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    struct db *db = store->writer;
    bool ok = find_run(db, run, &run_id, err) && check_note(db, run_id, run, id, author, err);
    if (ok) {
        db_prepare(&st, db, "DELETE FROM pinned_note WHERE id = ?");
        db_put_int(&st, id);
        ok = db_run(&st, err);
    }
    return store_write_end(store, ok, err);
}
