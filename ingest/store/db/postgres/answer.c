/* libpq's own calls wait for ever for a server that stands still: a machine that is paused, a
 * network that swallows. */
#include "ingest/store/db/postgres/connection.h"

#include <poll.h>
#include <sys/socket.h>

/* So long without a byte, and the server is asked whether it lives. */
#define SILENCE_MS 3000
#define LOOK_MS 250

/* Whether it takes connections; one that starts or stops does answer. */
static bool is_alive(const PGconn *conn)
{
    static const char *const names[] = {"host", "port", "connect_timeout", NULL};
    const char *const values[] = {PQhost(conn), PQport(conn), POSTGRES_CONNECT_S, NULL};
    PGPing said = PQpingParams(names, values, 0);
    return said == PQPING_OK || said == PQPING_REJECT;
}

void postgres_drop(struct postgres_db *db)
{
    if (db->conn != NULL && PQsocket(db->conn) >= 0) {
        (void)shutdown(PQsocket(db->conn), SHUT_RDWR);
    }
    db->is_dropped = true;
}

/* False: the connection is lost. */
static bool await(struct postgres_db *db, short events)
{
    struct pollfd socket = {.fd = PQsocket(db->conn), .events = events};
    for (int silent_ms = LOOK_MS; poll(&socket, 1, LOOK_MS) == 0; silent_ms += LOOK_MS) {
        /* One that is no longer the primary may wait for its standby for long. */
        bool is_gone = silent_ms % SILENCE_MS == 0 && !is_alive(db->conn);
        if (is_gone) {
            (void)postgres_note_away(db, silent_ms);
        }
        if (is_gone || postgres_is_lost(db)) {
            postgres_drop(db);
            return false;
        }
    }
    return true;
}

static bool send_all(struct postgres_db *db)
{
    int left;
    while ((left = PQflush(db->conn)) > 0) {
        if (!await(db, POLLIN | POLLOUT) || PQconsumeInput(db->conn) == 0) {
            return false;
        }
    }
    return left == 0;
}

PGresult *postgres_answer(struct postgres_db *db, int sent)
{
    PGresult *last = NULL;
    if (sent == 0 || !send_all(db)) {
        postgres_drop(db);
        return NULL;
    }
    for (;;) {
        while (PQisBusy(db->conn)) {
            if (!await(db, POLLIN) || PQconsumeInput(db->conn) == 0) {
                PQclear(last);
                return NULL;
            }
        }
        PGresult *next = PQgetResult(db->conn);
        if (next == NULL) {
            return last;
        }
        PQclear(last);
        last = next;
    }
}
