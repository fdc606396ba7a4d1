#include "server/cli/report/places.h"

#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/python_frame.h"
#include "server/cli/report/prose.h"

#include <stdlib.h>
#include <string.h>

/* ---- by source line ---- */

const char *place_source(const char *stack, struct arena *arena)
{
    const char *innermost = NULL;
    const char *library_line = NULL;
    for (const char *at = stack; at != NULL && *at != '\0';) {
        size_t len = strcspn(at, ";");
        const char *frame = arena_strndup(arena, at, len);
        struct python_frame parts;
        bool has_line = frame != NULL && python_frame_read(frame, &parts);
        if (frame == NULL || (has_line && !python_frame_is_library(frame))) {
            return frame;
        }
        innermost = innermost == NULL ? frame : innermost;
        library_line = library_line == NULL && has_line ? frame : library_line;
        at += len + (at[len] == ';');
    }
    return library_line == NULL ? innermost : library_line;
}

ORDER_BY(
    by_place, struct time_place, ORDER_TEXT(name), ORDER_TEXT(operator_name), ORDER_TEXT(source))

ORDER_BY(by_time, struct time_place, ORDER_DOWN(total_ns), ORDER_KEY(by_place(a, b)))

/* Joins equal places, which stand beside each other, in place. */
static size_t join(struct time_place *places, size_t count)
{
    size_t joined = 0;
    for (size_t i = 0; i < count; i++) {
        struct time_place *last = joined == 0 ? NULL : &places[joined - 1];
        if (last != NULL && by_place(last, &places[i]) == 0) {
            last->calls += places[i].calls;
            last->total_ns = saturating_add(last->total_ns, places[i].total_ns);
        } else {
            places[joined++] = places[i];
        }
    }
    return joined;
}

size_t time_places_find(const struct kernel_stacks *stacks,
                        size_t limit,
                        struct arena *arena,
                        struct time_place **out)
{
    *out = arena_calloc(arena, stacks->count + 1, sizeof **out);
    if (*out == NULL || stacks->count == 0) {
        return 0;
    }
    for (size_t i = 0; i < stacks->count; i++) {
        const struct kernel_stack *row = &stacks->rows[i];
        (*out)[i] =
            (struct time_place){row->name, row->operator_name, place_source(row->call_stack, arena),
                                row->calls, row->total_ns};
    }
    qsort(*out, stacks->count, sizeof **out, by_place);
    size_t count = join(*out, stacks->count);
    qsort(*out, count, sizeof **out, by_time);
    return count < limit ? count : limit;
}

/* ---- overlap ---- */

ORDER_BY(by_headroom, struct overlap, ORDER_DOWN(headroom_ns), ORDER_DOWN(device), ORDER_TEXT(what))

int64_t
overlap_headroom_ns(const struct device_time_block *window, int64_t total_ns, int64_t exposed_ns)
{
    int64_t hidden_ns = saturating_sub(total_ns, exposed_ns);
    return i64_min(exposed_ns, i64_max(0, saturating_sub(window->computation_ns, hidden_ns)));
}

static struct overlap overlap_of(const struct device_time_device *device,
                                 const char *what,
                                 int64_t total_ns,
                                 int64_t exposed_ns)
{
    const struct device_time_block *window = &device->blocks.window;
    return (struct overlap){device->device,
                            what,
                            total_ns,
                            exposed_ns,
                            overlap_headroom_ns(window, total_ns, exposed_ns),
                            saturating_sub(window->end_ns, window->start_ns)};
}

size_t overlaps_find(const struct device_time *times, struct arena *arena, struct overlap **out)
{
    size_t count = 0;
    *out = arena_calloc(arena, 2 * times->device_count + 1, sizeof **out);
    for (size_t i = 0; *out != NULL && i < times->device_count; i++) {
        const struct device_time_device *device = &times->devices[i];
        const struct device_time_block *window = &device->blocks.window;
        if (window->is_there && window->communication_ns > 0) {
            (*out)[count++] = overlap_of(device, "communication", window->communication_ns,
                                         window->exposed_communication_ns);
        }
        if (window->is_there && window->memcpy_ns > 0) {
            (*out)[count++] =
                overlap_of(device, "copies", window->memcpy_ns, window->exposed_memcpy_ns);
        }
    }
    if (count > 0) {
        qsort(*out, count, sizeof **out, by_headroom);
    }
    return count;
}

int64_t report_step_count(const struct trace_results *results,
                          const struct pipeline_details *details)
{
    size_t count = results_step_count(results);
    return (int64_t)(count > 0 ? count : details->engine_steps.count);
}

/* ---- the sections ---- */

void report_places(struct prose *p, const struct pipeline_details *details)
{
    struct time_place *places;
    size_t count = time_places_find(&details->stacks, PROSE_TOP_ROWS, &p->arena, &places);
    int64_t steps = report_step_count(p->results, details);
    if (count == 0) {
        return;
    }
    prose_heading(p, 3, "Where the time goes");
    PROSE_BEGIN_TABLE(p, TEXTS("device work"), TEXTS("launched by"), TEXTS("at"), NUMBERS("calls"),
                      NUMBERS("total"), NUMBERS_A_STEP(steps), NUMBERS("share"));
    for (size_t i = 0; i < count; i++) {
        prose_cell_name(p, places[i].name, TEXT_NAME_SHORT);
        prose_cell_clean(p, places[i].operator_name == NULL ? "-" : places[i].operator_name);
        prose_cell_source(p, places[i].source);
        prose_cell_count(p, places[i].calls);
        prose_cell_time(p, (double)places[i].total_ns);
        prose_cell_step(p, (double)places[i].total_ns, steps);
        prose_cell_share(
            p, prose_ratio((double)places[i].total_ns, (double)details->stacks.device_ns));
    }
    prose_end_table(p);
}

void report_overlaps(struct prose *p, const struct pipeline_details *details)
{
    struct overlap *overlaps;
    size_t count = overlaps_find(&details->device_time, &p->arena, &overlaps);
    int64_t steps = report_step_count(p->results, details);
    if (!details->device_time.blocks.window.is_there) {
        return;
    }
    prose_heading(p, 3, "Overlap headroom");
    if (count == 0) {
        prose_bullet(p, "neither communication nor copies: nothing to run beside computing");
        return;
    }
    PROSE_BEGIN_TABLE(p, NUMBERS("device"), TEXTS("what"), NUMBERS("time"), NUMBERS("exposed"),
                      NUMBERS("saved at most"), NUMBERS_A_STEP(steps), NUMBERS("of"),
                      NUMBERS("share"));
    for (size_t i = 0; i < count && i < PROSE_TOP_ROWS; i++) {
        const struct overlap *row = &overlaps[i];
        prose_cell_count(p, row->device);
        report_table_cell(&p->table, row->what);
        prose_cell_time(p, (double)row->total_ns);
        prose_cell_time(p, (double)row->exposed_ns);
        prose_cell_time(p, (double)row->headroom_ns);
        prose_cell_step(p, (double)row->headroom_ns, steps);
        prose_cell_time(p, (double)row->window_ns);
        prose_cell_share(p, prose_ratio((double)row->headroom_ns, (double)row->window_ns));
    }
    prose_end_table(p);
}
