#include "ingest/analysis/memory/view.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#include <stdlib.h>
#include <string.h>

/* Sums of a device's records in the rows before one: a subtree is the difference of two. */
struct sums {
    int64_t records;
    int64_t size_bytes;
    int64_t allocations;
    int64_t allocated_bytes;
};

struct counting {
    struct memory_stats *out;
    struct arena *arena;
    const struct call_tree *tree;
    const struct memory_log *log;
    struct memory_window window;
    uint8_t *is_open;  /* by row: the walk looked into it, so that its records count */
    uint8_t *is_real;  /* by row: it was met and is a real operator */
    int64_t *calls;    /* by name */
    struct sums *sums; /* by row, one more than there are */
    uint32_t *order;   /* names in the order of their texts */
    struct memory_stat_row *by_name;
    uint8_t *is_there; /* by name: it has a row for this device */
};

/* Subtrees outside the window are not looked at; nor are those without a record, which count as one
 * call [TB-13.6]. */
static void open_rows(struct counting *c, const struct call_thread *thread)
{
    const struct call_tree *tree = c->tree;
    uint32_t row = thread->first;
    while (row < thread->end) {
        if (tree->stop[row] < c->window.start || tree->start[row] > c->window.end) {
            row = tree->end[row];
            continue;
        }
        if ((tree->flags[row] & CALL_IS_REAL) != 0) {
            c->is_real[row] = 1;
            c->calls[tree->name[row]]++;
        }
        c->is_open[row] = c->log->visited[row];
        row = c->log->visited[row] != 0 ? row + 1 : tree->end[row];
    }
}

static void add_record(struct sums *own, int64_t size_bytes)
{
    own->records++;
    own->size_bytes = saturating_add(own->size_bytes, size_bytes);
    if (size_bytes > 0) {
        own->allocations++;
        own->allocated_bytes = saturating_add(own->allocated_bytes, size_bytes);
    }
}

/* False: the device has no record that counts. `to` learns which is its first. */
static bool sum_records(struct counting *c, uint32_t device, struct memory_stat_device *to)
{
    const struct memory_log *log = c->log;
    bool any = false;
    memset(c->sums, 0, ((size_t)c->tree->node_count + 1) * sizeof *c->sums);
    for (uint32_t at = 0; at < log->count; at++) {
        uint32_t row = log->node[at];
        bool is_inside = log->ts[at] >= c->window.start && log->ts[at] <= c->window.end;
        if (log->device[at] == device && is_inside && row != CALL_NONE && c->is_open[row] != 0) {
            add_record(&c->sums[row + 1], log->size_bytes[at]);
            if (!any || row < to->first_call) {
                to->first_call = row;
                to->first_record = at;
            }
            any = true;
        }
    }
    for (uint32_t row = 0; any && row < c->tree->node_count; row++) {
        struct sums *next = &c->sums[row + 1];
        const struct sums *before = &c->sums[row];
        next->records += before->records;
        next->size_bytes = saturating_add(next->size_bytes, before->size_bytes);
        next->allocations += before->allocations;
        next->allocated_bytes = saturating_add(next->allocated_bytes, before->allocated_bytes);
    }
    return any;
}

static void add_row(struct counting *c, uint32_t row)
{
    const struct sums *from = &c->sums[row];
    const struct sums *own = &c->sums[row + 1];
    const struct sums *total = &c->sums[c->tree->end[row]];
    uint32_t name = c->tree->name[row];
    struct memory_stat_row *to = &c->by_name[name];
    if (c->is_open[row] == 0 || total->records == from->records) {
        return;
    }
    c->is_there[name] = 1;
    to->size_bytes =
        saturating_add(to->size_bytes, saturating_sub(total->size_bytes, from->size_bytes));
    to->self_size_bytes =
        saturating_add(to->self_size_bytes, saturating_sub(own->size_bytes, from->size_bytes));
    to->allocations += total->allocations - from->allocations;
    to->self_allocations += own->allocations - from->allocations;
    to->allocated_bytes = saturating_add(
        to->allocated_bytes, saturating_sub(total->allocated_bytes, from->allocated_bytes));
    to->self_allocated_bytes = saturating_add(
        to->self_allocated_bytes, saturating_sub(own->allocated_bytes, from->allocated_bytes));
}

