#include "ingest/formats/database/tables.h"

#include "ingest/base/saturating.h"
#include "ingest/base/text/buf.h"
#include "ingest/formats/json/text.h"

#include <stdio.h>
#include <string.h>

#define SQL_BYTES_MAX 8192
#define COLUMNS_MAX 40
#define COLUMN_BYTES 64
/* Rows between two looks at how much text there is. */
#define ROWS_AT_ONCE 64

/* ---- statements ---- */

/* Which of the columns the table has: a bit each. */
static bool find_columns(struct tables *tables,
                         const char *table,
                         char columns[COLUMNS_MAX][COLUMN_BYTES],
                         size_t count,
                         uint64_t *has,
                         struct err *err)
{
    struct buf sql;
    sqlite3_stmt *rows = NULL;
    bool more = true;
    *has = 0;
    buf_init(&sql, SQL_BYTES_MAX);
    buf_printf(&sql, "PRAGMA table_info(\"%s\")", table);
    bool ok = !sql.failed ? database_prepare(&tables->db, sql.ptr, &rows, err)
                          : err_set(err, ERR_NO_MEMORY, "no memory for a statement");
    buf_free(&sql);
    while (ok && more) {
        ok = database_step(&tables->db, rows, &more, err);
        for (size_t i = 0; ok && more && i < count; i++) {
            const char *name = (const char *)sqlite3_column_text(rows, 1);
            *has |= name != NULL && strcmp(name, columns[i]) == 0 ? (uint64_t)1 << i : 0;
        }
    }
    (void)sqlite3_finalize(rows);
    return ok;
}

static size_t split(const char *names, char columns[COLUMNS_MAX][COLUMN_BYTES])
{
    size_t count = 0;
    while (*names != '\0' && count < COLUMNS_MAX) {
        size_t len = strcspn(names, " ");
        (void)snprintf(columns[count++], COLUMN_BYTES, "%.*s", (int)len, names);
        names += len + (names[len] == ' ');
    }
    return count;
}

/* A name of a table of the file stands between quotes; those with quotes of their own are not read.
 */
static bool is_plain(const char *table)
{
    return strchr(table, '"') == NULL;
}

bool tables_open(struct tables *tables,
                 const char *table,
                 const char *columns,
                 sqlite3_stmt **rows,
                 struct err *err)
{
    char names[COLUMNS_MAX][COLUMN_BYTES];
    size_t count = split(columns, names);
    uint64_t has;
    struct buf sql;
    *rows = NULL;
    if (!is_plain(table) || !tables_has(tables, table)) {
        return true;
    }
    if (!find_columns(tables, table, names, count, &has, err)) {
        return false;
    }
    buf_init(&sql, SQL_BYTES_MAX);
    buf_puts(&sql, "SELECT ");
    for (size_t i = 0; i < count; i++) {
        bool is_there = (has >> i & 1) != 0;
        buf_printf(&sql, is_there ? "%s\"%s\"" : "%sNULL", i == 0 ? "" : ", ", names[i]);
    }
    buf_printf(&sql, " FROM \"%s\"", table);
    bool ok = !sql.failed ? database_prepare(&tables->db, sql.ptr, rows, err)
                          : err_set(err, ERR_NO_MEMORY, "no memory for a statement");
    buf_free(&sql);
    return ok;
}

bool tables_next(struct tables *tables, sqlite3_stmt *rows)
{
    struct err ignored = ERR_INIT;
    bool more = false;
    if (rows == NULL) {
        return false;
    }
    if (!database_step(&tables->db, rows, &more, &ignored) ||
        ++tables->row_count > tables->db.size_bytes / DATABASE_ROW_BYTES_MIN) {
        tables->is_damaged = true;
        return false;
    }
    return more;
}

int64_t tables_int(sqlite3_stmt *row, int column, int64_t none)
{
    int64_t number;
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        return sqlite3_column_int64(row, column);
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(row, column);
        size_t len = (size_t)sqlite3_column_bytes(row, column);
        return text != NULL && json_text_parse_int(text, len, &number) ? number : none;
    }
    default:
        return none;
    }
}

uint32_t tables_number(sqlite3_stmt *row, int column)
{
    bool is_null = sqlite3_column_type(row, column) == SQLITE_NULL;
    return is_null ? TABLES_NULL : (uint32_t)tables_int(row, column, 0);
}

const char *tables_text(sqlite3_stmt *row, int column, size_t *len)
{
    bool is_text = sqlite3_column_type(row, column) == SQLITE_TEXT;
    const char *text = is_text ? (const char *)sqlite3_column_text(row, column) : NULL;
    *len = text == NULL ? 0 : (size_t)sqlite3_column_bytes(row, column);
    return text == NULL ? "" : text;
}

bool tables_has(struct tables *tables, const char *table)
{
    struct err ignored = ERR_INIT;
    bool has = false;
    return database_has_table(&tables->db, table, &has, &ignored) && has;
}

bool tables_find(struct tables *tables, const char *prefix, char name[TABLES_NAME_BYTES])
{
    name[0] = '\0';
    return tables_find_next(tables, prefix, name);
}

