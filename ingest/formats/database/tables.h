/* Tables of an uploaded database, whose schema nobody promises: asks for the columns that are
 * there, reads row after row, and stops at damage with what was read. A recording is a list of
 * parts, each a table and what becomes of its rows. */
#ifndef KS_FORMATS_DATABASE_TABLES_H
#define KS_FORMATS_DATABASE_TABLES_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/err.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/database/database.h"
#include "ingest/formats/relay/relay.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLES_NAME_BYTES 200

struct tables {
    struct database db;
    bool is_damaged;    /* some table ended before its end */
    uint64_t row_count; /* read so far: a damaged database cannot pretend to more than it has room
                           for */
};

/* The rows of a table, with `columns` (names between blanks) in that order; NULL for those that it
 * lacks. *rows is NULL where there is no such table. sqlite3_finalize it. */
bool tables_open(struct tables *tables,
                 const char *table,
                 const char *columns,
                 sqlite3_stmt **rows,
                 struct err *err) KS_MUST_USE;
/* Steps to the next row. False at the end, also at that of what can be read. */
bool tables_next(struct tables *tables, sqlite3_stmt *rows);
/* An integer, or a text that is one; `none` for anything else. */
int64_t tables_int(sqlite3_stmt *row, int column, int64_t none);
/* A number below 2^32, 0 for what is none; TABLES_NULL: not said. */
#define TABLES_NULL UINT32_MAX
uint32_t tables_number(sqlite3_stmt *row, int column);
/* "" for what is no text. Valid until the next row. */
const char *tables_text(sqlite3_stmt *row, int column, size_t *len);
/* The first table, by name, that begins so; false: none. */
bool tables_find(struct tables *tables, const char *prefix, char name[TABLES_NAME_BYTES]);
/* The one behind `name`, by name, that begins so. */
bool tables_find_next(struct tables *tables, const char *prefix, char name[TABLES_NAME_BYTES]);
bool tables_has(struct tables *tables, const char *table);
/* Rows that can be read; 0: no such table. */
int64_t tables_count(struct tables *tables, const char *table);

/* ---- texts and numbers by id ---- */

struct id_texts {
    struct id_map ids; /* -> string id */
    struct strtab *texts;
};

bool id_texts_init(struct id_texts *texts) KS_MUST_USE;
void id_texts_free(struct id_texts *texts);
/* Reads a table of ids and texts; of several columns of texts the first that is not empty. */
bool id_texts_load(struct id_texts *texts,
                   struct tables *tables,
                   const char *table,
                   const char *columns,
                   struct err *err) KS_MUST_USE;
/* "" for an unknown id. */
const char *id_texts_get(const struct id_texts *texts, int64_t id);

/* Numbers by id, below 2^32: `columns` are an id and a number. The later row counts. */
bool tables_load_map(struct tables *tables,
                     const char *table,
                     const char *columns,
                     struct id_map *map,
                     struct err *err) KS_MUST_USE;

/* ---- recordings ---- */

struct recording {
    struct tables tables;
    struct id_texts texts;
    struct relay relay;
    const struct recording_part *parts;
    size_t part_count, next_part;
    sqlite3_stmt *rows; /* of the part under way */
    const struct recording_part *part;
    void *own; /* the format's */
};

struct recording_part {
    const char *table;
    const char *columns;
    void (*row)(struct recording *recording, sqlite3_stmt *row);
};

/* Of a row whose first columns are begin and end. */
void recording_set_times(struct relay_event *event, sqlite3_stmt *row);
/* Relays the rows of all parts. ERR_BAD_INPUT, with `nothing`, where there is none. */
bool recording_read(struct recording *recording,
                    const struct recording_part *parts,
                    size_t part_count,
                    const char *nothing,
                    const struct format_options *options,
                    struct trace **out,
                    struct err *err) KS_MUST_USE;

#endif
