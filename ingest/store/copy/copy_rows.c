/* Rows of all tables, from one engine to another. Tables, columns and keys are read from an empty
 * catalogue in memory, so that a new one is copied without a word here. */
#include "ingest/base/text/affix.h"
#include "ingest/store/copy/copy_internal.h"
#include "ingest/store/schema/schema.h"
#include "ingest/store/schema/sums.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX 96
#define KEY_MAX 6
#define TABLES_MAX 64
#define SQL_BYTES ((size_t)64 << 10)
/* So many values go with one statement; of rows with bytes of any length, so many rows. */
#define PAGE_VALUES 4000
#define PAGE_BLOB_ROWS 16

enum kind { KIND_INT, KIND_REAL, KIND_TEXT, KIND_BLOB };

struct column {
    const char *name;
    enum kind kind;
};

struct table {
    const char *name;
    struct column columns[COLUMNS_MAX];
    size_t column_count;
    size_t key[KEY_MAX]; /* columns of the primary key */
    size_t key_count;
    const char *parent; /* the column that names another row of this table; NULL: none does */
    bool has_blob;
    bool counts_ids; /* an id is never given twice */
};

struct tables {
    struct arena arena;
    struct table all[TABLES_MAX];
    size_t count;
};

struct value {
    bool is_null;
    int64_t integer;
    double real;
    const void *bytes;
    size_t len;
};

/* ---- the schema ---- */

/* Not those of the target's own: whose copy it is, and which objects are there. */
static bool is_copied(const char *name)
{
    static const char *const own[] = {"copy_state", "object",      "schema_step", "node",
                                      "duty",       "wrong_token", "kept_sum"};
    return strncmp(name, "sqlite_", 7) != 0 && !TEXT_IS_ONE_OF(name, own);
}

/* Of a STRICT table; a column of type ANY holds numbers. */
static enum kind kind_of(const char *type)
{
    return strcmp(type, "INTEGER") == 0 ? KIND_INT
           : strcmp(type, "TEXT") == 0  ? KIND_TEXT
           : strcmp(type, "BLOB") == 0  ? KIND_BLOB
                                        : KIND_REAL;
}

static bool too_many(const char *name, struct err *err)
{
    return err_set(err, ERR_INTERNAL, "the table %s is larger than a copy expects", name);
}

static bool read_columns(struct db *db, struct tables *tables, struct table *table, struct err *err)
{
    struct db_stmt st;
    bool fits = true;
    db_prepare(&st, db, "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid");
    db_put_text(&st, table->name);
    while (fits && db_next(&st)) {
        struct column *column = &table->columns[table->column_count];
        size_t len;
        column->name = db_get_text(&st, &tables->arena);
        const char *type = db_peek_text(&st, &len);
        column->kind = kind_of(type == NULL ? "" : type);
        table->has_blob = table->has_blob || column->kind == KIND_BLOB;
        int64_t place = db_get_int(&st); /* in the key, from 1 */
        fits = place <= KEY_MAX && table->column_count + 1 < COLUMNS_MAX;
        if (fits && place > 0) {
            table->key[place - 1] = table->column_count;
            table->key_count++;
        }
        table->column_count++;
    }
    return db_done(&st, err) && ((fits && table->key_count > 0) || too_many(table->name, err));
}

static bool read_parent(struct db *db, struct tables *tables, struct table *table, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT \"from\" FROM pragma_foreign_key_list(?1) WHERE \"table\" = ?1");
    db_put_text(&st, table->name);
    table->parent = db_next(&st) ? db_get_text(&st, &tables->arena) : NULL;
    return db_done(&st, err);
}

/* In the order in which they are made, so that none names a later one. */
static bool read_names(struct db *db, struct tables *tables, struct err *err)
{
    struct db_stmt st;
    bool fits = true;
    db_prepare(&st, db,
               "SELECT name, sql LIKE '%AUTOINCREMENT%' FROM sqlite_schema WHERE type = 'table'"
               " ORDER BY rowid");
    while (fits && db_next(&st)) {
        struct table *table = &tables->all[tables->count];
        table->name = db_get_text(&st, &tables->arena);
        table->counts_ids = db_get_bool(&st);
        tables->count += table->name != NULL && is_copied(table->name);
        fits = tables->count < TABLES_MAX;
    }
    return db_done(&st, err) && (fits || too_many("sqlite_schema", err));
}

