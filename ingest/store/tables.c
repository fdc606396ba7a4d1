/* Operators, kernels and launches: part of a table in some order.
 *
 * A sorted page is read in two steps inside one statement: the inner SELECT sorts narrow rows
 * (position and key) and keeps those of the page, the outer one fetches these few in full. Searches
 * look at each distinct name once, not at each row. */
#include "ingest/base/buf.h"
#include "ingest/store/fields.h"
#include "ingest/store/internal.h"
#include "ingest/store/match.h"
#include "ingest/store/sort.h"
#include "ingest/store/text_cache.h"

#define SQL_MAX_BYTES 8192
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* Parameters of all statements here, in this order. */
#define PARAM_TRACE "?1"
#define PARAM_LIMIT "?2"
#define PARAM_OFFSET "?3"
#define PARAM_HAS_QUERY "?4"
#define PARAM_MATCHER "?5"
#define PARAM_GROUPING "?6"
#define PARAM_NAME "?7"
#define PARAM_SHAPE "?8"

struct row_reader {
    struct db_stmt *st;
    struct text_cache *texts;
};

struct table {
    const char *from;    /* the table, called o */
    const char *where;   /* rows of the trace that the filters let through */
    const char *columns; /* beginning with position */
    const struct sort_column *sorts;
    size_t sort_count;
    size_t row_bytes;
    void (*read_row)(struct row_reader *reader, void *row);
};

struct filter {
    int64_t trace_id;
    int group; /* -1: the table has no groups */
    const char *name;
    const char *shape;
    struct matcher *matcher; /* NULL: no search */
};

#define TEXT_OF(column) "(SELECT value FROM text WHERE trace_id = o.trace_id AND id = o." column ")"

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
/* A stored field under its own name. */
#define OWN(field)        \
    {                     \
        field, "o." field \
    }

static const struct sort_column operator_sorts[] = {
    {"name", TEXT_OF("name_id")},
    {"input_shape", TEXT_OF("input_shape_id")},
    {"call_stack", TEXT_OF("call_stack_id")},
    OWN("calls"),
    OWN("host_total_ns"),
    OWN("host_self_ns"),
    {"host_mean_ns", MEAN("o.host_total_ns")},
    OWN("host_min_ns"),
    OWN("host_max_ns"),
    OWN("host_p50_ns"),
    OWN("host_p95_ns"),
    OWN("host_p99_ns"),
    OWN("device_total_ns"),
    OWN("device_self_ns"),
    {"device_mean_ns", MEAN("o.device_total_ns")},
    OWN("device_p50_ns"),
    OWN("device_p95_ns"),
    OWN("device_p99_ns"),
    /* The share is of a sum that all rows have in common. */
    {"share", "iif(" HAS_DEVICE ", o.device_self_ns, o.host_self_ns)"},
    {"tensor_core_eligible", "o.tensor_eligible"},
    {"tensor_core_self_share", SHARE_OF_DEVICE("o.tensor_self_ns", "o.device_self_ns")},
    {"tensor_core_total_share", SHARE_OF_DEVICE("o.tensor_total_ns", "o.device_total_ns")},
    OWN("has_call_stack"),
    OWN("tc_eligible"),
    OWN("tensor_eligible"),
    OWN("tc_self_ns"),
    OWN("tc_total_ns"),
    OWN("tensor_self_ns"),
    OWN("tensor_total_ns"),
};

static void read_operator(struct row_reader *reader, void *out)
{
    struct operator_row *row = out;
    struct db_stmt *st = reader->st;
    struct text_cache *texts = reader->texts;
    OPERATOR_FIELDS(FIELD_READ)
}

