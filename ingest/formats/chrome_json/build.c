#include "ingest/formats/chrome_json/build.h"

#include "ingest/formats/json/text.h"

#include <stdlib.h>
#include <string.h>

/* Microseconds in the specification. */
#define RECORD_WINDOW_MAX_NS ((int64_t)86400000 * 1000)
#define RECORD_WINDOW_END "Record Window End"
#define ITERATION_START "Iteration Start:"
#define NESTED_BYTES_MAX ((size_t)64 << 20)

bool kineto_build_init(struct kineto_build *build,
                       struct trace *trace,
                       const struct text_stream *stream,
                       struct event_texts *log)
{
    build->trace = trace;
    build->stream = stream;
    buf_init(&build->nested, NESTED_BYTES_MAX);
    bool good = kineto_lookup_init(&build->lookup, trace, stream, log);
    build->no_op_args = (struct op_args){.shape = strtab_intern(trace->strings, "[]", 2),
                                         .call_stack = 0,
                                         .input_types = STRTAB_NONE,
                                         .dims_json = STRTAB_NONE,
                                         .types_json = STRTAB_NONE,
                                         .strides_json = STRTAB_NONE,
                                         .concrete_json = STRTAB_NONE};
    return good && build->no_op_args.shape != STRTAB_NONE;
}

void kineto_build_free(struct kineto_build *build)
{
    kineto_lookup_free(&build->lookup);
    buf_free(&build->nested);
}

size_t kineto_build_memory(const struct kineto_build *build)
{
    return trace_memory_bytes(build->trace) + kineto_lookup_memory(&build->lookup) +
           build->nested.cap;
}

static void warn(struct kineto_build *build, enum warning_code code, const char *at)
{
    warning_add(&build->trace->warnings, code, text_stream_offset(build->stream, at));
}

/* --- one event --- */

static void count_repairs(struct kineto_build *build, const struct kineto_event *event)
{
    struct warnings *warnings = &build->trace->warnings;
    if (event->duplicate_keys != 0) {
        warning_add_times(warnings, WARN_DUPLICATE_KEY,
                          text_stream_offset(build->stream, event->first_duplicate),
                          event->duplicate_keys);
    }
    if (event->control_values != 0) {
        warning_add_times(warnings, WARN_CONTROL_CHARACTER,
                          text_stream_offset(build->stream, event->first_control),
                          event->control_values);
    }
}

static char phase_of(const struct kineto_event *event)
{
    const struct json_value *phase = &event->fields[FIELD_PH];
    if (!kineto_event_has(event, FIELD_PH) || phase->kind != JSON_KIND_STRING || phase->len == 0) {
        return '\0';
    }
    return *phase->ptr;
}

static bool
set_name(struct kineto_build *build, const struct kineto_event *event, struct trace_event *row)
{
    const struct json_value *name = &event->fields[FIELD_NAME];
    if (KS_UNLIKELY(!kineto_event_has(event, FIELD_NAME) || json_is_missing(name))) {
        row->flags |= EVENT_NO_NAME;
        return true;
    }
    row->name = kineto_lookup_text(&build->lookup, name);
    return row->name != STRTAB_NONE;
}

static bool
set_track(struct kineto_build *build, const struct kineto_event *event, struct trace_event *row)
{
    static const struct json_value absent = {.ptr = "", .kind = JSON_KIND_NULL};
    const struct json_value *pid =
        kineto_event_has(event, FIELD_PID) ? &event->fields[FIELD_PID] : &absent;
    const struct json_value *tid =
        kineto_event_has(event, FIELD_TID) ? &event->fields[FIELD_TID] : &absent;
    row->flags |= tid->kind == JSON_KIND_STRING ? EVENT_TID_IS_TEXT : 0;
    row->track = kineto_lookup_track(&build->lookup, pid, tid);
    return row->track != UINT32_MAX;
}

static bool is_flow(char phase)
{
    return phase == 's' || phase == 't' || phase == 'f';
}

static bool is_memory_record(const struct kineto_event *event, char phase)
{
    const struct json_value *name = &event->fields[FIELD_NAME];
    return phase == 'i' && kineto_event_has(event, FIELD_NAME) && name->kind == JSON_KIND_STRING &&
           name->len == 8 && memcmp(name->ptr, "[memory]", 8) == 0;
}

