#include "ingest/store/schema/sums.h"

#include "ingest/base/text/buf.h"
#include "ingest/store/internal.h"
#include "ingest/store/schema/schema.h"

#define SQL_BYTES ((size_t)8 << 10)

/* "@" stands for a row: NEW., OLD., or nothing. */
struct summed {
    const char *table, *project, *traces, *is_counted;
    const char *columns; /* that change it */
};

static const struct summed all[] = {
    [SUMS_OBJECTS] = {"object", "''", "0", "@state = 'live'", "state, size_bytes"},
    [SUMS_RESULTS] = {"results_file", "''", "0", "@bytes IS NULL", "bytes, size_bytes"},
    [SUMS_RUNS] = {"run", "@project", "@trace_count", "@newest_upload_id > 0",
                   "newest_upload_id, project, trace_count, size_bytes"},
};
#define SUMMED (sizeof all / sizeof all[0])

static void put_row(struct buf *sql, const char *text, const char *row)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '@') {
            buf_puts(sql, row);
        } else {
            buf_append(sql, at, 1);
        }
    }
}

static bool run_all(struct db *db, struct buf *sql, struct err *err)
{
    bool ok = sql->failed ? err_set(err, ERR_NO_MEMORY, "no memory for a statement")
                          : db_exec(db, sql->ptr, err);
    buf_free(sql);
    return ok;
}

/* ---- triggers ---- */

/* The row comes or goes: 'run', project, then the figures with that sign. */
static void put_figures(
    struct buf *sql, const struct summed *of, const char *row, const char *sign, const char *part)
{
    buf_printf(sql, "'%s', ", of->table);
    put_row(sql, of->project, row);
    buf_printf(sql, ", %s%s1, %s", part, sign, sign);
    put_row(sql, of->traces, row);
    buf_printf(sql, ", %s%ssize_bytes", sign, row);
}

static void
put_embedded_change(struct buf *sql, const struct summed *of, const char *row, const char *sign)
{
    buf_puts(sql, " INSERT INTO kept_sum SELECT ");
    put_figures(sql, of, row, sign, "0, ");
    buf_puts(sql, " WHERE ");
    put_row(sql, of->is_counted, row);
    buf_puts(sql, " ON CONFLICT (kind, project, part) DO UPDATE SET items = items + excluded.items,"
                  " traces = traces + excluded.traces, size_bytes = size_bytes +"
                  " excluded.size_bytes;");
}

static void put_embedded(struct buf *sql, const struct summed *of)
{
    buf_printf(sql, "CREATE TRIGGER %s_comes AFTER INSERT ON %s BEGIN", of->table, of->table);
    put_embedded_change(sql, of, "NEW.", "");
    buf_printf(sql, " END; CREATE TRIGGER %s_goes AFTER DELETE ON %s BEGIN", of->table, of->table);
    put_embedded_change(sql, of, "OLD.", "-");
    buf_printf(sql, " END; CREATE TRIGGER %s_changes AFTER UPDATE OF %s ON %s BEGIN", of->table,
               of->columns, of->table);
    put_embedded_change(sql, of, "OLD.", "-");
    put_embedded_change(sql, of, "NEW.", "");
    buf_puts(sql, " END;");
}

/* A row that another transaction has changed is passed over: with it, whoever stands still in the
 * midst of one would hold all others up. */
static const char keep_sum[] =
    "CREATE SEQUENCE kept_sum_part;"
    "CREATE FUNCTION keep_sum(k text, p text, i bigint, t bigint, b bigint) RETURNS void"
    " LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN"
    " SELECT part INTO n FROM kept_sum WHERE kind = k AND project = p LIMIT 1"
    " FOR UPDATE SKIP LOCKED;"
    " IF FOUND THEN UPDATE kept_sum SET items = items + i, traces = traces + t,"
    " size_bytes = size_bytes + b WHERE kind = k AND project = p AND part = n;"
    " ELSE INSERT INTO kept_sum VALUES (k, p, nextval('kept_sum_part'), i, t, b);"
    " END IF; END $$;";

static void put_server_change(
    struct buf *sql, const struct summed *of, const char *except, const char *row, const char *sign)
{
    buf_printf(sql, " IF TG_OP <> '%s' AND ", except);
    put_row(sql, of->is_counted, row);
    buf_puts(sql, " THEN PERFORM keep_sum(");
    put_figures(sql, of, row, sign, "");
    buf_puts(sql, "); END IF;");
}

/* `text` of the row as it was, the sign, and of the row as it is. */
static void put_both(struct buf *sql, const char *text, const char *sign)
{
    put_row(sql, text, "OLD.");
    buf_puts(sql, sign);
    put_row(sql, text, "NEW.");
}