static const struct table operator_table = {
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
#define KERNEL_SORTS                                                                      \
    {"name", TEXT_OF("name_id")}, OWN("calls"), OWN("total_ns"), {"share", "o.total_ns"}, \
        {"mean_ns", MEAN("o.total_ns")}, OWN("min_ns"), OWN("max_ns"), OWN("p50_ns"),     \
        OWN("p95_ns"), OWN("p99_ns"), {"tensor_cores", "o.tensor_used"},                  \
        {"tensor_cores_plugin", "o.tc_used"}, OWN("blocks_per_sm"), OWN("occupancy_pct"), \
        {"calls_per_step", "o.calls"}, OWN("tc_used"), OWN("tensor_used")

static const struct sort_column kernel_sorts[] = {KERNEL_SORTS};

static void read_kernel(struct row_reader *reader, void *out)
{
    struct kernel_row *row = out;
    struct db_stmt *st = reader->st;
    struct text_cache *texts = reader->texts;
    KERNEL_FIELDS(FIELD_READ)
}

static const struct table kernel_table = {
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
    {"operator", TEXT_OF("operator_name_id")},
    {"operator_name", TEXT_OF("operator_name_id")},
    {"operator_tensor_core_eligible", "o.op_tensor_eligible"},
    OWN("op_tc_eligible"),
    OWN("op_tensor_eligible"),
};

static void read_launch(struct row_reader *reader, void *out)
{
    struct kernel_launch_row *row = out;
    struct db_stmt *st = reader->st;
    struct text_cache *texts = reader->texts;
    LAUNCH_FIELDS(FIELD_READ)
    for (int k = 0; k < LAUNCH_CONFIGS; k++) {
        row->config[k] = text_cache_get(texts, st);
    }
}

static const struct table launch_table = {
    .from = "kernel_launch AS o",
    .where = KERNEL_WHERE("kernel_launch"),
    .columns = "o.position" LAUNCH_FIELDS(FIELD_COLUMN) LAUNCH_CONFIG_COLUMNS,
    .sorts = launch_sorts,
    .sort_count = COUNT_OF(launch_sorts),
    .row_bytes = sizeof(struct kernel_launch_row),
    .read_row = read_launch,
};

/* ---- reading any of them ---- */

static void compose(struct buf *sql, const struct table *table, const char *key, bool descending)
{
    if (key == NULL) {
        buf_printf(sql,
                   "SELECT %s FROM %s WHERE %s ORDER BY o.position%s LIMIT " PARAM_LIMIT
                   " OFFSET " PARAM_OFFSET,
                   table->columns, table->from, table->where, descending ? " DESC" : "");
        return;
    }
    /* Equal keys stay in stored order in both directions, so that pages fit together. */
    const char *direction = descending ? "DESC" : "ASC";
    buf_printf(sql,
               "SELECT %s FROM (SELECT o.position AS place, %s AS key FROM %s WHERE %s"
               " ORDER BY key %s, o.position LIMIT " PARAM_LIMIT " OFFSET " PARAM_OFFSET ") AS page"
               " CROSS JOIN %s ON o.trace_id = " PARAM_TRACE "%s AND o.position = page.place"
               " ORDER BY page.key %s, page.place",
               table->columns, key, table->from, table->where, direction, table->from,
               table == &operator_table ? " AND o.grouping = " PARAM_GROUPING : "", direction);
}

static void
put_filter(struct db_stmt *st, const struct filter *filter, int64_t limit, int64_t offset)
{
    db_put_int(st, filter->trace_id);
    db_put_int(st, limit);
    db_put_int(st, offset);
    db_put_int(st, filter->matcher != NULL);
    db_put_pointer(st, filter->matcher, MATCH_POINTER);
    if (filter->group >= 0) {
        db_put_int(st, filter->group);
        db_put_text(st, filter->name);
        db_put_text(st, filter->shape);
    }
}

static bool count_rows(struct db *db,
                       const struct table *table,
                       const struct filter *filter,
                       int64_t *total,
                       struct err *err)
{
    struct buf sql;
    struct db_stmt st;
    buf_init(&sql, SQL_MAX_BYTES);
    /* The limits stand here only so that the parameters are the same everywhere. */
    buf_printf(&sql, "SELECT count(*), " PARAM_LIMIT ", " PARAM_OFFSET " FROM %s WHERE %s",
               table->from, table->where);
    db_prepare_buf(&st, db, &sql);
    put_filter(&st, filter, 0, 0);
    *total = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

static bool read_page(struct db *db,
                      struct arena *arena,
                      const struct table *table,
                      const struct filter *filter,
                      const struct store_page *page,
                      void **rows,
                      size_t *count,
                      int64_t *total,
                      struct err *err)
{
    const char *key = NULL;
    if (!sort_find(table->sorts, table->sort_count, page->sort, &key, err) ||
        !store_check_figures(db, filter->trace_id, err) ||
        !count_rows(db, table, filter, total, err)) {
        return false;
    }
    struct buf sql;
    struct db_stmt st;
    struct text_cache texts;
    size_t rows_max = sort_page_rows(page, *total);
    char *memory = arena_calloc(arena, rows_max, table->row_bytes);
    if (memory == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the rows of a table");
    }
    buf_init(&sql, SQL_MAX_BYTES);
    compose(&sql, table, key, page->descending);
    db_prepare_buf(&st, db, &sql);
    put_filter(&st, filter, (int64_t)rows_max, page->offset);
    text_cache_init(&texts, db, arena, filter->trace_id);
    struct row_reader reader = {.st = &st, .texts = &texts};
    *count = 0;
    *rows = memory;
    while (*count < rows_max && db_next(&st)) {
        (void)db_get_int(&st);
        table->read_row(&reader, memory + *count * table->row_bytes);
        (*count)++;
    }
    text_cache_free(&texts);
    return db_done(&st, err);
}

static bool read_table(struct store *store,
                       struct arena *arena,
                       const struct table *table,
                       const struct filter *filter,
                       const struct store_page *page,
                       void **rows,
                       size_t *count,
                       int64_t *total,
                       struct err *err)
{
    struct db *db;
    struct matcher matcher = {0};
    struct filter with_query = *filter;
    if (page->q != NULL && page->q[0] != '\0') {
        if (!match_init(&matcher, page->q, err)) {
            return false;
        }
        with_query.matcher = &matcher;
    }
    bool ok = store_read_begin(store, &db, err);
    if (ok) {
        ok = read_page(db, arena, table, &with_query, page, rows, count, total, err);
        store_read_end(store, db);
    }
    match_free(&matcher);
    return ok;
}

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
    struct filter filter = {
        .trace_id = trace_id, .group = (int)group, .name = name, .shape = shape};
    void *memory = NULL;
    bool ok = read_table(store, arena, &operator_table, &filter, page, &memory, count, total, err);
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
    struct filter filter = {.trace_id = trace_id, .group = -1};
    void *memory = NULL;
    bool ok = read_table(store, arena, &kernel_table, &filter, page, &memory, count, total, err);
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
    struct filter filter = {.trace_id = trace_id, .group = -1};
    void *memory = NULL;
    bool ok = read_table(store, arena, &launch_table, &filter, page, &memory, count, total, err);
    *rows = memory;
    return ok;
}