static bool read_tables(struct tables *tables, struct err *err)
{
    struct db *db;
    if (!db_open(&db, ":memory:", DB_IN_MEMORY, err)) {
        return false;
    }
    bool ok = schema_create(db, err) && read_names(db, tables, err);
    for (size_t i = 0; ok && i < tables->count; i++) {
        ok = read_columns(db, tables, &tables->all[i], err) &&
             read_parent(db, tables, &tables->all[i], err);
    }
    db_close(db);
    return ok;
}

/* NULL without memory. Is large. */
static struct tables *open_tables(struct arena *arena, struct err *err)
{
    arena_init(arena, 0);
    struct tables *tables = arena_calloc(arena, 1, sizeof *tables);
    if (tables == NULL) {
        (void)err_set(err, ERR_NO_MEMORY, "no memory for a copy");
        return NULL;
    }
    arena_init(&tables->arena, 0);
    if (!read_tables(tables, err)) {
        arena_free(&tables->arena);
        arena_free(arena);
        return NULL;
    }
    return tables;
}

static void close_tables(struct tables *tables, struct arena *arena)
{
    arena_free(&tables->arena);
    arena_free(arena);
}

/* ---- statements ---- */

static void put_names(struct buf *sql, const struct table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        buf_printf(sql, "%s\"%s\"", i == 0 ? "" : ", ", table->columns[i].name);
    }
}

static void put_key(struct buf *sql, const struct table *table)
{
    for (size_t i = 0; i < table->key_count; i++) {
        buf_printf(sql, "%s\"%s\"", i == 0 ? "" : ", ", table->columns[table->key[i]].name);
    }
}

/* Which rows of a table that names its own: those that others name come first. Each part is walked
 * by the key alone, whose index a page begins in. */
enum part { PART_PARENTS, PART_CHILDREN };

static void
put_select(struct buf *sql, const struct table *table, enum part part, bool is_first, size_t rows)
{
    buf_puts(sql, "SELECT ");
    put_names(sql, table);
    buf_printf(sql, " FROM %s WHERE 1 = 1", table->name);
    if (table->parent != NULL) {
        buf_printf(sql, " AND \"%s\" IS %sNULL", table->parent,
                   part == PART_CHILDREN ? "NOT " : "");
    }
    if (!is_first) {
        buf_puts(sql, " AND (");
        put_key(sql, table);
        buf_puts(sql, ") > (");
        for (size_t i = 0; i < table->key_count; i++) {
            buf_puts(sql, i == 0 ? "?" : ", ?");
        }
        buf_puts(sql, ")");
    }
    buf_puts(sql, " ORDER BY ");
    put_key(sql, table);
    buf_printf(sql, " LIMIT %zu", rows);
}

static void put_insert(struct buf *sql, const struct table *table, size_t rows)
{
    buf_printf(sql, "INSERT INTO %s (", table->name);
    put_names(sql, table);
    buf_puts(sql, ") VALUES ");
    for (size_t row = 0; row < rows; row++) {
        buf_puts(sql, row == 0 ? "(" : ", (");
        for (size_t i = 0; i < table->column_count; i++) {
            buf_puts(sql, i == 0 ? "?" : ", ?");
        }
        buf_puts(sql, ")");
    }
}

/* ---- values ---- */

static void get_value(struct db_stmt *st, enum kind kind, struct arena *arena, struct value *value)
{
    *value = (struct value){.is_null = db_get_is_null(st)};
    if (kind == KIND_INT || value->is_null) {
        value->integer = db_get_int(st);
    } else if (kind == KIND_REAL) {
        value->real = db_get_real(st);
    } else {
        const void *bytes = kind == KIND_TEXT ? (const void *)db_peek_text(st, &value->len)
                                              : db_peek_blob(st, &value->len);
        /* Of no bytes, too, a place that is not NULL. */
        value->bytes = arena_strndup(arena, bytes == NULL ? "" : bytes, value->len);
        if (value->bytes == NULL) {
            db_fail_memory(st);
        }
    }
}

