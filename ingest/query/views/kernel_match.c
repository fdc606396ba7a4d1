/* The join of a trace's kernels with the kernel tables of its run.
 *
 *     tables   launches -> one figure a cleaned name, one a (cleaned name, grid, block)
 *     trace    full name -> cleaned name -> the figure of the table
 *
 * Everything is sorted once and looked up by bisection: a table may have 100 000 launches, and a
 * page of kernels asks at each request. */
#include "ingest/query/views/kernel_match.h"

#include "ingest/analysis/kernel_utilisation/kernel_utilisation.h"
#include "ingest/base/order.h"
#include "ingest/query/views/kernel_measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cleaned name of the trace. */
struct traced_name {
    const char *text;
    struct measured_kernel *kernel; /* NULL: no table has it */
};

/* A kernel of the trace. */
struct traced {
    const char *full_name;
    const char *name;                /* cleaned */
    const struct traced_name *known; /* the same name, with what the tables say of it */
};

struct kernel_match_index {
    struct measured measured;
    struct traced *traced; /* by full name, once the trace is matched */
    size_t traced_count;
};

/* ---- the trace ---- */

static bool read_trace(struct kernel_match_index *index,
                       struct store_snapshot *snapshot,
                       struct arena *arena,
                       int64_t trace_id,
                       struct err *err)
{
    const struct store_page by_time = {.sort = "total_ns", .descending = true};
    struct kernel_row *rows = NULL;
    int64_t total = 0;
    if (!store_kernels(snapshot, arena, trace_id, &by_time, &rows, &index->traced_count, &total,
                       err)) {
        return false;
    }
    index->traced = arena_calloc(arena, index->traced_count + 1, sizeof *index->traced);
    for (size_t i = 0; index->traced != NULL && i < index->traced_count; i++) {
        const char *full_name = rows[i].name;
        index->traced[i].full_name = full_name;
        index->traced[i].name = kernel_utilisation_clean_name(arena, full_name, strlen(full_name));
        if (index->traced[i].name == NULL) {
            index->traced = NULL;
        }
    }
    return index->traced != NULL ||
           err_set(err, ERR_NO_MEMORY, "No memory for the kernels of the trace");
}

ORDER_BY(compare_full_names, struct traced, ORDER_TEXT(full_name))

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(struct traced *const *)a)->name, (*(struct traced *const *)b)->name);
}

/* The cleaned names without repetition, ascending. */
struct name_list {
    struct traced_name *names;
    size_t count;
};

static bool list_names(struct name_list *list,
                       struct kernel_match_index *index,
                       struct arena *arena,
                       struct err *err)
{
    size_t count = index->traced_count;
    struct traced **by_name = arena_calloc(arena, count + 1, sizeof(struct traced *));
    list->names = arena_calloc(arena, count + 1, sizeof *list->names);
    if (by_name == NULL || list->names == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to match the kernels");
    }
    for (size_t i = 0; i < count; i++) {
        by_name[i] = &index->traced[i];
    }
    qsort(by_name, count, sizeof(struct traced *), compare_names);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_names(&by_name[i - 1], &by_name[i]) != 0) {
            list->names[list->count++].text = by_name[i]->name;
        }
        by_name[i]->known = &list->names[list->count - 1];
    }
    return true;
}

static bool begins_with(const char *text, const struct measured_kernel *cut)
{
    return strncmp(text, cut->name, cut->prefix_len) == 0;
}

/* A cut name stands for the only one of `names` that begins so; of two cut names for one, the
 * longer. */
static void
match_cut_name(struct traced_name *const *names, size_t count, struct measured_kernel *cut)
{
    size_t low = 0;
    ORDER_SEARCH(low, count, at, strncmp(names[at]->text, cut->name, cut->prefix_len) < 0);
    bool fits = low < count && begins_with(names[low]->text, cut);
    bool alone = low + 1 >= count || !begins_with(names[low + 1]->text, cut);
    if (fits && alone &&
        (names[low]->kernel == NULL || names[low]->kernel->prefix_len < cut->prefix_len)) {
        names[low]->kernel = cut;
    }
}

static bool match_names(struct kernel_match_index *index, struct arena *arena, struct err *err)
{
    struct name_list list = {.count = 0};
    if (!list_names(&list, index, arena, err)) {
        return false;
    }
    size_t open_count = 0;
    struct traced_name **open = arena_calloc(arena, list.count + 1, sizeof(struct traced_name *));
    if (open == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to match the kernels");
    }
    for (size_t i = 0; i < list.count; i++) {
        list.names[i].kernel = measured_find(&index->measured, list.names[i].text);
        if (list.names[i].kernel == NULL) {
            open[open_count++] = &list.names[i];
        }
    }
    for (size_t i = 0; i < index->measured.kernel_count; i++) {
        if (index->measured.kernels[i].prefix_len > 0) {
            match_cut_name(open, open_count, &index->measured.kernels[i]);
        }
    }
    return true;
}

/* ---- what was found ---- */

