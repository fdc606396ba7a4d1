#include "ingest/model/tables.h"

#include "ingest/base/saturating.h"
#include "ingest/model/results/memory_rows.h"
#include "ingest/model/results/results.h"
#include "ingest/model/tables/kinds.h"

#include <math.h>
#include <string.h>

static const char *word_of_use(int value)
{
    return use_class_name((enum use_class)value);
}
#define IS_USE .kind = TABLE_WORD, .word = word_of_use, .last = USE_UNKNOWN

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

#define TABLE_DEF "ingest/model/tables/step.def"
#define TABLE_ROW struct step_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/module.def"
#define TABLE_ROW struct module_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/transfer.def"
#define TABLE_ROW struct transfer_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/memory_operator.def"
#define TABLE_ROW struct memory_stat_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/memory_block.def"
#define TABLE_ROW struct memory_block
#include "ingest/model/tables/describe.h"

const struct row_table *const *tables_all(size_t *count)
{
    static const struct row_table *const all[] = {
        &table_operator,
        &table_kernel,
        &table_kernel_launch,
        &table_kernel_utilisation,
        &table_kernel_utilisation_launch,
        &table_step,
        &table_module,
        &table_transfer,
        &table_memory_operator,
        &table_memory_block,
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

bool table_column_sorts(const struct table_column *column)
{
    return (column->flags & UNSORTED) == 0 &&
           (column->is_stored || column->sort_by != NULL || column->kind == TABLE_RATIO);
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
    case TABLE_MAYBE:
        return *(const uint32_t *)field;
    case TABLE_DELTA:
        return saturating_sub(*(const int64_t *)field,
                              *(const int64_t *)field_at(row, column->whole_offset));
    default:
        return *(const int64_t *)field;
    }
}

wide_int table_wide(const struct table_column *column, const void *row)
{
    return *(const wide_int *)field_at(row, column->offset);
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