static bool is_shown(const struct counting *c, uint32_t name)
{
    const struct memory_stat_row *row = &c->by_name[name];
    bool is_zero = row->size_bytes == 0 && row->self_size_bytes == 0 && row->allocations == 0 &&
                   row->self_allocations == 0 && row->allocated_bytes == 0 &&
                   row->self_allocated_bytes == 0;
    return c->is_there[name] != 0 && !is_zero;
}

static bool write_device(struct counting *c, const char *device, struct memory_stat_device *to)
{
    const struct call_tree *tree = c->tree;
    memset(c->by_name, 0, tree->name_count * sizeof *c->by_name);
    memset(c->is_there, 0, tree->name_count);
    for (uint32_t row = 0; row < tree->node_count; row++) {
        if (c->is_real[row] != 0) {
            add_row(c, row);
        }
    }
    size_t count = 0;
    for (uint32_t name = 0; name < tree->name_count; name++) {
        count += is_shown(c, name);
    }
    to->device = device;
    to->rows = arena_calloc(c->arena, count + 1, sizeof *to->rows);
    for (uint32_t i = 0; to->rows != NULL && i < tree->name_count; i++) {
        uint32_t name = c->order[i];
        if (is_shown(c, name)) {
            struct memory_stat_row *row = &to->rows[to->row_count++];
            *row = c->by_name[name];
            row->name = tree->names[name];
            row->calls = c->calls[name];
        }
    }
    return to->rows != NULL;
}

static int compare_texts(const void *left, const void *right)
{
    const char *const *const *a = left;
    const char *const *const *b = right;
    return strcmp(**a, **b);
}

/* Indices of texts in the order of the texts. */
static bool order_texts(uint32_t *order, const char *const *texts, uint32_t count)
{
    const char *const **places = scratch_alloc(count, sizeof *places);
    if (places == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        places[i] = &texts[i];
    }
    qsort((void *)places, count, sizeof *places, compare_texts);
    for (uint32_t i = 0; i < count; i++) {
        order[i] = (uint32_t)(places[i] - texts);
    }
    scratch_free((void *)places);
    return true;
}

static bool prepare(struct counting *c)
{
    size_t names = c->tree->name_count;
    size_t rows = (size_t)c->tree->node_count + 1;
    c->is_open = scratch_calloc(rows, sizeof *c->is_open);
    c->is_real = scratch_calloc(rows, sizeof *c->is_real);
    c->sums = scratch_alloc(rows, sizeof *c->sums);
    c->calls = scratch_calloc(names, sizeof *c->calls);
    c->order = scratch_alloc(names, sizeof *c->order);
    c->by_name = scratch_alloc(names, sizeof *c->by_name);
    c->is_there = scratch_alloc(names, sizeof *c->is_there);
    c->out->devices =
        arena_calloc(c->arena, (size_t)c->log->device_count + 1, sizeof *c->out->devices);
    return c->is_open != NULL && c->is_real != NULL && c->sums != NULL && c->calls != NULL &&
           c->order != NULL && c->by_name != NULL && c->is_there != NULL &&
           c->out->devices != NULL && order_texts(c->order, c->tree->names, c->tree->name_count);
}

static bool count_devices(struct counting *c)
{
    const struct memory_log *log = c->log;
    uint32_t *order = scratch_alloc(log->device_count, sizeof *order);
    bool ok = order != NULL && order_texts(order, log->devices, log->device_count);
    for (uint32_t i = 0; ok && i < log->device_count; i++) {
        const char *device = log->devices[order[i]];
        struct memory_stat_device *to = &c->out->devices[c->out->device_count];
        if (device[0] != '\0' && sum_records(c, order[i], to)) {
            ok = write_device(c, device, to);
            c->out->device_count++;
        }
    }
    scratch_free(order);
    return ok;
}

bool memory_stats_run(struct memory_stats *out,
                      struct arena *arena,
                      const struct call_tree *tree,
                      const struct memory_log *log,
                      struct memory_window window)
{
    struct counting c = {.out = out, .arena = arena, .tree = tree, .log = log, .window = window};
    *out = (struct memory_stats){0};
    bool ok = prepare(&c);
    for (uint32_t t = 0; ok && t < tree->thread_count; t++) {
        if (t != tree->profile_thread) {
            open_rows(&c, &tree->threads[t]);
        }
    }
    ok = ok && count_devices(&c);
    SCRATCH_FREE(c.is_open, c.is_real, c.sums, c.calls, c.order, c.by_name, c.is_there);
    return ok;
}