/* Category and, with the phase, the kind. */
static bool
set_category(struct kineto_build *build, const struct kineto_event *event, struct trace_event *row)
{
    const struct json_value *category = &event->fields[FIELD_CAT];
    uint32_t number = 0;
    bool has_category = kineto_event_has(event, FIELD_CAT) && category->kind == JSON_KIND_STRING;
    if (has_category) {
        number = kineto_lookup_category(&build->lookup, category);
        if (number == UINT32_MAX) {
            return false;
        }
    } else {
        row->flags |= EVENT_NO_CATEGORY;
        if (row->phase == 'X') {
            warn(build, WARN_NO_CATEGORY, event->begin);
        }
    }
    row->category = (uint16_t)number;
    enum event_kind flow =
        has_category ? (enum event_kind)build->lookup.category_kinds[number].flow : EVENT_FLOW;
    if (row->phase == 'X') {
        row->kind = (enum event_kind)build->lookup.category_kinds[number].complete;
    } else if (is_flow(row->phase)) {
        row->kind = flow;
    } else if (is_memory_record(event, row->phase) && flow != EVENT_FLOW_FWDBWD) {
        row->kind = EVENT_MEMORY; /* nothing of that category is an event [TB-3b] */
    }
    return true;
}

static void set_start(struct kineto_build *build,
                      const struct kineto_event *event,
                      struct trace_event *row,
                      bool *decimal)
{
    enum json_time found = JSON_TIME_NONE;
    if (KS_LIKELY(kineto_event_has(event, FIELD_TS))) {
        found = json_text_time(&event->fields[FIELD_TS], &row->ts_ns, decimal);
    }
    if (KS_LIKELY(found == JSON_TIME_OK)) {
        return;
    }
    row->ts_ns = 0;
    row->flags |= kineto_event_has(event, FIELD_TS) ? EVENT_NO_TS | EVENT_UNREADABLE : EVENT_NO_TS;
    if (found == JSON_TIME_RANGE) {
        warn(build, WARN_TIME_RANGE, event->fields[FIELD_TS].ptr);
    } else if (row->phase != 'M') {
        warn(build, WARN_NO_TIMESTAMP, event->begin);
    }
}

static void set_duration(struct kineto_build *build,
                         const struct kineto_event *event,
                         struct trace_event *row,
                         bool *decimal)
{
    const struct json_value *dur = &event->fields[FIELD_DUR];
    if (!kineto_event_has(event, FIELD_DUR)) {
        return;
    }
    enum json_time found = json_text_time(dur, &row->dur_ns, decimal);
    if (KS_LIKELY(found == JSON_TIME_OK)) {
        row->flags |= EVENT_HAS_DUR;
    } else {
        row->dur_ns = 0;
        row->flags |= EVENT_UNREADABLE;
    }
    if (KS_UNLIKELY(row->dur_ns < 0)) {
        row->dur_ns = 0;
        warn(build, WARN_NEGATIVE_DURATION, dur->ptr);
    }
    if (found == JSON_TIME_RANGE) {
        warn(build, WARN_TIME_RANGE, dur->ptr);
    }
}

bool kineto_build_add(struct kineto_build *build, const struct kineto_event *event)
{
    struct trace_event row = {.correlation = TRACE_NO_ID,
                              .external_id = TRACE_NO_ID,
                              .args = TRACE_NO_ARGS,
                              .phase = phase_of(event)};
    bool decimal = false;
    if (KS_UNLIKELY(event->duplicate_keys + event->control_values != 0)) {
        count_repairs(build, event);
    }
    if (!set_category(build, event, &row) || !set_name(build, event, &row) ||
        !set_track(build, event, &row)) {
        return false;
    }
    set_start(build, event, &row, &decimal);
    set_duration(build, event, &row, &decimal);
    if (decimal && (row.phase == 'X' || row.kind == EVENT_MEMORY)) {
        build->trace->decimal_times = true;
    }
    if (KS_UNLIKELY(kineto_event_has(event, FIELD_ARGS) &&
                    event->fields[FIELD_ARGS].kind != JSON_KIND_OBJECT)) {
        row.flags |= EVENT_UNREADABLE;
    }
    if (!kineto_build_args(build, event, &row) || !trace_add_event(build->trace, &row)) {
        return false;
    }
    uint32_t number = build->trace->events.count - 1;
    if (row.phase == 'C' && !kineto_build_counters(build, event, number)) {
        return false;
    }
    return KS_LIKELY(!kineto_build_has_extra(event, &row)) ||
           kineto_build_extra(build, event, &row, number);
}

/* --- rows like others --- */

uint64_t kineto_build_effects(const struct kineto_build *build)
{
    const struct trace *trace = build->trace;
    uint64_t count = (uint64_t)trace->extra_count + trace->collective_count + trace->counter_count +
                     trace->label_count + trace->wait_count;
    for (size_t i = 0; i < WARNING_CODE_COUNT; i++) {
        count += trace->warnings.by_code[i].count;
    }
    return count;
}

