#include "ingest/formats/nsight/nsys_sqlite.h"

#include "ingest/base/text/buf.h"
#include "ingest/formats/nsight/kernel_rows.h"
#include "ingest/formats/nsight/nsys_database.h"
#include "ingest/formats/nsight/nsys_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "SQLite format 3"
#define KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"
#define SQL_BYTES_MAX 4096

bool nsys_sqlite_recognises(const char *window, size_t len)
{
    return len >= sizeof MAGIC && memcmp(window, MAGIC, sizeof MAGIC) == 0;
}

struct reader {
    struct nsys_database db;
    struct kernel_rows rows;
    int64_t *name_ids; /* by launch: id in StringIds, or NSYS_NAME_KNOWN */
    uint32_t capacity;
    uint64_t row_count; /* read so far, of all tables */
};

/* ---- columns ---- */

enum column {
    START,
    END,
    DEVICE,
    STREAM,
    GRID_X,
    BLOCK_X = GRID_X + 3,
    BYTES = BLOCK_X + 3,
    COPY_KIND,
    NAME, /* the first of several that there is */
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    "start",  "end",    "deviceId", "streamId", "gridX",    "gridY", "gridZ",
    "blockX", "blockY", "blockZ",   "bytes",    "copyKind", NULL,
};

/* From the one that says most. */
static const char *const name_columns[] = {"demangledName", "shortName", "mangledName", "name"};

struct layout {
    bool has[COLUMN_COUNT];
    size_t name; /* index into name_columns */
};

static void note_column(struct layout *layout, const char *name)
{
    for (size_t i = 0; i < NAME; i++) {
        if (strcmp(name, column_names[i]) == 0) {
            layout->has[i] = true;
        }
    }
    for (size_t i = 0; i < sizeof name_columns / sizeof name_columns[0]; i++) {
        if (strcmp(name, name_columns[i]) == 0 && (!layout->has[NAME] || i < layout->name)) {
            layout->has[NAME] = true;
            layout->name = i;
        }
    }
}

static bool
find_columns(const struct reader *reader, const char *table, struct layout *layout, struct err *err)
{
    char sql[SQL_BYTES_MAX];
    sqlite3_stmt *statement;
    bool more = true;
    *layout = (struct layout){.name = 0};
    (void)snprintf(sql, sizeof sql, "PRAGMA table_info(%s)", table);
    bool ok = nsys_database_prepare(&reader->db, sql, &statement, err);
    while (ok && more) {
        ok = nsys_database_step(&reader->db, statement, &more, err);
        if (ok && more) {
            const unsigned char *name = sqlite3_column_text(statement, 1);
            note_column(layout, name == NULL ? "" : (const char *)name);
        }
    }
    (void)sqlite3_finalize(statement);
    return ok;
}

/* Reads all columns, NULL where the table has none. */
static void select_columns(const struct layout *layout, const char *table, struct buf *sql)
{
    buf_init(sql, SQL_BYTES_MAX);
    buf_puts(sql, "SELECT ");
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const char *name = i == NAME ? name_columns[layout->name] : column_names[i];
        buf_puts(sql, i == 0 ? "" : ", ");
        if (layout->has[i]) {
            buf_printf(sql, "\"%s\"", name);
        } else {
            buf_puts(sql, "NULL");
        }
    }
    buf_printf(sql, " FROM \"%s\"", table);
}

/* ---- rows ---- */

static int64_t integer_of(sqlite3_stmt *row, enum column column)
{
    bool is_integer = sqlite3_column_type(row, (int)column) == SQLITE_INTEGER;
    return is_integer ? sqlite3_column_int64(row, (int)column) : INT64_MIN;
}

static bool
dim_of(struct reader *reader, sqlite3_stmt *row, enum column first, uint32_t *id, struct err *err)
{
    char text[KERNEL_DIM_BYTES];
    const int64_t dim[3] = {integer_of(row, first), integer_of(row, first + 1),
                            integer_of(row, first + 2)};
    if (dim[0] == INT64_MIN || dim[1] == INT64_MIN || dim[2] == INT64_MIN) {
        return true;
    }
    kernel_rows_dim(text, dim);
    return kernel_rows_text(&reader->rows, text, strlen(text), id, err);
}

/* Names as `nsys stats` prints them; the numbers are those of CUPTI. */
static const char *copy_name(int64_t kind)
{
    static const char *const names[] = {
        "[CUDA memcpy]",
        "[CUDA memcpy Host-to-Device]",
        "[CUDA memcpy Device-to-Host]",
        "[CUDA memcpy Host-to-Array]",
        "[CUDA memcpy Array-to-Host]",
        "[CUDA memcpy Array-to-Array]",
        "[CUDA memcpy Array-to-Device]",
        "[CUDA memcpy Device-to-Array]",
        "[CUDA memcpy Device-to-Device]",
        "[CUDA memcpy Host-to-Host]",
        "[CUDA memcpy Peer-to-Peer]",
    };
    int64_t count = (int64_t)(sizeof names / sizeof names[0]);
    return names[kind >= 0 && kind < count ? kind : 0];
}

