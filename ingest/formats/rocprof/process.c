#include "ingest/formats/rocprof/process.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/json/text.h"
#include "ingest/formats/json/walk.h"
#include "ingest/formats/relay/relay.h"
#include "ingest/formats/rocprof/counters.h"
#include "ingest/formats/rocprof/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RECORDS_AT_ONCE 64
#define AGENT_GPU 2 /* the others are CPUs */

/* Lists of records, runtime calls first: these launch the others. */
enum list { HIP, HSA, RCCL, MARKER, KERNELS, COPIES, COUNTED, LISTS };
static const char *const list_names[LISTS] = {"hip_api",           "hsa_api",         "rccl_api",
                                              "marker_api",        "kernel_dispatch", "memory_copy",
                                              "counter_collection"};

struct process {
    uint64_t cut_at; /* offset at which the text breaks off or is no JSON; WARNING_NO_OFFSET */
    struct json_walk lists[LISTS];
    bool has_list[LISTS];
    struct json_walk devices; /* the list of agents */
    bool has_devices;
    struct strtab *texts;
    struct id_map symbols;    /* kernel id -> string id */
    struct id_map agents;     /* handle -> number */
    struct id_map operations; /* kind and operation -> string id */
    struct id_map calls;      /* correlation ids of runtime calls */
    struct rocprof_counters counters;
    int64_t pid;
    int list; /* under way */
    bool in_list;
    bool failed; /* no memory */
};

/* ---- values ---- */

/* The string id of a text; STRTAB_NONE: no text. */
static uint32_t intern(struct process *process, const struct json_value *value)
{
    struct buf text;
    if (value->kind != JSON_KIND_STRING) {
        return STRTAB_NONE;
    }
    buf_init(&text, (size_t)value->len * 3 + 1);
    json_text_string(value, &text, NULL);
    uint32_t id = text.failed
                      ? STRTAB_NONE
                      : strtab_intern(process->texts, text.len == 0 ? "" : text.ptr, text.len);
    buf_free(&text);
    process->failed = process->failed || id == STRTAB_NONE;
    return id;
}

static void set(struct process *process, struct id_map *map, int64_t key, uint32_t value)
{
    struct id_slot *slot = id_map_add(map, key);
    process->failed = process->failed || slot == NULL;
    if (slot != NULL) {
        slot->value = value;
    }
}

/* ---- what records refer to ---- */

static void read_symbol(struct process *process, const struct json_value *symbol)
{
    struct json_value name;
    bool has_name = (json_walk_find(symbol, "formatted_kernel_name", &name) && name.len > 0) ||
                    json_walk_find(symbol, "kernel_name", &name);
    uint32_t text = has_name ? intern(process, &name) : STRTAB_NONE;
    if (text != STRTAB_NONE) {
        set(process, &process->symbols, rocprof_number(symbol, "kernel_id", RELAY_NONE), text);
    }
}

static void read_agent(struct process *process, const struct json_value *agent)
{
    int64_t handle = rocprof_inner_number(agent, "id", "handle");
    int64_t node =
        rocprof_number(agent, "logical_node_type_id", rocprof_number(agent, "node_id", 0));
    set(process, &process->agents, handle, (uint32_t)node);
}

static void read_operations(struct process *process, const struct json_value *kind, int64_t at)
{
    struct json_value list;
    struct json_value item;
    int64_t operation = 0;
    if (!json_walk_find(kind, "operations", &list)) {
        return;
    }
    struct json_walk walk = json_walk_of(&list);
    if (json_walk_enter(&walk, '[')) {
        while (json_walk_item(&walk) && json_walk_value(&walk, &item)) {
            uint32_t text = intern(process, &item);
            if (text != STRTAB_NONE) {
                set(process, &process->operations, at << 32 | operation, text);
            }
            operation++;
        }
    }
}

