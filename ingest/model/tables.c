#include "ingest/model/tables.h"

#include "ingest/base/saturating.h"
#include "ingest/model/results/memory_rows.h"
#include "ingest/model/results/results.h"

#include <string.h>

#define DEFINE_WORD(function, name, enumeration) \
    static const char *function(int value)       \
    {                                            \
        return name((enumeration)value);         \
    }
DEFINE_WORD(word_of_use, use_class_name, enum use_class)
#define IS_USE .kind = TABLE_WORD, .word = word_of_use, .last = USE_UNKNOWN
DEFINE_WORD(word_of_kind, cycle_kind_name, enum cycle_kind)
#define IS_CYCLE_KIND .kind = TABLE_WORD, .word = word_of_kind, .last = CYCLE_KIND_COUNT - 1
#define STORED_CYCLE_KIND(field) #field
DEFINE_WORD(word_of_source, cycle_source_name, enum cycle_source)
#define IS_CYCLE_SOURCE .kind = TABLE_WORD, .word = word_of_source, .last = CYCLES_TABLE
#define STORED_CYCLE_SOURCE(field) #field
DEFINE_WORD(word_of_presence, comparison_presence_name, enum comparison_presence)
#define IS_PRESENCE .kind = TABLE_WORD, .word = word_of_presence, .last = PRESENCE_REMOVED
#define STORED_PRESENCE(field) #field
DEFINE_WORD(word_of_verdict, comparison_verdict_name, enum comparison_verdict)
#define IS_VERDICT .kind = TABLE_WORD, .word = word_of_verdict, .last = VERDICT_UNDECIDED
#define STORED_VERDICT(field) #field

#define TABLE_DEF "ingest/model/tables/operators/operator.def"
#define TABLE_ROW struct operator_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernels/kernel.def"
#define TABLE_ROW struct kernel_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernels/kernel_launch.def"
#define TABLE_ROW struct kernel_launch_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernels/kernel_utilisation.def"
#define TABLE_ROW struct kernel_utilisation_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernels/kernel_utilisation_launch.def"
#define TABLE_ROW struct kernel_utilisation_launch_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/step.def"
#define TABLE_ROW struct step_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/operators/module.def"
#define TABLE_ROW struct module_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernels/transfer.def"
#define TABLE_ROW struct transfer_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/operators/memory_operator.def"
#define TABLE_ROW struct memory_stat_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/operators/memory_block.def"
#define TABLE_ROW struct memory_block
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/trace.def"
#define TABLE_ROW struct trace_results
#define TABLE_KEYED(part) TABLE_##part##_UPLOADED
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/device.def"
#define TABLE_ROW struct device_row
#define TABLE_KEYED(part) TABLE_##part##_POSITION
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/gpu.def"
#define TABLE_ROW struct gpu_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/recommendation.def"
#define TABLE_ROW struct recommendation_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/environment.def"
#define TABLE_ROW struct environment_row
#define TABLE_KEYED(part) TABLE_##part##_POSITION
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/missing.def"
#define TABLE_ROW struct missing_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/uploaded_answer.def"
#define TABLE_ROW struct uploaded_answer_row
#define TABLE_KEYED(part) TABLE_##part##_POSITION
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernels/kernel_utilisation_total.def"
#define TABLE_ROW struct kernel_utilisation_totals
#define TABLE_KEYED(part) TABLE_##part##_TRACE
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernels/kernel_utilisation_metric.def"
#define TABLE_ROW struct kernel_utilisation_metric_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernels/kernel_utilisation_value.def"
#define TABLE_ROW struct kernel_utilisation_value_row
#define TABLE_KEYED(part) TABLE_##part##_LAUNCH
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/cycle.def"
#define TABLE_ROW struct cycle_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/cycle_use.def"
#define TABLE_ROW struct cycle_use_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/counter.def"
#define TABLE_ROW struct counter_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/comparison/comparison.def"
#define TABLE_ROW struct comparison
#define TABLE_KEYED(part) TABLE_##part##_HEAD
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/comparison/comparison_role.def"
#define TABLE_ROW struct comparison_role
#define TABLE_KEYED(part) TABLE_##part##_SIDE
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/comparison/comparison_cycle.def"
#define TABLE_ROW struct comparison_cycle_row
#define TABLE_KEYED(part) TABLE_##part##_COMPARISON
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/comparison/comparison_row.def"
#define TABLE_ROW struct comparison_row
#define TABLE_KEYED(part) TABLE_##part##_COMPARISON
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/comparison/comparison_finding.def"
#define TABLE_ROW struct comparison_finding
#define TABLE_KEYED(part) TABLE_##part##_COMPARISON
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
        &table_trace,
        &table_device,
        &table_gpu,
        &table_recommendation,
        &table_environment,
        &table_missing,
        &table_uploaded_answer,
        &table_kernel_utilisation_total,
        &table_kernel_utilisation_metric,
        &table_kernel_utilisation_value,
        &table_cycle,
        &table_cycle_use,
        &table_counter,
        &table_comparison,
        &table_comparison_role,
        &table_comparison_cycle,
        &table_comparison_row,
        &table_comparison_finding,
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
    case TABLE_SIZE:
        return (int64_t) * (const size_t *)field;
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

double table_real_answer(const struct table_column *column, const void *row)
{
    double value = table_real(column, row);
    return (column->flags & MICROS) == 0 ? value : us_to_ns(value);
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

size_t rows_part_get(const struct rows_part *part, const void *from, const void **rows)
{
    size_t count;
    memcpy(rows, field_at(from, part->rows_offset), sizeof *rows);
    memcpy(&count, field_at(from, part->count_offset), sizeof count);
    return count;
}

void rows_part_set(const struct rows_part *part, void *to, void *rows, size_t count)
{
    memcpy((unsigned char *)to + part->rows_offset, &rows, sizeof rows);
    memcpy((unsigned char *)to + part->count_offset, &count, sizeof count);
}
