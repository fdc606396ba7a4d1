/* The SQLite export of Nsight Systems (nsys export --type sqlite) [FMT-5]. */
#include "ingest/base/saturating.h"
#include "ingest/formats/database/nsys_ranges.h"
#include "ingest/formats/database/recordings.h"

#include <stdio.h>
#include <string.h>

#define ACTIVITY "CUPTI_ACTIVITY_KIND_"
#define THREAD_BITS 24

/* ---- links ---- */

struct own {
    struct id_map calls;     /* correlation ids of runtime calls */
    struct id_map processes; /* the same with their process */
    struct id_map kernels;   /* of kernels: what a graph launched node by node */
    struct nsys_steps steps;
    int64_t process;    /* of the calls */
    bool has_processes; /* several, each of which numbers its calls from 1 */
    int64_t session_end_ns;
};

static int64_t process_of(int64_t global_id)
{
    return (int64_t)((uint64_t)global_id >> THREAD_BITS & UINT32_MAX);
}

/* A process and a correlation id, which has 32 bits, as one number. */
static int64_t pair_of(int64_t global_id, int64_t correlation)
{
    return (int64_t)((uint64_t)process_of(global_id) << 32 | ((uint64_t)correlation & UINT32_MAX));
}

static bool note_process(struct own *own, int64_t thread, int64_t correlation)
{
    struct id_slot *slot = id_map_add(&own->processes, pair_of(thread, correlation));
    int64_t process = process_of(thread);
    own->has_processes = own->has_processes || (own->process != 0 && own->process != process);
    own->process = process;
    return slot != NULL;
}

/* Unique in the file. */
static int64_t correlation_of(const struct own *own, int64_t global_id, int64_t correlation)
{
    const struct id_slot *slot = own->has_processes && global_id != RELAY_NONE
                                     ? id_map_find(&own->processes, pair_of(global_id, correlation))
                                     : NULL;
    return slot == NULL ? correlation : (int64_t)slot->index + 1;
}

static bool find_calls(struct recording *recording, struct own *own, struct err *err)
{
    sqlite3_stmt *rows;
    bool ok =
        tables_open(&recording->tables, ACTIVITY "RUNTIME", "correlationId globalTid", &rows, err);
    while (ok && tables_next(&recording->tables, rows)) {
        int64_t correlation = tables_int(rows, 0, RELAY_NONE);
        int64_t thread = tables_int(rows, 1, RELAY_NONE);
        ok = (id_map_add(&own->calls, correlation) != NULL &&
              (thread == RELAY_NONE || note_process(own, thread, correlation))) ||
             err_set(err, ERR_NO_MEMORY, "no memory for the calls of a recording");
    }
    (void)sqlite3_finalize(rows);
    return ok && tables_load_map(&recording->tables, ACTIVITY "KERNEL", "correlationId start",
                                 &own->kernels, err);
}

static bool is_linked(const struct own *own, int64_t correlation, int64_t global_pid)
{
    return global_pid == RELAY_NONE
               ? id_map_find(&own->calls, correlation) != NULL
               : id_map_find(&own->processes, pair_of(global_pid, correlation)) != NULL;
}

/* ---- the session ---- */

static const char *const timed[] = {
    ACTIVITY "RUNTIME",         ACTIVITY "KERNEL",      ACTIVITY "MEMCPY", ACTIVITY "MEMSET",
    ACTIVITY "SYNCHRONIZATION", ACTIVITY "GRAPH_TRACE", "OSRT_API",        "NVTX_EVENTS",
};

/* Open ranges end with the session, or with the last record if that is later. */
static bool find_session_end(struct recording *recording, struct own *own, struct err *err)
{
    sqlite3_stmt *rows;
    bool ok = tables_open(&recording->tables, "ANALYSIS_DETAILS", "duration", &rows, err);
    while (ok && tables_next(&recording->tables, rows)) {
        own->session_end_ns = i64_max(own->session_end_ns, tables_int(rows, 0, 0));
    }
    (void)sqlite3_finalize(rows);
    for (size_t i = 0; ok && i < sizeof timed / sizeof *timed; i++) {
        ok = tables_open(&recording->tables, timed[i], "end start", &rows, err);
        while (ok && tables_next(&recording->tables, rows)) {
            int64_t start_ns = tables_int(rows, 1, 0);
            own->session_end_ns = i64_max(own->session_end_ns, tables_int(rows, 0, start_ns));
        }
        (void)sqlite3_finalize(rows);
    }
    return ok;
}