static void read_strings(struct process *process, const struct json_value *strings)
{
    struct json_value list;
    struct json_value kind;
    int64_t at = 0;
    if (!json_walk_find(strings, "buffer_records", &list)) {
        return;
    }
    struct json_walk walk = json_walk_of(&list);
    if (json_walk_enter(&walk, '[')) {
        while (at < INT32_MAX && json_walk_item(&walk) && json_walk_value(&walk, &kind)) {
            read_operations(process, &kind, at++);
        }
    }
}

/* Where each list begins; it may break off. */
static void read_buffers(struct process *process, struct json_walk *walk)
{
    struct json_value key;
    if (!json_walk_enter(walk, '{')) {
        return;
    }
    while (json_walk_key(walk, &key)) {
        for (int i = 0; i < LISTS; i++) {
            if (json_walk_text_is(&key, list_names[i])) {
                process->lists[i] = *walk;
                process->has_list[i] = json_walk_enter(&process->lists[i], '[');
            }
        }
        (void)json_walk_skip(walk);
    }
}

static void read_items(struct process *process,
                       struct json_walk *walk,
                       void (*read)(struct process *process, const struct json_value *item))
{
    struct json_value item;
    if (json_walk_enter(walk, '[')) {
        while (json_walk_item(walk) && json_walk_value(walk, &item)) {
            read(process, &item);
        }
    }
}

static bool is_records(const struct json_value *key)
{
    return json_walk_text_is(key, "buffer_records") || json_walk_text_is(key, "callback_records");
}

static void read_counter(struct process *process, const struct json_value *counter)
{
    struct json_value name;
    uint32_t text = json_walk_find(counter, "name", &name) ? intern(process, &name) : STRTAB_NONE;
    if (text != STRTAB_NONE) {
        set(process, &process->counters.names, rocprof_inner_number(counter, "id", "handle"), text);
    }
}

static void
read_member(struct process *process, struct json_walk *walk, const struct json_value *key)
{
    struct json_value value;
    if (is_records(key) && json_walk_is(walk, '{')) {
        read_buffers(process, walk);
    } else if (json_walk_text_is(key, "kernel_symbols") && json_walk_is(walk, '[')) {
        read_items(process, walk, read_symbol);
    } else if (json_walk_text_is(key, "agents") && json_walk_is(walk, '[')) {
        process->devices = *walk;
        process->has_devices = true;
        read_items(process, walk, read_agent);
    } else if (json_walk_text_is(key, "counters") && json_walk_is(walk, '[')) {
        read_items(process, walk, read_counter);
    } else if (json_walk_text_is(key, "strings") && json_walk_value(walk, &value)) {
        read_strings(process, &value);
    } else if (json_walk_text_is(key, "metadata") && json_walk_value(walk, &value)) {
        process->pid = rocprof_number(&value, "pid", RELAY_NONE);
    } else {
        (void)json_walk_skip(walk);
    }
}

/* What was counted at which dispatch, and which dispatches are recorded besides. */
static void find_counted(struct process *process)
{
    struct rocprof_counters *counters = &process->counters;
    struct json_value record;
    struct json_value info;
    struct json_walk walk = process->lists[COUNTED];
    bool ok = true;
    while (process->has_list[COUNTED] && json_walk_item(&walk) && json_walk_value(&walk, &record)) {
        ok = ok && rocprof_counters_note(counters, &record);
    }
    walk = process->lists[KERNELS];
    while (counters->count > 0 && process->has_list[KERNELS] && json_walk_item(&walk) &&
           json_walk_value(&walk, &record)) {
        bool has_info = json_walk_find(&record, "dispatch_info", &info);
        ok = ok && (!has_info || rocprof_counters_note_dispatch(counters, &info));
    }
    process->failed = process->failed || !ok;
}

static void find_calls(struct process *process)
{
    for (int list = HIP; list <= RCCL; list++) {
        struct json_walk walk = process->lists[list];
        struct json_value record;
        while (process->has_list[list] && json_walk_item(&walk) &&
               json_walk_value(&walk, &record)) {
            set(process, &process->calls,
                rocprof_inner_number(&record, "correlation_id", "internal"), 0);
        }
    }
}