/* A name that stands in the table itself, as some exports have it, or is to be looked up. */
static bool name_of(struct reader *reader,
                    sqlite3_stmt *row,
                    struct kernel_table_launch *launch,
                    int64_t *name_id,
                    struct err *err)
{
    const char *name = launch->kind == KERNEL_TABLE_MEMSET ? "[CUDA memset]"
                                                           : copy_name(integer_of(row, COPY_KIND));
    size_t len = strlen(name);
    *name_id = NSYS_NAME_KNOWN;
    if (launch->kind == KERNEL_TABLE_KERNEL) {
        *name_id = integer_of(row, NAME);
        if (sqlite3_column_type(row, NAME) != SQLITE_TEXT) {
            return true;
        }
        name = (const char *)sqlite3_column_text(row, NAME);
        len = (size_t)sqlite3_column_bytes(row, NAME);
        if (name == NULL) {
            return nsys_database_error(&reader->db, err);
        }
    }
    return kernel_rows_text(&reader->rows, name, len, &launch->name, err);
}

static bool add_launch(struct reader *reader,
                       const struct kernel_table_launch *launch,
                       int64_t name_id,
                       struct err *err)
{
    uint32_t at = reader->rows.table->launch_count;
    if (!kernel_rows_add(&reader->rows, launch, err)) {
        return false;
    }
    if (reader->capacity < reader->rows.table->launch_capacity) {
        uint32_t capacity = reader->rows.table->launch_capacity;
        int64_t *grown = realloc(reader->name_ids, capacity * sizeof *grown);
        if (grown == NULL) {
            return err_set(err, ERR_NO_MEMORY, "no memory for a kernel table");
        }
        reader->name_ids = grown;
        reader->capacity = capacity;
    }
    reader->name_ids[at] = name_id;
    return true;
}

static bool read_row(struct reader *reader,
                     sqlite3_stmt *row,
                     const char *table,
                     enum kernel_table_kind kind,
                     uint64_t number,
                     struct err *err)
{
    struct kernel_table_launch launch = kernel_rows_blank();
    int64_t end_ns = integer_of(row, END);
    int64_t name_id;
    launch.kind = kind;
    launch.name = STRTAB_NONE;
    launch.start_ns = integer_of(row, START);
    launch.device = integer_of(row, DEVICE);
    launch.stream = integer_of(row, STREAM);
    launch.size_bytes = integer_of(row, BYTES);
    if (launch.start_ns < 0 || end_ns < launch.start_ns) {
        return kernel_rows_bad_record(&reader->rows, err,
                                      "row %" PRIu64 " of %s: start and end are no span of time",
                                      number, table);
    }
    launch.dur_ns = end_ns - launch.start_ns;
    if (!name_of(reader, row, &launch, &name_id, err)) {
        return false;
    }
    if (launch.name == STRTAB_NONE && name_id == NSYS_NAME_KNOWN) {
        return kernel_rows_bad_record(&reader->rows, err, "row %" PRIu64 " of %s: it has no name",
                                      number, table);
    }
    return dim_of(reader, row, GRID_X, &launch.grid, err) &&
           dim_of(reader, row, BLOCK_X, &launch.block, err) &&
           add_launch(reader, &launch, name_id, err);
}

static bool too_many_rows(const struct reader *reader)
{
    return reader->row_count > reader->db.size_bytes / NSYS_ROW_BYTES_MIN;
}

static bool read_statement(struct reader *reader,
                           sqlite3_stmt *statement,
                           const char *table,
                           enum kernel_table_kind kind,
                           struct err *err)
{
    for (uint64_t number = 1;; number++) {
        bool more;
        if (!nsys_database_step(&reader->db, statement, &more, err)) {
            return false;
        }
        if (!more) {
            return true;
        }
        reader->row_count++;
        if (too_many_rows(reader)) {
            return err_set(err, ERR_BAD_INPUT,
                           "the database is damaged: %s has more rows than the file has room for",
                           table);
        }
        if (!read_row(reader, statement, table, kind, number, err)) {
            return false;
        }
    }
}