static void put_value(struct db_stmt *st, enum kind kind, const struct value *value)
{
    switch (kind) {
    case KIND_INT:
        if (value->is_null) {
            db_put_optional(st, INT64_MIN);
        } else {
            db_put_int(st, value->integer);
        }
        break;
    case KIND_REAL:
        db_put_real(st, value->is_null ? (double)NAN : value->real);
        break;
    case KIND_TEXT:
        db_put_text(st, value->bytes);
        break;
    case KIND_BLOB:
        db_put_blob(st, value->bytes, value->len);
        break;
    }
}

/* ---- rows ---- */

/* Some rows of a table on their way, and behind which row the next ones stand. */
struct page {
    struct arena arena; /* of the values of this page */
    struct value *values;
    size_t count; /* of rows */
};

static size_t page_rows(const struct table *table)
{
    return table->has_blob ? PAGE_BLOB_ROWS : PAGE_VALUES / table->column_count;
}

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the rows of a table");
}

static void put_last(struct db_stmt *st, const struct table *table, const struct value *last)
{
    for (size_t i = 0; i < table->key_count; i++) {
        put_value(st, table->columns[table->key[i]].kind, &last[table->key[i]]);
    }
}

static bool read_page(struct db *db,
                      const struct table *table,
                      enum part part,
                      const struct page *before,
                      struct page *page,
                      struct err *err)
{
    struct db_stmt st;
    struct buf sql;
    size_t rows = page_rows(table);
    page->count = 0;
    page->values = arena_calloc(&page->arena, rows * table->column_count, sizeof *page->values);
    if (page->values == NULL) {
        return no_memory(err);
    }
    buf_init(&sql, SQL_BYTES);
    put_select(&sql, table, part, before->count == 0, rows);
    db_prepare_buf(&st, db, &sql);
    if (before->count > 0) {
        put_last(&st, table, before->values + (before->count - 1) * table->column_count);
    }
    while (page->count < rows && db_next(&st)) {
        struct value *row = page->values + page->count++ * table->column_count;
        for (size_t i = 0; i < table->column_count; i++) {
            get_value(&st, table->columns[i].kind, &page->arena, &row[i]);
        }
    }
    return db_done(&st, err);
}

static bool
write_page(struct db *db, const struct table *table, const struct page *page, struct err *err)
{
    struct db_stmt st;
    struct buf sql;
    if (page->count == 0) {
        return true;
    }
    buf_init(&sql, SQL_BYTES);
    put_insert(&sql, table, page->count);
    db_prepare_buf(&st, db, &sql);
    for (size_t i = 0; i < page->count * table->column_count; i++) {
        put_value(&st, table->columns[i % table->column_count].kind, &page->values[i]);
    }
    return db_run(&st, err);
}

static bool copy_part(
    struct copy *copy, struct db *db, const struct table *table, enum part part, struct err *err)
{
    struct page pages[2] = {0};
    bool ok = true;
    bool is_last = false;
    arena_init(&pages[0].arena, 0);
    arena_init(&pages[1].arena, 0);
    for (unsigned turn = 0; ok && !is_last; turn++) {
        struct page *page = &pages[turn % 2];
        arena_free(&page->arena);
        ok = read_page(db, table, part, &pages[(turn + 1) % 2], page, err) &&
             write_page(copy->to.store->writer, table, page, err);
        is_last = page->count < page_rows(table);
        copy->counts->rows += page->count;
        if (copy->progress->tell_rows != NULL) {
            copy->progress->tell_rows(copy->progress->context, copy->counts->rows);
        }
    }
    arena_free(&pages[0].arena);
    arena_free(&pages[1].arena);
    return ok || err_context(err, "copying the table %s", table->name);
}

static bool copy_table(struct copy *copy, struct db *db, const struct table *table, struct err *err)
{
    return copy_part(copy, db, table, PART_PARENTS, err) &&
           (table->parent == NULL || copy_part(copy, db, table, PART_CHILDREN, err));
}

/* ---- ids ---- */

static bool read_id(struct db *db, const char *sql, const char *text, int64_t *id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_text(&st, text);
    *id = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

/* The largest that `db` ever gave; 0: it counts none of this table. */
static bool last_id(struct db *db, const struct table *table, int64_t *id, struct err *err)
{
    return db_is_server(db)
               ? read_id(db,
                         "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(?, 'id')"
                         "::regclass), 0)",
                         table->name, id, err)
               : read_id(db, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)",
                         table->name, id, err);
}