static bool write_head(struct recording *recording, struct err *err)
{
    struct json_write *w = &recording->relay.head;
    sqlite3_stmt *rows;
    size_t len;
    bool ok =
        tables_open(&recording->tables, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", &rows, err);
    if (ok && tables_next(&recording->tables, rows)) {
        jw_key_int(w, "baseTimeNanoseconds", tables_int(rows, 0, 0));
    }
    (void)sqlite3_finalize(rows);
    ok = ok && tables_open(&recording->tables, "TARGET_INFO_GPU",
                           "id name totalMemory smCount computeMajor computeMinor", &rows, err);
    if (!ok || rows == NULL) {
        return ok;
    }
    jw_key_array_begin(w, "deviceProperties");
    while (tables_next(&recording->tables, rows)) {
        const char *name = tables_text(rows, 1, &len);
        jw_object_begin(w);
        jw_key_int(w, "id", tables_int(rows, 0, 0));
        jw_key(w, "name");
        jw_string_n(w, name, len);
        jw_key_int(w, "totalGlobalMem", tables_int(rows, 2, 0));
        jw_key_int(w, "numSms", tables_int(rows, 3, 0));
        jw_key_int(w, "computeMajor", tables_int(rows, 4, 0));
        jw_key_int(w, "computeMinor", tables_int(rows, 5, 0));
        jw_object_end(w);
    }
    jw_array_end(w);
    (void)sqlite3_finalize(rows);
    return true;
}

/* ---- rows ---- */

static void set_name(struct relay_event *event, const char *name, size_t len)
{
    event->name = name;
    event->name_len = len;
}

/* The low 48 bits of a global id: process and thread. */
static void set_thread(struct relay_event *event, int64_t global_id)
{
    if (global_id != RELAY_NONE) {
        event->pid = process_of(global_id) & ((1 << THREAD_BITS) - 1);
        event->tid = global_id & ((1 << THREAD_BITS) - 1);
    }
}

/* start end deviceId streamId correlationId globalPid */
#define DEVICE_COLUMNS "start end deviceId streamId correlationId globalPid"

static struct relay_event
device_event(const struct recording *recording, sqlite3_stmt *row, enum relay_role role)
{
    struct relay_event event = relay_blank(role);
    recording_set_times(&event, row);
    event.device = tables_int(row, 2, 0);
    event.stream = tables_int(row, 3, RELAY_NONE);
    int64_t correlation = tables_int(row, 4, RELAY_NONE);
    int64_t process = tables_int(row, 5, RELAY_NONE);
    event.correlation = correlation_of(recording->own, process, correlation);
    event.is_linked = is_linked(recording->own, correlation, process);
    return event;
}

static void write_dim(struct json_write *w, const char *key, sqlite3_stmt *row, int column)
{
    if (sqlite3_column_type(row, column) != SQLITE_INTEGER) {
        return;
    }
    jw_key_array_begin(w, key);
    for (int i = 0; i < 3; i++) {
        jw_int(w, tables_int(row, column + i, 1));
    }
    jw_array_end(w);
}

static void write_known(struct json_write *w, const char *key, sqlite3_stmt *row, int column)
{
    int64_t value = tables_int(row, column, RELAY_NONE);
    if (value != RELAY_NONE) {
        jw_key_int(w, key, value);
    }
}

/* Names are ids of StringIds, or, in some exports, texts. */
static const char *
name_at(const struct recording *recording, sqlite3_stmt *row, int column, size_t *len)
{
    const char *text = tables_text(row, column, len);
    if (*len == 0) {
        text = id_texts_get(&recording->texts, tables_int(row, column, RELAY_NONE));
        *len = strlen(text);
    }
    return text;
}

static void add_kernel(struct recording *recording, sqlite3_stmt *row)
{
    struct relay_event event = device_event(recording, row, RELAY_KERNEL);
    size_t len = 0;
    const char *name = "";
    for (int column = 6; column < 10 && len == 0; column++) {
        name = name_at(recording, row, column, &len);
    }
    set_name(&event, name, len);
    event.role = relay_is_communication(name, len) ? RELAY_COMMUNICATION : RELAY_KERNEL;
    relay_begin(&recording->relay, &event);
    write_dim(&recording->relay.args, "grid", row, 10);
    write_dim(&recording->relay.args, "block", row, 13);
    write_known(&recording->relay.args, "registers per thread", row, 16);
    write_known(&recording->relay.args, "shared memory", row, 17);
    write_known(&recording->relay.args, "graph node id", row, 18);
    relay_end(&recording->relay);
}

/* As `nsys stats` prints them; the numbers are those of CUPTI. */
static const char *copy_name(int64_t kind)
{
    static const char *const names[] = {
        "[CUDA memcpy]",
        "[CUDA memcpy Host-to-Device]",
        "[CUDA memcpy Device-to-Host]",
        "[CUDA memcpy Host-to-Array]",
        "[CUDA memcpy Array-to-Host]",
        "[CUDA memcpy Array-to-Array]",
        "[CUDA memcpy Array-to-Device]",
        "[CUDA memcpy Device-to-Array]",
        "[CUDA memcpy Device-to-Device]",
        "[CUDA memcpy Host-to-Host]",
        "[CUDA memcpy Peer-to-Peer]",
    };
    int64_t count = (int64_t)(sizeof names / sizeof names[0]);
    return names[kind >= 0 && kind < count ? kind : 0];
}

static void add_copy(struct recording *recording, sqlite3_stmt *row)
{
    struct relay_event event = device_event(recording, row, RELAY_MEMCPY);
    const char *name = copy_name(tables_int(row, 7, 0));
    set_name(&event, name, strlen(name));
    relay_begin(&recording->relay, &event);
    write_known(&recording->relay.args, "bytes", row, 6);
    relay_end(&recording->relay);
}

static void add_set(struct recording *recording, sqlite3_stmt *row)
{
    struct relay_event event = device_event(recording, row, RELAY_MEMSET);
    set_name(&event, "[CUDA memset]", strlen("[CUDA memset]"));
    relay_begin(&recording->relay, &event);
    write_known(&recording->relay.args, "bytes", row, 6);
    relay_end(&recording->relay);
}

/* A graph recorded as a whole; where its kernels are, it is not counted beside them. */
static void add_graph(struct recording *recording, sqlite3_stmt *row)
{
    const struct own *own = recording->own;
    struct relay_event event = device_event(recording, row, RELAY_KERNEL);
    char name[40];
    if (id_map_find(&own->kernels, event.correlation) != NULL) {
        return;
    }
    int len = snprintf(name, sizeof name, "graph %lld", (long long)tables_int(row, 6, 0));
    set_name(&event, name, (size_t)len);
    relay_add(&recording->relay, &event);
}

/* cudaLaunchKernel_v7000 is cudaLaunchKernel. */
static size_t without_version(const char *name, size_t len)
{
    size_t end = len;
    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') {
        end--;
    }
    bool has_version = end < len && end > 2 && name[end - 1] == 'v' && name[end - 2] == '_';
    return has_version ? end - 2 : len;
}