struct kineto_row kineto_build_last(const struct kineto_build *build)
{
    const struct trace *trace = build->trace;
    const struct trace_events *events = &trace->events;
    uint32_t event = events->count - 1;
    struct kineto_row row = {.name = events->name[event],
                             .track = trace_event_track(events, event),
                             .class = trace_index(&events->class, event),
                             .args = events->args[event],
                             .is_memory = trace_kind(events, event) == EVENT_MEMORY};
    row.numbers[KINETO_USE_TS] = events->ts_ns[event];
    row.numbers[KINETO_USE_DUR] = trace_dur_ns(events, event);
    row.numbers[KINETO_USE_CORRELATION] = trace_correlation(events, event);
    row.numbers[KINETO_USE_EXTERNAL_ID] = trace_external_id(events, event);
    if (row.is_memory) {
        const struct memory_args *args = &trace->memory_args[row.args];
        row.numbers[KINETO_USE_ADDR] = args->addr;
        row.numbers[KINETO_USE_BYTES] = args->size_bytes;
        row.numbers[KINETO_USE_ALLOCATED] = args->total_allocated_bytes;
        row.numbers[KINETO_USE_RESERVED] = args->total_reserved_bytes;
    }
    return row;
}

static uint32_t add_memory_like(struct trace *trace, uint32_t like, const int64_t *numbers)
{
    struct memory_args args = trace->memory_args[like];
    args.addr = numbers[KINETO_USE_ADDR];
    args.size_bytes = numbers[KINETO_USE_BYTES];
    args.total_allocated_bytes = numbers[KINETO_USE_ALLOCATED];
    args.total_reserved_bytes = numbers[KINETO_USE_RESERVED];
    return trace_add_memory_args(trace, &args);
}

bool kineto_build_add_like(struct kineto_build *build,
                           const struct kineto_row *row,
                           const int64_t numbers[KINETO_USES])
{
    struct trace_event event = {.ts_ns = numbers[KINETO_USE_TS],
                                .dur_ns = numbers[KINETO_USE_DUR],
                                .correlation = numbers[KINETO_USE_CORRELATION],
                                .external_id = numbers[KINETO_USE_EXTERNAL_ID],
                                .name = row->name,
                                .track = row->track,
                                .args = row->args};
    if (row->is_memory) {
        event.args = add_memory_like(build->trace, row->args, numbers);
        if (event.args == UINT32_MAX) {
            return false;
        }
    }
    return trace_add_event_of_class(build->trace, &event, row->class);
}

/* --- the record window --- */

/* The last event whose name has one of the flagged ids, or UINT32_MAX. */
static uint32_t last_named(const struct trace_events *events, const bool *is_wanted)
{
    for (uint32_t i = events->count; i > 0; i--) {
        bool named = (trace_flags(events, i - 1) & EVENT_NO_NAME) == 0;
        if (named && is_wanted[events->name[i - 1]]) {
            return i - 1;
        }
    }
    return UINT32_MAX;
}

/* Of the last events with these names; false when one is missing. */
static bool find_window(const struct trace *trace, bool *is_wanted, uint32_t *start, uint32_t *end)
{
    uint32_t end_name =
        strtab_find(trace->strings, RECORD_WINDOW_END, sizeof RECORD_WINDOW_END - 1);
    bool has_start = false;
    is_wanted[end_name] = true;
    *end = last_named(&trace->events, is_wanted);
    is_wanted[end_name] = false;
    for (uint32_t id = 0; id < strtab_count(trace->strings); id++) {
        is_wanted[id] = strncmp(strtab_text(trace->strings, id), ITERATION_START,
                                sizeof ITERATION_START - 1) == 0;
        has_start = has_start || is_wanted[id];
    }
    *start = has_start ? last_named(&trace->events, is_wanted) : UINT32_MAX;
    return *start != UINT32_MAX && *end != UINT32_MAX;
}

bool kineto_build_repair_window(struct kineto_build *build)
{
    struct trace *trace = build->trace;
    struct trace_events *events = &trace->events;
    uint32_t start;
    uint32_t end;
    if (strtab_find(trace->strings, RECORD_WINDOW_END, sizeof RECORD_WINDOW_END - 1) ==
        STRTAB_NONE) {
        return true;
    }
    bool *is_wanted = calloc(strtab_count(trace->strings), sizeof *is_wanted);
    if (is_wanted == NULL) {
        return false;
    }
    bool found = find_window(trace, is_wanted, &start, &end);
    free(is_wanted);
    bool has_times =
        found && ((trace_flags(events, start) | trace_flags(events, end)) & EVENT_NO_TS) == 0;
    if (has_times && events->ts_ns[end] - events->ts_ns[start] > RECORD_WINDOW_MAX_NS) {
        struct event_class class = *trace_event_class(events, end);
        class.kind = EVENT_OTHER;
        class.flags |= EVENT_NO_TS;
        events->ts_ns[end] = 0;
        warning_add(&trace->warnings, WARN_RECORD_WINDOW, WARNING_NO_OFFSET);
        return trace_set_class(trace, end, class);
    }
    return true;
}
