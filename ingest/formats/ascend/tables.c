#include "ingest/formats/ascend/tables.h"

#include "ingest/base/text/affix.h"
#include "ingest/formats/ascend/csv.h"
#include "ingest/formats/ascend/join.h"
#include "ingest/formats/ascend/kernel_details.h"
#include "ingest/formats/json/text.h"
#include "ingest/formats/json/walk.h"
#include "ingest/formats/relay/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES_MAX ((size_t)256 << 20)
#define KB 1024
#define MB (INT64_C(1) << 20)
#define NS_PER_US 1000
#define NS_PER_MS 1000000
#define INFO "profiler_info"
#define SETTINGS_BYTES_MAX ((size_t)1 << 20)
#define SETTING_NAME_BYTES 200
#define FAULTS_MAX 8

struct ascend_tables {
    struct relay relay; /* records of memory gather in its text */
    struct relay_op_types op_types;
    struct relay_memory memory;
    struct kernel_details details;
    struct json_write settings; /* an open object of what the profiler was asked for */
    struct buf settings_text;
    int64_t rank;
    bool failed;               /* no memory */
    struct ascend_fault fault; /* of the table at hand; empty: none */
    struct ascend_fault faults[FAULTS_MAX];
    size_t fault_count;
    /* under way */
    struct input *trace;
    struct ascend_join join;
    struct buf head;
    int stage;
};

struct ascend_tables *ascend_tables_create(void)
{
    struct ascend_tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL) {
        return NULL;
    }
    relay_init(&tables->relay, "torch_npu");
    tables->rank = RELAY_NONE;
    buf_init(&tables->head, HEAD_BYTES_MAX);
    buf_init(&tables->settings_text, SETTINGS_BYTES_MAX);
    jw_init(&tables->settings, &tables->settings_text, false);
    jw_object_begin(&tables->settings);
    bool has_types = relay_op_types_init(&tables->op_types);
    bool has_details = kernel_details_init(&tables->details);
    ascend_join_init(&tables->join, &tables->details);
    if (!relay_memory_init(&tables->memory) || !has_types || !has_details) {
        ascend_tables_free(tables);
        return NULL;
    }
    return tables;
}

void ascend_tables_free(struct ascend_tables *tables)
{
    if (tables == NULL) {
        return;
    }
    relay_free(&tables->relay);
    relay_op_types_free(&tables->op_types);
    relay_memory_free(&tables->memory);
    kernel_details_free(&tables->details);
    ascend_join_free(&tables->join);
    buf_free(&tables->head);
    buf_free(&tables->settings_text);
    free(tables);
}

/* ---- tables ---- */

static bool read_kernels(struct ascend_tables *tables, const char *bytes, size_t len)
{
    static const struct ascend_columns columns = {
        .names = {"Type", "Accelerator Core", "Duration(us)"}, .needed = 3, .numbers = 1U << 2};
    struct ascend_cell cells[ASCEND_COLUMNS_MAX];
    struct ascend_csv csv;
    if (!ascend_csv_open(&csv, bytes, len, &columns, &tables->fault)) {
        return false;
    }
    while (ascend_csv_next(&csv, cells)) {
        int64_t dur_ns = ascend_us(cells[2].text, strlen(cells[2].text), RELAY_NONE);
        if (dur_ns != RELAY_NONE && strcmp(cells[1].text, "HCCL") != 0) {
            relay_op_types_add(&tables->op_types, cells[0].text, cells[1].text, dur_ns);
        }
    }
    tables->failed = !kernel_details_take(&tables->details, bytes, len) || tables->failed;
    return true;
}

static int64_t bytes_of(const struct ascend_cell *cell)
{
    bool is_said = *cell->text != '\0' && strcmp(cell->text, "N/A") != 0;
    return is_said ? ascend_scaled(cell->text, strlen(cell->text), MB) : RELAY_NONE;
}

static bool read_memory(struct ascend_tables *tables, const char *bytes, size_t len)
{
    static const struct ascend_columns columns = {
        .names = {"Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)",
                  "Allocation Total Allocated(MB)", "Allocation Total Reserved(MB)",
                  "Release Total Allocated(MB)", "Release Total Reserved(MB)"},
        .needed = 3,
        .numbers = 0xFEU};
    struct ascend_cell cells[ASCEND_COLUMNS_MAX];
    struct ascend_csv csv;
    if (!ascend_csv_open(&csv, bytes, len, &columns, &tables->fault)) {
        return false;
    }
    while (ascend_csv_next(&csv, cells)) {
        const struct relay_block block = {
            .name = cells[0].text,
            .bytes = ascend_scaled(cells[1].text, strlen(cells[1].text), KB),
            .start_ns = ascend_us(cells[2].text, strlen(cells[2].text), RELAY_NONE),
            .end_ns = ascend_us(cells[3].text, strlen(cells[3].text), RELAY_NONE),
            .start_bytes = {bytes_of(&cells[4]), bytes_of(&cells[5])},
            .end_bytes = {bytes_of(&cells[6]), bytes_of(&cells[7])}};
        relay_memory_add(&tables->memory, &tables->relay, &block);
    }
    return true;
}

