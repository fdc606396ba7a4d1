#include "ingest/analysis/cycles/events.h"

#include "ingest/analysis/cycles/rows/types.h"
#include "ingest/analysis/cycles/tracks.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/num.h"
#include "ingest/index/sort.h"

#include <math.h>
#include <string.h>

/* Ids that are texts are numbered far below any id that a profiler writes. */
#define TEXT_IDS_BELOW (-((int64_t)1 << 61))
#define NS_PER_US 1000
/* Below this doubles of microseconds tell nanoseconds apart. */
#define COARSE_NS ((INT64_C(1) << 49) * NS_PER_US)

/* ---- what a row is ---- */

static bool is_device_kind(enum event_kind kind)
{
    return kind == EVENT_KERNEL || kind == EVENT_MEMCPY || kind == EVENT_MEMSET;
}

/* Kinds that only PyTorch's own profiler writes. */
static bool is_kineto_kind(enum event_kind kind)
{
    return kind == EVENT_OPERATOR || kind == EVENT_PYTHON_FUNCTION || kind == EVENT_USER_ANNOTATION;
}

/* False: no call, annotation or counter is there, nor a step. */
static bool find_origin(struct cycle_events *events)
{
    const struct trace_events *rows = &events->trace->events;
    const struct trace_index *index = events->index;
    bool has_any = false;
    for (uint32_t i = 0; i < rows->class_count; i++) {
        enum event_kind kind = (enum event_kind)rows->classes[i].kind;
        events->is_kineto = events->is_kineto || is_kineto_kind(kind);
        has_any = has_any || kind == EVENT_PYTHON || kind == EVENT_PYTHON_FUNCTION ||
                  kind == EVENT_USER_ANNOTATION || rows->classes[i].phase == 'C';
    }
    events->has_steps = index->step_count > 0 && !index->has_engine_steps;
    return events->has_steps || has_any;
}

static bool has_name_flag(struct cycle_events *events, uint32_t row, uint32_t flag)
{
    return (cycle_name_flags(&events->names, events->trace->events.name[row]) & flag) != 0;
}

/* Rows that are no events of the program: labels, arrows, records, sums over others. */
static bool is_about_others(char phase, enum event_kind kind)
{
    return phase == 'M' || phase == 's' || phase == 't' || phase == 'f' || kind == EVENT_MEMORY ||
           kind == EVENT_GPU_USER_ANNOTATION || kind == EVENT_TRACE_SPAN;
}

/* What the rows of an event class are, where that is one thing. */
#define CLASS_BY_ROW UINT8_MAX

static uint8_t host_verdict(const struct cycle_events *events, const struct event_class *class)
{
    switch ((enum event_kind) class->kind) {
    case EVENT_USER_ANNOTATION:
        return CYCLE_CLASS_ANNOTATION;
    case EVENT_OPERATOR:
    case EVENT_PYTHON:
    case EVENT_PYTHON_FUNCTION:
        return CLASS_BY_ROW;
    case EVENT_RUNTIME:
        return CYCLE_CLASS_LAUNCH;
    case EVENT_DRIVER:
        return events->is_kineto ? CYCLE_CLASS_LAUNCH : CLASS_BY_ROW;
    default: {
        bool is_app = (events->names.category_flags[class->category] & CYCLE_CATEGORY_APP) != 0;
        return is_app ? CLASS_BY_ROW : CYCLE_CLASS_OTHER;
    }
    }
}

static uint8_t verdict_of(const struct cycle_events *events, const struct event_class *class)
{
    enum event_kind kind = (enum event_kind) class->kind;
    char phase = (char)class->phase;
    if (phase == 'C') {
        return CLASS_BY_ROW;
    }
    if (is_about_others(phase, kind)) {
        return CYCLE_CLASS_SILENT;
    }
    return is_device_kind(kind) ? CYCLE_CLASS_GPU : host_verdict(events, class);
}

