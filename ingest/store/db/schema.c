#include "ingest/store/db/schema.h"

/* As in schema/1_catalogue.sql. */
#define APPLICATION_ID 1263747918

static bool read_int(struct db *db, const char *sql, int64_t *value, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    if (db_next(&st)) {
        *value = db_get_int(&st);
    }
    return db_done(&st, err);
}

bool schema_version(struct db *db, int64_t *version, struct err *err)
{
    int64_t tables = 0;
    int64_t application_id = 0;
    if (!read_int(db, "PRAGMA user_version", version, err) ||
        !read_int(db, "PRAGMA application_id", &application_id, err) ||
        !read_int(db, "SELECT count(*) FROM sqlite_schema", &tables, err)) {
        return false;
    }
    if (*version > SCHEMA_VERSION || *version < 0) {
        return err_set(
            err, ERR_STORE,
            "the database has schema %lld, this program knows schemas up to %d; start the "
            "newer program that wrote it",
            (long long)*version, SCHEMA_VERSION);
    }
    if (tables > 0 && (application_id != APPLICATION_ID || *version == 0)) {
        return err_set(err, ERR_STORE,
                       "the database was not written by Kinetoscope; use another --data-dir");
    }
    return true;
}

bool schema_create(struct db *db, struct err *err)
{
    char set_version[48];
    (void)sqlite3_snprintf((int)sizeof set_version, set_version, "PRAGMA user_version = %d",
                           SCHEMA_VERSION);
    return db_exec(db, schema_sql, err) && db_exec(db, set_version, err);
}
