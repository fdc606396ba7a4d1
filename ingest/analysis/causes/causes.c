#include "ingest/analysis/causes/causes.h"

#include "ingest/analysis/kernels/kernels.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/affix.h"
#include "ingest/index/sort.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names and categories ---- */

/* CANN puts the level of a call before its name. */
static const char *without_level(const char *name)
{
    static const char *const levels[] = {"AscendCL@", "Node@", "Runtime@"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (text_begins(name, levels[i])) {
            return name + strlen(levels[i]);
        }
    }
    return name;
}

static uint8_t read_name(const char *name)
{
    static const char *const launches[] = {
        "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx",
        "cudaMemcpyAsync", "cudaMemsetAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel",
        "hipMemsetAsync", "hipMemcpyAsync", "hipMemcpyWithStream",
        "runFunction - job_prep_and_submit_for_execution",
        /* CANN */
        "launch", "aclrtMemcpyAsync", "aclrtMemsetAsync", "aclopCompileAndExecute"};
    static const char *const waits[] = {"cudaDeviceSynchronize",
                                        "cudaStreamSynchronize",
                                        "cudaEventSynchronize",
                                        "cudaEventQuery",
                                        "cudaStreamQuery",
                                        "hipDeviceSynchronize",
                                        "hipStreamSynchronize",
                                        "hipEventSynchronize",
                                        "hipEventQuery",
                                        "hipStreamQuery",
                                        "cudaMemcpy",
                                        "hipMemcpy",
                                        "hipMemcpyWithStream",
                                        "cuCtxSynchronize",
                                        "cuStreamSynchronize",
                                        "cuEventSynchronize",
                                        "aclrtSynchronizeDevice",
                                        "aclrtSynchronizeStream",
                                        "aclrtSynchronizeStreamWithTimeout",
                                        "aclrtSynchronizeEvent"};
    unsigned flags = 0;
    name = without_level(name);
    flags |= TEXT_IS_ONE_OF(name, launches) ? CAUSES_LAUNCHES : 0;
    flags |= TEXT_IS_ONE_OF(name, waits) ? CAUSES_SYNCHRONISES : 0;
    flags |=
        text_begins(name, "enumerate(DataLoader)#") || text_begins(name, "enumerate(DataPipe)#")
            ? CAUSES_LOADS_DATA
            : 0;
    flags |= text_begins(name, "ProfilerStep#") && isdigit((unsigned char)name[13]) != 0
                 ? CAUSES_IS_STEP
                 : 0;
    flags |= strcmp(name, "Event Sync") == 0 || strcmp(name, "Context Sync") == 0
                 ? CAUSES_RECORDS_WAIT
                 : 0;
    return (uint8_t)flags;
}

/* Whether the category is the word, or ends in it behind an underscore, whatever its case. */
static bool ends_in(const char *category, const char *word)
{
    size_t len = strlen(category);
    size_t word_len = strlen(word);
    if (len < word_len || (len > word_len && category[len - word_len - 1] != '_')) {
        return false;
    }
    for (size_t i = 0; i < word_len; i++) {
        if (tolower((unsigned char)category[len - word_len + i]) != word[i]) {
            return false;
        }
    }
    return true;
}

static enum causes_role role_of_category(const char *category)
{
    static const char *const device[] = {"kernel",          "gpu_memcpy",   "gpu_memset",
                                         "Kernel",          "Memcpy",       "Memset",
                                         "mtia_ccp_events", "communication"};
    static const char *const operators[] = {"cpu_op", "Operator", "recorder_range", "recorder_op"};
    if (TEXT_IS_ONE_OF(category, device)) {
        return CAUSES_DEVICE;
    }
    if (TEXT_IS_ONE_OF(category, operators)) {
        return CAUSES_OPERATOR;
    }
    if (ends_in(category, "runtime") || ends_in(category, "driver")) {
        return CAUSES_CALL;
    }
    if (strcmp(category, "python_function") == 0) {
        return CAUSES_PYTHON;
    }
    bool is_of_device = text_begins(category, "gpu_") || text_begins(category, "mlu_");
    bool is_annotation =
        strstr(category, "annotation") != NULL || strcmp(category, "recorder_step") == 0;
    return is_annotation && !is_of_device ? CAUSES_ANNOTATION : CAUSES_LEFT_OUT;
}

static bool takes_part(const struct event_class *class)
{
    return class->phase == 'X' && (class->flags & EVENT_HAS_DUR) != 0 &&
           (class->flags & (EVENT_NO_TS | EVENT_NO_CATEGORY)) == 0;
}

