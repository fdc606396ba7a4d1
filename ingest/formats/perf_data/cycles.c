#include "ingest/formats/perf_data/cycles.h"

#include "ingest/base/order.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_US 1000.0
#define DUR_NS_MAX 9e18

struct run {
    struct cycle_row cycle;
    size_t place; /* among the runs in file order */
    size_t first; /* place of the first run of this cycle */
    size_t index; /* of the cycle in the results */
};

void perf_cycles_init(struct perf_cycles *cycles)
{
    *cycles = (struct perf_cycles){.runs = {.row_bytes = sizeof(struct run)}};
}

void perf_cycles_free(struct perf_cycles *cycles)
{
    row_list_free(&cycles->runs);
}

size_t perf_cycles_bytes(const struct perf_cycles *cycles)
{
    return cycles->runs.capacity * sizeof(struct run);
}

static struct run *all_runs(const struct perf_cycles *cycles)
{
    return (struct run *)(void *)cycles->runs.rows;
}

int64_t perf_cycles_last(const struct perf_cycles *cycles)
{
    return (int64_t)cycles->runs.count - 1;
}

static bool is_same(const struct cycle_row *a, const struct cycle_row *b)
{
    return a->number == b->number && !(a->dur_us < b->dur_us) && !(a->dur_us > b->dur_us);
}

bool perf_cycles_is_last(const struct perf_cycles *cycles, const struct cycle_row *cycle)
{
    size_t count = cycles->runs.count;
    return count > 0 && is_same(&all_runs(cycles)[count - 1].cycle, cycle);
}

bool perf_cycles_add(struct perf_cycles *cycles, const struct cycle_row *cycle, int64_t *run)
{
    struct run *added = row_list_add(&cycles->runs);
    if (added == NULL) {
        return false;
    }
    *added = (struct run){.cycle = *cycle, .place = cycles->runs.count - 1};
    *run = perf_cycles_last(cycles);
    return true;
}

/* --- each cycle once --- */

ORDER_BY(by_place, struct run, ORDER_UP(place))

/* Runs of one cycle beside each other, its first run first. */
ORDER_BY(by_cycle, struct run, ORDER_UP(cycle.number), ORDER_UP(cycle.dur_us), ORDER_UP(place))

ORDER_BY(by_number_then_first, struct run, ORDER_UP(cycle.number), ORDER_UP(first), ORDER_UP(place))

/* Numbers the cycles; the answer is how many there are. Leaves the runs in the order of cycles. */
static size_t number_cycles(struct run *runs, size_t count)
{
    qsort(runs, count, sizeof *runs, by_cycle);
    for (size_t i = 0; i < count; i++) {
        bool is_first = i == 0 || !is_same(&runs[i - 1].cycle, &runs[i].cycle);
        runs[i].first = is_first ? runs[i].place : runs[i - 1].first;
    }
    qsort(runs, count, sizeof *runs, by_number_then_first);
    size_t cycle_count = 0;
    for (size_t i = 0; i < count; i++) {
        cycle_count += runs[i].first == runs[i].place;
        runs[i].index = cycle_count - 1;
    }
    return cycle_count;
}

static int64_t end_of(const struct cycle_row *cycle)
{
    double dur_ns = cycle->dur_us * NS_PER_US;
    if (!(dur_ns > 0)) {
        return cycle->start_ns;
    }
    int64_t whole_ns = dur_ns < DUR_NS_MAX ? (int64_t)llround(dur_ns) : (int64_t)DUR_NS_MAX;
    return cycle->start_ns > INT64_MAX - whole_ns ? INT64_MAX : cycle->start_ns + whole_ns;
}

static void set_time(struct trace_results *results)
{
    int64_t start_ns = INT64_MAX;
    int64_t end_ns = INT64_MIN;
    for (size_t i = 0; i < results->cycle_count; i++) {
        const struct cycle_row *cycle = &results->cycles[i];
        start_ns = cycle->start_ns < start_ns ? cycle->start_ns : start_ns;
        end_ns = end_of(cycle) > end_ns ? end_of(cycle) : end_ns;
    }
    bool overflows = start_ns < 0 && end_ns > INT64_MAX + start_ns;
    results->start_ns = start_ns;
    results->first_event_ns = start_ns;
    results->duration_ns = overflows ? INT64_MAX : end_ns - start_ns;
}

bool perf_cycles_finish(struct perf_cycles *cycles, struct trace_results *results)
{
    struct run *runs = all_runs(cycles);
    size_t count = cycles->runs.count;
    if (count == 0) {
        return true;
    }
    results->cycle_count = number_cycles(runs, count);
    results->cycles = arena_calloc(&results->arena, results->cycle_count, sizeof *results->cycles);
    if (results->cycles == NULL) {
        return false;
    }
    for (size_t i = count; i-- > 0;) {
        if (runs[i].first == runs[i].place) {
            results->cycles[runs[i].index] = runs[i].cycle;
        }
    }
    qsort(runs, count, sizeof *runs, by_place);
    for (size_t i = 0; i < results->cycle_use_count; i++) {
        struct cycle_use_row *use = &results->cycle_uses[i];
        use->cycle = (int64_t)runs[use->cycle].index;
    }
    set_time(results);
    return true;
}
