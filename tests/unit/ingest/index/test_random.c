/* The trace index against its definitions, applied one event at a time to each other event of
 * random traces: slow and plain. */
#include "ingest/index/index.h"
#include "tests/unit/ingest/analysis/model_builder.h"

#include <stdlib.h>

#define TRACES 400
#define EVENTS_MAX 60

/* ---- random traces: times, ids and names collide often ---- */

static uint32_t random_below(uint64_t *state, uint32_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % bound;
}

static void add_random(struct build *b, uint64_t *seed)
{
    static const enum event_kind KINDS[] = {
        EVENT_OPERATOR, EVENT_OPERATOR,        EVENT_RUNTIME,   EVENT_DRIVER,
        EVENT_KERNEL,   EVENT_MEMCPY,          EVENT_OTHER,     EVENT_USER_ANNOTATION,
        EVENT_KERNEL,   EVENT_PYTHON_FUNCTION, EVENT_TRACE_SPAN};
    static const char *const NAMES[] = {"a", "b", "ProfilerStep#1", "ProfilerStep#2",
                                        "ProfilerStep#x"};
    enum event_kind kind = KINDS[random_below(seed, COUNT_OF(KINDS))];
    int64_t correlation = random_below(seed, 9) == 0 ? TRACE_NO_ID : random_below(seed, 8);
    int64_t external_id = random_below(seed, 3) == 0 ? random_below(seed, 6) : TRACE_NO_ID;
    int64_t start = random_below(seed, 40);
    int64_t length = random_below(seed, random_below(seed, 4) == 0 ? 40 : 8);
    const char *name = NAMES[random_below(seed, COUNT_OF(NAMES))];
    if (kind == EVENT_KERNEL || kind == EVENT_MEMCPY) {
        build_device_event(b, kind, name, random_below(seed, 3), start, start + length, correlation,
                           external_id, 0, 0);
        return;
    }
    build_event(
        b,
        (struct trace_event){.ts_ns = start * 1000,
                             .dur_ns = length * 1000,
                             .correlation = correlation,
                             .external_id = external_id,
                             .track = build_track(b, BUILD_HOST_PID, 1 + random_below(seed, 2)),
                             .args = TRACE_NO_ARGS,
                             .kind = kind,
                             .phase = random_below(seed, 12) == 0 ? 'i' : 'X',
                             .flags = EVENT_HAS_DUR},
        name);
}

/* ---- the definitions ---- */

static int64_t start_of(const struct trace_index *index, uint32_t event)
{
    return index->trace->events.ts_ns[event];
}

static int64_t end_of(const struct trace_index *index, uint32_t event)
{
    return start_of(index, event) + trace_dur_ns(&index->trace->events, event);
}

static bool stands_before(const struct trace_index *index, uint32_t a, uint32_t b)
{
    if (start_of(index, a) != start_of(index, b)) {
        return start_of(index, a) < start_of(index, b);
    }
    if (end_of(index, a) != end_of(index, b)) {
        return end_of(index, a) > end_of(index, b);
    }
    return a < b;
}

static bool is_on_thread_of(const struct trace_index *index, uint32_t a, uint32_t b)
{
    return trace_event_track(&index->trace->events, a) ==
               trace_event_track(&index->trace->events, b) &&
           index_class(index, a) != INDEX_OTHER;
}

/* Whether some event between them closes `around`. */
static bool is_closed(const struct trace_index *index, uint32_t around, uint32_t event)
{
    for (uint32_t i = 0; i < index->trace->events.count; i++) {
        if (is_on_thread_of(index, i, event) && stands_before(index, around, i) &&
            stands_before(index, i, event) && end_of(index, i) > end_of(index, around)) {
            return true;
        }
    }
    return false;
}