/* ---- relaying ---- */

static void set_times(struct relay_event *event, const struct json_value *record)
{
    event->start_ns = rocprof_number(record, "start_timestamp", 0);
    event->dur_ns =
        saturating_sub(rocprof_number(record, "end_timestamp", event->start_ns), event->start_ns);
    event->correlation = rocprof_inner_number(record, "correlation_id", "internal");
}

static int64_t agent_of(const struct process *process, int64_t handle)
{
    const struct id_slot *slot = id_map_find(&process->agents, handle);
    return slot == NULL ? 0 : (int64_t)slot->value;
}

static void
relay_call(struct process *process, struct relay *relay, const struct json_value *record)
{
    struct relay_event event =
        relay_blank(process->list == MARKER ? RELAY_ANNOTATION : RELAY_RUNTIME);
    int64_t kind = rocprof_number(record, "kind", 0);
    int64_t operation = rocprof_number(record, "operation", 0);
    const struct id_slot *name =
        id_map_find(&process->operations, (int64_t)((uint64_t)kind << 32 | (uint32_t)operation));
    set_times(&event, record);
    relay_set_name(&event, name == NULL ? list_names[process->list]
                                        : strtab_text(process->texts, name->value));
    event.process = "rocprofv3";
    event.pid = process->pid;
    event.tid = rocprof_number(record, "thread_id", RELAY_NONE);
    relay_add(relay, &event);
}

/* Without what the compiler adds to a kernel's descriptor. */
static size_t without_clone(const char *name)
{
    static const char *const suffixes[] = {" [clone .kd]", ".kd"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix_len = strlen(suffixes[i]);
        if (len >= suffix_len && strcmp(name + len - suffix_len, suffixes[i]) == 0) {
            return len - suffix_len;
        }
    }
    return len;
}

/* Grids are in work items: blocks are as many as groups of them. */
static void write_launch(struct json_write *w, const struct json_value *info)
{
    static const char *const axes[] = {"x", "y", "z"};
    int64_t groups[3];
    int64_t items[3];
    for (size_t i = 0; i < 3; i++) {
        int64_t all = rocprof_inner_number(info, "grid_size", axes[i]);
        items[i] = rocprof_inner_number(info, "workgroup_size", axes[i]);
        if (all == RELAY_NONE || items[i] == RELAY_NONE) {
            return;
        }
        items[i] = i64_max(items[i], 1);
        groups[i] = (i64_max(all, 1) - 1) / items[i] + 1;
    }
    for (int of_grid = 1; of_grid >= 0; of_grid--) {
        jw_key_array_begin(w, of_grid != 0 ? "grid" : "block");
        for (size_t i = 0; i < 3; i++) {
            jw_int(w, of_grid != 0 ? groups[i] : items[i]);
        }
        jw_array_end(w);
    }
}

static void set_launch(struct process *process, struct relay_event *event)
{
    event->is_linked = event->correlation != RELAY_NONE &&
                       id_map_find(&process->calls, event->correlation) != NULL;
}

static void
relay_kernel(struct process *process, struct relay *relay, const struct json_value *record)
{
    struct relay_event event = relay_blank(RELAY_KERNEL);
    struct json_value info = {.kind = JSON_KIND_NULL};
    char unnamed[40];
    (void)json_walk_find(record, "dispatch_info", &info);
    int64_t kernel = rocprof_number(&info, "kernel_id", 0);
    const struct id_slot *symbol = id_map_find(&process->symbols, kernel);
    set_times(&event, record);
    (void)snprintf(unnamed, sizeof unnamed, "kernel %" PRId64, kernel);
    event.name = symbol == NULL ? unnamed : strtab_text(process->texts, symbol->value);
    event.name_len = without_clone(event.name);
    event.role =
        relay_is_communication(event.name, event.name_len) ? RELAY_COMMUNICATION : RELAY_KERNEL;
    event.device = agent_of(process, rocprof_inner_number(&info, "agent_id", "handle"));
    event.stream = rocprof_inner_number(record, "stream_id", "handle");
    if (event.stream == RELAY_NONE || event.stream == 0) {
        event.stream = rocprof_inner_number(&info, "queue_id", "handle");
    }
    set_launch(process, &event);
    relay_begin(relay, &event);
    write_launch(&relay->args, &info);
    rocprof_counters_write(&process->counters, process->texts, relay, &event, &info);
    relay_end(relay);
}