bool causes_class_takes_part(const struct trace *trace, const struct event_class *class)
{
    const char *category = strtab_text(trace->strings, trace->categories[class->category]);
    return takes_part(class) && strcmp(category, "Trace") != 0;
}

bool causes_takes_part(const struct trace *trace, uint32_t event)
{
    return causes_class_takes_part(trace, trace_event_class(&trace->events, event));
}

/* ---- arguments ---- */

int64_t causes_correlation(const struct trace *trace, uint32_t event)
{
    if (trace_kind(&trace->events, event) == EVENT_PYTHON_FUNCTION) {
        return -1; /* the column holds its `Python id` */
    }
    int64_t correlation = trace_correlation_number(trace, event);
    return correlation >= 0 ? correlation : -1;
}

int64_t causes_stream(const struct trace *trace, uint32_t event)
{
    const struct kernel_args *args = trace_kernel_args_of(trace, event);
    return args == NULL ? TRACE_NO_ID : args->stream;
}

int64_t causes_device(const struct trace *trace, uint32_t event)
{
    int64_t device = index_device(trace, event);
    return device == TRACE_NO_ID ? -1 : device;
}

/* ---- roles ---- */

static uint8_t on_stream(enum causes_role role)
{
    if (role == CAUSES_OPERATOR || role == CAUSES_CALL) {
        return role == CAUSES_OPERATOR ? CAUSES_STREAM_OPERATOR : CAUSES_STREAM_CALL;
    }
    return CAUSES_STREAM_OTHER;
}

static bool find_roles(struct causes *causes)
{
    const struct trace *trace = causes->trace;
    const struct trace_events *events = &trace->events;
    uint8_t *by_category = scratch_alloc(trace->category_count, sizeof *by_category);
    uint32_t name_count = strtab_count(trace->strings);
    causes->role = scratch_calloc(events->count, sizeof *causes->role);
    causes->names = scratch_alloc(name_count, sizeof *causes->names);
    bool ok = by_category != NULL && causes->role != NULL && causes->names != NULL;
    for (uint32_t i = 0; ok && i < trace->category_count; i++) {
        by_category[i] =
            (uint8_t)role_of_category(strtab_text(trace->strings, trace->categories[i]));
    }
    for (uint32_t i = 0; ok && i < name_count; i++) {
        causes->names[i] = read_name(strtab_text(trace->strings, i));
    }
    for (uint32_t i = 0; ok && i < events->count; i++) {
        const struct event_class *class = trace_event_class(events, i);
        uint8_t role = takes_part(class) ? by_category[class->category] : CAUSES_LEFT_OUT;
        if (role == CAUSES_DEVICE && causes_stream(trace, i) < 0) {
            role = CAUSES_LEFT_OUT;
        }
        /* Traces of 2021 had steps among their operators. */
        if (role == CAUSES_OPERATOR && causes_name_is(causes, i, CAUSES_IS_STEP)) {
            role = CAUSES_ANNOTATION;
        }
        causes->role[i] = role;
    }
    for (uint32_t i = 0; ok && i < trace->wait_count; i++) {
        uint32_t event = trace->waits[i].event;
        if (trace->waits[i].stream >= 0 && causes_takes_part(trace, event)) {
            causes->role[event] = on_stream((enum causes_role)causes->role[event]);
        }
    }
    scratch_free(by_category);
    return ok;
}

/* ---- launches ---- */

/* The last call in the file with each correlation. */
static bool link_launches(struct causes *causes)
{
    const struct trace *trace = causes->trace;
    uint32_t count = trace->events.count;
    struct id_map calls;
    bool ok = true;
    id_map_init(&calls);
    causes->launch = causes->launch == NULL ? scratch_none(count) : causes->launch;
    ok = causes->launch != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        int64_t correlation = causes_is_call(causes, i) ? causes_correlation(trace, i) : -1;
        if (correlation >= 0) {
            struct id_slot *slot = id_map_add(&calls, correlation);
            ok = slot != NULL;
            if (ok) {
                slot->value = i;
            }
        }
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        if (causes->role[i] == CAUSES_DEVICE) {
            int64_t correlation = causes_correlation(trace, i);
            const struct id_slot *slot = correlation < 0 ? NULL : id_map_find(&calls, correlation);
            causes->launch[i] = slot == NULL ? CAUSES_NONE : slot->value;
        }
    }
    id_map_free(&calls);
    return ok;
}

