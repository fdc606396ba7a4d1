#include "ingest/store/db/migrations.h"

/* As in 0001_initial.sql. */
#define APPLICATION_ID 1263747918

static bool read_pragma(struct db *db, const char *sql, int64_t *value, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    if (db_next(&st)) {
        *value = db_get_int(&st);
    }
    return db_done(&st, err);
}

bool store_is_new(struct db *db, bool *is_new, struct err *err)
{
    int64_t tables = 0;
    bool ok = read_pragma(db, "SELECT count(*) FROM sqlite_schema", &tables, err);
    *is_new = tables == 0;
    return ok;
}

static bool check_owner(struct db *db, struct err *err)
{
    int64_t application_id = 0;
    bool is_new;
    if (!read_pragma(db, "PRAGMA application_id", &application_id, err) ||
        !store_is_new(db, &is_new, err)) {
        return false;
    }
    if (!is_new && application_id != APPLICATION_ID) {
        return err_set(err, ERR_STORE,
                       "the database was not written by Kinetoscope; use another --data-dir");
    }
    return true;
}

static bool apply(struct db *db, const struct store_migration *migration, struct err *err)
{
    char set_version[48];
    (void)sqlite3_snprintf((int)sizeof set_version, set_version, "PRAGMA user_version = %d",
                           migration->version);
    bool ok =
        db_exec(db, "BEGIN IMMEDIATE", err) &&
        db_end(db, db_exec(db, (const char *)migration->sql, err) && db_exec(db, set_version, err),
               err);
    return ok || err_context(err, "migration %s", migration->name);
}

bool store_migrate(struct db *db, const struct log *log, struct err *err)
{
    int64_t version = 0;
    if (!read_pragma(db, "PRAGMA user_version", &version, err) || !check_owner(db, err)) {
        return false;
    }
    int newest = store_migrations[store_migration_count - 1].version;
    if (version > newest || version < 0) {
        return err_set(
            err, ERR_STORE,
            "the database has schema %lld, this program knows schemas up to %d; start the "
            "newer program that wrote it",
            (long long)version, newest);
    }
    for (size_t i = (size_t)version; i < store_migration_count; i++) {
        if (!apply(db, &store_migrations[i], err)) {
            return false;
        }
        log_write(log, LOG_INFO, "database brought to schema %d", store_migrations[i].version);
    }
    return true;
}
