#include "ingest/analysis/environment/environment.h"

#include "ingest/base/text/buf.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FACT_BYTES_MAX ((size_t)1 << 16)
#define VALUES_SHOWN_MAX 4 /* different ones of the traces of a side */
#define BYTES_PER_GIB ((double)(1 << 30))
#define VALUE_BYTES 512

/* ---- different values ---- */

/* In the order in which they were found. */
struct values {
    const char *items[VALUES_SHOWN_MAX];
    size_t count;
    bool has_more;
};

static void add_value(struct values *values, const char *value)
{
    if (value == NULL || *value == '\0') {
        return;
    }
    for (size_t i = 0; i < values->count; i++) {
        if (strcmp(values->items[i], value) == 0) {
            return;
        }
    }
    values->has_more = values->has_more || values->count == VALUES_SHOWN_MAX;
    if (values->count < VALUES_SHOWN_MAX) {
        values->items[values->count++] = value;
    }
}

static void put_values(struct buf *out, const struct values *values, const char *between)
{
    for (size_t i = 0; i < values->count; i++) {
        buf_puts(out, i == 0 ? "" : between);
        buf_printf(out, "%.*s", VALUE_BYTES, values->items[i]);
    }
    if (values->has_more) {
        buf_puts(out, between);
        buf_puts(out, "…");
    }
}

/* ---- what the trace says under a key ---- */

static const char *said(const struct trace_results *trace, const char *key)
{
    for (size_t i = 0; i < trace->environment_count; i++) {
        if (strcmp(trace->environment[i].name, key) == 0) {
            return trace->environment[i].value;
        }
    }
    return NULL;
}

static bool number_said(const struct trace_results *trace, const char *key, int64_t *number)
{
    const char *text = said(trace, key);
    char *end = NULL;
    long long value = text == NULL ? 0 : strtoll(text, &end, 10);
    if (text == NULL || end == text || *end != '\0' || value <= 0) {
        return false;
    }
    *number = value;
    return true;
}

/* ---- one fact of one trace: its words into `out`, nothing where it is unknown ---- */

typedef void (*fact_writer)(struct buf *out, const struct trace_results *trace);

/* Whether any device did: else what the properties say is of no matter. */
static bool works(const struct trace_results *trace)
{
    return trace->device_count > 0 || trace->gpu_count > 0;
}

static bool is_no_gpu(const char *device_type)
{
    static const char *const types[] = {"NPU", "TPU", "MLU"};
    bool found = false;
    for (size_t i = 0; device_type != NULL && i < sizeof types / sizeof types[0]; i++) {
        found = found || strcmp(device_type, types[i]) == 0;
    }
    return found;
}

/* Of several devices each name once. */
static void put_device(struct buf *out, const struct trace_results *trace)
{
    struct values names = {.count = 0};
    for (size_t i = 0; i < trace->device_count; i++) {
        add_value(&names, trace->devices[i].name);
    }
    for (size_t i = 0; i < trace->gpu_count; i++) {
        add_value(&names, trace->gpus[i].name);
    }
    if (names.count == 0 && works(trace)) {
        add_value(&names, said(trace, ENVIRONMENT_KEY_DEVICE));
    }
    /* Nobody takes one of these for a GPU, whatever its name would be. */
    if (names.count == 0 && works(trace) && is_no_gpu(trace->device_type)) {
        add_value(&names, trace->device_type);
    }
    put_values(out, &names, ", ");
}

/* Devices without kernels or without properties stand in one of the two lists only. */
static void put_devices(struct buf *out, const struct trace_results *trace)
{
    size_t count = trace->device_count > trace->gpu_count ? trace->device_count : trace->gpu_count;
    if (count > 0) {
        buf_printf(out, "%zu", count);
    }
}

