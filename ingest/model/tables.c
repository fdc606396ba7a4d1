#include "ingest/model/tables.h"

#include "ingest/model/results/launch_rows.h"
#include "ingest/model/results/results.h"

#include <math.h>
#include <string.h>

static const char *word_of_use(int value)
{
    return use_class_name((enum use_class)value);
}

/* What describes each kind, its columns in SQL, and their parameters. */
#define IS_INT .kind = TABLE_INT
#define IS_INT_OR_NULL .kind = TABLE_INT_OR_NULL
#define IS_FLAG .kind = TABLE_FLAG
#define IS_BITS .kind = TABLE_BITS
#define IS_REAL .kind = TABLE_REAL
#define IS_REAL_OR_NULL .kind = TABLE_REAL_OR_NULL
#define IS_TEXT .kind = TABLE_TEXT
#define IS_TEXT_OR_NULL .kind = TABLE_TEXT
#define IS_SHARED .kind = TABLE_SHARED
#define IS_SHARED_OR_NULL .kind = TABLE_SHARED
#define IS_SHARED_4 .kind = TABLE_SHARED_4
#define IS_USE .kind = TABLE_WORD, .word = word_of_use, .last = USE_UNKNOWN

#define STORED_INT(field) #field
#define STORED_INT_OR_NULL(field) #field
#define STORED_FLAG(field) #field
#define STORED_BITS(field) #field
#define STORED_REAL(field) #field
#define STORED_REAL_OR_NULL(field) #field
#define STORED_TEXT(field) #field
#define STORED_TEXT_OR_NULL(field) #field
#define STORED_SHARED(field) #field "_id"
#define STORED_SHARED_OR_NULL(field) #field "_id"
#define STORED_SHARED_4(field) #field "_1_id, " #field "_2_id, " #field "_3_id, " #field "_4_id"
#define STORED_USE(field) #field

#define PARAMS_INT ", ?"
#define PARAMS_INT_OR_NULL ", ?"
#define PARAMS_FLAG ", ?"
#define PARAMS_BITS ", ?"
#define PARAMS_REAL ", ?"
#define PARAMS_REAL_OR_NULL ", ?"
#define PARAMS_TEXT ", ?"
#define PARAMS_TEXT_OR_NULL ", ?"
#define PARAMS_SHARED ", ?"
#define PARAMS_SHARED_OR_NULL ", ?"
#define PARAMS_SHARED_4 ", ?, ?, ?, ?"
#define PARAMS_USE ", ?"

#define TABLE_DEF "ingest/model/tables/operator.def"
#define TABLE_ROW struct operator_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernel.def"
#define TABLE_ROW struct kernel_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernel_launch.def"
#define TABLE_ROW struct kernel_launch_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernel_utilisation.def"
#define TABLE_ROW struct kernel_utilisation_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernel_utilisation_launch.def"
#define TABLE_ROW struct kernel_utilisation_launch_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/launch.def"
#define TABLE_ROW struct launch_row
#include "ingest/model/tables/describe.h"

const struct row_table *const *tables_all(size_t *count)
{
    static const struct row_table *const all[] = {
        &table_operator,
        &table_kernel,
        &table_kernel_launch,
        &table_kernel_utilisation,
        &table_kernel_utilisation_launch,
        &table_launch,
    };
    *count = sizeof all / sizeof all[0];
    return all;
}

const struct table_column *table_column_find(const struct row_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].name, name) == 0) {
            return &table->columns[i];
        }
    }
    for (size_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].field, name) == 0) {
            return &table->columns[i];
        }
    }
    return NULL;
}

bool table_column_is_shown(const struct table_column *column, uint32_t parts)
{
    uint32_t wanted = column->flags & TABLE_PARTS;
    return (column->flags & HIDDEN) == 0 && (wanted & parts) == wanted;
}

bool table_column_is_text(const struct table_column *column)
{
    return column->kind == TABLE_TEXT || column->kind == TABLE_SHARED ||
           column->kind == TABLE_SHARED_4 || column->kind == TABLE_WORD;
}

static const void *field_at(const void *row, size_t offset)
{
    return (const unsigned char *)row + offset;
}

int64_t table_int(const struct table_column *column, const void *row)
{
    const void *field = field_at(row, column->offset);
    switch (column->kind) {
    case TABLE_FLAG:
        return *(const bool *)field;
    case TABLE_BITS:
    case TABLE_WORD:
        return *(const uint32_t *)field;
    default:
        return *(const int64_t *)field;
    }
}

double table_real(const struct table_column *column, const void *row)
{
    const void *field = field_at(row, column->offset);
    if (column->kind != TABLE_RATIO) {
        return *(const double *)field;
    }
    int64_t whole = *(const int64_t *)field_at(row, column->whole_offset);
    return whole == 0 ? 0 : (double)*(const int64_t *)field / (double)whole;
}

const char *table_text(const struct table_column *column, const void *row)
{
    return column->kind == TABLE_WORD ? column->word((int)table_int(column, row))
                                      : *table_texts(column, row);
}

const char *const *table_texts(const struct table_column *column, const void *row)
{
    return field_at(row, column->offset);
}
