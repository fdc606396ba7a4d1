#include "ingest/analysis/health.h"

#include "ingest/analysis/id_map.h"
#include "ingest/analysis/scratch.h"

/* ---- views ---- */

/* Values in the map of Python ids: the last event with the id. */
struct frames {
    const struct selection *sel;
    struct id_map by_id;
    bool *is_parent; /* by number of the id */
    bool *is_seen;   /* by event */
};

static bool is_frame(const struct selection *sel, uint32_t event)
{
    return sel->type[event] == TYPE_MODULE || sel->type[event] == TYPE_PYTHON_FUNCTION;
}

/* Python id and Python parent id stand in the columns of correlation and external id. */
static bool read_frames(struct frames *f)
{
    const struct selection *sel = f->sel;
    const struct trace_events *events = &sel->trace->events;
    size_t count = (size_t)sel->type_count[TYPE_MODULE] + sel->type_count[TYPE_PYTHON_FUNCTION];
    f->is_parent = scratch_calloc(count * 2, sizeof *f->is_parent);
    f->is_seen = scratch_calloc(events->count, sizeof *f->is_seen);
    bool ok = f->is_parent != NULL && f->is_seen != NULL;
    for (uint32_t i = 0; ok && i < sel->order_count; i++) {
        uint32_t event = sel->order[i];
        if (!is_frame(sel, event)) {
            continue;
        }
        struct id_slot *own = id_map_add(&f->by_id, events->correlation[event]);
        if (own != NULL) {
            own->value = event;
        }
        const struct id_slot *parent = id_map_add(&f->by_id, events->external_id[event]);
        ok = own != NULL && parent != NULL;
        if (ok) {
            f->is_parent[parent->index] = true;
        }
    }
    return ok;
}

/* Whether the chain of parents above a leaf, the leaf included, meets a module. Frames that other
 * chains passed, or that stand on a circle, are not passed again. */
static bool chain_has_module(struct frames *f, uint32_t leaf)
{
    uint32_t event = leaf;
    while (event != ID_MAP_NONE && !f->is_seen[event]) {
        if (f->sel->type[event] == TYPE_MODULE) {
            return true;
        }
        f->is_seen[event] = true;
        int64_t parent = f->sel->trace->events.external_id[event];
        const struct id_slot *slot = id_map_find(&f->by_id, parent);
        event = slot == NULL ? ID_MAP_NONE : slot->value;
    }
    return false;
}

/* Section 14: the hierarchy is found by walking up from the leaves; without one that ends in a
 * module it is empty. */
static bool has_module_tree(const struct selection *sel, bool *found)
{
    struct frames f = {.sel = sel};
    id_map_init(&f.by_id);
    *found = false;
    bool ok = sel->type_count[TYPE_MODULE] == 0 || read_frames(&f);
    for (uint32_t i = 0; ok && !*found && f.is_seen != NULL && i < sel->order_count; i++) {
        uint32_t event = sel->order[i];
        if (!is_frame(sel, event)) {
            continue;
        }
        const struct id_slot *slot = id_map_find(&f.by_id, sel->trace->events.correlation[event]);
        bool is_leaf = slot != NULL && !f.is_parent[slot->index];
        *found = is_leaf && chain_has_module(&f, event);
    }
    id_map_free(&f.by_id);
    free(f.is_parent);
    free(f.is_seen);
    return ok;
}

bool health_find_views(struct trace_results *results, const struct selection *sel)
{
    bool has_modules = sel->lightning && sel->type_count[TYPE_PL_MODULE] > 0;
    if (!sel->lightning && !has_module_tree(sel, &has_modules)) {
        return false;
    }
    results->views = 1u << VIEW_OVERVIEW | 1u << VIEW_OPERATOR | 1u << VIEW_TRACE;
    results->views |= results->has_kernel ? 1u << VIEW_KERNEL : 0;
    results->views |= sel->type_count[TYPE_MEMORY] > 0 ? 1u << VIEW_MEMORY : 0;
    if (has_modules) {
        results->views |= 1u << (sel->lightning ? VIEW_LIGHTNING : VIEW_MODULE);
    }
    return true;
}

/* ---- environment ---- */

static const char *copy(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

bool health_copy_environment(struct trace_results *results, const struct trace *trace)
{
    struct environment_row *rows = arena_calloc(&results->arena, trace->meta_count, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < trace->meta_count; i++) {
        const char *value = trace->meta[i].value == NULL ? "" : trace->meta[i].value;
        rows[i].name = copy(&results->arena, trace->meta[i].key);
        rows[i].value = copy(&results->arena, value);
        if (rows[i].name == NULL || rows[i].value == NULL) {
            return false;
        }
    }
    results->environment = rows;
    results->environment_count = trace->meta_count;
    return true;
}

/* ---- what is missing ---- */

enum missing {
    NO_STEPS,
    NO_KERNELS,
    NO_SHAPES,
    NO_STACKS,
    NO_MODULES,
    NO_MEMORY,
    NO_COMMUNICATION,
    MISSING_COUNT
};

static const struct missing_row MISSING[MISSING_COUNT] = {
    [NO_STEPS] = {"steps", "No ProfilerStep# events: the whole recording counts as one step.",
                  "schedule=torch.profiler.schedule(wait=1, warmup=1, active=3), and prof.step() "
                  "once a step"},
    [NO_KERNELS] = {"kernels", "No work on a device was recorded.",
                    "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
    [NO_SHAPES] = {"shapes", "No operator has input shapes.", "record_shapes=True"},
    [NO_STACKS] = {"call_stacks", "No operator has a call stack.", "with_stack=True"},
    [NO_MODULES] = {"modules", "No module calls were recorded.",
                    "with_stack=True, with_modules=True"},
    [NO_MEMORY] = {"memory", "No [memory] records.", "profile_memory=True"},
    [NO_COMMUNICATION] = {"distributed", "No collective operations were recorded.",
                          "a trace of each process of a torch.distributed run"},
};

static bool has_shapes(const struct trace_results *results)
{
    for (size_t i = 0; i < results->operator_count[OPERATOR_BY_NAME_SHAPE]; i++) {
        const char *shape = results->operators[OPERATOR_BY_NAME_SHAPE][i].input_shape;
        if (strcmp(shape, "[]") != 0 && strcmp(shape, "None") != 0) {
            return true;
        }
    }
    return false;
}

bool health_find_missing(struct trace_results *results, const struct selection *sel)
{
    const bool is_missing[MISSING_COUNT] = {
        [NO_STEPS] = !results->has_profiler_steps,
        [NO_KERNELS] = sel->type_count[TYPE_KERNEL] == 0,
        [NO_SHAPES] = !has_shapes(results),
        [NO_STACKS] = results->operator_count[OPERATOR_BY_NAME_STACK] == 0 &&
                      sel->type_count[TYPE_PYTHON_FUNCTION] == 0,
        [NO_MODULES] = (results->views & (1u << VIEW_MODULE | 1u << VIEW_LIGHTNING)) == 0,
        [NO_MEMORY] = sel->type_count[TYPE_MEMORY] == 0,
        [NO_COMMUNICATION] = !results->has_communication && results->collective_count == 0,
    };
    results->missing = arena_calloc(&results->arena, MISSING_COUNT, sizeof *results->missing);
    if (results->missing == NULL) {
        return false;
    }
    for (int i = 0; i < MISSING_COUNT; i++) {
        if (is_missing[i]) {
            results->missing[results->missing_count++] = MISSING[i];
        }
    }
    return true;
}
