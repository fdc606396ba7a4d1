/* What stands beside the events: devices, the distributed job, scalars of all kinds. */
#include "ingest/formats/chrome_json/reader.h"
#include "ingest/formats/json/text.h"

#include <string.h>

#define META_COUNT_MAX 1000
#define META_VALUE_BYTES_MAX 4096
#define NAME_BYTES_MAX ((size_t)1 << 20)
#define DISTRIBUTED "distributedInfo"

bool kineto_is_top_key(const char *key, size_t len)
{
    static const char *const keys[] = {"schemaVersion",
                                       "deviceProperties",
                                       "distributedInfo",
                                       KINETO_RECORDED_KEY,
                                       "traceEvents",
                                       "traceName",
                                       "displayTimeUnit",
                                       "baseTimeNanoseconds",
                                       "Framework",
                                       "trace_id",
                                       "group_trace_id",
                                       "record_shapes",
                                       "with_stack",
                                       "with_flops",
                                       "with_modules",
                                       "profile_memory",
                                       "cuda_runtime_version",
                                       "cuda_driver_version",
                                       "cupti_version",
                                       "hostname",
                                       "host_name",
                                       "username",
                                       "INFO",
                                       "WARNING",
                                       "ERROR",
                                       "EXTRA",
                                       "VERBOSE"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strlen(keys[i]) == len && memcmp(keys[i], key, len) == 0) {
            return true;
        }
    }
    return false;
}

static bool no_memory(struct kineto_reader *reader)
{
    return err_set(reader->err, ERR_NO_MEMORY, "no memory for the trace's metadata");
}

/* The value's text in the trace's arena; NULL without memory. */
static const char *keep_text(struct kineto_reader *reader, const struct json_value *value)
{
    struct buf text;
    buf_init(&text, NAME_BYTES_MAX);
    if (value->kind == JSON_KIND_STRING) {
        json_text_string(value, &text, NULL);
    } else {
        buf_append(&text, value->ptr, value->len);
    }
    const char *kept =
        text.failed ? NULL : arena_strndup(&reader->trace->arena, text.ptr, text.len);
    buf_free(&text);
    return kept;
}

static bool
keep_scalar(struct kineto_reader *reader, const char *key, const struct json_value *value)
{
    bool is_scalar = value->kind != JSON_KIND_ARRAY && value->kind != JSON_KIND_OBJECT;
    if (!is_scalar || value->len > META_VALUE_BYTES_MAX ||
        reader->trace->meta_count >= META_COUNT_MAX) {
        return true;
    }
    const char *text = keep_text(reader, value);
    return (text != NULL && trace_add_meta(reader->trace, key, text)) || no_memory(reader);
}

/* A number, or a string that holds one. */
static bool number_of(const struct json_value *value, int64_t *number)
{
    if (value->kind == JSON_KIND_STRING) {
        return json_text_parse_int(value->ptr, value->len, number);
    }
    return json_text_int(value, number);
}

static bool is_key(const struct json_value *key, const char *name)
{
    return strlen(name) == key->len && memcmp(name, key->ptr, key->len) == 0;
}

/* --- walking kept values, which have been scanned before: their repairs are counted already --- */

static struct json_lenient walker(const struct kineto_reader *reader, const char *at)
{
    return (struct json_lenient){.at = at,
                                 .end = reader->stream->end,
                                 .base = reader->stream->window,
                                 .base_off = reader->stream->window_off,
                                 .is_known_key = kineto_is_top_key};
}

/* --- the distributed job --- */

struct member_context {
    struct kineto_reader *reader;
    struct device_properties *device;
    bool failed;
};

static enum json_status
take_distributed(struct json_lenient *lenient, const struct json_value *key, void *context)
{
    struct member_context *member = context;
    struct kineto_reader *reader = member->reader;
    struct trace *trace = reader->trace;
    struct json_value value;
    char name[sizeof DISTRIBUTED + 1 + KINETO_KEY_BYTES] = DISTRIBUTED ".";
    enum json_status status = json_lenient_value(lenient, &value);
    if (status != JSON_OK || key->len >= KINETO_KEY_BYTES) {
        return status;
    }
    memcpy(name + sizeof DISTRIBUTED, key->ptr, key->len);
    name[sizeof DISTRIBUTED + key->len] = '\0';
    member->failed = member->failed || !keep_scalar(reader, name, &value);
    if (is_key(key, "rank")) {
        (void)number_of(&value, &trace->distributed_rank);
    } else if (is_key(key, "world_size")) {
        (void)number_of(&value, &trace->distributed_world_size);
    } else if (is_key(key, "backend") && value.kind == JSON_KIND_STRING) {
        trace->distributed_backend = keep_text(reader, &value);
        member->failed = member->failed || trace->distributed_backend == NULL;
    }
    return JSON_OK;
}