static void add_call(struct recording *recording, sqlite3_stmt *row)
{
    struct relay_event event = relay_blank(RELAY_RUNTIME);
    size_t len;
    const char *name = name_at(recording, row, 2, &len);
    recording_set_times(&event, row);
    set_name(&event, name, without_version(name, len));
    int64_t thread = tables_int(row, 3, RELAY_NONE);
    set_thread(&event, thread);
    event.correlation = correlation_of(recording->own, thread, tables_int(row, 4, RELAY_NONE));
    relay_add(&recording->relay, &event);
}

static void add_wait(struct recording *recording, sqlite3_stmt *row)
{
    static const char *const names[] = {"Synchronization", "Event Synchronize", "Stream Wait Event",
                                        "Stream Synchronize", "Context Synchronize"};
    struct relay_event event = relay_blank(RELAY_SYNC);
    int64_t type = tables_int(row, 2, 0);
    const char *name = names[type > 0 && type < 5 ? type : 0];
    recording_set_times(&event, row);
    set_name(&event, name, strlen(name));
    event.device = tables_int(row, 4, RELAY_NONE);
    event.stream = tables_int(row, 3, RELAY_NONE);
    event.process = "synchronization";
    event.tid = event.stream;
    relay_add(&recording->relay, &event);
}

static void add_host(struct recording *recording, sqlite3_stmt *row)
{
    struct relay_event event = relay_blank(RELAY_HOST);
    size_t len;
    const char *name = name_at(recording, row, 2, &len);
    recording_set_times(&event, row);
    set_name(&event, name, len);
    set_thread(&event, tables_int(row, 3, RELAY_NONE));
    relay_add(&recording->relay, &event);
}

static bool is_range(int64_t type)
{
    return type == NVTX_PUSH_POP || type == NVTX_START_END;
}

static const char *
range_name(const struct recording *recording, sqlite3_stmt *row, int column, size_t *len)
{
    const char *name = tables_text(row, column, len);
    return sqlite3_column_type(row, column) == SQLITE_NULL
               ? name_at(recording, row, column + 1, len)
               : name;
}

static bool find_steps(struct recording *recording, struct own *own, struct err *err)
{
    sqlite3_stmt *rows;
    bool ok = tables_open(&recording->tables, "NVTX_EVENTS", "eventType globalTid text textId",
                          &rows, err);
    while (ok && tables_next(&recording->tables, rows)) {
        size_t len;
        const char *name = range_name(recording, rows, 2, &len);
        ok = !is_range(tables_int(rows, 0, 0)) ||
             nsys_steps_note(&own->steps, tables_int(rows, 1, RELAY_NONE), name, len) ||
             err_set(err, ERR_NO_MEMORY, "no memory for the steps of a recording");
    }
    (void)sqlite3_finalize(rows);
    return ok;
}

