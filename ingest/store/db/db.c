/* What all engines share: statements that are found again, the first failure of each, and readers
 * of columns. */
#include "ingest/store/db/db.h"

#include "ingest/base/wall_clock.h"
#include "ingest/store/db/engine.h"
#ifdef KS_HAS_LIBPQ
#include "ingest/store/db/postgres/postgres.h"
#include "ingest/store/db/postgres/recall.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- connections ---- */

bool db_open_url(struct db **out, const char *url, enum db_mode mode, struct err *err)
{
    if (strncmp(url, "postgresql://", 13) != 0 && strncmp(url, "postgres://", 11) != 0) {
        return err_set(err, ERR_BAD_REQUEST,
                       "the URL of a database is postgresql://USER@HOST/NAME");
    }
#ifdef KS_HAS_LIBPQ
    return postgres_open(out, url, mode, err);
#else
    (void)out;
    (void)mode;
    return err_set(err, ERR_BAD_REQUEST,
                   "this program was built without PostgreSQL; build it where libpq is "
                   "(libpq-dev), with -DKS_CLUSTER=ON");
#endif
}

void db_close(struct db *db)
{
    if (db != NULL) {
        db->engine->close(db);
    }
}

bool db_exec(struct db *db, const char *sql, struct err *err)
{
    return db->engine->exec(sql, db, err);
}

bool db_begin(struct db *db, struct err *err)
{
    db->recalled_ms = -1;
    return db->engine->begin(db, err);
}

bool db_begin_recent(struct db *db, int64_t away_ms, struct err *err)
{
    db->recalled_ms = -1;
    return db->engine->begin_recent == NULL ? db->engine->begin(db, err)
                                            : db->engine->begin_recent(db, away_ms, err);
}

int64_t db_recalled_ms(const struct db *db)
{
    return db->recalled_ms;
}

bool db_commit(struct db *db, struct err *err)
{
    return db->engine->commit(db, err);
}

bool db_rollback(struct db *db, struct err *err)
{
    return db->engine->rollback(db, err);
}

bool db_set_durable(struct db *db, bool durable, struct err *err)
{
    return db->engine->set_durable(db, durable, err);
}

bool db_open_shared(struct db **out, const char *url, struct db_shared *shared, struct err *err)
{
#ifdef KS_HAS_LIBPQ
    return postgres_open_shared(out, url, shared, err);
#else
    (void)shared;
    return db_open_url(out, url, DB_READER, err);
#endif
}

bool db_shared_keep(struct db_shared *shared, struct err *err)
{
#ifdef KS_HAS_LIBPQ
    shared->recall = recall_create();
    return shared->recall != NULL ||
           err_set(err, ERR_NO_MEMORY, "no memory for what is read of the database");
#else
    (void)shared;
    (void)err;
    return true;
#endif
}

void db_shared_end(struct db_shared *shared)
{
#ifdef KS_HAS_LIBPQ
    recall_free(shared->recall);
#endif
    *shared = (struct db_shared){.recall = NULL};
}

void db_share(struct db *db, struct db_shared *shared)
{
    db->shared = shared;
}

bool db_is_in_doubt(const struct db *db)
{
    return db->is_in_doubt;
}

bool db_exec_schema(struct db *db, const char *sql, struct err *err)
{
    return db->engine->exec_schema(sql, db, err);
}

bool db_is_server(const struct db *db)
{
    return db->engine->is_server;
}

const char *db_path(const struct db *db)
{
    return db->path;
}

bool db_in_transaction(const struct db *db)
{
    return db->engine->in_transaction(db);
}

bool db_end(struct db *db, bool ok, struct err *err)
{
    struct err second = ERR_INIT;
    ok = ok && db_commit(db, err);
    if (!ok && db_in_transaction(db) && !db_rollback(db, &second)) {
        (void)err_context(err, "not rolled back");
    }
    return ok;
}

int64_t db_changes(const struct db *db)
{
    return db->engine->changes(db);
}

