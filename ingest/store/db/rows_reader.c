#include "ingest/store/db/rows_reader.h"

void *rows_begin(const struct rows_reader *in,
                 struct db_stmt *st,
                 const char *sql,
                 size_t count,
                 size_t row_bytes)
{
    db_prepare(st, in->db, sql);
    db_put_int(st, in->owner_id);
    if (count == 0) {
        return NULL;
    }
    void *rows = arena_calloc(in->arena, count, row_bytes);
    if (rows == NULL) {
        db_fail_memory(st);
    }
    return rows;
}

bool rows_next(struct db_stmt *st)
{
    if (!db_next(st)) {
        return false;
    }
    (void)db_get_int(st);
    return true;
}

bool rows_count(const struct rows_reader *in, const char *sql, size_t *count, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, in->db, sql);
    db_put_int(&st, in->owner_id);
    *count = db_next(&st) ? (size_t)db_get_int(&st) : 0;
    return db_done(&st, err);
}