static enum cycle_class counter_class(const struct cycle_events *events, uint32_t row)
{
    uint32_t extra = events->extra == NULL ? CYCLE_NONE : events->extra[row];
    bool has_value =
        extra != CYCLE_NONE && (events->trace->extras[extra].has & EXTRA_HAS_VALUE) != 0;
    return has_value ? CYCLE_CLASS_COUNTER : CYCLE_CLASS_SILENT;
}

/* Names make steps and Lightning's marks of some. */
static enum cycle_class operator_class(enum index_class class)
{
    bool is_annotation = class == INDEX_STEP || class == INDEX_ANNOTATION;
    return class == INDEX_OPERATOR ? CYCLE_CLASS_OPERATOR
                                   : (is_annotation ? CYCLE_CLASS_ANNOTATION : CYCLE_CLASS_OTHER);
}

static enum cycle_class class_by_row(struct cycle_events *events, uint32_t row)
{
    const struct trace_events *rows = &events->trace->events;
    if (trace_phase(rows, row) == 'C') {
        return counter_class(events, row);
    }
    switch (trace_kind(rows, row)) {
    case EVENT_OPERATOR:
        return operator_class(index_class(events->index, row));
    case EVENT_PYTHON:
    case EVENT_PYTHON_FUNCTION:
        return trace_dur_ns(rows, row) > 0 ? CYCLE_CLASS_PYTHON : CYCLE_CLASS_OTHER;
    default:
        return has_name_flag(events, row, CYCLE_NAME_LAUNCH_EX) ? CYCLE_CLASS_LAUNCH
                                                                : CYCLE_CLASS_OTHER;
    }
}

/* ---- selection and order ---- */

static bool index_extras(struct cycle_events *events)
{
    const struct trace *trace = events->trace;
    if (trace->extra_count == 0) {
        return true;
    }
    events->extra = scratch_none(trace->events.count);
    for (uint32_t i = 0; events->extra != NULL && i < trace->extra_count; i++) {
        events->extra[trace->extras[i].event] = i;
        events->names_hosts = events->names_hosts || (trace->extras[i].has & EXTRA_HAS_HOST) != 0;
    }
    return events->extra != NULL;
}

static inline uint8_t class_of(struct cycle_events *events, const uint8_t *verdicts, uint32_t row)
{
    uint8_t verdict = verdicts[trace_index(&events->trace->events.class, row)];
    return verdict == CLASS_BY_ROW ? (uint8_t)class_by_row(events, row) : verdict;
}

/* In the order of the file. */
static void select_rows(struct cycle_events *events, const uint8_t *verdicts, bool without_python)
{
    const struct trace_events *rows = &events->trace->events;
    events->count = 0;
    for (uint32_t row = 0; row < rows->count; row++) {
        uint8_t class = class_of(events, verdicts, row);
        bool is_left_out = (class == CYCLE_CLASS_SILENT && !events->names_hosts) ||
                           (class == CYCLE_CLASS_PYTHON && without_python) ||
                           (trace_flags(rows, row) & EVENT_UNREADABLE) != 0;
        if (!is_left_out) {
            events->row[events->count] = row;
            events->class[events->count++] = class;
            events->has_counters = events->has_counters || class == CYCLE_CLASS_COUNTER;
        }
    }
}

static bool sort_rows(struct cycle_events *events, const uint8_t *verdicts)
{
    if (!sort_by_key(events->row, events->count, events->trace->events.ts_ns)) {
        return false;
    }
    for (uint32_t at = 0; at < events->count; at++) {
        events->class[at] = class_of(events, verdicts, events->row[at]);
    }
    return true;
}

static bool find_types(struct cycle_events *events)
{
    events->type = scratch_alloc(events->count, sizeof *events->type);
    for (uint32_t at = 0; events->type != NULL && at < events->count; at++) {
        bool is_operator = events->class[at] == CYCLE_CLASS_OPERATOR;
        events->type[at] =
            is_operator ? CYCLE_TYPE_OPERATOR : (uint8_t)cycle_type_of_row(events, events->row[at]);
    }
    return events->type != NULL;
}

