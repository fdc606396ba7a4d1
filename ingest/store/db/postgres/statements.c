/* Prepared statements. One is prepared when it is first run, as its parameters say their types. */
#include "ingest/base/monotonic.h"
#include "ingest/base/text/utf8.h"
#include "ingest/store/db/match.h"
#include "ingest/store/db/postgres/connection.h"
#include "ingest/store/db/postgres/recall.h"
#include "ingest/store/db/postgres/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 32
#define NAME_BYTES 24

/* Fixed in pg_type.dat. */
enum { TYPE_BYTEA = 17, TYPE_INT8 = 20, TYPE_TEXT = 25, TYPE_FLOAT8 = 701 };

struct param {
    char number[NUMBER_BYTES];
    char *copy; /* a text that is not the caller's; NULL: none */
};

struct statement {
    struct postgres_db *db;
    char *sql;
    char name[NAME_BYTES];
    uint64_t generation; /* of the connection that has prepared it; 0: none */
    size_t count;        /* of parameters */
    struct param *params;
    Oid *types;
    const char **values;
    int *lengths;
    int *formats;
    PGresult *result; /* NULL: not run */
    int row;
};

/* ---- life ---- */

static void free_statement(struct statement *made)
{
    if (made != NULL) {
        free(made->sql);
        free(made->params);
        free(made->types);
        free((void *)made->values);
        free(made->lengths);
        free(made->formats);
        free(made);
    }
}

static bool make_params(struct statement *made)
{
    size_t room = made->count + 1;
    made->params = calloc(room, sizeof *made->params);
    made->types = calloc(room, sizeof *made->types);
    made->values = calloc(room, sizeof *made->values);
    made->lengths = calloc(room, sizeof *made->lengths);
    made->formats = calloc(room, sizeof *made->formats);
    return made->params != NULL && made->types != NULL && made->values != NULL &&
           made->lengths != NULL && made->formats != NULL;
}

static bool prepare(struct db *db, const char *sql, struct db_raw **raw, struct err *err)
{
    struct statement *made = calloc(1, sizeof *made);
    char *text = malloc(postgres_parameters_room(sql));
    if (made == NULL || text == NULL) {
        free(made);
        free(text);
        return err_set(err, ERR_NO_MEMORY, "no memory for a statement");
    }
    made->sql = text;
    made->db = postgres_of(db);
    made->count = postgres_parameters(text, sql);
    if (!make_params(made)) {
        free_statement(made);
        return err_set(err, ERR_NO_MEMORY, "no memory for a statement");
    }
    *raw = (struct db_raw *)made;
    return true;
}

static void clear(struct statement *made)
{
    for (size_t i = 0; i < made->count; i++) {
        free(made->params[i].copy);
        made->params[i].copy = NULL;
        made->values[i] = NULL;
    }
    PQclear(made->result);
    made->result = NULL;
}

static void finalize(struct db_raw *raw)
{
    struct statement *made = (struct statement *)raw;
    struct postgres_db *db = made->db;
    clear(made);
    /* In a transaction that failed it stays until the connection ends. */
    if (!db->is_closing && made->generation == db->generation && !postgres_is_lost(db) &&
        PQtransactionStatus(db->conn) != PQTRANS_INERROR) {
        char sql[NAME_BYTES + 16];
        (void)snprintf(sql, sizeof sql, "DEALLOCATE %s", made->name);
        PQclear(postgres_answer(db, PQsendQuery(db->conn, sql)));
    }
    free_statement(made);
}

static bool is_busy(struct db_raw *raw)
{
    return ((struct statement *)raw)->result != NULL;
}

static void reset(struct db_stmt *st)
{
    clear(st->raw);
}

/* ---- parameters ---- */

/* NULL, and the statement has failed: there is no such parameter. */
static struct statement *at(struct db_stmt *st, int param, Oid type)
{
    struct statement *made = st->raw;
    if (param < 1 || (size_t)param > made->count) {
        struct err failure = ERR_INIT;
        (void)err_set(&failure, ERR_INTERNAL, "a statement has no parameter %d", param);
        db_stmt_fail(st, &failure);
        return NULL;
    }
    if (made->types[param - 1] != type) {
        made->types[param - 1] = type;
        made->generation = 0;
    }
    made->formats[param - 1] = type == TYPE_BYTEA;
    return made;
}

static void put_int(struct db_stmt *st, int param, int64_t value)
{
    struct statement *made = at(st, param, TYPE_INT8);
    if (made != NULL) {
        char *number = made->params[param - 1].number;
        (void)snprintf(number, NUMBER_BYTES, "%lld", (long long)value);
        made->values[param - 1] = number;
    }
}

static void put_optional(struct db_stmt *st, int param, int64_t value)
{
    struct statement *made = at(st, param, TYPE_INT8);
    if (made != NULL && value == INT64_MIN) {
        made->values[param - 1] = NULL;
    } else if (made != NULL) {
        put_int(st, param, value);
    }
}

