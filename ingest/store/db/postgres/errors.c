#include "ingest/store/db/postgres/connection.h"

#include <string.h>

#define READ_ONLY "25006" /* a standby, or one that was the primary */

/* The first line, without "ERROR: " and the like. */
static void take_line(char *out, size_t cap, const char *text)
{
    size_t len = strcspn(text, "\n");
    len = len < cap ? len : cap - 1;
    memcpy(out, text, len);
    out[len] = '\0';
}

static bool is_behind(const struct postgres_db *db)
{
    return db->timeline != 0 && db->timeline < atomic_load(&db->db.shared->timeline);
}

bool postgres_is_lost(const struct postgres_db *db)
{
    return db->is_dropped || is_behind(db) || PQstatus(db->conn) != CONNECTION_OK;
}

static bool is_class(const char *state, const char *class)
{
    return strncmp(state, class, strlen(class)) == 0;
}

/* Fails now, and may well work in a moment. */
static bool may_pass(const char *state)
{
    static const char *const states[] = {
        "08",            /* connection exception */
        "40",            /* transaction rollback: serialization, deadlock */
        READ_ONLY, "53", /* insufficient resources */
        "55P03",         /* lock not available in time */
        "57",            /* operator intervention: shutdown, time-out */
        "58",            /* system error outside of PostgreSQL */
    };
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (is_class(state, states[i])) {
            return true;
        }
    }
    return false;
}

bool postgres_failed(struct postgres_db *db, const PGresult *result, struct err *err)
{
    char reason[240];
    const char *state = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *said = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *of_connection = PQerrorMessage(db->conn);
    take_line(reason, sizeof reason,
              said != NULL               ? said
              : is_behind(db)            ? "it was the primary before another server became it"
              : of_connection[0] != '\0' ? of_connection
                                         : "it stands still");
    if (state == NULL || postgres_is_lost(db)) {
        return err_set(err, ERR_UNAVAILABLE, "the database %.120s does not answer: %s; try again",
                       db->db.path, reason);
    }
    if (db->mode != DB_READER && strcmp(state, READ_ONLY) == 0) {
        postgres_drop(db);
    }
    if (strcmp(state, "53100") == 0) {
        return err_set(err, ERR_NO_SPACE, "no space left for the database %.120s: %s", db->db.path,
                       reason);
    }
    if (may_pass(state)) {
        return err_set(err, ERR_UNAVAILABLE,
                       "the database %.120s cannot do that now: %s; try again", db->db.path,
                       reason);
    }
    return err_set(err, ERR_STORE, "database %.120s: %s (%.5s)", db->db.path, reason, state);
}