bool db_used_bytes(struct db *db, uint64_t *bytes, struct err *err)
{
    return db->engine->used_bytes(db, bytes, err);
}

/* ---- statements that stay prepared ---- */

void db_stmt_fail(struct db_stmt *st, const struct err *failure)
{
    if (!st->failed) {
        st->failed = true;
        st->failure = *failure;
    }
}

void db_fail_memory(struct db_stmt *st)
{
    struct err failure = ERR_INIT;
    (void)err_set(&failure, ERR_NO_MEMORY, "no memory for the rows of the answer");
    db_stmt_fail(st, &failure);
}

static void drop_statement(const struct db *db, struct cached_statement *entry)
{
    db->engine->finalize(entry->raw);
    free(entry->text);
    *entry = (struct cached_statement){0};
}

void db_forget_statements(struct db *db)
{
    for (size_t i = 0; i < db->cached; i++) {
        drop_statement(db, &db->cache[i]);
    }
    db->cached = 0;
}

static struct cached_statement *find_statement(struct db *db, const char *sql, bool is_literal)
{
    for (size_t i = 0; i < db->cached; i++) {
        struct cached_statement *entry = &db->cache[i];
        bool same = is_literal ? entry->literal == sql
                               : entry->text != NULL && strcmp(entry->text, sql) == 0;
        if (same) {
            return entry;
        }
    }
    return NULL;
}

/* A place for a new statement: a free one, else that of the statement used longest ago and not in
 * use. */
static struct cached_statement *free_entry(struct db *db)
{
    if (db->cached < CACHED_STATEMENTS) {
        return &db->cache[db->cached++];
    }
    struct cached_statement *oldest = NULL;
    for (size_t i = 0; i < CACHED_STATEMENTS; i++) {
        struct cached_statement *entry = &db->cache[i];
        bool idle = !db->engine->is_busy(entry->raw);
        if (idle && (oldest == NULL || entry->used_at < oldest->used_at)) {
            oldest = entry;
        }
    }
    if (oldest != NULL) {
        drop_statement(db, oldest);
    }
    return oldest;
}

/* NULL, and the statement has failed. */
static struct cached_statement *
make_statement(struct db_stmt *st, struct db *db, const char *sql, bool is_literal)
{
    struct db_raw *raw = NULL;
    struct err failure = ERR_INIT;
    struct cached_statement *entry = NULL;
    char *text = is_literal ? NULL : strdup(sql);
    if (!is_literal && text == NULL) {
        db_fail_memory(st);
    } else if (!db->engine->prepare(db, sql, &raw, &failure)) {
        db_stmt_fail(st, &failure);
    } else if ((entry = free_entry(db)) == NULL) {
        db_fail_memory(st);
        db->engine->finalize(raw);
    }
    if (entry == NULL) {
        free(text);
        return NULL;
    }
    *entry =
        (struct cached_statement){.literal = is_literal ? sql : NULL, .text = text, .raw = raw};
    return entry;
}

static void prepare(struct db_stmt *st, struct db *db, const char *sql, bool is_literal)
{
    *st = (struct db_stmt){.db = db, .failure = ERR_INIT};
    struct cached_statement *entry = find_statement(db, sql, is_literal);
    if (entry == NULL && (entry = make_statement(st, db, sql, is_literal)) == NULL) {
        return;
    }
    entry->used_at = ++db->clock;
    st->raw = entry->raw;
}

void db_prepare(struct db_stmt *st, struct db *db, const char *sql)
{
    prepare(st, db, sql, true);
}

void db_prepare_buf(struct db_stmt *st, struct db *db, struct buf *sql)
{
    if (sql->failed) {
        *st = (struct db_stmt){.db = db, .failure = ERR_INIT};
        db_fail_memory(st);
    } else {
        prepare(st, db, sql->ptr, false);
    }
    buf_free(sql);
}

/* ---- parameters ---- */

void db_put_int(struct db_stmt *st, int64_t value)
{
    if (!st->failed) {
        st->db->engine->put_int(st, ++st->param, value);
    }
}