static uint32_t parent_of(const struct trace_index *index, uint32_t event)
{
    uint32_t found = INDEX_NONE;
    for (uint32_t i = 0; i < index->trace->events.count; i++) {
        bool holds = is_on_thread_of(index, i, event) && stands_before(index, i, event) &&
                     end_of(index, i) >= end_of(index, event) &&
                     end_of(index, i) > start_of(index, event);
        bool is_inner = found == INDEX_NONE || stands_before(index, found, i);
        if (holds && is_inner && !is_closed(index, i, event)) {
            found = i;
        }
    }
    return found;
}

static bool is_below(const struct trace_index *index, uint32_t event, uint32_t above)
{
    while (event != INDEX_NONE && event != above) {
        event = index->parent[event];
    }
    return event == above;
}

/* Microseconds of an event that none of its children covers; all times are whole ones. */
static int64_t self_of(const struct trace_index *index, uint32_t event)
{
    int64_t self_ns = 0;
    for (int64_t at = start_of(index, event); at < end_of(index, event); at += 1000) {
        bool is_covered = false;
        for (uint32_t i = 0; i < index->trace->events.count; i++) {
            is_covered |= index->class[i] != INDEX_OTHER && index->parent[i] == event &&
                          start_of(index, i) <= at && at < end_of(index, i);
        }
        self_ns += is_covered ? 0 : 1000;
    }
    return self_ns;
}

static uint32_t operator_of_call(const struct trace_index *index, uint32_t call)
{
    uint32_t found = INDEX_NONE;
    int64_t at = start_of(index, call);
    for (uint32_t i = 0; i < index->trace->events.count; i++) {
        bool runs =
            index_class(index, i) == INDEX_OPERATOR && is_on_thread_of(index, i, call) &&
            (start_of(index, i) == at || (start_of(index, i) < at && at < end_of(index, i)));
        if (runs && (found == INDEX_NONE || stands_before(index, found, i))) {
            found = i;
        }
    }
    return found;
}

static uint32_t operator_around(const struct trace_index *index, uint32_t event)
{
    uint32_t above = index->parent[event];
    while (above != INDEX_NONE && index_class(index, above) != INDEX_OPERATOR) {
        above = index->parent[above];
    }
    return above;
}

static uint32_t first_with(const struct trace_index *index,
                           const struct trace_numbers *ids,
                           uint32_t event,
                           bool (*is_wanted)(enum index_class))
{
    int64_t id = trace_number(ids, event);
    for (uint32_t i = 0; id != TRACE_NO_ID && id != 0 && i < index->trace->events.count; i++) {
        if (is_wanted(index_class(index, i)) && trace_number(ids, i) == id) {
            return i;
        }
    }
    return INDEX_NONE;
}

static bool is_operator(enum index_class class)
{
    return class == INDEX_OPERATOR;
}

static uint32_t step_at(const struct trace_index *index, int64_t at)
{
    uint32_t found = INDEX_NONE;
    for (uint32_t i = 0; i < index->step_count; i++) {
        uint32_t event = index->steps[i].event;
        bool runs = start_of(index, event) <= at && at < end_of(index, event);
        if (runs &&
            (found == INDEX_NONE || stands_before(index, index->steps[found].event, event))) {
            found = i;
        }
    }
    return found;
}

/* ---- the comparison ---- */

static void check_host(const struct trace_index *index, uint32_t event)
{
    assert_int_equal(index->parent[event], parent_of(index, event));
    assert_int_equal(index->self_ns[event], self_of(index, event));
    if (index_is_call(index_class(index, event))) {
        assert_int_equal(index->op[event], operator_of_call(index, event));
    } else if (!index_is_device_work(index_class(index, event))) {
        assert_int_equal(index->op[event], operator_around(index, event));
    }
    if (!index_is_device_work(index_class(index, event))) {
        assert_int_equal(index->step[event], step_at(index, start_of(index, event)));
    }
}