static bool read_memory_record(struct ascend_tables *tables, const char *bytes, size_t len)
{
    static const struct ascend_columns columns = {.names = {"Component", "Total Allocated(MB)",
                                                            "Total Reserved(MB)", "Device Type",
                                                            "Timestamp(us)"},
                                                  .needed = 5,
                                                  .numbers = 1U << 1 | 1U << 2 | 1U << 4};
    struct ascend_cell cells[ASCEND_COLUMNS_MAX];
    struct ascend_csv csv;
    if (!ascend_csv_open(&csv, bytes, len, &columns, &tables->fault)) {
        return false;
    }
    while (ascend_csv_next(&csv, cells)) {
        relay_memory_record(&tables->memory, cells[3].text, cells[0].text,
                            ascend_scaled(cells[4].text, strlen(cells[4].text), NS_PER_US),
                            bytes_of(&cells[1]),
                            ascend_scaled(cells[2].text, strlen(cells[2].text), MB));
    }
    return true;
}

/* ---- JSON ---- */

/* Says where it breaks off or is none: then nothing of it is taken. */
static bool is_json_object(struct ascend_tables *tables, const char *bytes, size_t len)
{
    struct json_walk walk = {.at = bytes, .end = bytes + len};
    if (json_walk_is(&walk, '{') && json_walk_skip(&walk)) {
        return true;
    }
    int line = 1;
    const char *begin = bytes;
    for (const char *at = bytes; at < walk.at; at++) {
        line += *at == '\n';
        begin = *at == '\n' ? at + 1 : begin;
    }
    (void)snprintf(tables->fault.text, sizeof tables->fault.text, "line %d, column %zu: no JSON",
                   line, (size_t)(walk.at - begin) + 1);
    return false;
}

/* ---- collectives ---- */

static void write_times(struct json_write *w, struct json_walk *walk)
{
    static const struct {
        const char *key, *name;
    } times[] = {
        {"Elapse Time(ms)", "elapse_ns"}, {"Transit Time(ms)", "transit_ns"},
        {"Wait Time(ms)", "wait_ns"},     {"Synchronization Time(ms)", "synchronization_ns"},
        {"Idle Time(ms)", "idle_ns"},
    };
    struct json_value key;
    struct json_value value;
    if (!json_walk_enter(walk, '{')) {
        return;
    }
    while (json_walk_key(walk, &key) && json_walk_value(walk, &value)) {
        if (json_walk_text_is(&key, "Start Timestamp(us)")) {
            jw_key_int(w, "start_ns", ascend_us(value.ptr, value.len, 0));
        }
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            if (json_walk_text_is(&key, times[i].key)) {
                jw_key_int(w, times[i].name, ascend_scaled(value.ptr, value.len, NS_PER_MS));
            }
        }
    }
}

static void
read_collective(struct ascend_tables *tables, struct json_walk *walk, const struct json_value *name)
{
    struct json_write *w = &tables->relay.collectives;
    struct json_value key;
    const char *at = memchr(name->ptr, '@', name->len);
    size_t len = at == NULL ? name->len : (size_t)(at - name->ptr);
    if ((len >= 5 && memcmp(name->ptr, "Total", 5) == 0) || !json_walk_is(walk, '{')) {
        (void)json_walk_skip(walk);
        return;
    }
    jw_object_begin(w);
    jw_key(w, "name");
    jw_string_n(w, name->ptr, len);
    if (json_walk_enter(walk, '{')) {
        while (json_walk_key(walk, &key)) {
            if (json_walk_text_is(&key, "Communication Time Info") && json_walk_is(walk, '{')) {
                write_times(w, walk);
            } else {
                (void)json_walk_skip(walk);
            }
        }
    }
    jw_object_end(w);
}

/* {step: {collective: {name@hash: {...}}, p2p: {...}}} */
static bool read_communication(struct ascend_tables *tables, const char *bytes, size_t len)
{
    struct json_walk walk = {.at = bytes, .end = bytes + len};
    struct json_value key;
    if (!is_json_object(tables, bytes, len) || !json_walk_enter(&walk, '{')) {
        return false;
    }
    while (json_walk_key(&walk, &key) && json_walk_enter(&walk, '{')) {
        while (json_walk_key(&walk, &key) && json_walk_enter(&walk, '{')) {
            while (json_walk_key(&walk, &key)) {
                read_collective(tables, &walk, &key);
            }
        }
    }
    return !walk.failed;
}

