#include "ingest/store/db/rows_reader.h"

#include <string.h>

#define FIRST_ROWS 16

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

bool rows_read_table(const struct rows_reader *in,
                     const struct row_table *table,
                     void **rows,
                     size_t *count,
                     struct err *err)
{
    struct db_stmt st;
    size_t cap = 0;
    *rows = NULL;
    *count = 0;
    db_prepare(&st, in->db, table->select_sql);
    db_put_int(&st, in->owner_id);
    while (rows_next(&st)) {
        if (*count == cap) {
            cap = cap == 0 ? FIRST_ROWS : cap * 2;
            void *grown = arena_calloc(in->arena, cap, table->row_bytes);
            if (grown == NULL) {
                db_fail_memory(&st);
                break;
            }
            if (*count > 0) {
                memcpy(grown, *rows, *count * table->row_bytes);
            }
            *rows = grown;
        }
        rows_read_columns(&st, in->texts, table,
                          (unsigned char *)*rows + *count * table->row_bytes);
        (*count)++;
    }
    return db_done(&st, err);
}

static void read_column(struct db_stmt *st,
                        struct text_cache *texts,
                        const struct table_column *column,
                        void *field)
{
    switch (column->kind) {
    case TABLE_INT:
    case TABLE_ADDRESS:
        *(int64_t *)field = db_get_int(st);
        break;
    case TABLE_INT_OR_NULL:
        *(int64_t *)field = db_get_optional(st);
        break;
    case TABLE_FLAG:
        *(bool *)field = db_get_bool(st);
        break;
    case TABLE_BITS:
        *(uint32_t *)field = (uint32_t)db_get_int(st);
        break;
    case TABLE_REAL:
    case TABLE_REAL_OR_NULL:
        *(double *)field = db_get_real(st);
        break;
    case TABLE_TEXT:
        *(const char **)field = db_get_text(st, texts->arena);
        break;
    case TABLE_SHARED:
        *(const char **)field = text_cache_get(texts, st);
        break;
    case TABLE_SHARED_4:
        for (size_t i = 0; i < 4; i++) {
            ((const char **)field)[i] = text_cache_get(texts, st);
        }
        break;
    case TABLE_WORD: /* a number that the enumeration has not is read as its last one */
        *(uint32_t *)field = (uint32_t)db_get_enum(st, column->last);
        break;
    case TABLE_MAYBE:
        *(uint32_t *)field = (uint32_t)db_get_enum(st, 0);
        break;
    case TABLE_RATIO: /* never stored */
    case TABLE_DELTA:
        break;
    }
}

void rows_read_columns(struct db_stmt *st,
                       struct text_cache *texts,
                       const struct row_table *table,
                       void *row)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        if (column->stored != NULL) {
            read_column(st, texts, column, (unsigned char *)row + column->offset);
        }
    }
}
