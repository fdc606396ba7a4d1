/* Databases of the Ascend PyTorch Profiler (ascend_pytorch_profiler_<rank>.db) [FMT-1.4]. */
#include "ingest/base/memory/scratch.h"
#include "ingest/formats/database/recordings.h"
#include "ingest/formats/relay/op_types.h"

#include <stdio.h>
#include <string.h>

/* Columns of COMPUTE_TASK_INFO, and what their texts are called at a kernel: as in
 * kernel_details.csv. */
enum {
    INFO_NAME,
    INFO_TYPE,
    INFO_CORE,
    INFO_INPUTS,
    INFO_INPUT_TYPES,
    INFO_INPUT_FORMATS,
    INFO_OUTPUTS,
    INFO_OUTPUT_TYPES,
    INFO_OUTPUT_FORMATS,
    INFO_BLOCKS,
    INFO_MIXED_BLOCKS,
    INFO_COUNT
};
static const char info_columns[] =
    "globalTaskId name opType taskType inputShapes inputDataTypes inputFormats outputShapes "
    "outputDataTypes outputFormats blockDim mixBlockDim";
static const char *const info_keys[INFO_COUNT] = {
    [INFO_TYPE] = "Type",
    [INFO_CORE] = "Accelerator Core",
    [INFO_INPUTS] = "Input Shapes",
    [INFO_INPUT_TYPES] = "Input Data Types",
    [INFO_INPUT_FORMATS] = "Input Formats",
    [INFO_OUTPUTS] = "Output Shapes",
    [INFO_OUTPUT_TYPES] = "Output Data Types",
    [INFO_OUTPUT_FORMATS] = "Output Formats",
    [INFO_BLOCKS] = "Block Dim",
    [INFO_MIXED_BLOCKS] = "Mix Block Dim",
};

/* What is said of a task's kernel: ids of texts, and numbers; TABLES_NULL: not said. */
struct info {
    uint32_t values[INFO_COUNT];
};

struct own {
    struct id_map info_of; /* of a task -> infos; of several rows the last */
    struct info *infos;
    size_t info_count, info_cap;
    struct id_map calls;     /* connections that a CANN call has */
    struct id_map kinds;     /* of PYTORCH_API.type -> whether it is an operator */
    struct id_map operators; /* ids of CONNECTION_IDS that an operator has */
    struct id_map launches;  /* of a connection -> such an id */
    struct relay_op_types op_types;
    int64_t device; /* of collectives */
    bool has_steps; /* PYTORCH_API has some */
    struct relay_memory memory;
};

static const char *text_of(const struct recording *recording, int64_t id)
{
    return id_texts_get(&recording->texts, id);
}

/* NULL: nothing is said of the task. */
static const struct info *info_of(const struct own *own, int64_t task)
{
    const struct id_slot *slot = id_map_find(&own->info_of, task);
    return slot == NULL ? NULL : &own->infos[slot->value];
}

static void link_event(const struct own *own, struct relay_event *event, int64_t connection)
{
    const struct id_slot *launch = id_map_find(&own->launches, connection);
    event->is_linked = id_map_find(&own->calls, connection) != NULL;
    event->correlation = connection;
    event->external_id = launch == NULL ? RELAY_NONE : launch->value;
}

static bool is_copy(const char *type)
{
    return strcmp(type, "MEMCPY_ASYNC") == 0 || strcmp(type, "SDMA_SQE") == 0 ||
           strcmp(type, "PCIE_DMA_SQE") == 0;
}

/* Shapes stand between quotes. */
static void key_info(struct json_write *w, const char *key, const char *text)
{
    size_t len = strlen(text);
    bool is_quoted = len >= 2 && text[0] == '"' && text[len - 1] == '"';
    if (len > 0 && strcmp(text, "N/A") != 0) {
        jw_key(w, key);
        jw_string_n(w, text + is_quoted, len - 2 * (size_t)is_quoted);
    }
}

