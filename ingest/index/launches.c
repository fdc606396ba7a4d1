#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"
#include "ingest/index/stages.h"

/* Events of some classes in file order; to be freed. NULL without memory. */
static uint32_t *
list_events(const struct trace_index *index, bool (*is_listed)(enum index_class), uint32_t *count)
{
    size_t most = 0;
    *count = 0;
    for (int class = 0; class < INDEX_CLASS_COUNT; class ++) {
        most += is_listed((enum index_class) class) ? index->class_count[class] : 0;
    }
    uint32_t *items = scratch_alloc(most + 1, sizeof *items);
    for (uint32_t i = 0; items != NULL && *count < most; i++) {
        items[*count] = i;
        *count += is_listed(index_class(index, i));
    }
    return items;
}

static bool is_operator(enum index_class class)
{
    return class == INDEX_OPERATOR;
}

typedef int64_t id_of_event(const struct trace *trace, uint32_t event);

static int64_t external_id(const struct trace *trace, uint32_t event)
{
    return trace_external_id(&trace->events, event);
}

/* The first event with each id but 0; must be freed in either case. */
static bool index_first(struct id_map *by_id,
                        const struct trace *trace,
                        id_of_event *id_of,
                        const uint32_t *events,
                        uint32_t count)
{
    id_map_init(by_id);
    for (uint32_t i = 0; i < count; i++) {
        struct id_slot *slot = id_map_add(by_id, id_of(trace, events[i]));
        if (slot == NULL) {
            return false;
        }
        slot->value = slot->value == ID_MAP_NONE ? events[i] : slot->value;
    }
    return true;
}

static uint32_t find_first(const struct id_map *by_id, int64_t id)
{
    const struct id_slot *slot = id == 0 || id == TRACE_NO_ID ? NULL : id_map_find(by_id, id);
    return slot == NULL ? INDEX_NONE : slot->value;
}

/* ---- device work and its calls ---- */

static bool
find_calls(struct trace_index *index, const uint32_t *calls, uint32_t call_count, bool *has_orphans)
{
    const struct trace *trace = index->trace;
    struct id_map by_correlation;
    bool ok = index_first(&by_correlation, trace, trace_correlation_number, calls, call_count);
    for (uint32_t i = 0; ok && i < index->device_count; i++) {
        uint32_t event = index->device_work[i];
        uint32_t call = find_first(&by_correlation, trace_correlation_number(trace, event));
        index->launch[event] = call;
        index->op[event] = call == INDEX_NONE ? INDEX_NONE : index->op[call];
        index->launched_count += call != INDEX_NONE;
        *has_orphans = *has_orphans || call == INDEX_NONE;
    }
    id_map_free(&by_correlation);
    return ok;
}

static int by_start(uint32_t a, uint32_t b, const void *ctx)
{
    const int64_t *ts_ns = ctx;
    if (ts_ns[a] != ts_ns[b]) {
        return ts_ns[a] < ts_ns[b] ? -1 : 1;
    }
    return (a > b) - (a < b);
}

/* launch[call] counts, then says where the next one goes, then where the first one stands. */
static bool fill_launched(struct trace_index *index, const uint32_t *calls, uint32_t call_count)
{
    uint32_t *launch = index->launch;
    index->launched = scratch_alloc(index->launched_count, sizeof *index->launched);
    if (index->launched == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < call_count; i++) {
        launch[calls[i]] = 0;
    }
    for (uint32_t i = 0; i < index->device_count; i++) {
        uint32_t call = launch[index->device_work[i]];
        if (call != INDEX_NONE) {
            launch[call]++;
        }
    }
    uint32_t total = 0;
    for (uint32_t i = 0; i < call_count; i++) {
        uint32_t count = launch[calls[i]];
        launch[calls[i]] = total;
        total += count;
    }
    for (uint32_t i = 0; i < index->device_count; i++) {
        uint32_t event = index->device_work[i];
        if (launch[event] != INDEX_NONE) {
            index->launched[launch[launch[event]]++] = event;
        }
    }
    uint32_t first = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < call_count; i++) {
        uint32_t end = launch[calls[i]];
        launch[calls[i]] = end == first ? INDEX_NONE : first;
        ok = end - first < 2 || sort_stable(index->launched + first, end - first, by_start,
                                            index->trace->events.ts_ns);
        first = end;
    }
    return ok;
}

/* ---- device work whose operator its id tells ---- */

/* Another recorder may know whose the work is where no thread shows it: calls on a thread of their
 * own, operators of a compiler. */
static bool names_operators(const struct trace *trace)
{
    return trace->recorded != NULL && trace->recorded->recorder != NULL;
}

static void set_operator(struct trace_index *index, uint32_t event, uint32_t op)
{
    uint32_t call = index->launch[event];
    if (call == INDEX_NONE || op != INDEX_NONE) {
        index->op[event] = op;
    }
    if (call != INDEX_NONE && index->op[call] == INDEX_NONE) {
        index->op[call] = op;
    }
}

static bool find_operators(struct trace_index *index, bool is_named)
{
    const struct trace *trace = index->trace;
    uint32_t count = 0;
    uint32_t *operators = list_events(index, is_operator, &count);
    struct id_map by_external_id = {.slots = NULL};
    bool ok =
        operators != NULL && index_first(&by_external_id, trace, external_id, operators, count);
    for (uint32_t i = 0; ok && i < index->device_count; i++) {
        uint32_t event = index->device_work[i];
        if (is_named || index->launch[event] == INDEX_NONE) {
            set_operator(index, event, find_first(&by_external_id, external_id(trace, event)));
        }
    }
    id_map_free(&by_external_id);
    scratch_free(operators);
    return ok;
}

bool index_link(struct trace_index *index)
{
    uint32_t count = 0;
    bool has_orphans = false;
    bool is_named = names_operators(index->trace);
    uint32_t *calls = list_events(index, index_is_call, &count);
    bool ok = calls != NULL && find_calls(index, calls, count, &has_orphans) &&
              fill_launched(index, calls, count) &&
              ((!has_orphans && !is_named) || find_operators(index, is_named));
    scratch_free(calls);
    return ok;
}
