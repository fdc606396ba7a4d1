#include "ingest/store/db/rows_reader.h"

#include <string.h>

#define FIRST_ROWS 16

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
    case TABLE_SIZE:
        *(size_t *)field = (size_t)db_get_int(st);
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
    case TABLE_WORD: /* a number that the enumeration has not is read as its last one */
        *(uint32_t *)field = (uint32_t)db_get_enum(st, column->last);
        break;
    case TABLE_MAYBE:
        *(uint32_t *)field = (uint32_t)db_get_enum(st, 0);
        break;
    case TABLE_SHARED_4: /* in blocks alone, or in memory */
    case TABLE_NUMBER:
    case TABLE_WIDE:
    case TABLE_JSON:
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
        if (column->is_stored) {
            read_column(st, texts, column, (unsigned char *)row + column->offset);
        }
    }
}

void rows_append(struct db_stmt *st,
                 struct text_cache *texts,
                 const struct row_table *table,
                 void **rows,
                 size_t *count)
{
    while (db_next(st)) {
        bool is_full = *count == 0 || (*count >= FIRST_ROWS && (*count & (*count - 1)) == 0);
        if (is_full) {
            size_t cap = *count == 0 ? FIRST_ROWS : *count * 2;
            void *grown = arena_calloc(texts->arena, cap, table->row_bytes);
            if (grown == NULL) {
                db_fail_memory(st);
                return;
            }
            if (*count > 0) {
                memcpy(grown, *rows, *count * table->row_bytes);
            }
            *rows = grown;
        }
        (void)db_get_int(st); /* the place */
        rows_read_columns(st, texts, table, (unsigned char *)*rows + *count * table->row_bytes);
        (*count)++;
    }
}

bool rows_read_table(const struct rows_reader *in,
                     const struct row_table *table,
                     void **rows,
                     size_t *count,
                     struct err *err)
{
    struct db_stmt st;
    *rows = NULL;
    *count = 0;
    db_prepare(&st, in->db, table->select_sql);
    db_put_int(&st, in->owner_id);
    rows_append(&st, in->texts, table, rows, count);
    return db_done(&st, err);
}