static void write_info(struct recording *recording, const struct info *info)
{
    struct json_write *w = &recording->relay.args;
    for (int i = INFO_TYPE; i < INFO_BLOCKS; i++) {
        key_info(w, info_keys[i], text_of(recording, info->values[i]));
    }
    for (int i = INFO_BLOCKS; i < INFO_COUNT; i++) {
        if (info->values[i] != 0 && info->values[i] <= INT32_MAX) {
            jw_key_int(w, info_keys[i], info->values[i]);
        }
    }
}

static void add_task(struct recording *recording, sqlite3_stmt *row)
{
    struct own *own = recording->own;
    const struct info *kernel = info_of(own, tables_int(row, 5, RELAY_NONE));
    const char *type = text_of(recording, tables_int(row, 6, RELAY_NONE));
    struct relay_event event = relay_blank(kernel != NULL  ? RELAY_KERNEL
                                           : is_copy(type) ? RELAY_MEMCPY
                                                           : RELAY_DEVICE_OTHER);
    recording_set_times(&event, row);
    relay_set_name(&event, kernel == NULL ? type : text_of(recording, kernel->values[INFO_NAME]));
    event.device = tables_int(row, 2, 0);
    event.stream = tables_int(row, 3, RELAY_NONE);
    link_event(own, &event, tables_int(row, 4, RELAY_NONE));
    relay_begin(&recording->relay, &event);
    if (kernel != NULL) {
        write_info(recording, kernel);
        relay_op_types_add(&own->op_types, text_of(recording, kernel->values[INFO_TYPE]),
                           text_of(recording, kernel->values[INFO_CORE]), event.dur_ns);
    }
    relay_end(&recording->relay);
}

static void add_collective(struct recording *recording, sqlite3_stmt *row)
{
    const struct own *own = recording->own;
    struct relay_event event = relay_blank(RELAY_COMMUNICATION);
    recording_set_times(&event, row);
    relay_set_name(&event, text_of(recording, tables_int(row, 2, RELAY_NONE)));
    event.device = own->device;
    event.stream = 1000000; /* beside the streams of tasks */
    link_event(own, &event, tables_int(row, 3, RELAY_NONE));
    relay_add(&recording->relay, &event);
}

static void set_thread(struct relay_event *event, int64_t global_id)
{
    if (global_id != RELAY_NONE) {
        event->pid = (int64_t)((uint64_t)global_id >> 32);
        event->tid = global_id & UINT32_MAX;
    }
}

static void add_cann(struct recording *recording, sqlite3_stmt *row)
{
    struct relay_event event = relay_blank(RELAY_RUNTIME);
    recording_set_times(&event, row);
    relay_set_name(&event, text_of(recording, tables_int(row, 2, RELAY_NONE)));
    set_thread(&event, tables_int(row, 3, RELAY_NONE));
    event.correlation = tables_int(row, 4, RELAY_NONE);
    relay_add(&recording->relay, &event);
}

static bool is_step(const char *name)
{
    return strncmp(name, "ProfilerStep#", strlen("ProfilerStep#")) == 0;
}

/* An argument of the event at hand, where it has a text. */
static void key_text(struct recording *recording, const char *key, int64_t id)
{
    const char *text = text_of(recording, id);
    if (*text != '\0') {
        jw_key_string(&recording->relay.args, key, text);
    }
}

static void add_api(struct recording *recording, sqlite3_stmt *row)
{
    struct own *own = recording->own;
    const char *name = text_of(recording, tables_int(row, 2, RELAY_NONE));
    const struct id_slot *kind = id_map_find(&own->kinds, tables_int(row, 4, RELAY_NONE));
    bool is_op = kind != NULL && kind->value == 1;
    struct relay_event event = relay_blank(!is_op          ? RELAY_HOST
                                           : is_step(name) ? RELAY_STEP
                                                           : RELAY_OPERATOR);
    own->has_steps = own->has_steps || event.role == RELAY_STEP;
    event.external_id = event.role == RELAY_OPERATOR ? tables_int(row, 5, RELAY_NONE) : RELAY_NONE;
    recording_set_times(&event, row);
    relay_set_name(&event, name);
    set_thread(&event, tables_int(row, 3, RELAY_NONE));
    relay_begin(&recording->relay, &event);
    key_text(recording, "Input Dims", tables_int(row, 6, RELAY_NONE));
    key_text(recording, "Input type", tables_int(row, 7, RELAY_NONE));
    relay_end(&recording->relay);
}