static bool
read_table(struct reader *reader, const char *table, enum kernel_table_kind kind, struct err *err)
{
    bool has_table;
    struct layout layout;
    if (!nsys_database_has_table(&reader->db, table, &has_table, err)) {
        return false;
    }
    if (!has_table) {
        return true;
    }
    if (!find_columns(reader, table, &layout, err)) {
        return false;
    }
    bool has_name = layout.has[NAME] || kind != KERNEL_TABLE_KERNEL;
    if (!layout.has[START] || !layout.has[END] || !has_name) {
        return err_set(err, ERR_BAD_INPUT, "the table %s has no column start, end or %s", table,
                       name_columns[0]);
    }
    struct buf sql;
    sqlite3_stmt *statement = NULL;
    select_columns(&layout, table, &sql);
    bool ok = !sql.failed || err_set(err, ERR_NO_MEMORY, "no memory for a statement");
    ok = ok && nsys_database_prepare(&reader->db, sql.ptr, &statement, err) &&
         read_statement(reader, statement, table, kind, err);
    (void)sqlite3_finalize(statement);
    buf_free(&sql);
    return ok;
}

/* ---- order ---- */

struct position {
    int64_t start_ns;
    uint32_t launch;
};

static int by_start(const void *a, const void *b)
{
    const struct position *left = a;
    const struct position *right = b;
    if (left->start_ns != right->start_ns) {
        return left->start_ns < right->start_ns ? -1 : 1;
    }
    return left->launch < right->launch ? -1 : 1;
}

/* Exports hold launches in the order in which buffers were written out. */
static bool sort_launches(struct kernel_table *table)
{
    struct position *order = malloc(((size_t)table->launch_count + 1) * sizeof *order);
    struct kernel_table_launch *sorted =
        malloc(((size_t)table->launch_capacity + 1) * sizeof *sorted);
    if (order == NULL || sorted == NULL) {
        free(order);
        free(sorted);
        return false;
    }
    for (uint32_t i = 0; i < table->launch_count; i++) {
        order[i] = (struct position){table->launches[i].start_ns, i};
    }
    qsort(order, table->launch_count, sizeof *order, by_start);
    for (uint32_t i = 0; i < table->launch_count; i++) {
        sorted[i] = table->launches[order[i].launch];
    }
    free(order);
    free(table->launches);
    table->launches = sorted;
    return true;
}

/* ---- the whole ---- */

/* Why there is nothing to read: a database of something else, or a recording without CUDA. */
static bool check_tables(const struct reader *reader, struct err *err)
{
    bool has_kernels;
    bool has_strings;
    if (!nsys_database_has_table(&reader->db, KERNELS, &has_kernels, err) ||
        !nsys_database_has_table(&reader->db, "StringIds", &has_strings, err)) {
        return false;
    }
    if (!has_kernels && !has_strings) {
        return err_set(err, ERR_UNSUPPORTED,
                       "this is an SQLite database, but no export of Nsight Systems: it has no "
                       "table " KERNELS);
    }
    return true;
}

static bool read_database(struct reader *reader, struct err *err)
{
    return check_tables(reader, err) && read_table(reader, KERNELS, KERNEL_TABLE_KERNEL, err) &&
           read_table(reader, "CUPTI_ACTIVITY_KIND_MEMCPY", KERNEL_TABLE_MEMCPY, err) &&
           read_table(reader, "CUPTI_ACTIVITY_KIND_MEMSET", KERNEL_TABLE_MEMSET, err) &&
           nsys_names_resolve(&reader->db, &reader->rows, reader->name_ids, err) &&
           (sort_launches(reader->rows.table) ||
            err_set(err, ERR_NO_MEMORY, "no memory for a kernel table"));
}

static bool has_kernel(const struct kernel_table *table)
{
    for (uint32_t i = 0; i < table->launch_count; i++) {
        if (table->launches[i].kind == KERNEL_TABLE_KERNEL) {
            return true;
        }
    }
    return false;
}

static bool finish(struct reader *reader, struct format_bundle *bundle, struct err *err)
{
    static const char nothing[] =
        "the export of Nsight Systems holds no kernel: record with nsys profile --trace=cuda "
        "--cuda-graph-trace=node, then nsys export --type sqlite";
    bool is_empty = reader->rows.table->bad_row_count == 0 && !has_kernel(reader->rows.table);
    return is_empty ? err_set(err, ERR_BAD_INPUT, "%s", nothing)
                    : kernel_rows_finish(&reader->rows, nothing, bundle, err);
}

bool nsys_sqlite_read(struct text_stream *stream,
                      const struct format_options *options,
                      struct format_bundle *bundle,
                      struct err *err)
{
    struct reader reader = {.name_ids = NULL};
    if (!kernel_rows_open(&reader.rows, options->memory_budget_bytes, err)) {
        return false;
    }
    bool ok = nsys_database_open(&reader.db, stream, err) && read_database(&reader, err) &&
              finish(&reader, bundle, err);
    nsys_database_close(&reader.db);
    kernel_rows_close(&reader.rows);
    free(reader.name_ids);
    return ok;
}
