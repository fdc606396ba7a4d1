#include "ingest/analysis/steps/step_work.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <math.h>
#include <stdlib.h>

/* ---- steps ---- */

/* Work comes in order of time, so that a step's span grows at its end. */
static void add_to_step(struct step_row *row, int64_t start_ns, int64_t end_ns)
{
    bool is_first = row->device_start_ns == RESULTS_NO_TIME;
    int64_t free_ns = is_first ? start_ns : i64_max(start_ns, row->device_end_ns);
    row->device_start_ns = is_first ? start_ns : row->device_start_ns;
    row->device_end_ns = is_first ? end_ns : i64_max(row->device_end_ns, end_ns);
    row->device_ns = saturating_add(row->device_ns, saturating_sub(end_ns, start_ns));
    row->device_busy_ns = saturating_add(row->device_busy_ns, i64_max(end_ns - free_ns, 0));
}

static void
fill_steps(struct step_row *rows, const struct event_classes *sel, const struct trace_index *index)
{
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    const struct trace_events *events = &sel->trace->events;
    for (uint32_t i = 0; i < index->step_count; i++) {
        rows[i].device_start_ns = RESULTS_NO_TIME;
        rows[i].device_end_ns = RESULTS_NO_TIME;
    }
    for (uint32_t i = 0; i < work.count; i++) {
        uint32_t step = index->step[work.items[i]];
        if (step != INDEX_NONE) {
            add_to_step(&rows[step], events->ts_ns[work.items[i]],
                        times_end_ns(events, work.items[i]));
        }
    }
    for (uint32_t i = 0; i < index->step_count; i++) {
        if (rows[i].device_start_ns != RESULTS_NO_TIME) {
            rows[i].device_start_ns = times_position(sel, rows[i].device_start_ns);
            rows[i].device_end_ns = times_position(sel, rows[i].device_end_ns);
        }
    }
}

/* ---- devices ---- */

/* More devices than this are a trace gone wrong. */
#define DEVICES_MAX 1024

/* Of the device of an event; *use is NULL where there is none. False without memory. */
static bool find_use(struct device_uses *uses,
                     const struct trace *trace,
                     uint32_t event,
                     struct device_use **use)
{
    int64_t id = index_device(trace, event);
    *use = NULL;
    if (id == TRACE_NO_ID ||
        (uses->place_of.count >= DEVICES_MAX && id_map_find(&uses->place_of, id) == NULL)) {
        return true;
    }
    struct id_slot *slot = id_map_add(&uses->place_of, id);
    if (slot == NULL) {
        return false;
    }
    if (slot->value == ID_MAP_NONE) {
        struct device_use *grown =
            scratch_grow(uses->items, slot->index, &uses->cap, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        uses->items = grown;
        slot->value = slot->index;
        grown[slot->index] =
            (struct device_use){.id = id, .start_ns = INT64_MAX, .end_ns = INT64_MIN};
    }
    *use = &uses->items[slot->value];
    return true;
}

static bool find_windows(struct device_uses *uses,
                         const struct event_classes *sel,
                         const struct trace_index *index)
{
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    int64_t end_ns = INT64_MIN;
    for (uint32_t i = 0; i < index->step_count; i++) {
        end_ns = i64_max(end_ns, index->steps[i].end_ns);
    }
    for (uint32_t i = 0; i < work.count; i++) {
        uint32_t event = work.items[i];
        struct device_use *use = NULL;
        if (!find_use(uses, sel->trace, event, &use)) {
            return false;
        }
        if (use == NULL) {
            continue;
        }
        bool counts = index->step_count == 0 || index->step[event] != INDEX_NONE;
        int64_t start_ns =
            index->step_count == 0 ? sel->trace->events.ts_ns[event] : index->steps[0].start_ns;
        use->start_ns = i64_min(use->start_ns, start_ns);
        use->end_ns = i64_max(use->end_ns, end_ns);
        use->end_ns =
            counts ? i64_max(use->end_ns, times_end_ns(&sel->trace->events, event)) : use->end_ns;
    }
    return true;
}

static void find_busy_time(struct device_uses *uses, const struct event_classes *sel)
{
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    for (size_t i = 0; i < uses->place_of.count; i++) {
        uses->items[i].covered_ns = uses->items[i].start_ns;
    }
    for (uint32_t i = 0; i < work.count; i++) {
        int64_t id = index_device(sel->trace, work.items[i]);
        const struct id_slot *slot = id == TRACE_NO_ID ? NULL : id_map_find(&uses->place_of, id);
        if (slot == NULL) {
            continue;
        }
        struct device_use *use = &uses->items[slot->value];
        int64_t from_ns = i64_max(use->covered_ns, sel->trace->events.ts_ns[work.items[i]]);
        int64_t to_ns = i64_min(use->end_ns, times_end_ns(&sel->trace->events, work.items[i]));
        if (to_ns > from_ns) {
            use->busy_ns += to_ns - from_ns;
            use->covered_ns = to_ns;
        }
        if (sel->class[work.items[i]] == INDEX_KERNEL) {
            int64_t dur_ns = trace_dur_ns(&sel->trace->events, work.items[i]);
            bool is_used = (sel->names.flags[sel->name[work.items[i]]] & NAME_TENSOR_KERNEL) != 0;
            use->kernel_ns = saturating_add(use->kernel_ns, dur_ns);
            use->matrix_ns = saturating_add(use->matrix_ns, is_used ? dur_ns : 0);
        }
    }
}

bool step_work_run(struct step_row *rows,
                   struct device_uses *uses,
                   const struct event_classes *sel,
                   const struct trace_index *index)
{
    *uses = (struct device_uses){.cap = 0};
    id_map_init(&uses->place_of);
    if (index->step_count > 0) {
        fill_steps(rows, sel, index);
    }
    if (!find_windows(uses, sel, index)) {
        return false;
    }
    find_busy_time(uses, sel);
    return true;
}

void device_uses_free(struct device_uses *uses)
{
    id_map_free(&uses->place_of);
    scratch_free(uses->items);
    *uses = (struct device_uses){.cap = 0};
}

/* ---- rows ---- */

ORDER_BY(compare_ids, struct device_row, ORDER_UP(id))

static void set_shares(struct device_row *row, const struct device_use *use, bool mlu)
{
    int64_t total_ns = saturating_sub(use->end_ns, use->start_ns);
    row->utilisation = total_ns > 0 ? (double)use->busy_ns / (double)total_ns : (double)NAN;
    if (use->kernel_ns > 0 && !mlu) { /* the fork has no Tensor Cores [TB-17e] */
        row->tensor_share = (double)use->matrix_ns / (double)use->kernel_ns;
    }
}

bool step_work_fill_devices(struct trace_results *results, const struct device_uses *uses)
{
    size_t count = uses->place_of.count;
    struct device_row *rows = arena_calloc(&results->arena, count + 1, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        rows[i] = device_row_unknown(uses->items[i].id);
        for (size_t k = 0; k < results->device_count; k++) {
            rows[i] = results->devices[k].id == rows[i].id ? results->devices[k] : rows[i];
        }
        set_shares(&rows[i], &uses->items[i], results->mlu);
    }
    qsort(rows, count, sizeof *rows, compare_ids);
    results->devices = rows;
    results->device_count = count;
    return true;
}
