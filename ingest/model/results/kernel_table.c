#include "ingest/model/results/kernel_table.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256

struct kernel_table *kernel_table_create(void)
{
    struct kernel_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return NULL;
    }
    arena_init(&table->arena, 0);
    table->strings = strtab_create();
    if (table->strings == NULL) {
        kernel_table_destroy(table);
        return NULL;
    }
    return table;
}

void kernel_table_destroy(struct kernel_table *table)
{
    if (table == NULL) {
        return;
    }
    free(table->launches);
    free(table->summaries);
    free(table->metrics);
    strtab_destroy(table->strings);
    arena_free(&table->arena);
    free(table);
}

/* Makes room for one more row of `size` bytes. */
static bool reserve(void **rows, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity) {
        return true;
    }
    if (*capacity > UINT32_MAX / 2) {
        return false;
    }
    uint32_t wanted = *capacity == 0 ? FIRST_CAPACITY : *capacity * 2;
    void *grown = realloc(*rows, (size_t)wanted * size);
    if (grown == NULL) {
        return false;
    }
    *rows = grown;
    *capacity = wanted;
    return true;
}

#define DEFINE_ADD(function, type, rows, count, capacity)                    \
    bool function(struct kernel_table *table, const struct type *row)        \
    {                                                                        \
        void *grown = table->rows;                                           \
        if (!reserve(&grown, table->count, &table->capacity, sizeof *row)) { \
            return false;                                                    \
        }                                                                    \
        table->rows = grown;                                                 \
        table->rows[table->count++] = *row;                                  \
        return true;                                                         \
    }

DEFINE_ADD(kernel_table_add_launch, kernel_table_launch, launches, launch_count, launch_capacity)
DEFINE_ADD(
    kernel_table_add_summary, kernel_table_summary, summaries, summary_count, summary_capacity)
DEFINE_ADD(kernel_table_add_metric, kernel_table_metric, metrics, metric_count, metric_capacity)

bool kernel_table_add_bad_row(struct kernel_table *table, uint64_t byte_off, const char *what)
{
    warning_add(&table->warnings, WARN_BAD_LINE, byte_off);
    if (table->bad_row_count == KERNEL_TABLE_BAD_ROWS_MAX) {
        return true;
    }
    if (table->bad_rows == NULL) {
        table->bad_rows =
            arena_calloc(&table->arena, KERNEL_TABLE_BAD_ROWS_MAX, sizeof *table->bad_rows);
    }
    const char *copy = arena_strdup(&table->arena, what);
    if (table->bad_rows == NULL || copy == NULL) {
        return false;
    }
    table->bad_rows[table->bad_row_count++] = copy;
    return true;
}