static bool make_room(struct cycle_events *events)
{
    uint32_t most = events->trace->events.count;
    events->row = scratch_alloc(most, sizeof *events->row);
    events->class = scratch_alloc(most, sizeof *events->class);
    return events->row != NULL && events->class != NULL;
}

/* The room of rows that were left out goes. */
static void trim_rows(struct cycle_events *events)
{
    uint32_t *row = scratch_resize(events->row, events->count, sizeof *row);
    uint8_t *class = scratch_resize(events->class, events->count, sizeof *class);
    events->row = row == NULL ? events->row : row;
    events->class = class == NULL ? events->class : class;
}

static bool read_rows(struct cycle_events *events, bool only_steps)
{
    const struct trace_events *rows = &events->trace->events;
    bool without_python = only_steps && events->has_steps;
    uint8_t *verdicts = scratch_alloc(rows->class_count, sizeof *verdicts);
    bool ok = verdicts != NULL && make_room(events);
    for (uint32_t i = 0; ok && i < rows->class_count; i++) {
        verdicts[i] = verdict_of(events, &rows->classes[i]);
    }
    if (ok) {
        select_rows(events, verdicts, without_python);
        /* Steps hold what starts in them, whatever the order of events. */
        bool any_order = without_python && !events->has_counters && !events->names_hosts;
        trim_rows(events);
        ok = (any_order || sort_rows(events, verdicts)) && find_types(events);
    }
    scratch_free(verdicts);
    return ok;
}

/* ---- times that a recorder kept as doubles ---- */

/* Nanoseconds behind the decimal point of a text; -1 when they are no whole number. */
static int64_t decimals_ns(const char *text)
{
    const char *point = strchr(text, '.');
    int64_t sum = 0;
    int64_t unit = NS_PER_US;
    if (point == NULL) {
        return -1;
    }
    for (const char *at = point + 1; *at != '\0'; at++) {
        unit /= 10;
        if (unit == 0 || *at < '0' || *at > '9') {
            return -1;
        }
        sum += unit * (*at - '0');
    }
    return sum;
}

bool cycle_clock_is_short(int64_t time_ns)
{
    char text[NUM_TEXT_BYTES];
    int64_t rest_ns = time_ns % NS_PER_US;
    if (rest_ns == 0 || (time_ns < COARSE_NS && time_ns > -COARSE_NS)) {
        return true;
    }
    (void)num_repr(text, ns_to_us(time_ns));
    return decimals_ns(text) == (rest_ns < 0 ? -rest_ns : rest_ns);
}

int64_t cycle_clock_meant(int64_t time_ns)
{
    if (time_ns % NS_PER_US == 0 || (time_ns < COARSE_NS && time_ns > -COARSE_NS)) {
        return time_ns;
    }
    double us = ns_to_us(time_ns);
    double whole_us = floor(us);
    return (int64_t)whole_us * NS_PER_US + llround((us - whole_us) * NS_PER_US);
}

/* All of the file's times tell in what form its recorder kept them. */
static bool keeps_doubles(const struct cycle_events *events)
{
    const struct trace *trace = events->trace;
    bool all_short = trace->decimal_times;
    for (uint32_t at = 0; all_short && at < events->count; at++) {
        all_short = cycle_clock_is_short(trace->events.ts_ns[events->row[at]]);
    }
    return all_short;
}

/* ---- hosts ---- */

/* The host that the event itself names: its argument, else the text of its pid [CMP-10a.loading.1].
 */
static bool own_host(struct cycle_events *events, uint32_t at, uint32_t *host)
{
    const struct event_extra *extra = cycle_extra(events, at);
    if (extra == NULL || (extra->has & EXTRA_HAS_HOST) == 0) {
        *host = cycle_track(events, at)->host;
        return true;
    }
    const struct strtab *strings = events->trace->strings;
    *host = strtab_intern(events->hosts, strtab_text(strings, extra->host),
                          strtab_len(strings, extra->host));
    return *host != STRTAB_NONE;
}