bool tables_find_next(struct tables *tables, const char *prefix, char name[TABLES_NAME_BYTES])
{
    struct err ignored = ERR_INIT;
    sqlite3_stmt *rows = NULL;
    bool found = false;
    if (!database_prepare(&tables->db,
                          "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 "
                          "ORDER BY name",
                          &rows, &ignored)) {
        return false;
    }
    while (!found && tables_next(tables, rows)) {
        size_t len;
        const char *text = tables_text(rows, 0, &len);
        found = len < TABLES_NAME_BYTES && strncmp(text, prefix, strlen(prefix)) == 0 &&
                strcmp(text, name) > 0;
        if (found) {
            memcpy(name, text, len + 1);
        }
    }
    (void)sqlite3_finalize(rows);
    return found;
}

int64_t tables_count(struct tables *tables, const char *table)
{
    struct err ignored = ERR_INIT;
    sqlite3_stmt *rows = NULL;
    int64_t count = 0;
    if (tables_open(tables, table, "id", &rows, &ignored)) {
        while (tables_next(tables, rows)) {
            count++;
        }
    }
    (void)sqlite3_finalize(rows);
    return count;
}

/* ---- by id ---- */

bool id_texts_init(struct id_texts *texts)
{
    id_map_init(&texts->ids);
    texts->texts = strtab_create();
    return texts->texts != NULL;
}

void id_texts_free(struct id_texts *texts)
{
    id_map_free(&texts->ids);
    strtab_destroy(texts->texts);
}

static bool add_text(struct id_texts *texts, sqlite3_stmt *row, int columns)
{
    size_t len = 0;
    const char *text = "";
    for (int column = 1; column < columns && len == 0; column++) {
        text = tables_text(row, column, &len);
    }
    uint32_t id = strtab_intern(texts->texts, text, len);
    struct id_slot *slot = id_map_add(&texts->ids, tables_int(row, 0, RELAY_NONE));
    if (slot == NULL || id == STRTAB_NONE) {
        return false;
    }
    slot->value = id;
    return true;
}

bool id_texts_load(struct id_texts *texts,
                   struct tables *tables,
                   const char *table,
                   const char *columns,
                   struct err *err)
{
    sqlite3_stmt *rows;
    bool ok = tables_open(tables, table, columns, &rows, err);
    while (ok && tables_next(tables, rows)) {
        ok = add_text(texts, rows, sqlite3_column_count(rows)) ||
             err_set(err, ERR_NO_MEMORY, "no memory for the texts of a database");
    }
    (void)sqlite3_finalize(rows);
    return ok;
}

const char *id_texts_get(const struct id_texts *texts, int64_t id)
{
    const struct id_slot *slot = id_map_find(&texts->ids, id);
    return slot == NULL ? "" : strtab_text(texts->texts, slot->value);
}

bool tables_load_map(struct tables *tables,
                     const char *table,
                     const char *columns,
                     struct id_map *map,
                     struct err *err)
{
    sqlite3_stmt *rows;
    bool ok = tables_open(tables, table, columns, &rows, err);
    while (ok && tables_next(tables, rows)) {
        struct id_slot *slot = id_map_add(map, tables_int(rows, 0, RELAY_NONE));
        if (slot == NULL) {
            ok = err_set(err, ERR_NO_MEMORY, "no memory for the ids of a database");
        } else {
            slot->value = tables_number(rows, 1);
        }
    }
    (void)sqlite3_finalize(rows);
    return ok;
}

/* ---- recordings ---- */

void recording_set_times(struct relay_event *event, sqlite3_stmt *row)
{
    event->start_ns = tables_int(row, 0, 0);
    event->dur_ns = saturating_sub(tables_int(row, 1, event->start_ns), event->start_ns);
}

static bool next_part(struct recording *recording, struct err *err)
{
    (void)sqlite3_finalize(recording->rows);
    recording->rows = NULL;
    recording->part = NULL;
    if (recording->next_part == recording->part_count) {
        return true;
    }
    recording->part = &recording->parts[recording->next_part++];
    return tables_open(&recording->tables, recording->part->table, recording->part->columns,
                       &recording->rows, err);
}

static bool more(void *context, struct relay *relay, bool *ended, struct err *err)
{
    struct recording *recording = context;
    for (int i = 0; i < ROWS_AT_ONCE; i++) {
        if (recording->part != NULL && tables_next(&recording->tables, recording->rows)) {
            recording->part->row(recording, recording->rows);
            continue;
        }
        if (!next_part(recording, err)) {
            return false;
        }
        if (recording->part == NULL) {
            if (recording->tables.is_damaged) {
                warning_add(&relay->warnings, WARN_DATABASE, WARNING_NO_OFFSET);
            }
            const struct database *db = &recording->tables.db;
            if (db->own_bytes > 0 && db->own_bytes < db->size_bytes) {
                warning_add(&relay->warnings, WARN_TRAILING, db->own_bytes);
            }
            *ended = true;
            return true;
        }
    }
    return true;
}

bool recording_read(struct recording *recording,
                    const struct recording_part *parts,
                    size_t part_count,
                    const char *nothing,
                    const struct format_options *options,
                    struct trace **out,
                    struct err *err)
{
    recording->parts = parts;
    recording->part_count = part_count;
    bool ok = relay_read(&recording->relay, more, recording, options, out, err);
    (void)sqlite3_finalize(recording->rows);
    recording->rows = NULL;
    if (!ok && err->code == ERR_BAD_INPUT && recording->relay.record_count == 0) {
        return err_set(err, ERR_BAD_INPUT, "%s", nothing);
    }
    return ok;
}