static void put_real(struct db_stmt *st, int param, double value)
{
    struct statement *made = at(st, param, TYPE_FLOAT8);
    if (made != NULL) {
        char *number = made->params[param - 1].number;
        (void)snprintf(number, NUMBER_BYTES, "%.17g", value);
        made->values[param - 1] = isnan(value) ? NULL : number;
    }
}

/* The server takes UTF-8 only; what is none becomes U+FFFD. NULL without memory. */
static char *as_utf8(const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t len = strlen(text);
    char *copy = malloc((sizeof replacement - 1) * len + 1);
    size_t to = 0;
    for (size_t from = 0; copy != NULL && from < len;) {
        uint32_t code_point;
        size_t bytes = utf8_decode(text + from, len - from, &code_point);
        bool is_valid = code_point != UTF8_INVALID;
        size_t put = is_valid ? bytes : sizeof replacement - 1;
        memcpy(copy + to, is_valid ? text + from : replacement, put);
        from += bytes;
        to += put;
    }
    if (copy != NULL) {
        copy[to] = '\0';
    }
    return copy;
}

/* Takes `copy`. */
static void put_copy(struct db_stmt *st, struct statement *made, int param, char *copy)
{
    if (copy == NULL) {
        db_fail_memory(st);
    }
    free(made->params[param - 1].copy);
    made->params[param - 1].copy = copy;
    made->values[param - 1] = copy;
}

static void put_text(struct db_stmt *st, int param, const char *text)
{
    struct statement *made = at(st, param, TYPE_TEXT);
    if (made == NULL) {
        return;
    }
    if (text == NULL || utf8_is_valid(text, strlen(text))) {
        made->values[param - 1] = text;
    } else {
        put_copy(st, made, param, as_utf8(text));
    }
}

static void put_blob(struct db_stmt *st, int param, const void *bytes, size_t len)
{
    struct statement *made = at(st, param, TYPE_BYTEA);
    if (made == NULL) {
        return;
    }
    if (len > INT32_MAX) {
        struct err failure = ERR_INIT;
        (void)err_set(&failure, ERR_TOO_LARGE, "%zu bytes are too many for the database", len);
        db_stmt_fail(st, &failure);
        return;
    }
    made->values[param - 1] = bytes;
    made->lengths[param - 1] = (int)len;
}

/* "***=" is a literal text, "(?e)" an extended regular expression; the operator ignores case. */
static void put_matcher(struct db_stmt *st, int param, struct matcher *matcher)
{
    struct statement *made = at(st, param, TYPE_TEXT);
    if (made == NULL) {
        return;
    }
    made->values[param - 1] = NULL;
    if (matcher == NULL) {
        return;
    }
    const char *text = matcher->needle;
    size_t len = strlen(text);
    char *pattern = malloc(len + 8);
    if (pattern != NULL && matcher->is_regex) {
        (void)snprintf(pattern, len + 8, "(?e)%.*s", (int)(len - 2), text + 1);
    } else if (pattern != NULL) {
        (void)snprintf(pattern, len + 8, "***=%s", text);
    }
    char *valid =
        pattern == NULL || utf8_is_valid(pattern, strlen(pattern)) ? pattern : as_utf8(pattern);
    if (valid != pattern) {
        free(pattern);
    }
    put_copy(st, made, param, valid);
}

/* ---- rows ---- */

static bool prepare_there(struct statement *made, struct err *err)
{
    struct postgres_db *db = made->db;
    if (made->generation == db->generation) {
        return true;
    }
    (void)snprintf(made->name, sizeof made->name, "s%llu", (unsigned long long)++db->next_name);
    PGresult *result = postgres_answer(
        db, PQsendPrepare(db->conn, made->name, made->sql, (int)made->count, made->types));
    bool ok = PQresultStatus(result) == PGRES_COMMAND_OK || postgres_failed(db, result, err);
    PQclear(result);
    made->generation = ok ? db->generation : 0;
    return ok;
}

/* ---- rows of lately ---- */

static size_t length_of(const struct statement *made, size_t param)
{
    return made->formats[param] != 0 ? (size_t)made->lengths[param] : strlen(made->values[param]);
}

/* A hash of text and parameters; false without memory. */
static bool make_key(const struct statement *made, char key[SHA256_HEX_BYTES])
{
    struct sha256 *hash = sha256_create();
    if (hash == NULL) {
        return false;
    }
    sha256_update(hash, made->sql, strlen(made->sql) + 1);
    for (size_t i = 0; i < made->count; i++) {
        size_t len = made->values[i] == NULL ? SIZE_MAX : length_of(made, i);
        sha256_update(hash, &len, sizeof len);
        sha256_update(hash, made->values[i], made->values[i] == NULL ? 0 : len);
    }
    sha256_final_hex(hash, key);
    sha256_destroy(hash);
    return key[0] != '\0';
}

static void keep(const struct statement *made)
{
    char key[SHA256_HEX_BYTES];
    if (make_key(made, key)) {
        recall_keep(made->db->db.shared->recall, key, made->result, monotonic_ms());
    }
}

