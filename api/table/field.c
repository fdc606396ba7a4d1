#include "api/table/field.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_BYTES 24
#define WHOLE_MAX 9007199254740992.0 /* from here on, doubles skip whole numbers */

void field_row_begin(struct field_out *out)
{
    if (out->notation == FIELD_JSON) {
        jw_object_begin(out->json);
    }
}

void field_row_end(struct field_out *out)
{
    if (out->notation == FIELD_JSON) {
        jw_object_end(out->json);
    } else {
        csv_row_end(out->csv);
    }
}

/* What JSON and the header have in common is the name; true when the value is still to be written.
 */
static bool begin_value(struct field_out *out, const char *name)
{
    if (out->notation == FIELD_CSV_HEADER) {
        csv_text(out->csv, name);
        return false;
    }
    if (out->notation == FIELD_JSON) {
        jw_key(out->json, name);
    }
    return true;
}

void field_text(struct field_out *out, const char *name, const char *text)
{
    if (!begin_value(out, name)) {
        return;
    }
    if (out->notation == FIELD_JSON) {
        jw_string(out->json, text);
    } else {
        csv_text(out->csv, text);
    }
}

void field_raw(struct field_out *out, const char *name, const char *json)
{
    if (out->notation != FIELD_JSON || json == NULL) {
        field_text(out, name, json);
    } else {
        jw_key(out->json, name);
        jw_raw(out->json, json, strlen(json));
    }
}

void field_int(struct field_out *out, const char *name, int64_t value)
{
    if (!begin_value(out, name)) {
        return;
    }
    if (out->notation == FIELD_JSON) {
        jw_int(out->json, value);
    } else {
        csv_int(out->csv, value);
    }
}

void field_known_int(struct field_out *out, const char *name, int64_t value)
{
    if (value == INT64_MIN) {
        field_null(out, name);
    } else {
        field_int(out, name, value);
    }
}

void field_double(struct field_out *out, const char *name, double value)
{
    if (!begin_value(out, name)) {
        return;
    }
    if (out->notation == FIELD_JSON) {
        jw_double(out->json, value + 0.0); /* -0.0, an undefined share, as 0 */
    } else {
        csv_double(out->csv, value);
    }
}

void field_bool(struct field_out *out, const char *name, bool value)
{
    if (!begin_value(out, name)) {
        return;
    }
    if (out->notation == FIELD_JSON) {
        jw_bool(out->json, value);
    } else {
        csv_text(out->csv, value ? "true" : "false");
    }
}

void field_null(struct field_out *out, const char *name)
{
    field_text(out, name, NULL);
}

void field_texts(struct field_out *out, const char *name, const char *const *texts, size_t count)
{
    if (out->notation == FIELD_JSON) {
        jw_key_array_begin(out->json, name);
        for (size_t i = 0; i < count; i++) {
            jw_string(out->json, texts[i]);
        }
        jw_array_end(out->json);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        char numbered[64];
        (void)snprintf(numbered, sizeof numbered, "%s_%zu", name, i + 1);
        field_text(out, numbered, texts[i]);
    }
}

static void write_wide(struct field_out *out, const struct table_column *column, const void *row)
{
    char text[WIDE_TEXT_BYTES];
    wide_int value = table_wide(column, row);
    const char *digits = value == WIDE_NONE ? NULL : wide_text(value, text);
    field_raw(out, column->name, digits);
}

/* A number as a text: an address, or one that a double would round. */
static void write_as_text(struct field_out *out, const struct table_column *column, const void *row)
{
    char text[NUMBER_BYTES];
    int64_t value = table_int(column, row);
    if (column->kind == TABLE_ADDRESS) {
        (void)snprintf(text, sizeof text, "0x%" PRIx64, (uint64_t)value);
    } else {
        (void)snprintf(text, sizeof text, "%" PRId64, value);
    }
    field_text(out, column->name, text);
}

static void write_number(struct field_out *out, const char *name, double value)
{
    if (fabs(value) < WHOLE_MAX && value == (double)(int64_t)value) {
        field_int(out, name, (int64_t)value);
    } else {
        field_double(out, name, value);
    }
}

static void write_column(struct field_out *out, const struct table_column *column, const void *row)
{
    switch (column->kind) {
    case TABLE_INT:
    case TABLE_SIZE:
    case TABLE_BITS:
    case TABLE_DELTA:
        field_int(out, column->name, table_int(column, row));
        break;
    case TABLE_INT_OR_NULL:
        field_known_int(out, column->name, table_int(column, row));
        break;
    case TABLE_FLAG:
        field_bool(out, column->name, table_int(column, row) != 0);
        break;
    case TABLE_REAL:
    case TABLE_REAL_OR_NULL:
    case TABLE_RATIO:
        field_double(out, column->name, table_real_answer(column, row));
        break;
    case TABLE_NUMBER:
        write_number(out, column->name, table_real(column, row));
        break;
    case TABLE_TEXT:
    case TABLE_SHARED:
    case TABLE_WORD:
        field_text(out, column->name, table_text(column, row));
        break;
    case TABLE_MAYBE:
        if (table_int(column, row) == TABLE_MAYBE_UNKNOWN) {
            field_null(out, column->name);
        } else {
            field_bool(out, column->name, table_int(column, row) == TABLE_MAYBE_YES);
        }
        break;
    case TABLE_WIDE:
        write_wide(out, column, row);
        break;
    case TABLE_JSON:
        field_raw(out, column->name, table_text(column, row));
        break;
    case TABLE_ADDRESS:
        write_as_text(out, column, row);
        break;
    case TABLE_SHARED_4:
        field_texts(out, column->name, table_texts(column, row), 4);
        break;
    }
}

static void write_header(struct field_out *out, const struct table_column *column)
{
    static const char *const none[4] = {0};
    if (column->kind == TABLE_SHARED_4) {
        field_texts(out, column->name, none, 4);
    } else {
        csv_text(out->csv, column->name);
    }
}

void field_columns(struct field_out *out,
                   const struct row_table *table,
                   const void *row,
                   uint32_t parts)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        if (!table_column_is_shown(column, parts)) {
            continue;
        }
        if (out->notation == FIELD_CSV_HEADER) {
            write_header(out, column);
        } else {
            write_column(out, column, row);
        }
    }
}

void field_row(struct field_out *out,
               const struct row_table *table,
               const void *row,
               uint32_t parts)
{
    field_row_begin(out);
    field_columns(out, table, row, parts);
    field_row_end(out);
}

void field_members(struct json_write *w,
                   const struct row_table *table,
                   const void *row,
                   uint32_t parts)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    field_columns(&out, table, row, parts);
}

void field_rows(struct json_write *w,
                const char *key,
                const struct row_table *table,
                const void *rows,
                size_t count)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < count; i++) {
        field_row(&out, table, (const unsigned char *)rows + i * table->row_bytes, 0);
    }
    jw_array_end(w);
}