static void put_memory(struct buf *out, const struct trace_results *trace)
{
    double bytes = 0;
    for (size_t i = 0; bytes == 0 && i < trace->device_count; i++) {
        bytes = isnan(trace->devices[i].memory_bytes) ? 0 : trace->devices[i].memory_bytes;
    }
    for (size_t i = 0; bytes == 0 && i < trace->gpu_count; i++) {
        int64_t known = trace->gpus[i].memory_bytes;
        bytes = known == INT64_MIN ? 0 : (double)known;
    }
    int64_t of_all;
    if (bytes == 0 && works(trace) && number_said(trace, ENVIRONMENT_KEY_MEMORY, &of_all)) {
        bytes = (double)of_all;
    }
    if (bytes > 0) {
        buf_printf(out, "%.1f GiB", bytes / BYTES_PER_GIB);
    }
}

static void put_said(struct buf *out, const struct trace_results *trace, const char *key)
{
    const char *text = said(trace, key);
    if (text != NULL) {
        buf_printf(out, "%.*s", VALUE_BYTES, text);
    }
}

static void put_capability(struct buf *out, const struct trace_results *trace)
{
    for (size_t i = 0; out->len == 0 && i < trace->device_count; i++) {
        buf_puts(out, trace->devices[i].capability == NULL ? "" : trace->devices[i].capability);
    }
    for (size_t i = 0; out->len == 0 && i < trace->gpu_count; i++) {
        buf_puts(out, trace->gpus[i].capability == NULL ? "" : trace->gpus[i].capability);
    }
    if (out->len == 0 && works(trace)) {
        put_said(out, trace, ENVIRONMENT_KEY_CAPABILITY);
    }
}

static void put_world_size(struct buf *out, const struct trace_results *trace)
{
    put_said(out, trace, "distributedInfo.world_size");
}

static void put_backend(struct buf *out, const struct trace_results *trace)
{
    put_said(out, trace, "distributedInfo.backend");
}

static void put_communication(struct buf *out, const struct trace_results *trace)
{
    const char *version = said(trace, "distributedInfo.nccl_version");
    if (version != NULL) {
        buf_printf(out, "NCCL %.*s", VALUE_BYTES, version);
    }
}

/* The numbers of cudaRuntimeGetVersion() and hipRuntimeGetVersion(). */
static void put_version(struct buf *out,
                        const struct trace_results *trace,
                        const char *cuda_key,
                        const char *hip_key)
{
    int64_t number;
    if (number_said(trace, cuda_key, &number)) {
        buf_printf(out, "CUDA %" PRId64 ".%" PRId64, number / 1000, number % 1000 / 10);
    } else if (number_said(trace, hip_key, &number)) {
        buf_printf(out, "HIP %" PRId64 ".%" PRId64 ".%" PRId64, number / 10000000,
                   number / 100000 % 100, number % 100000);
    }
}

static void put_driver(struct buf *out, const struct trace_results *trace)
{
    put_version(out, trace, "cuda_driver_version", "hip_driver_version");
}

static void put_runtime(struct buf *out, const struct trace_results *trace)
{
    put_version(out, trace, "cuda_runtime_version", "hip_runtime_version");
}

