/* Result tables, each declared once in a `.def` file: a line a column. From it come the row struct
 * (struct.h), this description of it, and from the description its blocks in the store, the sort
 * keys, JSON and CSV; api/rows.py writes the row schemas of api/openapi.json and the page's types.
 *
 *     TABLE(id, "name of its blocks or SQL table" or "", schema, "what a row is")
 *     COLUMN(kind, field, name, unit, flags, "what it says")
 *     ADDED(kind, field, name, unit, flags, "field to sort by" or NULL, "…")
 *     RATIO(name, part, whole, unit, flags, "…")
 *     DELTA(name, from, less, unit, "…")
 *     ARRAY(kind, field, count)
 *     ELEMENT(kind, field, index, stored, name, unit, flags, "…")
 *     MEMBER(name)
 *
 * A COLUMN is stored under its field's name. What is ADDED is not stored: who reads rows fills it.
 * A RATIO of two fields is 0 where the whole is 0; a DELTA is from - less, saturating. An ARRAY is
 * one field of several columns, its ELEMENTs. A MEMBER only JSON has; the handler writes it.
 *
 * The order of lines is that of the answers. `name` is that of JSON, CSV and `sort`; the store also
 * sorts by the field's name. Units: NONE, COUNT, NS, US, BYTES, PCT (0 to 100), SHARE (0 to 1). */
#ifndef KS_MODEL_TABLES_TABLE_H
#define KS_MODEL_TABLES_TABLE_H

#include "ingest/base/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands in a field. Texts belong to the rows' arena. */
enum column_kind {
    TABLE_INT,          /* int64_t */
    TABLE_INT_OR_NULL,  /* int64_t; INT64_MIN: unknown */
    TABLE_SIZE,         /* size_t */
    TABLE_FLAG,         /* bool */
    TABLE_BITS,         /* uint32_t */
    TABLE_REAL,         /* double */
    TABLE_REAL_OR_NULL, /* double; NaN: unknown */
    TABLE_TEXT,         /* const char *; NULL is unknown, also where the kind does not say so */
    TABLE_SHARED,       /* const char *, the same one in many rows */
    TABLE_SHARED_4,     /* const char *[4]; an array in JSON */
    TABLE_WORD,         /* an enumeration: a number in the store, a word in answers */
    TABLE_MAYBE,        /* an enumeration of unknown, no, yes: a boolean or null in answers */
    TABLE_ADDRESS,      /* int64_t; hexadecimal in answers */
    TABLE_WIDE,         /* wide_int; WIDE_NONE: unknown. Not in stored tables */
    TABLE_JSON,         /* const char *, a list as JSON; NULL: unknown. Not in stored tables */
    TABLE_NUMBER,       /* double; no point in answers where it is whole. Not in stored tables */
    TABLE_RATIO,        /* no field of its own: two of int64_t */
    TABLE_DELTA         /* the same: what the first has more */
};

enum { TABLE_MAYBE_UNKNOWN, TABLE_MAYBE_NO, TABLE_MAYBE_YES };

/* By the kind that a line names: the field in a struct. Words: USE and those that follow it. */
#define TABLE_FIELD_INT(field) int64_t field;
#define TABLE_FIELD_INT_OR_NULL(field) int64_t field;
#define TABLE_FIELD_SIZE(field) size_t field;
#define TABLE_FIELD_FLAG(field) bool field;
#define TABLE_FIELD_BITS(field) uint32_t field;
#define TABLE_FIELD_REAL(field) double field;
#define TABLE_FIELD_REAL_OR_NULL(field) double field;
#define TABLE_FIELD_NUMBER(field) double field;
#define TABLE_FIELD_TEXT(field) const char *field;
#define TABLE_FIELD_TEXT_OR_NULL(field) const char *field;
#define TABLE_FIELD_SHARED(field) const char *field;
#define TABLE_FIELD_SHARED_OR_NULL(field) const char *field;
#define TABLE_FIELD_SHARED_4(field) const char *field[4];
#define TABLE_FIELD_MAYBE(field) uint32_t field;
#define TABLE_FIELD_ADDRESS(field) int64_t field;
#define TABLE_FIELD_WIDE(field) wide_int field;
#define TABLE_FIELD_JSON(field) const char *field;
#define TABLE_FIELD_USE(field) enum use_class field;
#define TABLE_FIELD_CYCLE_KIND(field) enum cycle_kind field;
#define TABLE_FIELD_CYCLE_SOURCE(field) enum cycle_source field;
#define TABLE_FIELD_NAME_PRESENCE(field) uint32_t field;
#define TABLE_FIELD_PRESENCE(field) enum comparison_presence field;
#define TABLE_FIELD_VERDICT(field) enum comparison_verdict field;

/* Flags of a column; 0 for most. */
enum {
    SEARCHED = 1, /* `q` looks at it */
    ASCENDS = 2,  /* a number that sorts upwards unless asked otherwise, as texts do */
    UNSORTED = 4,
    HIDDEN = 8,  /* not in answers, though `sort` takes it */
    DIGITS = 16, /* a text that sorts by its length first, as numbers do */
    MICROS = 32  /* microseconds in the row and the store, nanoseconds in answers */
};
/* Columns of a part of a table are in the answer only when that part is asked for. */
#define TABLE_PARTS 0xFF00u
enum {
    WHEN_SHAPE = 0x100,
    WHEN_STACK = 0x200,
    WHEN_MATCHED = 0x100,  /* a kernel table of the run is there */
    WHEN_CLASSED = 0x200,  /* the classes of kernels were asked for */
    WHEN_BASELINE = 0x100, /* compared with another trace */
    WHEN_NAME = 0x100,
    WHEN_TRACK = 0x200,
    WHEN_CATEGORY = 0x400,
    WHEN_STREAM = 0x100, /* not of a device as a whole */
    WHEN_QUARTILES = 0x100,
    WHEN_TAIL = 0x200,
    IN_ROWS = 0x100, /* not in the sums beside the rows */
};