static void add_range(struct recording *recording, sqlite3_stmt *row)
{
    struct own *own = recording->own;
    int64_t type = tables_int(row, 2, 0);
    int64_t thread = tables_int(row, 3, RELAY_NONE);
    struct relay_event event = relay_blank(type == NVTX_MARK ? RELAY_MARK : RELAY_ANNOTATION);
    size_t len;
    if (type != NVTX_MARK && !is_range(type)) {
        return;
    }
    const char *name = range_name(recording, row, 4, &len);
    recording_set_times(&event, row);
    if (type != NVTX_MARK && sqlite3_column_type(row, 1) == SQLITE_NULL) {
        relay_skip(&recording->relay, "range without end", "closed at the end of the session", 1);
        event.dur_ns = saturating_sub(own->session_end_ns, event.start_ns);
    }
    set_name(&event, name, len);
    set_thread(&event, thread);
    if (type == NVTX_MARK) {
        relay_add(&recording->relay, &event);
    } else {
        nsys_range_add(&own->steps, &recording->relay, &event, thread);
    }
}

/* An allocation or a release, as PyTorch's profiler writes them. */
static void add_memory(struct recording *recording, sqlite3_stmt *row)
{
    struct relay_event event = relay_blank(RELAY_MARK);
    int64_t bytes = tables_int(row, 2, 0);
    event.start_ns = tables_int(row, 0, 0);
    event.category = "memory";
    set_name(&event, "[memory]", strlen("[memory]"));
    set_thread(&event, tables_int(row, 4, RELAY_NONE));
    relay_begin(&recording->relay, &event);
    write_known(&recording->relay.args, "Addr", row, 3);
    jw_key_int(&recording->relay.args, "Bytes",
               tables_int(row, 1, 0) == 0 ? bytes : saturating_sub(0, bytes));
    jw_key_int(&recording->relay.args, "Device Type", 1);
    jw_key_int(&recording->relay.args, "Device Id", tables_int(row, 5, 0));
    relay_end(&recording->relay);
}

static void add_thread_name(struct recording *recording, sqlite3_stmt *row)
{
    struct relay_event of = relay_blank(RELAY_HOST);
    size_t len;
    set_thread(&of, tables_int(row, 1, RELAY_NONE));
    relay_label(&recording->relay, &of, "thread_name", name_at(recording, row, 0, &len));
}

static const struct recording_part parts[] = {
    {ACTIVITY "RUNTIME", "start end nameId globalTid correlationId", add_call},
    {"NVTX_EVENTS", "start end eventType globalTid text textId", add_range},
    {ACTIVITY "KERNEL",
     DEVICE_COLUMNS " demangledName shortName mangledName name gridX gridY gridZ blockX blockY "
                    "blockZ registersPerThread staticSharedMemory graphNodeId",
     add_kernel},
    {ACTIVITY "MEMCPY", DEVICE_COLUMNS " bytes copyKind", add_copy},
    {ACTIVITY "MEMSET", DEVICE_COLUMNS " bytes", add_set},
    {ACTIVITY "GRAPH_TRACE", DEVICE_COLUMNS " graphExecId", add_graph},
    {ACTIVITY "SYNCHRONIZATION", "start end syncType streamId deviceId", add_wait},
    {"OSRT_API", "start end nameId globalTid", add_host},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS", "start memoryOperationType bytes address globalTid deviceId",
     add_memory},
    {"ThreadNames", "nameId globalTid", add_thread_name},
};

bool nsys_recording_read(struct recording *recording,
                         const struct format_options *options,
                         struct trace **out,
                         struct err *err)
{
    struct own own = {.session_end_ns = 0};
    recording->own = &own;
    bool ok = id_texts_load(&recording->texts, &recording->tables, "StringIds", "id value", err) &&
              find_calls(recording, &own, err) && find_session_end(recording, &own, err) &&
              find_steps(recording, &own, err) && write_head(recording, err) &&
              recording_read(recording, parts, sizeof parts / sizeof *parts,
                             "the export of Nsight Systems holds no kernel and no range: record "
                             "with nsys profile --trace=cuda,nvtx --cuda-graph-trace=node, then "
                             "nsys export --type sqlite",
                             options, out, err);
    id_map_free(&own.calls);
    id_map_free(&own.processes);
    id_map_free(&own.kernels);
    nsys_steps_free(&own.steps);
    return ok;
}