/* ---- profiler_info_<rank>.json ---- */

/* Those that PyTorch's own profiler writes have no path in front. */
static bool is_option(const struct json_value *key)
{
    static const char *const options[] = {"record_shapes", "profile_memory", "with_stack",
                                          "with_flops", "with_modules"};
    bool found = false;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        found = found || json_walk_text_is(key, options[i]);
    }
    return found;
}

static void write_setting(struct json_write *w, const char *name, const struct json_value *value)
{
    struct buf text;
    buf_init(&text, SETTINGS_BYTES_MAX);
    json_text_python(value, &text, NULL);
    jw_key(w, name);
    jw_string_n(w, text.ptr == NULL ? "" : text.ptr, text.len);
    buf_free(&text);
}

/* The members of an object, each by the name of the object and its own. */
static void
read_settings(struct json_write *w, struct json_walk *walk, const struct json_value *group)
{
    char name[SETTING_NAME_BYTES];
    struct json_value key;
    struct json_value value;
    if (!json_walk_enter_or_skip(walk, '{')) {
        return;
    }
    while (json_walk_key(walk, &key) && json_walk_value(walk, &value)) {
        bool has_room = (size_t)group->len + key.len + 2 <= sizeof name;
        if (is_option(&key)) {
            (void)snprintf(name, sizeof name, "%.*s", (int)key.len, key.ptr);
        } else if (has_room) {
            (void)snprintf(name, sizeof name, "%.*s.%.*s", (int)group->len, group->ptr,
                           (int)key.len, key.ptr);
        }
        if (has_room) {
            write_setting(w, name, &value);
        }
    }
}

static void read_config(struct json_write *w, struct json_walk *walk)
{
    struct json_value group;
    if (!json_walk_enter_or_skip(walk, '{')) {
        return;
    }
    while (json_walk_key(walk, &group)) {
        read_settings(w, walk, &group);
    }
}

static bool read_info(struct ascend_tables *tables, const char *bytes, size_t len)
{
    struct json_walk walk = {.at = bytes, .end = bytes + len};
    struct json_value key;
    if (!is_json_object(tables, bytes, len) || !json_walk_enter(&walk, '{')) {
        return false;
    }
    while (json_walk_key(&walk, &key)) {
        struct json_value value;
        if (json_walk_text_is(&key, "rank_id") && json_walk_value(&walk, &value)) {
            tables->rank = json_walk_int(&value, tables->rank);
        } else if (json_walk_text_is(&key, "config")) {
            read_config(&tables->settings, &walk);
        } else if (json_walk_text_is(&key, "start_info")) {
            read_settings(&tables->settings, &walk, &key);
        } else {
            (void)json_walk_skip(&walk);
        }
    }
    return !walk.failed;
}

/* ---- files ---- */

static const struct {
    const char *name;
    bool (*read)(struct ascend_tables *tables, const char *bytes, size_t len);
} files[] = {
    {"kernel_details.csv", read_kernels},
    {"operator_memory.csv", read_memory},
    {"memory_record.csv", read_memory_record},
    {"communication.json", read_communication},
};

static bool is_info(const char *file_name)
{
    size_t len = strlen(file_name);
    return text_begins_any_case(file_name, INFO) && len > 5 &&
           text_is_any_case(file_name + len - 5, ".json");
}

bool ascend_tables_know(const char *file_name)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (text_is_any_case(file_name, files[i].name)) {
            return true;
        }
    }
    return is_info(file_name);
}

void ascend_tables_leave_out(struct ascend_tables *tables,
                             const char *what,
                             const char *reason,
                             size_t count)
{
    relay_skip(&tables->relay, what, reason, (int64_t)count);
    warning_add_times(&tables->relay.warnings, WARN_TABLE, WARNING_NO_OFFSET, count);
}

/* Reasons outlive the relay. */
static void leave_out(struct ascend_tables *tables, const char *file_name)
{
    const char *reason = "the table cannot be read";
    if (tables->fault_count < FAULTS_MAX && tables->fault.text[0] != '\0') {
        struct ascend_fault *kept = &tables->faults[tables->fault_count++];
        *kept = tables->fault;
        reason = kept->text;
    }
    ascend_tables_leave_out(tables, file_name, reason, 1);
}