/* Both tables hold the same steps. */
static void add_step(struct recording *recording, sqlite3_stmt *row)
{
    const struct own *own = recording->own;
    struct relay_event event = relay_blank(RELAY_STEP);
    char name[48];
    if (own->has_steps) {
        return;
    }
    (void)snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)tables_int(row, 2, 0));
    recording_set_times(&event, row);
    relay_set_name(&event, name);
    event.process = "steps";
    relay_add(&recording->relay, &event);
}

static void add_memory(struct recording *recording, sqlite3_stmt *row)
{
    struct own *own = recording->own;
    const char *name = text_of(recording, tables_int(row, 0, RELAY_NONE));
    const struct relay_block block = {
        .name = name,
        .bytes = tables_int(row, 1, 0),
        .start_ns = tables_int(row, 2, RELAY_NONE),
        .end_ns = tables_int(row, 3, RELAY_NONE),
        .start_bytes = {tables_int(row, 4, RELAY_NONE), tables_int(row, 5, RELAY_NONE)},
        .end_bytes = {tables_int(row, 6, RELAY_NONE), tables_int(row, 7, RELAY_NONE)}};
    relay_memory_add(&own->memory, &recording->relay, &block);
}

static void add_memory_record(struct recording *recording, sqlite3_stmt *row)
{
    struct own *own = recording->own;
    char device[40];
    (void)snprintf(device, sizeof device, "NPU:%lld", (long long)tables_int(row, 3, 0));
    relay_memory_record(&own->memory, device, text_of(recording, tables_int(row, 0, RELAY_NONE)),
                        tables_int(row, 4, 0), tables_int(row, 1, RELAY_NONE),
                        tables_int(row, 2, 0));
}

static const struct recording_part parts[] = {
    {"PYTORCH_API", "startNs endNs name globalTid type connectionId inputShapes inputDtypes",
     add_api},
    {"STEP_TIME", "startNs endNs id", add_step},
    {"CANN_API", "startNs endNs name globalTid connectionId", add_cann},
    {"TASK", "startNs endNs deviceId streamId connectionId globalTaskId taskType", add_task},
    {"COMMUNICATION_OP", "startNs endNs opName connectionId", add_collective},
    {"OP_MEMORY",
     "name size allocationTime releaseTime allocationTotalAllocated allocationTotalReserved "
     "releaseTotalAllocated releaseTotalReserved",
     add_memory},
    {"MEMORY_RECORD", "component totalAllocated totalReserved deviceId timestamp",
     add_memory_record},
};

static bool find_kinds(struct recording *recording, struct own *own, struct err *err)
{
    sqlite3_stmt *rows;
    bool ok = tables_open(&recording->tables, "ENUM_API_TYPE", "id name", &rows, err);
    while (ok && tables_next(&recording->tables, rows)) {
        size_t len;
        const char *name = tables_text(rows, 1, &len);
        struct id_slot *slot = id_map_add(&own->kinds, tables_int(rows, 0, RELAY_NONE));
        if (slot == NULL) {
            ok = err_set(err, ERR_NO_MEMORY, "no memory for a recording");
        } else {
            slot->value = strcmp(name, "op") == 0;
        }
    }
    (void)sqlite3_finalize(rows);
    return ok;
}

static bool note_operator(struct own *own, sqlite3_stmt *row)
{
    const struct id_slot *kind = id_map_find(&own->kinds, tables_int(row, 0, RELAY_NONE));
    int64_t id = tables_int(row, 1, RELAY_NONE);
    bool is_op = kind != NULL && kind->value == 1 && id != RELAY_NONE;
    return !is_op || id_map_add(&own->operators, id) != NULL;
}

/* An id has several connections; of the ids that one has the first is the operator's. */
static bool note_launch(struct own *own, sqlite3_stmt *row)
{
    int64_t id = tables_int(row, 0, RELAY_NONE);
    if (id < 0 || id >= ID_MAP_NONE || id_map_find(&own->operators, id) == NULL) {
        return true;
    }
    struct id_slot *slot = id_map_add(&own->launches, tables_int(row, 1, RELAY_NONE));
    if (slot != NULL && slot->value == ID_MAP_NONE) {
        slot->value = (uint32_t)id;
    }
    return slot != NULL;
}