static int compare_times(const void *a, const void *b)
{
    double a_ns = (*(const struct measured_kernel *const *)a)->total_ns;
    double b_ns = (*(const struct measured_kernel *const *)b)->total_ns;
    return (a_ns < b_ns) - (a_ns > b_ns);
}

static bool list_unmatched(struct kernel_match *match, struct arena *arena, struct err *err)
{
    struct kernel_match_index *index = match->index;
    const struct measured_kernel **rest =
        arena_calloc(arena, index->measured.kernel_count + 1, sizeof(struct measured_kernel *));
    match->unmatched = arena_calloc(arena, index->traced_count + 1, sizeof *match->unmatched);
    match->unmatched_in_table =
        arena_calloc(arena, index->measured.kernel_count + 1, sizeof *match->unmatched_in_table);
    if (rest == NULL || match->unmatched == NULL || match->unmatched_in_table == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to list the kernels without a match");
    }
    for (size_t i = 0; i < index->traced_count; i++) {
        struct measured_kernel *kernel = index->traced[i].known->kernel;
        if (kernel == NULL) {
            match->unmatched[match->unmatched_count++] = index->traced[i].full_name;
        } else {
            kernel->matched = true;
            match->matched_kernels++;
        }
    }
    for (size_t i = 0; i < index->measured.kernel_count; i++) {
        if (!index->measured.kernels[i].matched) {
            rest[match->unmatched_in_table_count++] = &index->measured.kernels[i];
        }
    }
    qsort(rest, match->unmatched_in_table_count, sizeof(struct measured_kernel *), compare_times);
    for (size_t i = 0; i < match->unmatched_in_table_count; i++) {
        match->unmatched_in_table[i] = rest[i]->name;
    }
    return true;
}

static bool find_tables(struct kernel_match *match,
                        struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t trace_id,
                        struct err *err)
{
    struct store_trace *trace = NULL;
    struct store_trace *traces = NULL;
    size_t count = 0;
    if (!store_trace_get(snapshot, arena, trace_id, &trace, err)) {
        return false;
    }
    if ((trace->views >> VIEW_UTILISATION & 1U) != 0) {
        return true;
    }
    if (!store_traces(snapshot, arena, trace->run, &traces, &count, err)) {
        return false;
    }
    match->table_ids = arena_calloc(arena, count, sizeof *match->table_ids);
    if (match->table_ids == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the traces of the run");
    }
    for (size_t i = 0; i < count; i++) {
        if ((traces[i].views >> VIEW_UTILISATION & 1U) != 0) {
            match->table_ids[match->table_count++] = traces[i].id;
        }
    }
    match->available = match->table_count > 0;
    return true;
}

bool query_kernel_match(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t trace_id,
                        bool launches,
                        struct kernel_match *out,
                        struct err *err)
{
    *out = (struct kernel_match){.available = false};
    if (!find_tables(out, snapshot, arena, trace_id, err)) {
        return false;
    }
    if (!out->available) {
        return true;
    }
    out->index = arena_calloc(arena, 1, sizeof *out->index);
    if (out->index == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to match the kernels");
    }
    if (!measured_read(&out->index->measured, snapshot, arena, out->table_ids, out->table_count,
                       launches, err) ||
        !read_trace(out->index, snapshot, arena, trace_id, err) ||
        !match_names(out->index, arena, err) || !list_unmatched(out, arena, err)) {
        return false;
    }
    qsort(out->index->traced, out->index->traced_count, sizeof *out->index->traced,
          compare_full_names);
    return true;
}

/* ---- look-ups ---- */

static struct kernel_match_use unmatched_use(void)
{
    return (struct kernel_match_use){
        .tensor = (double)NAN,
        .dram = (double)NAN,
        .sm = (double)NAN,
        .use = USE_UNKNOWN,
        .headroom_ns = (double)NAN,
    };
}

static const struct measured_kernel *find_traced(const struct kernel_match *match,
                                                 const char *full_name)
{
    const struct kernel_match_index *index = match->index;
    if (index == NULL || index->traced_count == 0) {
        return NULL;
    }
    const struct traced key = {.full_name = full_name};
    const struct traced *found =
        bsearch(&key, index->traced, index->traced_count, sizeof key, compare_full_names);
    return found == NULL ? NULL : found->known->kernel;
}

struct kernel_match_use
query_kernel_match_name(const struct kernel_match *match, const char *full_name, int64_t total_ns)
{
    const struct measured_kernel *kernel = find_traced(match, full_name);
    return kernel == NULL ? unmatched_use() : measured_figures(&kernel->use, total_ns, false);
}

struct kernel_match_use query_kernel_match_launch(const struct kernel_match *match,
                                                  const char *full_name,
                                                  const char *grid,
                                                  const char *block,
                                                  int64_t total_ns)
{
    const struct measured_kernel *kernel = find_traced(match, full_name);
    if (kernel == NULL) {
        return unmatched_use();
    }
    const struct measured_launch *launch =
        measured_find_launch(&match->index->measured, kernel, grid, block);
    return launch == NULL ? measured_figures(&kernel->use, total_ns, false)
                          : measured_figures(&launch->use, total_ns, true);
}