static bool largest_id(struct db *db, const struct table *table, int64_t *id, struct err *err)
{
    struct db_stmt st;
    struct buf sql;
    buf_init(&sql, SQL_BYTES);
    buf_printf(&sql, "SELECT coalesce(max(id), 0) FROM %s", table->name);
    db_prepare_buf(&st, db, &sql);
    *id = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

static bool set_last_id(struct db *db, const struct table *table, int64_t id, struct err *err)
{
    struct db_stmt st;
    if (!db_is_server(db) &&
        !db_run_text(db, "DELETE FROM sqlite_sequence WHERE name = ?", table->name, err)) {
        return false;
    }
    if (db_is_server(db)) {
        db_prepare(&st, db, "SELECT setval(pg_get_serial_sequence(?1, 'id')::regclass, ?2)");
    } else {
        db_prepare(&st, db, "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)");
    }
    db_put_text(&st, table->name);
    db_put_int(&st, id);
    return db_run(&st, err);
}

/* The next new row gets an id that none ever had. A server counts where SQLite looks for the
 * largest. */
static bool
copy_last_id(struct copy *copy, struct db *db, const struct table *table, struct err *err)
{
    int64_t given = 0;
    int64_t largest = 0;
    struct db *to = copy->to.store->writer;
    bool has_id = table->key_count == 1 && strcmp(table->columns[table->key[0]].name, "id") == 0;
    if (!table->counts_ids && !(has_id && db_is_server(to))) {
        return true;
    }
    if (!last_id(db, table, &given, err) || !largest_id(to, table, &largest, err)) {
        return false;
    }
    int64_t id = given > largest ? given : largest;
    return id == 0 || set_last_id(to, table, id, err);
}

/* ---- all ---- */

static bool empty_server(struct db *db, const struct tables *tables, struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_BYTES);
    for (size_t i = 0; i < tables->count; i++) {
        buf_printf(&sql, "%s %s", i == 0 ? "TRUNCATE" : ",", tables->all[i].name);
    }
    bool ok = !sql.failed ? db_exec(db, sql.ptr, err) : no_memory(err);
    buf_free(&sql);
    return ok;
}

static bool empty_tables(struct db *db, const struct tables *tables, struct err *err)
{
    char sql[96];
    bool ok = true;
    if (db_is_server(db)) {
        return empty_server(db, tables, err);
    }
    for (size_t i = tables->count; ok && i > 0; i--) {
        (void)snprintf(sql, sizeof sql, "DELETE FROM %.64s", tables->all[i - 1].name);
        ok = db_exec(db, sql, err);
    }
    return ok;
}

bool copy_rows(struct copy *copy, struct db *db, struct err *err)
{
    struct arena arena;
    struct tables *tables = open_tables(&arena, err);
    if (tables == NULL) {
        return false;
    }
    copy->counts->rows = 0;
    bool ok = sums_pause(copy->to.store->writer, err) &&
              empty_tables(copy->to.store->writer, tables, err);
    for (size_t i = 0; ok && i < tables->count; i++) {
        ok = copy_table(copy, db, &tables->all[i], err) &&
             copy_last_id(copy, db, &tables->all[i], err);
    }
    close_tables(tables, &arena);
    return ok && sums_resume(copy->to.store->writer, err);
}

static bool has_row(struct db *db, const char *table, bool *found, struct err *err)
{
    struct db_stmt st;
    struct buf sql;
    buf_init(&sql, SQL_BYTES);
    buf_printf(&sql, "SELECT EXISTS (SELECT 1 FROM %s)", table);
    db_prepare_buf(&st, db, &sql);
    *found = db_next(&st) && db_get_bool(&st);
    return db_done(&st, err);
}

bool copy_rows_none(struct copy *copy, bool *none, struct err *err)
{
    struct arena arena;
    struct tables *tables = open_tables(&arena, err);
    bool found = false;
    if (tables == NULL) {
        return false;
    }
    bool ok = has_row(copy->to.store->writer, "object", &found, err);
    for (size_t i = 0; ok && !found && i < tables->count; i++) {
        ok = has_row(copy->to.store->writer, tables->all[i].name, &found, err);
    }
    *none = !found;
    close_tables(tables, &arena);
    return ok;
}