static bool recall(struct statement *made, struct err *err)
{
    struct postgres_db *db = made->db;
    char key[SHA256_HEX_BYTES];
    int64_t now_ms = monotonic_ms();
    int64_t kept_at_ms;
    made->result =
        make_key(made, key) ? recall_find(db->db.shared->recall, key, now_ms, &kept_at_ms) : NULL;
    if (made->result == NULL) {
        return err_set(
            err, ERR_UNAVAILABLE,
            "the database %.120s does not answer, and this was not read lately; try again",
            db->db.path);
    }
    int64_t age_ms = now_ms - kept_at_ms;
    db->db.recalled_ms = age_ms > db->db.recalled_ms ? age_ms : db->db.recalled_ms;
    made->row = -1;
    return true;
}

static bool run_there(struct statement *made, struct err *err)
{
    struct postgres_db *db = made->db;
    if (db->recalls) {
        return recall(made, err);
    }
    if (!postgres_ensure(db, err) || !prepare_there(made, err)) {
        return false;
    }
    PGresult *result =
        postgres_answer(db, PQsendQueryPrepared(db->conn, made->name, (int)made->count,
                                                made->values, made->lengths, made->formats, 0));
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        (void)postgres_failed(db, result, err);
        PQclear(result);
        return false;
    }
    db->changes = strtoll(PQcmdTuples(result), NULL, 10);
    made->result = result;
    made->row = -1;
    if (db->is_begun && db->is_recent) {
        keep(made);
    }
    return true;
}

/* A statement on its own finds the server again, a transaction does not. */
static bool run_statement(struct statement *made, struct err *err)
{
    struct err first = ERR_INIT;
    bool ok = run_there(made, &first);
    if (!ok && !made->db->is_begun && postgres_is_lost(made->db)) {
        ok = run_there(made, &first);
    }
    if (!ok) {
        *err = first;
    }
    return ok;
}

static bool next(struct db_stmt *st)
{
    struct statement *made = st->raw;
    struct err failure = ERR_INIT;
    if (made->result == NULL && !run_statement(made, &failure)) {
        db_stmt_fail(st, &failure);
        return false;
    }
    return ++made->row < PQntuples(made->result);
}

static bool is_null(struct db_stmt *st, int column)
{
    struct statement *made = st->raw;
    return PQgetisnull(made->result, made->row, column) != 0;
}

/* Numbers in text; truth as "t" and "f". */
static int64_t get_int(struct db_stmt *st, int column)
{
    struct statement *made = st->raw;
    const char *text = PQgetvalue(made->result, made->row, column);
    return *text == 't' ? 1 : strtoll(text, NULL, 10);
}

static double get_real(struct db_stmt *st, int column)
{
    struct statement *made = st->raw;
    return strtod(PQgetvalue(made->result, made->row, column), NULL);
}

static const char *get_text(struct db_stmt *st, int column, size_t *len)
{
    struct statement *made = st->raw;
    *len = (size_t)PQgetlength(made->result, made->row, column);
    return is_null(st, column) ? NULL : PQgetvalue(made->result, made->row, column);
}

static unsigned hex_value(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* "\x0a…", made bytes where it stands: a column is read once. */
static const void *get_blob(struct db_stmt *st, int column, size_t *len)
{
    struct statement *made = st->raw;
    char *text = PQgetvalue(made->result, made->row, column);
    size_t digits = (size_t)PQgetlength(made->result, made->row, column);
    *len = digits < 2 ? 0 : digits / 2 - 1;
    for (size_t i = 0; i < *len; i++) {
        text[i] = (char)(hex_value(text[2 + 2 * i]) << 4 | hex_value(text[3 + 2 * i]));
    }
    return is_null(st, column) ? NULL : text;
}

/* ---- the engine ---- */

static bool in_transaction(const struct db *db)
{
    return ((const struct postgres_db *)db)->is_begun;
}

static int64_t changes(const struct db *db)
{
    return ((const struct postgres_db *)db)->changes;
}

static bool used_bytes(struct db *db, uint64_t *bytes, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c"
               " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
               " WHERE n.nspname = current_schema() AND c.relkind = 'r'");
    *bytes = db_next(&st) ? (uint64_t)db_get_int(&st) : 0;
    return db_done(&st, err);
}

const struct db_engine postgres_engine = {.is_server = true,
                                          .close = postgres_close,
                                          .exec = postgres_exec,
                                          .exec_schema = postgres_exec_schema,
                                          .set_durable = postgres_set_durable,
                                          .begin = postgres_begin,
                                          .begin_recent = postgres_begin_recent,
                                          .commit = postgres_commit,
                                          .rollback = postgres_rollback,
                                          .in_transaction = in_transaction,
                                          .changes = changes,
                                          .used_bytes = used_bytes,
                                          .prepare = prepare,
                                          .finalize = finalize,
                                          .is_busy = is_busy,
                                          .reset = reset,
                                          .put_int = put_int,
                                          .put_optional = put_optional,
                                          .put_real = put_real,
                                          .put_text = put_text,
                                          .put_blob = put_blob,
                                          .put_matcher = put_matcher,
                                          .next = next,
                                          .is_null = is_null,
                                          .get_int = get_int,
                                          .get_real = get_real,
                                          .get_text = get_text,
                                          .get_blob = get_blob};
