/* SQL over the results of one trace: the tables that store_sql_tables lists, read-only, with
 * limits. Threads and errors as in store.h. */
#ifndef KS_STORE_STORE_SQL_H
#define KS_STORE_STORE_SQL_H

#include "ingest/store/store.h"

#define STORE_SQL_TEXT_MAX_BYTES ((size_t)16 << 10)
/* At most this long a statement runs, and this much an answer holds. */
#define STORE_SQL_MS 3000
#define STORE_SQL_ROWS_MAX 100000
#define STORE_SQL_ANSWER_BYTES ((size_t)32 << 20)

enum store_sql_kind { STORE_SQL_NULL, STORE_SQL_INT, STORE_SQL_REAL, STORE_SQL_TEXT };

struct store_sql_value {
    enum store_sql_kind kind;
    int64_t integer;
    double real;
    const char *text; /* valid UTF-8 without NUL; of a blob its bytes in hex */
};

struct store_sql_answer {
    const char **columns;
    size_t column_count;
    struct store_sql_value *values; /* row after row */
    size_t row_count;
    bool truncated; /* there are more rows than row_max, or than an answer may hold */
};

struct store_sql_table {
    const char *name;
    const char *doc; /* what a row is */
    const char **columns;
    size_t column_count;
};

/* Runs one SELECT and reads at most `row_max` rows into the arena. ERR_BAD_REQUEST, in SQLite's
 * words, for anything else, for a wrong statement, for tables that are not listed, and for one that
 * takes longer than STORE_SQL_MS; ERR_TOO_MANY while two others run. */
bool store_sql_select(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t trace_id,
                      const char *sql,
                      int64_t row_max,
                      struct store_sql_answer *out,
                      struct err *err) KS_MUST_USE;
/* The tables, in the arena. The same for every trace. */
bool store_sql_tables(struct arena *arena,
                      struct store_sql_table **out,
                      size_t *count,
                      struct err *err) KS_MUST_USE;
/* Writes the tables of a trace into a new SQLite file without a name, and opens it at its begin.
 * The caller closes it, and with that it is gone. */
bool store_sql_export(struct store_snapshot *snapshot, int64_t trace_id, int *fd, struct err *err)
    KS_MUST_USE;

#endif
