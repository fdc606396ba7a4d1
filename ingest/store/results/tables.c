/* Operators, kernels and launches: part of a table in some order. */
#include "ingest/store/db/fields.h"
#include "ingest/store/results/page.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- operators ---- */

#define OPERATOR_ROWS "o.trace_id = " PARAM_TRACE " AND o.grouping = " PARAM_GROUPING
/* Ids of the texts that occur in a column of this grouping and meet a condition on n.value. */
#define OPERATOR_TEXTS(column, condition)                                         \
    "o." column " IN (SELECT n.id FROM text AS n WHERE n.trace_id = " PARAM_TRACE \
    " AND n.id IN (SELECT " column " FROM operator WHERE trace_id = " PARAM_TRACE \
    " AND grouping = " PARAM_GROUPING ") AND " condition ")"

#define MEAN(sum) "CAST(" sum " AS REAL) / calls"
#define HAS_DEVICE "(SELECT operators_have_device FROM trace WHERE id = " PARAM_TRACE ")"
#define SHARE_OF_DEVICE(part, whole) "coalesce(CAST(" part " AS REAL) / nullif(" whole ", 0), 0)"

static const struct sort_column operator_sorts[] = {
    {"name", PAGE_TEXT_OF("name_id")},
    {"input_shape", PAGE_TEXT_OF("input_shape_id")},
    {"call_stack", PAGE_TEXT_OF("call_stack_id")},
    PAGE_OWN("calls"),
    PAGE_OWN("host_total_ns"),
    PAGE_OWN("host_self_ns"),
    {"host_mean_ns", MEAN("o.host_total_ns")},
    PAGE_OWN("host_min_ns"),
    PAGE_OWN("host_max_ns"),
    PAGE_OWN("host_p50_ns"),
    PAGE_OWN("host_p95_ns"),
    PAGE_OWN("host_p99_ns"),
    PAGE_OWN("device_total_ns"),
    PAGE_OWN("device_self_ns"),
    {"device_mean_ns", MEAN("o.device_total_ns")},
    PAGE_OWN("device_p50_ns"),
    PAGE_OWN("device_p95_ns"),
    PAGE_OWN("device_p99_ns"),
    /* The share is of a sum that all rows have in common. */
    {"share", "iif(" HAS_DEVICE ", o.device_self_ns, o.host_self_ns)"},
    {"tensor_core_eligible", "o.tensor_eligible"},
    {"tensor_core_self_share", SHARE_OF_DEVICE("o.tensor_self_ns", "o.device_self_ns")},
    {"tensor_core_total_share", SHARE_OF_DEVICE("o.tensor_total_ns", "o.device_total_ns")},
    PAGE_OWN("has_call_stack"),
    PAGE_OWN("tc_eligible"),
    PAGE_OWN("tensor_eligible"),
    PAGE_OWN("tc_self_ns"),
    PAGE_OWN("tc_total_ns"),
    PAGE_OWN("tensor_self_ns"),
    PAGE_OWN("tensor_total_ns"),
};

static void read_operator(struct page_reader *reader, void *out)
{
    struct operator_row *row = out;
    struct db_stmt *st = reader->st;
    struct text_cache *texts = reader->texts;
    OPERATOR_FIELDS(FIELD_READ)
}

static const struct page_table operator_table = {
    .from = "operator AS o",
    .where = OPERATOR_ROWS " AND (" PARAM_HAS_QUERY " = 0 OR " OPERATOR_TEXTS(
        "name_id",
        "ks_match(n.value, " PARAM_MATCHER
        ")") ") AND (" PARAM_NAME
             " IS NULL OR " OPERATOR_TEXTS(
                 "name_id", "n.value = " PARAM_NAME) ") AND (" PARAM_SHAPE
                                                     " IS NULL OR " OPERATOR_TEXTS(
                                                         "input_shape_id",
                                                         "n.value = " PARAM_SHAPE) ")",
    .columns = "o.position" OPERATOR_FIELDS(FIELD_COLUMN),
    .filters = PAGE_BY_GROUP,
    .sorts = operator_sorts,
    .sort_count = COUNT_OF(operator_sorts),
    .row_bytes = sizeof(struct operator_row),
    .read_row = read_operator,
};

/* ---- kernels ---- */

#define KERNEL_WHERE(table)                                                            \
    "o.trace_id = " PARAM_TRACE " AND (" PARAM_HAS_QUERY                               \
    " = 0 OR o.name_id IN (SELECT n.id FROM text AS n WHERE n.trace_id = " PARAM_TRACE \
    " AND n.id IN (SELECT name_id FROM " table " WHERE trace_id = " PARAM_TRACE        \
    ") AND ks_match(n.value, " PARAM_MATCHER ")))"

/* What kernels and launches have in common. */
#define KERNEL_SORTS                                                                         \
    {"name", PAGE_TEXT_OF("name_id")}, PAGE_OWN("calls"), PAGE_OWN("total_ns"),              \
        {"share", "o.total_ns"}, {"mean_ns", MEAN("o.total_ns")}, PAGE_OWN("min_ns"),        \
        PAGE_OWN("max_ns"), PAGE_OWN("p50_ns"), PAGE_OWN("p95_ns"), PAGE_OWN("p99_ns"),      \
        {"tensor_cores", "o.tensor_used"}, {"tensor_cores_plugin", "o.tc_used"},             \
        PAGE_OWN("blocks_per_sm"), PAGE_OWN("occupancy_pct"), {"calls_per_step", "o.calls"}, \
        PAGE_OWN("tc_used"), PAGE_OWN("tensor_used")

static const struct sort_column kernel_sorts[] = {KERNEL_SORTS};

static void read_kernel(struct page_reader *reader, void *out)
{
    struct kernel_row *row = out;
    struct db_stmt *st = reader->st;
    struct text_cache *texts = reader->texts;
    KERNEL_FIELDS(FIELD_READ)
}

static const struct page_table kernel_table = {
    .from = "kernel AS o",
    .where = KERNEL_WHERE("kernel"),
    .columns = "o.position" KERNEL_FIELDS(FIELD_COLUMN),
    .sorts = kernel_sorts,
    .sort_count = COUNT_OF(kernel_sorts),
    .row_bytes = sizeof(struct kernel_row),
    .read_row = read_kernel,
};

static const struct sort_column launch_sorts[] = {
    KERNEL_SORTS,
    {"operator", PAGE_TEXT_OF("operator_name_id")},
    {"operator_name", PAGE_TEXT_OF("operator_name_id")},
    {"operator_tensor_core_eligible", "o.op_tensor_eligible"},
    PAGE_OWN("op_tc_eligible"),
    PAGE_OWN("op_tensor_eligible"),
};

static void read_launch(struct page_reader *reader, void *out)
{
    struct kernel_launch_row *row = out;
    struct db_stmt *st = reader->st;
    struct text_cache *texts = reader->texts;
    LAUNCH_FIELDS(FIELD_READ)
    for (int k = 0; k < LAUNCH_CONFIGS; k++) {
        row->config[k] = text_cache_get(texts, st);
    }
}

static const struct page_table launch_table = {
    .from = "kernel_launch AS o",
    .where = KERNEL_WHERE("kernel_launch"),
    .columns = "o.position" LAUNCH_FIELDS(FIELD_COLUMN) LAUNCH_CONFIG_COLUMNS,
    .sorts = launch_sorts,
    .sort_count = COUNT_OF(launch_sorts),
    .row_bytes = sizeof(struct kernel_launch_row),
    .read_row = read_launch,
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
