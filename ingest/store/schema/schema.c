#include "ingest/store/schema/schema.h"

#include "ingest/store/schema/sums.h"

#include <stdio.h>

/* As in schema/1_catalogue.sql. */
#define APPLICATION_ID 1263747918

struct found {
    int64_t tables, version;
    bool is_ours;
};

static bool look_embedded(struct db *db, struct found *out, struct err *err)
{
    int64_t application_id = 0;
    bool ok = db_read_int(db, "PRAGMA user_version", &out->version, err) &&
              db_read_int(db, "PRAGMA application_id", &application_id, err) &&
              db_read_int(db, "SELECT count(*) FROM sqlite_schema", &out->tables, err);
    out->is_ours = application_id == APPLICATION_ID;
    return ok;
}

/* A server has a table of one row for what SQLite has in the head of its file. */
static const char server_head[] =
    "CREATE TABLE kinetoscope (version bigint NOT NULL, id text NOT NULL)";

static bool look_on_server(struct db *db, struct found *out, struct err *err)
{
    int64_t heads = 0;
    /* Views of an extension are nobody's data: pg_auto_failover makes a database with some. */
    bool ok =
        db_read_int(db,
                    "SELECT count(*) FROM pg_class AS c WHERE c.relkind IN ('r', 'p', 'v')"
                    " AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname ="
                    " current_schema()) AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE"
                    " d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')",
                    &out->tables, err) &&
        db_read_int(db,
                    "SELECT count(*) FROM information_schema.tables WHERE table_schema ="
                    " current_schema() AND table_name = 'kinetoscope'",
                    &heads, err);
    out->is_ours = heads > 0;
    return ok &&
           (heads == 0 || db_read_int(db, "SELECT version FROM kinetoscope", &out->version, err));
}

bool schema_version(struct db *db, int64_t *version, struct err *err)
{
    struct found found = {0};
    if (!(db_is_server(db) ? look_on_server(db, &found, err) : look_embedded(db, &found, err))) {
        return false;
    }
    *version = found.version;
    if (*version > SCHEMA_VERSION + 1 || *version < 0) {
        return err_set(
            err, ERR_STORE,
            "the database has schema %lld, this program works with schemas up to %d; start the "
            "newer program that wrote it",
            (long long)*version, SCHEMA_VERSION + 1);
    }
    if (found.tables > 0 && (!found.is_ours || *version == 0)) {
        return err_set(err, ERR_STORE,
                       "the database was not written by Kinetoscope; use another %s",
                       db_is_server(db) ? "--database-url" : "--data-dir");
    }
    return true;
}

bool schema_read_version(struct db *db, int64_t *version, struct err *err)
{
    return db_is_server(db) ? db_read_int(db, "SELECT version FROM kinetoscope", version, err)
                            : db_read_int(db, "PRAGMA user_version", version, err);
}

bool schema_set_version(struct db *db, int64_t version, struct err *err)
{
    char sql[64];
    (void)snprintf(sql, sizeof sql,
                   db_is_server(db) ? "UPDATE kinetoscope SET version = %lld"
                                    : "PRAGMA user_version = %lld",
                   (long long)version);
    return db_exec(db, sql, err);
}

static bool create_head(struct db *db, struct err *err)
{
    return !db_is_server(db) ||
           (db_exec(db, server_head, err) &&
            db_exec(db, "INSERT INTO kinetoscope SELECT 0, gen_random_uuid()::text", err));
}

/* The rows of a trace come in the transaction that makes the trace, so that only its end and a new
 * id concern them. */
static const char free_values[] =
    "ALTER TABLE series_value DROP CONSTRAINT series_value_metric_id_fkey,"
    " DROP CONSTRAINT series_value_trace_id_fkey;"
    " CREATE FUNCTION values_follow_trace() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " IF TG_OP = 'DELETE' THEN DELETE FROM series_value WHERE trace_id = OLD.id;"
    " ELSE UPDATE series_value SET trace_id = NEW.id WHERE trace_id = OLD.id;"
    " END IF; RETURN NULL; END $$;"
    " CREATE TRIGGER values_follow_trace AFTER DELETE OR UPDATE OF id ON trace"
    " FOR EACH ROW EXECUTE FUNCTION values_follow_trace()";

bool schema_free_values(struct db *db, struct err *err)
{
    return !db_is_server(db) ||
           (db_exec(db, SCHEMA_LOCK("series_metric, series_value, trace IN ACCESS EXCLUSIVE MODE"),
                    err) &&
            db_exec(db, free_values, err));
}

bool schema_create(struct db *db, struct err *err)
{
    struct db_stmt st;
    if (!db_exec_schema(db, schema_sql, err) || !create_head(db, err) || !sums_make(db, err) ||
        !schema_free_values(db, err) || !schema_set_version(db, SCHEMA_VERSION, err)) {
        return false;
    }
    db_prepare(&st, db, "INSERT INTO schema_step (version, applied_at_s) VALUES (?, unixepoch())");
    db_put_int(&st, SCHEMA_VERSION);
    return db_run(&st, err);
}

bool schema_read_id(struct db *db, char id[CATALOGUE_ID_BYTES], struct err *err)
{
    struct db_stmt st;
    size_t len;
    db_prepare(&st, db, "SELECT id FROM kinetoscope");
    const char *text = db_next(&st) ? db_peek_text(&st, &len) : NULL;
    (void)snprintf(id, CATALOGUE_ID_BYTES, "%s", text == NULL ? "" : text);
    return db_done(&st, err);
}
