#include "ingest/store/sql/tables.h"

#include "ingest/model/results/results.h"
#include "ingest/model/tables.h"
#include "ingest/store/db/rows_reader.h"
#include "ingest/store/results/packed/row_blocks.h"

#define SQL_MAX_BYTES ((size_t)64 << 10)
#define TEXTS_TOGETHER 4 /* of a column of TABLE_SHARED_4 */

static const struct source {
    const char *name;
    const char *doc;
    const struct row_table *table;
    int group;
} sources[] = {
    {"steps", "Steps of the profiler.", &table_step, 0},
    {"operators", "Operators of one name.", &table_operator, OPERATOR_BY_NAME},
    {"operators_by_shape", "Operators of one name and input shape.", &table_operator,
     OPERATOR_BY_NAME_SHAPE},
    {"operators_by_stack", "Operators of one name and call stack.", &table_operator,
     OPERATOR_BY_NAME_STACK},
    {"operators_by_shape_and_stack", "Operators of one name, input shape and call stack.",
     &table_operator, OPERATOR_BY_NAME_SHAPE_STACK},
    {"kernels", "Kernels of one name.", &table_kernel, 0},
    {"kernels_by_launch", "Kernels of one name, operator and launch configuration.",
     &table_kernel_launch, 0},
    {"modules", "Modules; parent_index: position of the one above.", &table_module, 0},
    {"measured_kernels", "What a kernel table measured, by kernel.", &table_kernel_utilisation, 0},
    {"measured_launches", "What a kernel table measured, by launch.",
     &table_kernel_utilisation_launch, 0},
    {"transfers", "Copies of memory in a kernel table.", &table_transfer, 0},
    {"devices", "Devices that ran kernels.", &table_device, 0},
    {"environment", "What the trace says of hardware, software and how it was recorded.",
     &table_environment, 0},
    {"recommendations", "What to do.", &table_recommendation, 0},
    {"cycles", "Cycles.", &table_cycle, 0},
    {"counters", "Counters, over the trace.", &table_counter, 0},
};

size_t sql_tables_count(void)
{
    return sizeof sources / sizeof sources[0];
}

struct sql_table sql_tables_at(size_t index)
{
    return (struct sql_table){.name = sources[index].name, .doc = sources[index].doc};
}

/* What is added to rows by who reads them is not there. */
static bool is_there(const struct table_column *column)
{
    return column->is_stored || column->kind == TABLE_RATIO || column->kind == TABLE_DELTA;
}

/* ---- creating ---- */

static void put_columns(struct buf *sql, const struct row_table *table)
{
    buf_puts(sql, "(position");
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        for (int part = 1; column->kind == TABLE_SHARED_4 && part <= TEXTS_TOGETHER; part++) {
            buf_printf(sql, ", \"%s_%d\"", column->name, part);
        }
        if (is_there(column) && column->kind != TABLE_SHARED_4) {
            buf_printf(sql, ", \"%s\"", column->name);
        }
    }
    buf_puts(sql, ")");
}

bool sql_tables_create(struct db *out, const char *schema, struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    for (size_t i = 0; i < sql_tables_count(); i++) {
        buf_printf(&sql, "CREATE TABLE %s.%s ", schema, sources[i].name);
        put_columns(&sql, sources[i].table);
        buf_puts(&sql, ";");
    }
    bool ok = (!sql.failed || err_set(err, ERR_NO_MEMORY, "no memory for the tables of a trace")) &&
              db_exec(out, sql.ptr, err);
    buf_free(&sql);
    return ok;
}

/* ---- filling ---- */

/* A row that is being inserted. What binding fails on, the step after it tells. */
struct insert {
    sqlite3_stmt *raw;
    int param;
};

static void put_int(struct insert *insert, int64_t value)
{
    (void)sqlite3_bind_int64(insert->raw, ++insert->param, value);
}

static void put_null(struct insert *insert)
{
    (void)sqlite3_bind_null(insert->raw, ++insert->param);
}

/* The row outlives the step. */
static void put_text(struct insert *insert, const char *text)
{
    (void)sqlite3_bind_text(insert->raw, ++insert->param, text, -1, SQLITE_STATIC);
}