/* "PyTorch Version", "pytorch_version" and "torch.version" are one key. */
static bool names_framework(const char *key)
{
    static const char *const known[] = {"pytorchversion", "torchversion", "frameworkversion"};
    char letters[24];
    size_t len = 0;
    for (; *key != '\0'; key++) {
        if (isalnum((unsigned char)*key)) {
            if (len + 1 == sizeof letters) {
                return false;
            }
            letters[len++] = (char)tolower((unsigned char)*key);
        }
    }
    letters[len] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(letters, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void put_framework(struct buf *out, const struct trace_results *trace)
{
    put_said(out, trace, "Framework");
    for (size_t i = 0; i < trace->environment_count; i++) {
        if (names_framework(trace->environment[i].name)) {
            buf_printf(out, "%s%.*s", out->len == 0 ? "" : " ", VALUE_BYTES,
                       trace->environment[i].value);
            return;
        }
    }
}

static void put_profiler(struct buf *out, const struct trace_results *trace)
{
    static const char *const libraries[][2] = {{"cupti_version", "CUPTI"},
                                               {"roctracer_version", "roctracer"},
                                               {"rocprofiler_version", "rocprofiler"}};
    put_said(out, trace, ENVIRONMENT_KEY_RECORDER);
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        const char *version = said(trace, libraries[i][0]);
        if (version != NULL) {
            buf_printf(out, "%s%s %.*s", out->len == 0 ? "" : ", ", libraries[i][1], VALUE_BYTES,
                       version);
        }
    }
}

/* The profiler writes those that are on; some writers also say which are off. */
static void put_options(struct buf *out, const struct trace_results *trace)
{
    static const char *const options[] = {"profile_memory", "record_shapes", "with_flops",
                                          "with_modules", "with_stack"};
    bool any_said = false;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const char *value = said(trace, options[i]);
        bool is_on = value != NULL && strcmp(value, "0") != 0 && strcmp(value, "false") != 0 &&
                     strcmp(value, "False") != 0;
        any_said = any_said || value != NULL;
        if (is_on) {
            buf_printf(out, "%s%s", out->len == 0 ? "" : ", ", options[i]);
        }
    }
    if (any_said && out->len == 0) {
        buf_puts(out, "none");
    }
}

static void put_steps(struct buf *out, const struct trace_results *trace)
{
    if (trace->has_steps) {
        buf_printf(out, "%zu", trace->step_count);
    } else if (trace->step_count > 0) {
        buf_puts(out, "none");
    }
}

static const fact_writer writers[ENVIRONMENT_FACT_COUNT] = {
    [ENVIRONMENT_DEVICE] = put_device,
    [ENVIRONMENT_DEVICES] = put_devices,
    [ENVIRONMENT_MEMORY] = put_memory,
    [ENVIRONMENT_CAPABILITY] = put_capability,
    [ENVIRONMENT_WORLD_SIZE] = put_world_size,
    [ENVIRONMENT_BACKEND] = put_backend,
    [ENVIRONMENT_COMMUNICATION] = put_communication,
    [ENVIRONMENT_DRIVER] = put_driver,
    [ENVIRONMENT_RUNTIME] = put_runtime,
    [ENVIRONMENT_FRAMEWORK] = put_framework,
    [ENVIRONMENT_PROFILER] = put_profiler,
    [ENVIRONMENT_OPTIONS] = put_options,
    [ENVIRONMENT_STEPS] = put_steps,
};

/* ---- all traces of a side ---- */

/* "" where it is unknown, NULL without memory. */
static const char *keep(struct arena *arena, struct buf *text)
{
    const char *copy = text->failed ? NULL : arena_strndup(arena, text->ptr, text->len);
    buf_free(text);
    return copy;
}

static const char *
fact_of(const struct trace_results *trace, enum environment_fact fact, struct arena *arena)
{
    struct buf text;
    buf_init(&text, FACT_BYTES_MAX);
    writers[fact](&text, trace);
    return keep(arena, &text);
}

static bool collect(const struct trace_results *const *traces,
                    size_t count,
                    enum environment_fact fact,
                    struct arena *arena,
                    const char **out)
{
    struct values values = {.count = 0};
    struct buf text;
    for (size_t i = 0; i < count; i++) {
        const char *value = fact_of(traces[i], fact, arena);
        if (value == NULL) {
            return false;
        }
        add_value(&values, value);
    }
    buf_init(&text, FACT_BYTES_MAX);
    put_values(&text, &values, " / ");
    *out = keep(arena, &text);
    return *out != NULL;
}

bool environment_of(const struct trace_results *const *traces,
                    size_t count,
                    struct arena *arena,
                    struct environment *out)
{
    *out = (struct environment){{NULL}};
    for (int fact = 0; fact < ENVIRONMENT_FACT_COUNT; fact++) {
        const char *value = NULL;
        if (!collect(traces, count, (enum environment_fact)fact, arena, &value)) {
            return false;
        }
        out->facts[fact] = *value == '\0' ? NULL : value;
    }
    return true;
}