static bool read_distributed(struct kineto_reader *reader, const struct json_value *value)
{
    struct json_lenient lenient = walker(reader, value->ptr);
    struct member_context context = {.reader = reader};
    bool whole = json_lenient_object(&lenient, take_distributed, &context) == JSON_OK;
    if (context.failed) {
        return no_memory(reader);
    }
    if (!whole) {
        kineto_warn(reader, WARN_SYNTAX, value->ptr);
    }
    return true;
}

/* --- devices --- */

static void take_number(struct device_properties *device,
                        const struct json_value *value,
                        int64_t *number,
                        uint32_t bit)
{
    if (number_of(value, number)) {
        device->has |= bit;
    }
}

static enum json_status
take_device(struct json_lenient *lenient, const struct json_value *key, void *context)
{
    struct member_context *member = context;
    struct device_properties *device = member->device;
    struct json_value value;
    enum json_status status = json_lenient_value(lenient, &value);
    if (status != JSON_OK) {
        return status;
    }
    if (is_key(key, "id")) {
        take_number(device, &value, &device->id, DEVICE_HAS_ID);
    } else if (is_key(key, "totalGlobalMem")) {
        take_number(device, &value, &device->total_memory_bytes, DEVICE_HAS_TOTAL_MEMORY);
    } else if (is_key(key, "totalMem(MiB)")) {
        take_number(device, &value, &device->total_memory_mib, DEVICE_HAS_TOTAL_MEMORY_MIB);
    } else if (is_key(key, "computeMajor")) {
        take_number(device, &value, &device->compute_major, DEVICE_HAS_COMPUTE_MAJOR);
    } else if (is_key(key, "computeMinor")) {
        take_number(device, &value, &device->compute_minor, DEVICE_HAS_COMPUTE_MINOR);
    } else if (is_key(key, "numSms")) {
        take_number(device, &value, &device->sm_count, DEVICE_HAS_SM_COUNT);
    } else if (is_key(key, "name") && value.kind == JSON_KIND_STRING) {
        device->name = keep_text(member->reader, &value);
        device->has |= DEVICE_HAS_NAME;
        member->failed = member->failed || device->name == NULL;
    }
    return JSON_OK;
}

static bool read_devices(struct kineto_reader *reader, const struct json_value *value)
{
    struct json_lenient lenient = walker(reader, value->ptr + 1);
    const char *end = value->ptr + value->len - 1;
    while (lenient.at < end) {
        struct json_value item;
        if (*lenient.at != '{') {
            bool between = json_is_space(*lenient.at) || *lenient.at == ',';
            lenient.at += between;
            if (!between && json_lenient_value(&lenient, &item) != JSON_OK) {
                break;
            }
            continue;
        }
        struct device_properties device = {.name = NULL};
        struct member_context context = {.reader = reader, .device = &device};
        enum json_status status = json_lenient_object(&lenient, take_device, &context);
        if (context.failed || (status == JSON_OK && !trace_add_device(reader->trace, &device))) {
            return no_memory(reader);
        }
        if (status != JSON_OK) {
            break;
        }
    }
    return true;
}

/* Bounded like all times, so that adding it cannot overflow. */
static void take_base_time(struct kineto_reader *reader, const struct json_value *value)
{
    int64_t base_ns;
    bool is_number = number_of(value, &base_ns);
    if (is_number && base_ns < JSON_TIME_MAX_NS && base_ns > -JSON_TIME_MAX_NS) {
        reader->trace->base_time_ns = base_ns;
    } else {
        kineto_warn(reader, WARN_TIME_RANGE, value->ptr);
    }
}

bool kineto_take_meta(struct kineto_reader *reader, const char *key, const struct json_value *value)
{
    struct trace *trace = reader->trace;
    if (strcmp(key, "deviceProperties") == 0) {
        trace->has_device_properties = true;
        return value->kind != JSON_KIND_ARRAY || read_devices(reader, value);
    }
    if (strcmp(key, KINETO_RECORDED_KEY) == 0 && value->kind == JSON_KIND_OBJECT) {
        return kineto_take_recorded(reader, value);
    }
    if (strcmp(key, DISTRIBUTED) == 0) {
        return value->kind != JSON_KIND_OBJECT || read_distributed(reader, value);
    }
    if (strcmp(key, "Framework") == 0 && value->kind == JSON_KIND_STRING) {
        trace->framework = keep_text(reader, value);
        if (trace->framework == NULL) {
            return no_memory(reader);
        }
    }
    if (strcmp(key, "baseTimeNanoseconds") == 0) {
        take_base_time(reader, value);
    }
    return keep_scalar(reader, key, value);
}
