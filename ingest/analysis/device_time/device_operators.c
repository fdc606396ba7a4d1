#include "ingest/analysis/device_time/device_operators.h"

#include "ingest/analysis/kernel_classes/work_classes.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/index.h"

#include <stdlib.h>
#include <string.h>

struct row {
    enum device_owner owner;
    uint32_t name; /* string id */
    int64_t calls, kernels, device_ns;
};

/* What a row has of a class. */
struct part {
    uint32_t row, class_number;
    int64_t device_ns;
};

struct accounting {
    const struct trace_index *index;
    struct work_classes classes;
    struct id_map row_of; /* by owner and name */
    struct row *rows;
    size_t row_count, row_cap;
    struct id_map part_of; /* by row and class */
    struct part *parts;
    size_t part_count, part_cap;
    bool *is_counted; /* by event: an operator whose call is in `calls` */
};

static bool find_row(struct accounting *a, enum device_owner owner, uint32_t name, uint32_t *out)
{
    struct id_slot *slot = id_map_add(&a->row_of, (int64_t)owner << 32 | name);
    if (slot == NULL) {
        return false;
    }
    if (slot->value == ID_MAP_NONE) {
        struct row *grown = scratch_grow(a->rows, a->row_count, &a->row_cap, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        a->rows = grown;
        grown[a->row_count] = (struct row){.owner = owner, .name = name};
        slot->value = (uint32_t)a->row_count++;
    }
    *out = slot->value;
    return true;
}

static bool add_part(struct accounting *a, uint32_t row, uint32_t class_number, int64_t device_ns)
{
    struct id_slot *slot = id_map_add(&a->part_of, (int64_t)row << 32 | class_number);
    if (slot == NULL) {
        return false;
    }
    if (slot->value == ID_MAP_NONE) {
        struct part *grown = scratch_grow(a->parts, a->part_count, &a->part_cap, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        a->parts = grown;
        grown[a->part_count] = (struct part){.row = row, .class_number = class_number};
        slot->value = (uint32_t)a->part_count++;
    }
    struct part *part = &a->parts[slot->value];
    part->device_ns = saturating_add(part->device_ns, device_ns);
    return true;
}

/* Adds a piece of device work to a row, unless it is none after all. */
static bool add_work(struct accounting *a, uint32_t row, uint32_t event)
{
    const struct work_name *name =
        &a->classes.names[work_classes_name(&a->classes, a->index, event)];
    int64_t device_ns = trace_dur_ns(&a->index->trace->events, event);
    a->rows[row].kernels++;
    a->rows[row].device_ns = saturating_add(a->rows[row].device_ns, device_ns);
    return add_part(a, row, name->class_number, device_ns);
}

static bool is_sync(const struct accounting *a, uint32_t event)
{
    return a->classes.names[work_classes_name(&a->classes, a->index, event)].is_sync;
}

/* Whose the work of a call is: `*caller` is the operator, or the call itself. */
static enum device_owner owner_of(const struct trace_index *index, uint32_t call, uint32_t *caller)
{
    const struct trace *trace = index->trace;
    *caller = call;
    if (strstr(strtab_text(trace->strings, trace->events.name[call]), "GraphLaunch") != NULL) {
        return DEVICE_OWNER_GRAPH_LAUNCH;
    }
    if (index->op[call] == INDEX_NONE) {
        return DEVICE_OWNER_CALL;
    }
    *caller = index->op[call];
    return DEVICE_OWNER_OPERATOR;
}

static bool add_launched(struct accounting *a)
{
    const struct trace_index *index = a->index;
    for (uint32_t i = 0; i < index->launched_count; i++) {
        uint32_t event = index->launched[i];
        uint32_t caller = 0;
        uint32_t row = 0;
        if (is_sync(a, event)) {
            continue;
        }
        enum device_owner owner = owner_of(index, index->launch[event], &caller);
        if (!find_row(a, owner, index->trace->events.name[caller], &row) ||
            !add_work(a, row, event)) {
            return false;
        }
        a->rows[row].calls += !a->is_counted[caller];
        a->is_counted[caller] = true;
    }
    return true;
}

static bool add_not_recorded(struct accounting *a)
{
    const struct trace_index *index = a->index;
    for (uint32_t i = 0; i < index->device_count; i++) {
        uint32_t event = index->device_work[i];
        uint32_t row = 0;
        if (index->launch[event] != INDEX_NONE || is_sync(a, event)) {
            continue;
        }
        if (!find_row(a, DEVICE_OWNER_NOT_RECORDED, 0, &row) || !add_work(a, row, event)) {
            return false;
        }
        a->rows[row].calls = 1;
    }
    return true;
}

/* ---- rows ---- */

/* The class with the largest part of each row; of equal ones the first by name. */
static void find_main_classes(const struct accounting *a, const struct part **best)
{
    for (size_t i = 0; i < a->part_count; i++) {
        const struct part *part = &a->parts[i];
        const struct part *before = best[part->row];
        bool is_larger = before == NULL || part->device_ns > before->device_ns;
        bool is_equal = before != NULL && part->device_ns == before->device_ns;
        if (is_larger || (is_equal && strcmp(a->classes.classes[part->class_number],
                                             a->classes.classes[before->class_number]) < 0)) {
            best[part->row] = part;
        }
    }
}

static int compare_rows(const void *left, const void *right)
{
    const struct device_operator *a = left;
    const struct device_operator *b = right;
    if (a->device_ns != b->device_ns) {
        return a->device_ns > b->device_ns ? -1 : 1;
    }
    int order = strcmp(device_owner_text(a->owner), device_owner_text(b->owner));
    return order != 0 ? order : strcmp(a->name, b->name);
}

static bool
write_rows(const struct accounting *a, struct arena *arena, struct device_operators *out)
{
    const struct part **best = scratch_calloc(a->row_count, sizeof(struct part *));
    out->rows = arena_calloc(arena, a->row_count + 1, sizeof *out->rows);
    bool ok = best != NULL && out->rows != NULL;
    if (ok) {
        find_main_classes(a, best);
    }
    for (size_t i = 0; ok && i < a->row_count; i++) {
        const struct row *row = &a->rows[i];
        const char *name = strtab_text(a->index->trace->strings, row->name);
        const char *class = a->classes.classes[best[i]->class_number];
        out->rows[i] = (struct device_operator){
            .owner = row->owner,
            .name = arena_strndup(arena, name, strlen(name)),
            .class = class,
            .calls = row->calls,
            .kernels = row->kernels,
            .device_ns = row->device_ns,
        };
        out->device_ns = saturating_add(out->device_ns, row->device_ns);
        ok = out->rows[i].name != NULL;
    }
    scratch_free((void *)best);
    if (ok) {
        out->count = a->row_count;
        qsort(out->rows, out->count, sizeof *out->rows, compare_rows);
    }
    return ok;
}

static bool analyse(struct accounting *a,
                    const struct kernel_rules *own,
                    struct arena *arena,
                    struct device_operators *out)
{
    a->is_counted = scratch_calloc(a->index->trace->events.count, sizeof *a->is_counted);
    return a->is_counted != NULL && work_classes_build(&a->classes, a->index, own) &&
           add_launched(a) && add_not_recorded(a) && write_rows(a, arena, out);
}

bool device_operators_analyse(const struct trace *trace,
                              const struct kernel_rules *own,
                              struct arena *arena,
                              struct device_operators *out)
{
    struct trace_index index;
    struct accounting a = {.index = &index};
    *out = (struct device_operators){.count = 0};
    id_map_init(&a.row_of);
    id_map_init(&a.part_of);
    bool ok = index_build(&index, trace) && analyse(&a, own, arena, out);
    index_free(&index);
    work_classes_free(&a.classes);
    id_map_free(&a.row_of);
    id_map_free(&a.part_of);
    scratch_free(a.rows);
    scratch_free(a.parts);
    scratch_free(a.is_counted);
    return ok;
}

const char *device_owner_text(enum device_owner owner)
{
    static const char *const texts[DEVICE_OWNER_COUNT] = {"call", "graph_launch",
                                                          "launch_not_recorded", "operator"};
    return texts[owner];
}