bool ascend_tables_add(struct ascend_tables *tables,
                       const char *file_name,
                       const char *bytes,
                       size_t len)
{
    bool is_read = true;
    size_t mark_bytes = text_mark_bytes(bytes, len);
    bytes += mark_bytes;
    len -= mark_bytes;
    tables->fault.text[0] = '\0';
    if (is_info(file_name)) {
        const char *digits = file_name + strlen(INFO) + (file_name[strlen(INFO)] == '_');
        bool has_number = *digits >= '0' && *digits <= '9';
        tables->rank = has_number ? strtol(digits, NULL, 10) : tables->rank;
        is_read = read_info(tables, bytes, len);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (text_is_any_case(file_name, files[i].name)) {
            is_read = files[i].read(tables, bytes, len);
        }
    }
    if (!is_read) {
        leave_out(tables, file_name);
    }
    return !tables->failed && !tables->relay.args.out->failed && !tables->op_types.sums.failed &&
           !tables->memory.names.failed && !tables->memory.devices.failed;
}

/* ---- in front of the events ---- */

enum { STAGE_HEAD, STAGE_FIRST, STAGE_REST, STAGE_END, STAGE_OVER };

static void write_head(struct ascend_tables *tables)
{
    const struct buf *records = tables->relay.args.out;
    struct json_write w;
    tables->relay.op_types = &tables->op_types;
    tables->relay.memory = &tables->memory;
    tables->relay.metrics = &tables->details.metrics;
    jw_init(&w, &tables->head, false);
    jw_object_begin(&w);
    if (tables->settings_text.len > 1) {
        jw_raw(&w, tables->settings_text.ptr + 1, tables->settings_text.len - 1);
    }
    if (tables->rank != RELAY_NONE) {
        jw_key_object_begin(&w, "distributedInfo");
        jw_key_int(&w, "rank", tables->rank);
        jw_object_end(&w);
    }
    jw_key(&w, "kinetoscope");
    relay_write_recorded(&tables->relay, &w);
    buf_puts(&tables->head, ", \"traceEvents\": [");
    buf_append(&tables->head, records->ptr == NULL ? "" : records->ptr, records->len);
    buf_puts(&tables->head, records->len > 0 ? "," : "");
}

static bool give(struct ascend_tables *tables, const char **bytes, size_t *len)
{
    *bytes = tables->join.out.ptr;
    *len = tables->join.out.len;
    return *len > 0;
}

/* The next bytes of the list in `join.out`; a document that is an object keeps its own head: its
 * events are taken from the bracket on. Behind the last ones the stage is STAGE_END. */
static bool read_events(struct ascend_tables *tables, struct err *err)
{
    const char *bytes = "";
    size_t len = 0;
    if (!input_next(tables->trace, 0, &bytes, &len, err)) {
        return false;
    }
    bool has_ended = len == 0;
    const char *bracket = tables->stage == STAGE_REST ? NULL : memchr(bytes, '[', len);
    const char *from = bracket == NULL ? bytes : bracket + 1;
    if (has_ended) {
        tables->stage = STAGE_END;
    } else if (bracket == NULL && tables->stage == STAGE_FIRST) {
        return true;
    } else {
        tables->stage = STAGE_REST;
    }
    return (has_ended ? ascend_join_end(&tables->join)
                      : ascend_join_feed(&tables->join, from, (size_t)(bytes + len - from))) ||
           err_set(err, ERR_NO_MEMORY, "no memory for the events of a trace");
}

static bool next_piece(void *context, const char **bytes, size_t *len, struct err *err)
{
    struct ascend_tables *tables = context;
    *bytes = "";
    *len = 0;
    if (tables->stage == STAGE_HEAD) {
        write_head(tables);
        tables->stage = STAGE_FIRST;
        *bytes = tables->head.ptr;
        *len = tables->head.len;
        return !tables->head.failed || err_set(err, ERR_NO_MEMORY, "no memory for tables");
    }
    while (tables->stage == STAGE_FIRST || tables->stage == STAGE_REST) {
        if (!read_events(tables, err)) {
            return false;
        }
        if (give(tables, bytes, len)) {
            return true;
        }
    }
    *bytes = tables->stage == STAGE_END ? "}" : "";
    *len = tables->stage == STAGE_END ? 1 : 0;
    tables->stage = STAGE_OVER;
    return true;
}

bool ascend_tables_open(struct ascend_tables *tables,
                        struct input *trace,
                        struct input **out,
                        struct err *err)
{
    const struct input_stream stream = {tables, next_piece, INPUT_PLAIN};
    tables->trace = trace;
    tables->stage = STAGE_HEAD;
    tables->join.is_over = tables->details.count == 0;
    if (!input_open_stream(out, &stream, err)) {
        ascend_tables_close(tables);
        return false;
    }
    return true;
}

void ascend_tables_close(struct ascend_tables *tables)
{
    input_close(tables->trace);
    tables->trace = NULL;
}
