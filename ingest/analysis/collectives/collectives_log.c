#include "ingest/analysis/classify/collective_kinds.h"
#include "ingest/analysis/classify/times.h"
#include "ingest/analysis/collectives/collectives.h"
#include "ingest/analysis/collectives/log.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

struct logging {
    struct collective_log *log;
    struct arena *arena;
    const struct collectives *collectives;
    const struct event_classes *sel;
    uint32_t *order; /* collectives by (start, -end) of their anchors */
    uint32_t *place; /* op by collective */
};

static const char *copy(struct logging *l, uint32_t text)
{
    const struct strtab *strings = l->sel->trace->strings;
    return arena_strndup(l->arena, strtab_text(strings, text), strtab_len(strings, text));
}

static const char *event_name(const struct logging *l, uint32_t event)
{
    return names_text(&l->sel->names, l->sel->name[event]);
}

/* What the host says goes before what a kernel is named. A `Collective name` that we do not know
 * stays as it is. */
static const char *name_of(struct logging *l, const struct collective *item)
{
    const struct trace *trace = l->sel->trace;
    const char *kind = NULL;
    if (item->args != COLLECTIVE_NOTHING) {
        uint32_t name = trace->collectives[item->args].name;
        kind = collective_kind(strtab_text(trace->strings, name));
        return kind == NULL ? copy(l, name) : kind;
    }
    if (item->named != COLLECTIVE_NOTHING) {
        kind = collective_kind_of_operator(event_name(l, item->named));
    } else if (item->kernel != COLLECTIVE_NOTHING) {
        kind = collective_kind_of_kernel(event_name(l, item->kernel));
    }
    return kind == NULL ? "other" : kind;
}

static int64_t args_bytes(const struct trace *trace, const struct collective_args *args)
{
    int64_t count = args->in_count > 0 ? args->in_count : args->out_count;
    int64_t size_bytes = args->dtype == STRTAB_NONE
                             ? 0
                             : collective_dtype_bytes(strtab_text(trace->strings, args->dtype));
    if (count <= 0 || size_bytes == 0) {
        return 0;
    }
    return count > INT64_MAX / size_bytes ? INT64_MAX : count * size_bytes;
}

static int64_t bytes_of(const struct logging *l, const struct collective *item)
{
    const struct trace *trace = l->sel->trace;
    int64_t size_bytes =
        item->args == COLLECTIVE_NOTHING ? 0 : args_bytes(trace, &trace->collectives[item->args]);
    if (size_bytes == 0 && item->named != COLLECTIVE_NOTHING) {
        size_bytes = collective_event_bytes(l->sel, item->named);
    }
    return size_bytes;
}

static bool write_op(struct logging *l, struct collective_op *op, const struct collective *item)
{
    op->name = name_of(l, item);
    op->size_bytes = bytes_of(l, item);
    if (item->args == COLLECTIVE_NOTHING) {
        return op->name != NULL;
    }
    const struct collective_args *args = &l->sel->trace->collectives[item->args];
    bool has_group = args->group != STRTAB_NONE;
    op->group = has_group ? copy(l, args->group) : NULL;
    op->group_size = args->group_size > 0 ? args->group_size : 0;
    return op->name != NULL && (op->group != NULL || !has_group);
}

static int by_anchor(uint32_t a, uint32_t b, const void *ctx)
{
    const struct logging *l = ctx;
    return times_compare(l->sel, l->collectives->items[a].anchor, l->collectives->items[b].anchor);
}

static bool order_collectives(struct logging *l)
{
    uint32_t count = l->collectives->count;
    l->order = scratch_alloc(count, sizeof *l->order);
    l->place = scratch_alloc(count, sizeof *l->place);
    if (l->order == NULL || l->place == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        l->order[i] = i;
    }
    if (!sort_stable(l->order, count, by_anchor, l)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        l->place[l->order[i]] = i;
    }
    return true;
}

static bool write_ops(struct logging *l)
{
    struct collective_log *log = l->log;
    log->op_count = l->collectives->count;
    log->ops = arena_calloc(l->arena, log->op_count, sizeof *log->ops);
    for (uint32_t i = 0; log->ops != NULL && i < log->op_count; i++) {
        const struct collective *item = &l->collectives->items[l->order[i]];
        log->ops[i].first_range = log->range_count;
        log->range_count += item->device_count > 0 ? item->device_count : 1;
        if (!write_op(l, &log->ops[i], item)) {
            return false;
        }
    }
    log->ranges = arena_calloc(l->arena, log->range_count, sizeof *log->ranges);
    return log->ops != NULL && log->ranges != NULL;
}

static void write_ranges(struct logging *l)
{
    const struct collectives *collectives = l->collectives;
    for (uint32_t i = 0; i < collectives->work_count; i++) {
        struct collective_op *op = &l->log->ops[l->place[collectives->work[i].collective]];
        collective_log_add_range(l->log, op, l->sel, collectives->work[i].event);
    }
    for (uint32_t i = 0; i < collectives->count; i++) {
        if (collectives->items[i].device_count == 0) {
            collective_log_add_range(l->log, &l->log->ops[l->place[i]], l->sel,
                                     collectives->items[i].anchor);
        }
    }
    collective_log_sort_ranges(l->log);
}

bool collectives_log(struct collective_log **out,
                     struct arena *arena,
                     const struct collectives *collectives,
                     const struct event_classes *sel,
                     const struct steps *steps)
{
    *out = NULL;
    if (collectives->count == 0) {
        return true;
    }
    struct logging l = {.log = arena_calloc(arena, 1, sizeof *l.log),
                        .arena = arena,
                        .collectives = collectives,
                        .sel = sel};
    bool ok = l.log != NULL && order_collectives(&l) && write_ops(&l);
    if (ok) {
        write_ranges(&l);
        uint32_t *events = l.place; /* done with */
        for (uint32_t i = 0; i < collectives->count; i++) {
            events[i] = collectives->items[l.order[i]].anchor;
        }
        collective_log_find_steps(l.log, sel, events, steps);
    }
    SCRATCH_FREE(l.order, l.place);
    *out = ok ? l.log : NULL;
    return ok;
}