static void check_device(const struct trace_index *index, uint32_t event)
{
    const struct trace_events *events = &index->trace->events;
    uint32_t call = first_with(index, &events->correlation, event, index_is_call);
    assert_int_equal(index->launch[event], call);
    if (call != INDEX_NONE) {
        assert_int_equal(index->op[event], operator_of_call(index, call));
        assert_int_equal(index->step[event], step_at(index, start_of(index, call)));
    } else {
        assert_int_equal(index->op[event],
                         first_with(index, &events->external_id, event, is_operator));
        assert_int_equal(index->step[event], INDEX_NONE);
    }
}

/* Every indexed event stands once in the order, and each subtree is a stretch of it. */
static void check_order(const struct trace_index *index)
{
    uint32_t indexed = 0;
    for (uint32_t i = 0; i < index->trace->events.count; i++) {
        indexed += index->class[i] != INDEX_OTHER;
    }
    assert_int_equal(index->count, indexed);
    for (uint32_t place = 0; place < index->count; place++) {
        uint32_t event = index->in_order[place];
        for (uint32_t other = place + 1; other < index->count; other++) {
            assert_int_not_equal(index->in_order[other], event);
            bool is_inside = other < index->end[event];
            assert_int_equal(is_inside, is_below(index, index->in_order[other], event));
        }
    }
}

static void check_calls(const struct trace_index *index)
{
    uint32_t launched = 0;
    uint32_t work = 0;
    for (uint32_t i = 0; i < index->trace->events.count; i++) {
        work += index_is_device_work(index_class(index, i));
        if (!index_is_call(index_class(index, i))) {
            continue;
        }
        struct index_range range = index_launched(index, i);
        launched += range.end - range.first;
        for (uint32_t at = range.first; at < range.end; at++) {
            assert_int_equal(index->launch[index->launched[at]], i);
            assert_true(at == range.first || start_of(index, index->launched[at - 1]) <=
                                                 start_of(index, index->launched[at]));
        }
    }
    assert_int_equal(launched, index->launched_count);
    assert_int_equal(work, index->device_count);
}

static void check_streams(const struct trace_index *index)
{
    uint32_t seen = 0;
    for (uint32_t s = 0; s < index->stream_count; s++) {
        struct index_range work = index->streams[s].work;
        assert_int_equal(work.first, seen);
        for (uint32_t at = work.first; at < work.end; at++) {
            uint32_t event = index->device_work[at];
            assert_int_equal(index_device(index->trace, event), index->streams[s].device);
            assert_true(at == work.first ||
                        start_of(index, index->device_work[at - 1]) <= start_of(index, event));
        }
        seen = work.end;
    }
    assert_int_equal(seen, index->device_count);
}

/* Steps: of the thread that has most, in order, none over another of its name. */
static void check_steps(const struct trace_index *index)
{
    for (uint32_t i = 0; i < index->step_count; i++) {
        uint32_t event = index->steps[i].event;
        assert_int_equal(index_class(index, event), INDEX_STEP);
        assert_true(is_on_thread_of(index, event, index->steps[0].event));
        for (uint32_t other = i + 1; other < index->step_count; other++) {
            uint32_t later = index->steps[other].event;
            bool is_namesake = index->trace->events.name[event] == index->trace->events.name[later];
            assert_true(stands_before(index, event, later));
            assert_false(is_namesake && end_of(index, event) > start_of(index, later));
        }
    }
}

static void test_random_traces(void **state)
{
    uint64_t seed = 20261123;
    for (int trace = 0; trace < TRACES; trace++) {
        struct build build;
        struct trace_index index;
        build_begin(&build);
        uint32_t count = random_below(&seed, EVENTS_MAX);
        for (uint32_t i = 0; i < count; i++) {
            add_random(&build, &seed);
        }
        assert_true(index_build(&index, build.trace));
        check_order(&index);
        check_calls(&index);
        check_streams(&index);
        check_steps(&index);
        for (uint32_t i = 0; i < count; i++) {
            if (index.class[i] != INDEX_OTHER) {
                check_host(&index, i);
            }
            if (index_is_device_work(index_class(&index, i))) {
                check_device(&index, i);
            }
        }
        index_free(&index);
        build_end(&build);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