struct table_column {
    enum column_kind kind;
    uint32_t flags;
    const char *name;
    const char *field;              /* "" for a ratio or a delta */
    const char *sort_by;            /* field that `sort` goes by instead; NULL: this one */
    size_t offset;                  /* of the field; of a ratio's part, of what a delta is from */
    size_t whole_offset;            /* of a ratio's whole; of what a delta takes away */
    const char *(*word)(int value); /* of TABLE_WORD; NULL stands for unknown */
    int last;                       /* of TABLE_WORD: its last value */
    bool is_stored;
};

struct row_table {
    const char *name;       /* of its blocks or SQL table in the store; "": it is not stored */
    const char *insert_sql; /* NULL: not an SQL table */
    const char *select_sql; /* all rows of the owner, its parameter: place, then the columns */
    const struct table_column *columns;
    size_t column_count;
    size_t row_bytes;
};

/* An array of rows that is a member of a larger struct, and the member of type size_t that counts
 * them. */
struct rows_part {
    const struct row_table *table;
    size_t rows_offset;
    size_t count_offset;
};
#define ROWS_PART(table, of, rows, count)                               \
    {                                                                   \
        &(table), offsetof(struct of, rows), offsetof(struct of, count) \
    }

/* Its rows in *from; how many. */
size_t rows_part_get(const struct rows_part *part, const void *from, const void **rows);
void rows_part_set(const struct rows_part *part, void *to, void *rows, size_t count);

/* Defined as one of these before describe.h, TABLE_KEYED(part) makes an SQL table: the columns in
 * front of its own, the owner first, and their parameters; the place of a row and the owner of all
 * rows that a SELECT reads. TRACE: one row of a trace; POSITION: of several; LAUNCH: of one launch
 * of a kernel table. UPLOADED: the trace itself. HEAD: a comparison itself; SIDE: one row a side of
 * it; COMPARISON: of several. */
#define TABLE_KEY_TRACE "trace_id"
#define TABLE_PARAMS_TRACE "?"
#define TABLE_RETURNING_TRACE ""
#define TABLE_PLACE_TRACE "trace_id"
#define TABLE_OWNER_TRACE "trace_id = ?"
#define TABLE_KEY_POSITION "trace_id, position"
#define TABLE_PARAMS_POSITION "?, ?"
#define TABLE_RETURNING_POSITION ""
#define TABLE_PLACE_POSITION "position"
#define TABLE_OWNER_POSITION "trace_id = ?"
#define TABLE_KEY_LAUNCH TABLE_KEY_POSITION
#define TABLE_PARAMS_LAUNCH "?, ?"
#define TABLE_RETURNING_LAUNCH ""
#define TABLE_PLACE_LAUNCH "position"
#define TABLE_OWNER_LAUNCH "trace_id = ? AND launch = ?"
#define TABLE_KEY_UPLOADED                                                   \
    "rank, upload_id, derived_of, has_events, worker, span_digits, format, " \
    "step_times_ns, warnings, device_type"
#define TABLE_PARAMS_UPLOADED "?, ?, nullif(?, 0), ?, ?, ?, ?, ?, coalesce(?, ''), coalesce(?, '')"
#define TABLE_RETURNING_UPLOADED " RETURNING id"
#define TABLE_PLACE_UPLOADED "device_type"
#define TABLE_OWNER_UPLOADED "id = ?"
#define TABLE_KEY_HEAD "group_id, trace_id, state, created_at_s, top_score"
#define TABLE_PARAMS_HEAD "nullif(?, 0), nullif(?, 0), ?, ?, ?"
#define TABLE_RETURNING_HEAD " RETURNING id"
#define TABLE_PLACE_HEAD "id"
#define TABLE_OWNER_HEAD "id = ?"
#define TABLE_KEY_SIDE "comparison_id, side"
#define TABLE_PARAMS_SIDE "?, ?"
#define TABLE_RETURNING_SIDE ""
#define TABLE_PLACE_SIDE "side"
#define TABLE_OWNER_SIDE "comparison_id = ?"
#define TABLE_KEY_COMPARISON "comparison_id, position"
#define TABLE_PARAMS_COMPARISON "?, ?"
#define TABLE_RETURNING_COMPARISON ""
#define TABLE_PLACE_COMPARISON "position"
#define TABLE_OWNER_COMPARISON "comparison_id = ?"

/* The column that answers call `name`, or that is the field `name`; NULL: none. */
const struct table_column *table_column_find(const struct row_table *table, const char *name);
/* Whether an answer with these parts has the column. */
bool table_column_is_shown(const struct table_column *column, uint32_t parts);
/* Whether the store sorts by it. */
bool table_column_sorts(const struct table_column *column);
bool table_column_is_text(const struct table_column *column);

/* The value of a column in a row. */
int64_t table_int(const struct table_column *column, const void *row); /* any but REAL and texts */
wide_int table_wide(const struct table_column *column, const void *row);
double table_real(const struct table_column *column, const void *row);        /* RATIO too */
double table_real_answer(const struct table_column *column, const void *row); /* MICROS in ns */
const char *table_text(const struct table_column *column, const void *row); /* WORD and JSON too */
const char *const *table_texts(const struct table_column *column, const void *row); /* SHARED_4 */

#endif