static void put_value(struct insert *insert, const struct table_column *column, const void *row)
{
    switch (column->kind) {
    case TABLE_INT_OR_NULL:
        if (table_int(column, row) == INT64_MIN) {
            put_null(insert);
            break;
        }
        put_int(insert, table_int(column, row));
        break;
    case TABLE_REAL: /* NaN is NULL */
    case TABLE_REAL_OR_NULL:
    case TABLE_NUMBER:
    case TABLE_RATIO:
        (void)sqlite3_bind_double(insert->raw, ++insert->param, table_real_answer(column, row));
        break;
    case TABLE_TEXT:
    case TABLE_SHARED:
    case TABLE_WORD:
        put_text(insert, table_text(column, row));
        break;
    case TABLE_SHARED_4:
        for (int part = 0; part < TEXTS_TOGETHER; part++) {
            put_text(insert, table_texts(column, row)[part]);
        }
        break;
    case TABLE_MAYBE:
        if (table_int(column, row) == TABLE_MAYBE_UNKNOWN) {
            put_null(insert);
            break;
        }
        put_int(insert, table_int(column, row) == TABLE_MAYBE_YES);
        break;
    case TABLE_INT:
    case TABLE_SIZE:
    case TABLE_FLAG:
    case TABLE_BITS:
    case TABLE_ADDRESS:
    case TABLE_DELTA:
        put_int(insert, table_int(column, row));
        break;
    case TABLE_WIDE: /* not in stored tables */
    case TABLE_JSON:
        put_null(insert);
        break;
    }
}

static void
put_row(struct insert *insert, const struct row_table *table, size_t position, const void *row)
{
    insert->param = 0;
    put_int(insert, (int64_t)position);
    for (size_t i = 0; i < table->column_count; i++) {
        if (is_there(&table->columns[i])) {
            put_value(insert, &table->columns[i], row);
        }
    }
}

static bool fail(struct db *out, int rc, struct err *err)
{
    return (rc & 0xFF) == SQLITE_FULL
               ? err_set(err, ERR_TOO_LARGE,
                         "The tables of this trace are too large for a statement: take its file "
                         "(results.db) and ask that")
               : err_set(err, ERR_STORE, "copying a table: %s", sqlite3_errmsg(db_handle(out)));
}

static bool prepare_insert(struct db *out,
                           const char *schema,
                           const struct source *source,
                           struct insert *insert,
                           struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    buf_printf(&sql, "INSERT INTO %s.%s VALUES (?", schema, source->name);
    for (size_t i = 0; i < source->table->column_count; i++) {
        const struct table_column *column = &source->table->columns[i];
        if (is_there(column)) {
            buf_puts(&sql, column->kind == TABLE_SHARED_4 ? ", ?, ?, ?, ?" : ", ?");
        }
    }
    buf_puts(&sql, ")");
    int rc = sql.failed ? SQLITE_NOMEM
                        : sqlite3_prepare_v2(db_handle(out), sql.ptr, -1, &insert->raw, NULL);
    buf_free(&sql);
    return rc == SQLITE_OK || fail(out, rc, err);
}

static bool insert_row(struct insert *insert,
                       struct db *out,
                       const struct row_table *table,
                       size_t position,
                       const void *row,
                       struct err *err)
{
    put_row(insert, table, position, row);
    int rc = sqlite3_step(insert->raw);
    (void)sqlite3_reset(insert->raw);
    return rc == SQLITE_DONE || fail(out, rc, err);
}

/* A packed table, block by block. */
static bool copy_blocks(struct insert *insert,
                        struct db *out,
                        const struct source *source,
                        const struct rows_reader *in,
                        struct err *err)
{
    struct row_blocks rows;
    bool ok = row_blocks_open(&rows, in->db, in->arena, source->table, source->group, err);
    for (size_t i = 0; ok && i < rows.row_count; i++) {
        const void *row = row_blocks_row(&rows, i, err);
        ok = row != NULL && insert_row(insert, out, source->table, i, row, err);
    }
    row_blocks_close(&rows);
    return ok;
}

static bool copy_rows(struct insert *insert,
                      struct db *out,
                      const struct source *source,
                      const struct rows_reader *in,
                      struct err *err)
{
    void *rows = NULL;
    size_t count = 0;
    bool ok = rows_read_table(in, source->table, &rows, &count, err);
    for (size_t i = 0; ok && i < count; i++) {
        const void *row = (const unsigned char *)rows + i * source->table->row_bytes;
        ok = insert_row(insert, out, source->table, i, row, err);
    }
    return ok;
}

bool sql_tables_fill(
    struct db *out, const char *schema, size_t index, struct db *file, struct err *err)
{
    const struct source *source = &sources[index];
    struct insert insert = {.raw = NULL};
    struct arena arena;
    struct text_cache texts;
    struct rows_reader in = {
        .db = file, .arena = &arena, .texts = &texts, .owner_id = RESULTS_LOG_ID};
    if (!prepare_insert(out, schema, source, &insert, err)) {
        return false;
    }
    arena_init(&arena, 0);
    text_cache_init(&texts, file, &arena, RESULTS_LOG_ID);
    bool ok = source->table->select_sql != NULL ? copy_rows(&insert, out, source, &in, err)
                                                : copy_blocks(&insert, out, source, &in, err);
    text_cache_free(&texts);
    arena_free(&arena);
    (void)sqlite3_finalize(insert.raw);
    return ok;
}