/* ---- the last step ---- */

/* Work on a stream that names its launch, and records of waits. All else is of the host. */
static bool is_device_side(const struct causes *causes, uint32_t event)
{
    if (causes_name_is(causes, event, CAUSES_RECORDS_WAIT)) {
        return true;
    }
    return causes->role[event] >= CAUSES_DEVICE && causes_correlation(causes->trace, event) >= 0;
}

/* The start of the last host step; INT64_MAX where there are not two names of steps. */
static int64_t last_step_start(const struct causes *causes)
{
    const struct trace_events *events = &causes->trace->events;
    uint32_t first_name = CAUSES_NONE;
    bool has_two = false;
    int64_t last_ns = INT64_MIN;
    for (uint32_t i = 0; i < events->count; i++) {
        if (takes_part(trace_event_class(events, i)) && causes_name_is(causes, i, CAUSES_IS_STEP)) {
            has_two = has_two || (first_name != CAUSES_NONE && events->name[i] != first_name);
            first_name = events->name[i];
            last_ns = is_device_side(causes, i) ? last_ns : i64_max(last_ns, events->ts_ns[i]);
        }
    }
    return has_two && last_ns > INT64_MIN ? last_ns : INT64_MAX;
}

/* Host events stay that start before the last step; device work, if one of them has its
 * correlation. */
static bool drop_last_step(struct causes *causes)
{
    const struct trace *trace = causes->trace;
    const struct trace_events *events = &trace->events;
    int64_t bound_ns = last_step_start(causes);
    struct id_map known;
    bool ok = true;
    if (bound_ns == INT64_MAX) {
        return true;
    }
    id_map_init(&known);
    for (uint32_t i = 0; ok && i < events->count; i++) {
        if (is_device_side(causes, i)) {
            continue;
        }
        if (events->ts_ns[i] >= bound_ns) {
            causes->role[i] = CAUSES_LEFT_OUT;
        } else if (takes_part(trace_event_class(events, i))) {
            int64_t correlation = causes_correlation(trace, i);
            ok = correlation < 0 || id_map_add(&known, correlation) != NULL;
        }
    }
    for (uint32_t i = 0; ok && i < events->count; i++) {
        if (is_device_side(causes, i) &&
            id_map_find(&known, causes_correlation(trace, i)) == NULL) {
            causes->role[i] = CAUSES_LEFT_OUT;
        }
    }
    id_map_free(&known);
    return ok;
}

/* ---- streams ---- */

struct work_keys {
    int64_t *ts_ns, *stream, *device;
    uint32_t *events; /* in file order */
    uint32_t *order;
};

static bool fill_keys(const struct causes *causes, struct work_keys *keys, uint32_t count)
{
    const struct trace *trace = causes->trace;
    uint32_t n = 0;
    keys->ts_ns = scratch_alloc(count, sizeof *keys->ts_ns);
    keys->stream = scratch_alloc(count, sizeof *keys->stream);
    keys->device = scratch_alloc(count, sizeof *keys->device);
    keys->events = scratch_alloc(count, sizeof *keys->events);
    keys->order = scratch_alloc(count, sizeof *keys->order);
    if (keys->ts_ns == NULL || keys->stream == NULL || keys->device == NULL ||
        keys->events == NULL || keys->order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < trace->events.count; i++) {
        if (causes->role[i] == CAUSES_DEVICE) {
            keys->ts_ns[n] = trace->events.ts_ns[i];
            keys->stream[n] = causes_stream(trace, i);
            keys->device[n] = causes_device(trace, i);
            keys->events[n] = i;
            keys->order[n] = n;
            n++;
        }
    }
    return true;
}

static bool write_streams(struct causes *causes, const struct work_keys *keys)
{
    size_t cap = 0;
    for (uint32_t i = 0; i < causes->device_count; i++) {
        uint32_t at = keys->order[i];
        struct causes_stream *last =
            causes->stream_count == 0 ? NULL : &causes->streams[causes->stream_count - 1];
        if (last == NULL || last->device != keys->device[at] || last->stream != keys->stream[at]) {
            struct causes_stream *grown =
                scratch_grow(causes->streams, causes->stream_count, &cap, sizeof *causes->streams);
            if (grown == NULL) {
                return false;
            }
            causes->streams = grown;
            last = &grown[causes->stream_count++];
            *last = (struct causes_stream){keys->device[at], keys->stream[at], i, i};
        }
        causes->by_stream[i] = keys->events[at];
        last->end = i + 1;
    }
    return true;
}