static bool find_operators(struct recording *recording, struct own *own, struct err *err)
{
    static const struct {
        const char *table, *columns;
        bool (*note)(struct own *own, sqlite3_stmt *row);
    } sources[] = {{"PYTORCH_API", "type connectionId", note_operator},
                   {"CONNECTION_IDS", "id connectionId", note_launch}};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof sources / sizeof *sources; i++) {
        sqlite3_stmt *rows;
        ok = tables_open(&recording->tables, sources[i].table, sources[i].columns, &rows, err);
        while (ok && tables_next(&recording->tables, rows)) {
            ok = sources[i].note(own, rows) ||
                 err_set(err, ERR_NO_MEMORY, "no memory for the operators of a recording");
        }
        (void)sqlite3_finalize(rows);
    }
    return ok;
}

static bool find_device(struct recording *recording, struct own *own, struct err *err)
{
    sqlite3_stmt *rows;
    bool ok = tables_open(&recording->tables, "RANK_DEVICE_MAP", "rankId deviceId", &rows, err);
    if (ok && tables_next(&recording->tables, rows)) {
        struct json_write *w = &recording->relay.head;
        own->device = tables_int(rows, 1, 0);
        jw_key_object_begin(w, "distributedInfo");
        jw_key_int(w, "rank", tables_int(rows, 0, 0));
        jw_object_end(w);
    }
    (void)sqlite3_finalize(rows);
    return ok;
}

static bool add_info(struct own *own, sqlite3_stmt *row)
{
    struct id_slot *slot = id_map_add(&own->info_of, tables_int(row, 0, RELAY_NONE));
    struct info *grown = scratch_grow(own->infos, own->info_count, &own->info_cap, sizeof *grown);
    if (slot == NULL || grown == NULL) {
        return false;
    }
    own->infos = grown;
    slot->value = (uint32_t)own->info_count;
    for (int i = 0; i < INFO_COUNT; i++) {
        grown[own->info_count].values[i] = tables_number(row, i + 1);
    }
    own->info_count++;
    return true;
}

static bool load_infos(struct tables *tables, struct own *own, struct err *err)
{
    sqlite3_stmt *rows;
    bool ok = tables_open(tables, "COMPUTE_TASK_INFO", info_columns, &rows, err);
    while (ok && tables_next(tables, rows)) {
        ok = add_info(own, rows) ||
             err_set(err, ERR_NO_MEMORY, "no memory for the kernels of a recording");
    }
    (void)sqlite3_finalize(rows);
    return ok;
}

static bool load(struct recording *recording, struct own *own, struct err *err)
{
    struct tables *tables = &recording->tables;
    return id_texts_load(&recording->texts, tables, "STRING_IDS", "id value", err) &&
           load_infos(tables, own, err) &&
           tables_load_map(tables, "CANN_API", "connectionId startNs", &own->calls, err) &&
           find_kinds(recording, own, err) && find_operators(recording, own, err) &&
           find_device(recording, own, err);
}

bool ascend_recording_read(struct recording *recording,
                           const struct format_options *options,
                           struct trace **out,
                           struct err *err)
{
    struct own own = {.device = 0};
    recording->own = &own;
    recording->relay.op_types = &own.op_types;
    recording->relay.memory = &own.memory;
    bool ok = (relay_op_types_init(&own.op_types) && relay_memory_init(&own.memory)) ||
              err_set(err, ERR_NO_MEMORY, "no memory for a recording");
    ok = ok && load(recording, &own, err) &&
         recording_read(recording, parts, sizeof parts / sizeof *parts,
                        "the database of the Ascend profiler has no rows", options, out, err);
    relay_op_types_free(&own.op_types);
    relay_memory_free(&own.memory);
    id_map_free(&own.info_of);
    scratch_free(own.infos);
    id_map_free(&own.calls);
    id_map_free(&own.kinds);
    id_map_free(&own.operators);
    id_map_free(&own.launches);
    return ok;
}