/* A row that was counted and is counted, in the same place: its difference, if there is one. */
static void put_server_difference(struct buf *sql, const struct summed *of)
{
    buf_puts(sql, " IF TG_OP = 'UPDATE' THEN IF ");
    put_both(sql, of->is_counted, " AND ");
    buf_puts(sql, " AND ");
    put_both(sql, of->project, " = ");
    buf_puts(sql, " THEN IF ");
    put_both(sql, of->traces, " <> ");
    buf_printf(sql, " OR OLD.size_bytes <> NEW.size_bytes THEN PERFORM keep_sum('%s', ", of->table);
    put_row(sql, of->project, "NEW.");
    buf_puts(sql, ", 0, -");
    put_both(sql, of->traces, " + ");
    buf_puts(sql, ", NEW.size_bytes - OLD.size_bytes); END IF; RETURN NULL; END IF; END IF;");
}

static void put_server_function(struct buf *sql, const struct summed *of)
{
    buf_printf(sql,
               "CREATE OR REPLACE FUNCTION %s_sums() RETURNS trigger LANGUAGE plpgsql AS"
               " $$ BEGIN",
               of->table);
    put_server_difference(sql, of);
    put_server_change(sql, of, "INSERT", "OLD.", "-");
    put_server_change(sql, of, "DELETE", "NEW.", "");
    buf_puts(sql, " RETURN NULL; END $$;");
}

static void put_server(struct buf *sql, const struct summed *of)
{
    put_server_function(sql, of);
    buf_printf(sql,
               " CREATE TRIGGER %s_sums AFTER INSERT OR DELETE OR UPDATE"
               " OF %s ON %s FOR EACH ROW EXECUTE FUNCTION %s_sums();",
               of->table, of->columns, of->table, of->table);
}

/* ---- counting ---- */

/* On a server nobody else changes a row until the end of the transaction. */
static bool count_all(struct db *db, struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_BYTES);
    buf_puts(&sql, "DELETE FROM kept_sum;");
    for (size_t i = 0; i < SUMMED; i++) {
        buf_printf(&sql, " INSERT INTO kept_sum SELECT '%s', ", all[i].table);
        put_row(&sql, all[i].project, "");
        buf_puts(&sql, ", 0, count(*), sum(");
        put_row(&sql, all[i].traces, "");
        buf_printf(&sql, "), sum(size_bytes) FROM %s WHERE ", all[i].table);
        put_row(&sql, all[i].is_counted, "");
        buf_puts(&sql, " GROUP BY 1, 2;");
    }
    return run_all(db, &sql, err);
}

static bool lock(struct db *db, struct err *err)
{
    return !db_is_server(db) ||
           db_exec(db, SCHEMA_LOCK("object, results_file, run IN SHARE ROW EXCLUSIVE MODE"), err);
}

bool sums_make(struct db *db, struct err *err)
{
    struct buf sql;
    if (!lock(db, err)) {
        return false;
    }
    buf_init(&sql, SQL_BYTES);
    buf_puts(&sql, db_is_server(db) ? keep_sum : "");
    for (size_t i = 0; i < SUMMED; i++) {
        if (db_is_server(db)) {
            put_server(&sql, &all[i]);
        } else {
            put_embedded(&sql, &all[i]);
        }
    }
    return run_all(db, &sql, err) && count_all(db, err);
}

bool sums_renew(struct db *db, struct err *err)
{
    struct buf sql;
    if (!db_is_server(db)) {
        return true;
    }
    buf_init(&sql, SQL_BYTES);
    for (size_t i = 0; i < SUMMED; i++) {
        put_server_function(&sql, &all[i]);
    }
    return run_all(db, &sql, err);
}

/* An embedded database has one row to change a thousand times; a server would write it as often. */
static bool switch_triggers(struct db *db, const char *how, struct err *err)
{
    struct buf sql;
    if (!db_is_server(db)) {
        return true;
    }
    buf_init(&sql, SQL_BYTES);
    for (size_t i = 0; i < SUMMED; i++) {
        buf_printf(&sql, "ALTER TABLE %s %s TRIGGER %s_sums;", all[i].table, how, all[i].table);
    }
    return run_all(db, &sql, err);
}

bool sums_pause(struct db *db, struct err *err)
{
    return lock(db, err) && switch_triggers(db, "DISABLE", err);
}

bool sums_resume(struct db *db, struct err *err)
{
    return switch_triggers(db, "ENABLE", err) && count_all(db, err);
}

/* ---- reading ---- */

bool sums_read(struct db *db,
               enum sums_kind kind,
               const char *projects,
               const char *project,
               struct sums *out,
               struct err *err)
{
    struct db_stmt st;
    *out = (struct sums){0};
    db_prepare(&st, db,
               "SELECT coalesce(sum(items), 0), coalesce(sum(traces), 0),"
               " coalesce(sum(size_bytes), 0) FROM kept_sum WHERE kind = ?1 AND (?3 IS NULL OR"
               " project = ?3) AND " STORE_IN_PROJECTS("project", "?2"));
    db_put_text(&st, all[kind].table);
    db_put_text(&st, projects);
    db_put_text(&st, project);
    if (db_next(&st)) {
        out->items = db_get_int(&st);
        out->traces = db_get_int(&st);
        out->size_bytes = (uint64_t)db_get_int(&st);
    }
    return db_done(&st, err);
}