/* Events without a host get the one seen last with their pid [CMP-10a.loading.3]. */
static bool fill_hosts(struct cycle_events *events)
{
    uint32_t *last = scratch_none(events->process_count);
    uint32_t first_host = CYCLE_NONE;
    events->host = scratch_alloc(events->count, sizeof *events->host);
    bool ok = last != NULL && events->host != NULL;
    for (uint32_t at = 0; ok && at < events->count; at++) {
        uint32_t process = cycle_process(events, at);
        uint32_t host;
        ok = own_host(events, at, &host);
        last[process] = host != CYCLE_NONE ? host : last[process];
        events->host[at] = last[process];
        first_host = first_host == CYCLE_NONE ? last[process] : first_host;
        events->has_many_hosts =
            events->has_many_hosts || (host != CYCLE_NONE && host != first_host);
    }
    scratch_free(last);
    return ok;
}

/* ---- device work of Kineto traces ---- */

static bool is_host(enum cycle_class class)
{
    return class == CYCLE_CLASS_PYTHON || class == CYCLE_CLASS_LAUNCH ||
           class == CYCLE_CLASS_OPERATOR || class == CYCLE_CLASS_ANNOTATION;
}

/* Device events carry the number of the device as pid: they belong to the process of the call that
 * launched them, or to the one with most host events. */
static bool find_busiest_process(struct cycle_events *events)
{
    uint32_t *counts = scratch_calloc(events->process_count, sizeof *counts);
    uint32_t best = 0;
    for (uint32_t at = 0; counts != NULL && at < events->count; at++) {
        counts[cycle_track(events, at)->process] += is_host((enum cycle_class)events->class[at]);
    }
    for (uint32_t i = 1; counts != NULL && i < events->process_count; i++) {
        best = counts[i] > counts[best] ? i : best;
    }
    events->busiest_process = best;
    bool ok = counts != NULL;
    scratch_free(counts);
    return ok;
}

/* ---- life ---- */

bool cycle_events_init(struct cycle_events *events,
                       const struct trace_index *index,
                       bool only_steps)
{
    *events =
        (struct cycle_events){.trace = index->trace, .index = index, .hosts = strtab_create()};
    if (events->hosts == NULL || !cycle_names_init(&events->names, index->trace)) {
        return false;
    }
    if (!find_origin(events) && only_steps) {
        return true;
    }
    if (!index_extras(events) || !cycle_tracks_read(events) || !read_rows(events, only_steps)) {
        return false;
    }
    events->has_short_times = keeps_doubles(events);
    return (!events->names_hosts || fill_hosts(events)) &&
           (!events->is_kineto || find_busiest_process(events));
}

void cycle_events_free(struct cycle_events *events)
{
    cycle_names_free(&events->names);
    strtab_destroy(events->hosts);
    SCRATCH_FREE(events->row, events->class, events->type, events->host, events->extra,
                 events->track, events->pid);
    *events = (struct cycle_events){0};
}

/* ---- arguments ---- */

bool cycle_device_argument(const struct cycle_events *events, uint32_t at, int64_t *device)
{
    const struct event_extra *extra = cycle_extra(events, at);
    if (extra != NULL && (extra->has & EXTRA_HAS_DEVICE) != 0) {
        *device = extra->device;
        return true;
    }
    uint32_t args = events->trace->events.args[events->row[at]];
    if (events->class[at] != CYCLE_CLASS_GPU || args == TRACE_NO_ARGS) {
        return false;
    }
    *device = events->trace->kernel_args[args].device;
    return *device != TRACE_NO_ID;
}

int64_t cycle_device(const struct cycle_events *events, uint32_t at)
{
    int64_t device;
    return cycle_device_argument(events, at, &device) ? device : cycle_track(events, at)->device;
}

bool cycle_correlation(const struct cycle_events *events, uint32_t at, int64_t *correlation)
{
    const struct event_extra *extra = cycle_extra(events, at);
    if (extra != NULL && (extra->has & EXTRA_HAS_CORRELATION) != 0) {
        *correlation = extra->correlation;
        return true;
    }
    *correlation = trace_correlation(&events->trace->events, events->row[at]);
    return *correlation != TRACE_NO_ID && *correlation != 0 && *correlation > TEXT_IDS_BELOW;
}