/* One that is recorded for its counters alone: without --kernel-trace. */
static void
relay_counted(struct process *process, struct relay *relay, const struct json_value *record)
{
    struct json_value dispatch;
    struct json_value info;
    if (json_walk_find(record, "dispatch_data", &dispatch) &&
        json_walk_find(&dispatch, "dispatch_info", &info) &&
        rocprof_counters_take(&process->counters, &info)) {
        relay_kernel(process, relay, &dispatch);
    }
}

static void
relay_copy(struct process *process, struct relay *relay, const struct json_value *record)
{
    struct relay_event event = relay_blank(RELAY_MEMCPY);
    set_times(&event, record);
    relay_set_name(&event, "memory copy");
    event.device = agent_of(process, rocprof_inner_number(record, "dst_agent_id", "handle"));
    event.stream = rocprof_inner_number(record, "stream_id", "handle");
    set_launch(process, &event);
    relay_begin(relay, &event);
    jw_key_int(&relay->args, "bytes", rocprof_number(record, "bytes", 0));
    relay_end(relay);
}

static void
relay_record(struct process *process, struct relay *relay, const struct json_value *record)
{
    switch (process->list) {
    case KERNELS:
        relay_kernel(process, relay, record);
        break;
    case COPIES:
        relay_copy(process, relay, record);
        break;
    case COUNTED:
        relay_counted(process, relay, record);
        break;
    default:
        relay_call(process, relay, record);
        break;
    }
}

static bool more(void *context, struct relay *relay, bool *ended, struct err *err)
{
    struct process *process = context;
    struct json_value record;
    (void)err;
    for (int i = 0; i < RECORDS_AT_ONCE; i++) {
        if (process->list == LISTS) {
            *ended = true;
            return true;
        }
        struct json_walk *walk = &process->lists[process->list];
        if (process->has_list[process->list] && json_walk_item(walk) &&
            json_walk_value(walk, &record)) {
            relay_record(process, relay, &record);
            continue;
        }
        process->list++;
    }
    return true;
}

/* ---- devices ---- */

static void
write_device(struct process *process, struct json_write *w, const struct json_value *agent)
{
    struct json_value name;
    uint32_t text =
        json_walk_find(agent, "product_name", &name) ? intern(process, &name) : STRTAB_NONE;
    int64_t target = rocprof_number(agent, "gfx_target_version", 0); /* 90402 is gfx942 */
    jw_object_begin(w);
    jw_key_int(w, "id",
               rocprof_number(agent, "logical_node_type_id", rocprof_number(agent, "node_id", 0)));
    if (text != STRTAB_NONE) {
        jw_key_string(w, "name", strtab_text(process->texts, text));
    }
    jw_key_int(w, "numSms", rocprof_number(agent, "cu_count", 0));
    if (target > 0) {
        jw_key_int(w, "computeMajor", target / 10000);
        jw_key_int(w, "computeMinor", target / 100 % 100);
    }
    jw_object_end(w);
}

static void write_devices(struct process *process, struct json_write *w)
{
    struct json_walk walk = process->devices;
    struct json_value agent;
    if (!process->has_devices || !json_walk_enter(&walk, '[')) {
        return;
    }
    jw_key_array_begin(w, "deviceProperties");
    while (json_walk_item(&walk) && json_walk_value(&walk, &agent)) {
        if (rocprof_number(&agent, "type", 0) == AGENT_GPU) {
            write_device(process, w, &agent);
        }
    }
    jw_array_end(w);
}

