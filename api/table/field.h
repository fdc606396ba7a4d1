/* Writes one row in two notations: members of a JSON object, or cells of a CSV row (and its
 * header). A row's writer names its fields once for both, so they cannot differ. */
#ifndef KS_API_TABLE_FIELD_H
#define KS_API_TABLE_FIELD_H

#include "api/table/csv.h"
#include "ingest/base/text/json_write.h"
#include "ingest/model/tables/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_notation { FIELD_JSON, FIELD_CSV, FIELD_CSV_HEADER };

struct field_out {
    enum field_notation notation;
    struct json_write *json; /* FIELD_JSON */
    struct csv_write *csv;   /* the others */
};

void field_row_begin(struct field_out *out);
void field_row_end(struct field_out *out);
void field_text(struct field_out *out, const char *name, const char *text); /* NULL: null */
/* A value that is JSON already, as it stands; NULL: null. In CSV a text. */
void field_raw(struct field_out *out, const char *name, const char *json);
void field_int(struct field_out *out, const char *name, int64_t value);
void field_known_int(struct field_out *out, const char *name, int64_t value); /* INT64_MIN: null */
void field_double(struct field_out *out, const char *name, double value);     /* NaN: null */
void field_bool(struct field_out *out, const char *name, bool value);
void field_null(struct field_out *out, const char *name);
/* An array in JSON; in CSV one cell each, named name_1, name_2, ... */
void field_texts(struct field_out *out, const char *name, const char *const *texts, size_t count);

/* Members, or cells, of the columns that an answer with these parts has. `row` is not looked at for
 * a header. */
void field_columns(struct field_out *out,
                   const struct row_table *table,
                   const void *row,
                   uint32_t parts);
/* The same as a whole row. */
void field_row(struct field_out *out,
               const struct row_table *table,
               const void *row,
               uint32_t parts);
/* Members of an object that the caller has begun. */
void field_members(struct json_write *w,
                   const struct row_table *table,
                   const void *row,
                   uint32_t parts);
/* Writes "key": an array of all rows of a table. */
void field_rows(struct json_write *w,
                const char *key,
                const struct row_table *table,
                const void *rows,
                size_t count);

#endif
