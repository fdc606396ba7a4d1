#include "server/cli/report/gains.h"

#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "server/cli/report/places.h"
#include "server/cli/report/prose.h"

#include <stdlib.h>
#include <string.h>

/* Of the names on the path, and of the operators above their roofline. */
#define EACH 5

struct list {
    struct gain *gains;
    size_t count;
    struct arena *arena;
};

static void add(struct list *list, struct gain gain)
{
    if (gain.saved_ns > 0 && list->count < GAINS_MAX) {
        list->gains[list->count++] = gain;
    }
}

/* ---- each kind ---- */

/* In words, for people. */
static const char *host_label(enum host_kind kind)
{
    static const char *const labels[HOST_KIND_COUNT] = {
        [HOST_SYNCHRONISATION] = "waits for the device", [HOST_DATA_LOADING] = "loading data",
        [HOST_OPERATOR] = "work inside operators",       [HOST_RUNTIME] = "calls of the runtime",
        [HOST_PYTHON] = "Python between operators",      [HOST_NOTHING] = "what was not recorded",
        [HOST_UNKNOWN] = "launches not recorded",
    };
    return labels[kind];
}

/* By what the host did, of the device that waited longest. */
static void add_idle(struct list *list, const struct pipeline_details *details)
{
    const struct idle *idle = &details->idle;
    const struct idle_lane *most = NULL;
    for (size_t i = 0; i < idle->device_count; i++) {
        const struct idle_lane *lane = &idle->devices[i];
        most = most == NULL || lane->idle_ns > most->idle_ns ? lane : most;
    }
    for (int i = 0; most != NULL && i < HOST_KIND_COUNT; i++) {
        add(list, (struct gain){.what = "on the host no longer delay the device",
                                .name = host_kind_text((enum host_kind)i),
                                .label = host_label((enum host_kind)i),
                                .source = place_source(details->idle_stacks[i], list->arena),
                                .kind = "idle",
                                .saved_ns = most->host_ns[i],
                                .of_ns = saturating_add(most->busy_ns, most->idle_ns)});
    }
}

static void add_overlap(struct list *list, const struct device_time_block *window)
{
    int64_t of_ns = saturating_sub(window->end_ns, window->start_ns);
    if (window->is_there) {
        add(list, (struct gain){.what = "run beside computing",
                                .name = "communication",
                                .kind = "overlap",
                                .saved_ns = overlap_headroom_ns(window, window->communication_ns,
                                                                window->exposed_communication_ns),
                                .of_ns = of_ns});
        add(list, (struct gain){.what = "run beside computing",
                                .name = "copies",
                                .kind = "overlap",
                                .saved_ns = overlap_headroom_ns(window, window->memcpy_ns,
                                                                window->exposed_memcpy_ns),
                                .of_ns = of_ns});
    }
}

ORDER_BY(compare_gains, struct gain, ORDER_DOWN(saved_ns))

/* Keeps the largest of those from `first` on. */
static void keep_largest(struct list *list, size_t first)
{
    qsort(list->gains + first, list->count - first, sizeof *list->gains, compare_gains);
    list->count = list->count - first > EACH ? first + EACH : list->count;
}

static void add_path(struct list *list, const struct pipeline_details *details)
{
    const struct critical_path *path = &details->path;
    size_t first = list->count;
    for (size_t i = 0; i < path->gain_count; i++) {
        add(list, (struct gain){.what = "take no time",
                                .name = path->gains[i].name,
                                .source = place_source(details->path_stacks[i], list->arena),
                                .kind = "critical_path",
                                .saved_ns = path->gains[i].saved_at_most_ns,
                                .of_ns = path->length_ns});
    }
    keep_largest(list, first);
}

/* Where an operator itself launches the most work, else where its longest call is. */
static const char *
source_of_operator(const struct pipeline_details *details, size_t row_number, struct arena *arena)
{
    const char *name = details->efficiency.rows[row_number].name;
    const struct kernel_stack *most = NULL;
    for (size_t i = 0; i < details->stacks.count; i++) {
        const struct kernel_stack *row = &details->stacks.rows[i];
        bool is_it = row->operator_name != NULL && strcmp(row->operator_name, name) == 0;
        bool is_more = most == NULL || row->total_ns > most->total_ns;
        most = is_it && is_more ? row : most;
    }
    return place_source(most == NULL ? details->operator_stacks[row_number] : most->call_stack,
                        arena);
}

static void add_rooflines(struct list *list, const struct pipeline_details *details)
{
    const struct efficiency *efficiency = &details->efficiency;
    struct gain largest[EACH + 1];
    struct list best = {largest, 0, list->arena};
    for (size_t i = 0; i < efficiency->count; i++) {
        const struct efficiency_row *row = &efficiency->rows[i];
        if (row->headroom_ns >= 1 && row->headroom_ns < 0x1p63) {
            largest[best.count++] = (struct gain){.what = "run at the device's peaks",
                                                  .name = row->name,
                                                  .kind = "roofline",
                                                  .saved_ns = (int64_t)row->headroom_ns,
                                                  .of_ns = efficiency->time_ns};
            keep_largest(&best, 0);
        }
    }
    for (size_t i = 0; i < best.count; i++) {
        size_t row_number = 0;
        while (efficiency->rows[row_number].name != largest[i].name) {
            row_number++;
        }
        largest[i].source = source_of_operator(details, row_number, list->arena);
        add(list, largest[i]);
    }
}

size_t gains_find(const struct pipeline_details *details,
                  struct arena *arena,
                  struct gain gains[GAINS_MAX])
{
    struct list list = {gains, 0, arena};
    add_idle(&list, details);
    add_overlap(&list, &details->device_time.blocks.window);
    add_path(&list, details);
    add_rooflines(&list, details);
    qsort(gains, list.count, sizeof *gains, compare_gains);
    return list.count;
}

/* ---- the section ---- */

void report_gains(struct prose *p, const struct pipeline_details *details)
{
    struct gain gains[GAINS_MAX];
    size_t count = gains_find(details, &p->arena, gains);
    int64_t steps = report_step_count(p->results, details);
    bool has_sources = false;
    for (size_t i = 0; i < count && i < PROSE_TOP_ROWS; i++) {
        has_sources = has_sources || gains[i].source != NULL;
    }
    if (count == 0) {
        return;
    }
    prose_heading(p, 3, "What to do first");
    PROSE_BEGIN_TABLE(p, TEXTS("if this"), TEXTS("would"), TEXTS(has_sources ? "at" : ""),
                      NUMBERS("saved at most"), NUMBERS_A_STEP(steps), NUMBERS("of"),
                      NUMBERS("share"));
    for (size_t i = 0; i < count && i < PROSE_TOP_ROWS; i++) {
        if (gains[i].label != NULL) {
            report_table_cell(&p->table, gains[i].label);
        } else {
            prose_cell_name(p, gains[i].name, TEXT_NAME_SHORT);
        }
        report_table_cell(&p->table, gains[i].what);
        if (has_sources) {
            prose_cell_source(p, gains[i].source);
        }
        prose_cell_time(p, (double)gains[i].saved_ns);
        prose_cell_step(p, (double)gains[i].saved_ns, steps);
        prose_cell_time(p, (double)gains[i].of_ns);
        prose_cell_share(p, prose_ratio((double)gains[i].saved_ns, (double)gains[i].of_ns));
    }
    prose_end_table(p);
}