/* ---- the process ---- */

static bool open_process(struct process *process, struct json_walk *walk, const char *begin)
{
    struct json_value key;
    *process =
        (struct process){.cut_at = WARNING_NO_OFFSET, .texts = strtab_create(), .pid = RELAY_NONE};
    bool has_memory = rocprof_counters_init(&process->counters) && process->texts != NULL;
    if (!has_memory || !json_walk_enter(walk, '{')) {
        return has_memory;
    }
    while (!process->failed && json_walk_key(walk, &key)) {
        read_member(process, walk, &key);
    }
    if (walk->failed) {
        process->cut_at = (uint64_t)(walk->at - begin);
    }
    find_calls(process);
    find_counted(process);
    return !process->failed;
}

static void close_process(struct process *process)
{
    strtab_destroy(process->texts);
    id_map_free(&process->symbols);
    id_map_free(&process->agents);
    id_map_free(&process->operations);
    id_map_free(&process->calls);
    rocprof_counters_free(&process->counters);
}

static bool relay_process(struct process *process,
                          const struct rocprof_process *place,
                          const struct format_options *options,
                          struct trace **out,
                          struct err *err)
{
    struct relay relay;
    relay_init(&relay, "rocprofv3");
    write_devices(process, &relay.head);
    uint64_t cut_at = process->cut_at != WARNING_NO_OFFSET ? process->cut_at : place->cut_at;
    if (cut_at != WARNING_NO_OFFSET) {
        warning_add(&relay.warnings, WARN_TRUNCATED, cut_at);
    }
    if (place->trails_at != WARNING_NO_OFFSET) {
        warning_add(&relay.warnings, WARN_TRAILING, place->trails_at);
    }
    relay.metrics = &process->counters.metrics;
    bool ok = relay_read(&relay, more, process, options, out, err);
    if (!ok && err->code == ERR_BAD_INPUT && relay.record_count == 0) {
        ok = err_set(err, ERR_BAD_INPUT,
                     "the recording of rocprofv3 has no record: record with rocprofv3 "
                     "--kernel-trace --hip-trace --output-format json");
    }
    relay_free(&relay);
    return ok;
}

bool rocprof_process_read(const struct rocprof_process *place,
                          const struct format_options *options,
                          struct trace **out,
                          struct err *err)
{
    struct process process;
    struct json_walk walk = place->walk;
    bool ok = (open_process(&process, &walk, place->begin) ||
               err_set(err, ERR_NO_MEMORY, "no memory for a recording")) &&
              relay_process(&process, place, options, out, err);
    close_process(&process);
    return ok;
}

/* ---- a look at it ---- */

static bool has_record(struct json_walk *walk)
{
    struct json_value key;
    bool found = false;
    if (!json_walk_enter(walk, '{')) {
        return false;
    }
    while (json_walk_key(walk, &key)) {
        for (int i = 0; i < LISTS && !found; i++) {
            struct json_walk list = *walk;
            found = json_walk_text_is(&key, list_names[i]) && json_walk_enter(&list, '[') &&
                    json_walk_item(&list);
        }
        (void)json_walk_skip(walk);
    }
    return found;
}

void rocprof_process_look(struct json_walk *walk, struct rocprof_look *look)
{
    struct json_value key;
    struct json_value value;
    *look = (struct rocprof_look){.pid = RELAY_NONE};
    if (!json_walk_enter_or_skip(walk, '{')) {
        return;
    }
    while (json_walk_key(walk, &key)) {
        if (is_records(&key) && json_walk_is(walk, '{')) {
            look->has_record = has_record(walk) || look->has_record;
        } else if (json_walk_text_is(&key, "metadata") && json_walk_value(walk, &value)) {
            look->pid = rocprof_number(&value, "pid", RELAY_NONE);
        } else {
            (void)json_walk_skip(walk);
        }
    }
}