static bool list_streams(struct causes *causes)
{
    struct work_keys keys = {.ts_ns = NULL};
    uint32_t count = 0;
    for (uint32_t i = 0; i < causes->trace->events.count; i++) {
        count += causes->role[i] == CAUSES_DEVICE ? 1 : 0;
    }
    causes->device_count = count;
    causes->by_stream = scratch_alloc(count, sizeof *causes->by_stream);
    bool ok = causes->by_stream != NULL && fill_keys(causes, &keys, count) &&
              sort_by_key(keys.order, count, keys.ts_ns) &&
              sort_by_key(keys.order, count, keys.stream) &&
              sort_by_key(keys.order, count, keys.device) && write_streams(causes, &keys);
    SCRATCH_FREE(keys.ts_ns, keys.stream, keys.device, keys.events, keys.order);
    return ok;
}

bool causes_build(struct causes *causes, const struct trace *trace, enum causes_last_step last_step)
{
    *causes = (struct causes){.trace = trace};
    return find_roles(causes) && (last_step == CAUSES_KEEP_LAST_STEP || drop_last_step(causes)) &&
           link_launches(causes) && list_streams(causes);
}

/* The streams of a device stand side by side: sorted by event number, then stably by start. */
bool causes_device_work(const struct causes *causes,
                        uint32_t *stream,
                        uint32_t *work,
                        uint32_t *count)
{
    const struct causes_stream *streams = causes->streams;
    const uint32_t *unsorted = causes->by_stream + streams[*stream].first;
    int64_t device = streams[*stream].device;
    uint32_t end = *stream;
    while (end < causes->stream_count && streams[end].device == device) {
        end++;
    }
    *count = streams[end - 1].end - streams[*stream].first;
    *stream = end;
    int64_t *number = scratch_alloc(*count, sizeof *number);
    uint32_t *order = scratch_alloc(*count, sizeof *order);
    bool ok = number != NULL && order != NULL;
    for (uint32_t i = 0; ok && i < *count; i++) {
        number[i] = unsorted[i];
        order[i] = i;
    }
    ok = ok && sort_by_key(order, *count, number);
    for (uint32_t i = 0; ok && i < *count; i++) {
        work[i] = unsorted[order[i]];
    }
    SCRATCH_FREE(number, order);
    return ok && sort_by_key(work, *count, causes->trace->events.ts_ns);
}

void causes_free(struct causes *causes)
{
    SCRATCH_FREE(causes->role, causes->names, causes->launch, causes->by_stream, causes->streams);
}

/* ---- figures ---- */

static double quantile(const int64_t *sorted, size_t count, double p)
{
    double rank = p * (double)(count - 1);
    size_t low = (size_t)rank;
    double value = (double)sorted[low];
    return low + 1 >= count
               ? value
               : value + (rank - (double)low) * ((double)sorted[low + 1] - (double)sorted[low]);
}

void causes_spread(int64_t *values, size_t count, struct causes_spread *out)
{
    *out = (struct causes_spread){.min_ns = CAUSES_UNKNOWN,
                                  .max_ns = CAUSES_UNKNOWN,
                                  .mean_ns = (double)NAN,
                                  .std_ns = (double)NAN,
                                  .p25_ns = (double)NAN,
                                  .p50_ns = (double)NAN,
                                  .p75_ns = (double)NAN,
                                  .p95_ns = (double)NAN,
                                  .p99_ns = (double)NAN};
    if (count == 0) {
        return;
    }
    double squares = 0;
    qsort(values, count, sizeof *values, order_i64_at);
    out->count = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        out->sum_ns = saturating_add(out->sum_ns, values[i]);
    }
    out->mean_ns = (double)out->sum_ns / (double)count;
    for (size_t i = 0; i < count; i++) {
        double off = (double)values[i] - out->mean_ns;
        squares += off * off;
    }
    out->std_ns = count > 1 ? sqrt(squares / (double)(count - 1)) : (double)NAN;
    out->min_ns = values[0];
    out->max_ns = values[count - 1];
    out->p25_ns = quantile(values, count, 0.25);
    out->p50_ns = quantile(values, count, 0.5);
    out->p75_ns = quantile(values, count, 0.75);
    out->p95_ns = quantile(values, count, 0.95);
    out->p99_ns = quantile(values, count, 0.99);
}

#define TABLE_DEF "ingest/model/tables/causes/spread.def"
#define TABLE_ROW struct causes_spread
#include "ingest/model/tables/describe.h"