void db_put_optional(struct db_stmt *st, int64_t value)
{
    if (!st->failed) {
        st->db->engine->put_optional(st, ++st->param, value);
    }
}

void db_put_clock(struct db_stmt *st)
{
    db_put_optional(st, db_is_server(st->db) ? INT64_MIN : wall_clock_s());
}

void db_put_real(struct db_stmt *st, double value)
{
    if (!st->failed) {
        st->db->engine->put_real(st, ++st->param, value);
    }
}

void db_put_text(struct db_stmt *st, const char *text)
{
    if (!st->failed) {
        st->db->engine->put_text(st, ++st->param, text);
    }
}

void db_put_blob(struct db_stmt *st, const void *bytes, size_t len)
{
    if (!st->failed) {
        st->db->engine->put_blob(st, ++st->param, bytes, len);
    }
}

void db_put_matcher(struct db_stmt *st, struct matcher *matcher)
{
    if (!st->failed) {
        st->db->engine->put_matcher(st, ++st->param, matcher);
    }
}

/* ---- rows ---- */

bool db_next(struct db_stmt *st)
{
    if (st->failed) {
        return false;
    }
    st->column = 0;
    return st->db->engine->next(st);
}

int64_t db_get_int(struct db_stmt *st)
{
    return st->db->engine->get_int(st, st->column++);
}

bool db_get_is_null(struct db_stmt *st)
{
    return st->db->engine->is_null(st, st->column);
}

int64_t db_get_optional(struct db_stmt *st)
{
    bool is_null = db_get_is_null(st);
    int64_t value = db_get_int(st);
    return is_null ? INT64_MIN : value;
}

int db_get_enum(struct db_stmt *st, int last)
{
    int64_t value = db_get_int(st);
    return value >= 0 && value <= last ? (int)value : last;
}

bool db_get_bool(struct db_stmt *st)
{
    return db_get_int(st) != 0;
}

double db_get_real(struct db_stmt *st)
{
    bool is_null = db_get_is_null(st);
    double value = st->db->engine->get_real(st, st->column++);
    return is_null ? (double)NAN : value;
}

const void *db_peek_blob(struct db_stmt *st, size_t *len)
{
    return st->db->engine->get_blob(st, st->column++, len);
}

const char *db_peek_text(struct db_stmt *st, size_t *len)
{
    return st->db->engine->get_text(st, st->column++, len);
}

const char *db_get_text(struct db_stmt *st, struct arena *arena)
{
    bool is_null = db_get_is_null(st);
    size_t len;
    const char *text = db_peek_text(st, &len);
    if (is_null) {
        return NULL;
    }
    const char *copy = text == NULL ? NULL : arena_strndup(arena, text, len);
    if (copy == NULL) {
        db_fail_memory(st);
    }
    return copy;
}

bool db_done(struct db_stmt *st, struct err *err)
{
    if (st->raw != NULL) {
        st->db->engine->reset(st);
    }
    if (st->failed) {
        *err = st->failure;
    }
    return !st->failed;
}

bool db_run(struct db_stmt *st, struct err *err)
{
    (void)db_next(st);
    return db_done(st, err);
}

bool db_run_returning(struct db_stmt *st, int64_t *value, struct err *err)
{
    if (db_next(st)) {
        *value = db_get_int(st);
    }
    return db_done(st, err);
}

bool db_read_int(struct db *db, const char *sql, int64_t *value, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    *value = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

bool db_run_id(struct db *db, const char *sql, int64_t id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_int(&st, id);
    return db_run(&st, err);
}

bool db_run_text(struct db *db, const char *sql, const char *text, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_text(&st, text);
    return db_run(&st, err);
}

bool db_clock(struct db *db, int64_t *now_s, struct err *err)
{
    *now_s = wall_clock_s();
    return !db_is_server(db) || db_read_int(db, "SELECT unixepoch()", now_s, err);
}
