/* Operators, kernels and launches: part of a table in some order. */
#include "ingest/model/tables.h"

#include "ingest/store/results/page.h"

/* ---- operators ---- */

#define OPERATOR_ROWS "o.trace_id = " PARAM_TRACE " AND o.grouping = " PARAM_GROUPING
/* Ids of the texts that occur in a column of this grouping and meet a condition on n.value. */
#define OPERATOR_TEXTS(column, condition)                                         \
    "o." column " IN (SELECT n.id FROM text AS n WHERE n.trace_id = " PARAM_TRACE \
    " AND n.id IN (SELECT " column " FROM operator WHERE trace_id = " PARAM_TRACE \
    " AND grouping = " PARAM_GROUPING ") AND " condition ")"

static const struct page_table operator_table = {
    .rows = &table_operator,
    .where = OPERATOR_ROWS " AND (" PARAM_HAS_QUERY " = 0 OR " OPERATOR_TEXTS(
        "name_id",
        "ks_match(n.value, " PARAM_MATCHER
        ")") ") AND (" PARAM_NAME
             " IS NULL OR " OPERATOR_TEXTS(
                 "name_id", "n.value = " PARAM_NAME) ") AND (" PARAM_SHAPE
                                                     " IS NULL OR " OPERATOR_TEXTS(
                                                         "input_shape_id",
                                                         "n.value = " PARAM_SHAPE) ")",
    .filters = PAGE_BY_GROUP,
};

/* ---- kernels ---- */

#define KERNEL_WHERE(table)                                                            \
    "o.trace_id = " PARAM_TRACE " AND (" PARAM_HAS_QUERY                               \
    " = 0 OR o.name_id IN (SELECT n.id FROM text AS n WHERE n.trace_id = " PARAM_TRACE \
    " AND n.id IN (SELECT name_id FROM " table " WHERE trace_id = " PARAM_TRACE        \
    ") AND ks_match(n.value, " PARAM_MATCHER ")))"

static const struct page_table kernel_table = {
    .rows = &table_kernel,
    .where = KERNEL_WHERE("kernel"),
};

static const struct page_table launch_table = {
    .rows = &table_kernel_launch,
    .where = KERNEL_WHERE("kernel_launch"),
};

bool store_operators(struct store *store,
                     struct arena *arena,
                     int64_t trace_id,
                     enum operator_group group,
                     const char *name,
                     const char *shape,
                     const struct store_page *page,
                     struct operator_row **rows,
                     size_t *count,
                     int64_t *total,
                     struct err *err)
{
    struct page_filter filter = {
        .trace_id = trace_id, .group = (int)group, .name = name, .shape = shape};
    void *memory = NULL;
    bool ok = page_read_with(store, arena, &operator_table, &filter, page, &memory, count, total,
                             NULL, NULL, err);
    *rows = memory;
    return ok;
}

bool store_kernels(struct store *store,
                   struct arena *arena,
                   int64_t trace_id,
                   const struct store_page *page,
                   struct kernel_row **rows,
                   size_t *count,
                   int64_t *total,
                   struct err *err)
{
    struct page_filter filter = {.trace_id = trace_id};
    void *memory = NULL;
    bool ok = page_read_with(store, arena, &kernel_table, &filter, page, &memory, count, total,
                             NULL, NULL, err);
    *rows = memory;
    return ok;
}

bool store_kernel_launches(struct store *store,
                           struct arena *arena,
                           int64_t trace_id,
                           const struct store_page *page,
                           struct kernel_launch_row **rows,
                           size_t *count,
                           int64_t *total,
                           struct err *err)
{
    struct page_filter filter = {.trace_id = trace_id};
    void *memory = NULL;
    bool ok = page_read_with(store, arena, &launch_table, &filter, page, &memory, count, total,
                             NULL, NULL, err);
    *rows = memory;
    return ok;
}
