/* Databases of ROCm: rocmProfileData [FMT-3.2] and rocprofv3 [FMT-3.3]. */
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/affix.h"
#include "ingest/formats/database/nsys_ranges.h"
#include "ingest/formats/database/recordings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_at(const struct recording *recording, sqlite3_stmt *row, int column)
{
    return id_texts_get(&recording->texts, tables_int(row, column, RELAY_NONE));
}

/* ---- rocmProfileData ---- */

/* What a call asked for: a kernel's grid and workgroup, or a copy's bytes. */
struct asked {
    int64_t sizes[6];
    int64_t bytes; /* RELAY_NONE: no copy */
};

/* What rocpd.autograd took from the text of an operator's marker. */
struct autograd {
    int64_t sequence; /* RELAY_NONE: not said */
    uint32_t sizes;   /* string id */
};

struct rpd {
    struct id_map autograd_of; /* calls -> of `autograd` */
    struct autograd *autograd;
    size_t autograd_count, autograd_cap;
    struct id_map call_of;  /* of an operation of the device: the call that launched it */
    struct id_map asked_by; /* calls -> of `asked` */
    struct asked *asked;
    size_t asked_count, asked_cap;
};

static bool add_asked(struct rpd *rpd, int64_t call, const struct asked *asked)
{
    struct asked *grown =
        scratch_grow(rpd->asked, rpd->asked_count, &rpd->asked_cap, sizeof *grown);
    struct id_slot *slot = grown == NULL ? NULL : id_map_add(&rpd->asked_by, call);
    rpd->asked = grown == NULL ? rpd->asked : grown;
    if (slot == NULL) {
        return false;
    }
    slot->value = (uint32_t)rpd->asked_count;
    rpd->asked[rpd->asked_count++] = *asked;
    return true;
}

static bool load_asked(struct recording *recording, struct rpd *rpd, struct err *err)
{
    static const struct {
        const char *table, *columns;
        bool is_copy;
    } sources[] = {
        {"rocpd_kernelapi", "api_ptr_id gridX gridY gridZ workgroupX workgroupY workgroupZ", false},
        {"rocpd_copyapi", "api_ptr_id size", true}};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof sources / sizeof *sources; i++) {
        sqlite3_stmt *rows;
        ok = tables_open(&recording->tables, sources[i].table, sources[i].columns, &rows, err);
        while (ok && tables_next(&recording->tables, rows)) {
            struct asked asked = {.bytes = sources[i].is_copy ? tables_int(rows, 1, RELAY_NONE)
                                                              : RELAY_NONE};
            for (int of = 0; of < 6 && !sources[i].is_copy; of++) {
                asked.sizes[of] = tables_int(rows, of + 1, 0);
            }
            ok = add_asked(rpd, tables_int(rows, 0, RELAY_NONE), &asked) ||
                 err_set(err, ERR_NO_MEMORY, "no memory for the calls of a recording");
        }
        (void)sqlite3_finalize(rows);
    }
    return ok;
}

static bool add_autograd(struct recording *recording, struct rpd *rpd, sqlite3_stmt *row)
{
    size_t len;
    const char *sizes = tables_text(row, 2, &len);
    uint32_t text = strtab_intern(recording->texts.texts, sizes, len);
    struct autograd *grown =
        scratch_grow(rpd->autograd, rpd->autograd_count, &rpd->autograd_cap, sizeof *grown);
    struct id_slot *slot =
        grown == NULL ? NULL : id_map_add(&rpd->autograd_of, tables_int(row, 0, RELAY_NONE));
    rpd->autograd = grown == NULL ? rpd->autograd : grown;
    if (slot == NULL || text == STRTAB_NONE) {
        return false;
    }
    slot->value = (uint32_t)rpd->autograd_count;
    rpd->autograd[rpd->autograd_count++] =
        (struct autograd){.sequence = tables_int(row, 1, RELAY_NONE), .sizes = text};
    return true;
}

static bool load_autograd(struct recording *recording, struct rpd *rpd, struct err *err)
{
    sqlite3_stmt *rows;
    bool ok =
        tables_open(&recording->tables, "ext_autogradapi", "api_ptr_id seq sizes", &rows, err);
    while (ok && tables_next(&recording->tables, rows)) {
        ok = add_autograd(recording, rpd, rows) ||
             err_set(err, ERR_NO_MEMORY, "no memory for the operators of a recording");
    }
    (void)sqlite3_finalize(rows);
    return ok;
}

static void write_autograd(struct recording *recording, int64_t call)
{
    const struct rpd *rpd = recording->own;
    const struct id_slot *slot = id_map_find(&rpd->autograd_of, call);
    if (slot == NULL) {
        return;
    }
    const struct autograd *autograd = &rpd->autograd[slot->value];
    const char *sizes = strtab_text(recording->texts.texts, autograd->sizes);
    if (autograd->sequence != RELAY_NONE) {
        jw_key_int(&recording->relay.args, "Sequence number", autograd->sequence);
    }
    if (emit_nvtx_is_sizes(sizes, strlen(sizes))) {
        jw_key(&recording->relay.args, "Input Dims");
        jw_raw(&recording->relay.args, sizes, strlen(sizes));
    }
}

static void write_asked(struct json_write *w, const struct asked *asked, enum relay_role role)
{
    if (role == RELAY_MEMCPY && asked->bytes != RELAY_NONE) {
        jw_key_int(w, "bytes", asked->bytes);
    }
    for (size_t i = 0; i < 6 && role <= RELAY_COMMUNICATION && asked->bytes == RELAY_NONE; i++) {
        if (i % 3 == 0) {
            jw_key_array_begin(w, i == 0 ? "grid" : "block");
        }
        jw_int(w, asked->sizes[i]);
        if (i % 3 == 2) {
            jw_array_end(w);
        }
    }
}

static enum relay_role role_of_op(const char *type, const char *name)
{
    if (text_begins(type, "Copy")) {
        return RELAY_MEMCPY;
    }
    if (text_begins(type, "Fill")) {
        return RELAY_MEMSET;
    }
    if (!text_begins(type, "KernelExecution") && !text_begins(type, "Task")) {
        return RELAY_DEVICE_OTHER;
    }
    return relay_is_communication(name, strlen(name)) ? RELAY_COMMUNICATION : RELAY_KERNEL;
}

static void add_op(struct recording *recording, sqlite3_stmt *row)
{
    const struct rpd *rpd = recording->own;
    const char *type = text_at(recording, row, 5);
    const char *description = text_at(recording, row, 4);
    const char *name = *description == '\0' ? type : description;
    struct relay_event event = relay_blank(role_of_op(type, name));
    const struct id_slot *call = id_map_find(&rpd->call_of, tables_int(row, 6, RELAY_NONE));
    recording_set_times(&event, row);
    relay_set_name(&event, name);
    event.device = tables_int(row, 2, 0);
    event.stream = tables_int(row, 3, RELAY_NONE);
    event.is_linked = call != NULL;
    event.correlation = call == NULL ? RELAY_NONE : (int64_t)call->value;
    const struct id_slot *asked = id_map_find(&rpd->asked_by, event.correlation);
    relay_begin(&recording->relay, &event);
    if (call != NULL && asked != NULL) {
        write_asked(&recording->relay.args, &rpd->asked[asked->value], event.role);
    }
    relay_end(&recording->relay);
}

static enum relay_role role_of_api(const char *name)
{
    static const char *const prefixes[] = {"hip", "hsa", "roctx", "rccl", "nccl"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (text_begins(name, prefixes[i])) {
            return RELAY_RUNTIME;
        }
    }
    return RELAY_HOST;
}

/* Operators of PyTorch are markers whose text is the name. */
static void add_api(struct recording *recording, sqlite3_stmt *row)
{
    const char *name = text_at(recording, row, 4);
    bool is_marker = strcmp(name, "UserMarker") == 0;
    struct relay_event event = relay_blank(is_marker ? RELAY_OPERATOR : role_of_api(name));
    recording_set_times(&event, row);
    relay_set_name(&event, is_marker ? text_at(recording, row, 5) : name);
    event.pid = tables_int(row, 2, RELAY_NONE);
    event.tid = tables_int(row, 3, RELAY_NONE);
    event.correlation = event.role == RELAY_RUNTIME ? tables_int(row, 6, RELAY_NONE) : RELAY_NONE;
    relay_begin(&recording->relay, &event);
    if (is_marker) {
        write_autograd(recording, tables_int(row, 6, RELAY_NONE));
    } else {
        jw_key_string(&recording->relay.args, "args", text_at(recording, row, 5));
    }
    relay_end(&recording->relay);
}

static void add_monitor(struct recording *recording, sqlite3_stmt *row)
{
    struct relay_event event = relay_blank(RELAY_COUNTER);
    size_t len;
    const char *type = tables_text(row, 1, &len);
    event.start_ns = tables_int(row, 0, 0);
    event.name = type;
    event.name_len = len;
    event.process = "monitor";
    event.tid = tables_int(row, 2, 0);
    relay_begin(&recording->relay, &event);
    jw_key(&recording->relay.args, "value");
    double value = sqlite3_column_type(row, 3) == SQLITE_TEXT
                       ? strtod(tables_text(row, 3, &len), NULL)
                       : sqlite3_column_double(row, 3);
    jw_double(&recording->relay.args, value);
    relay_end(&recording->relay);
}

bool rpd_recording_read(struct recording *recording,
                        const struct format_options *options,
                        struct trace **out,
                        struct err *err)
{
    static const struct recording_part parts[] = {
        {"rocpd_api", "start end pid tid apiName_id args_id id", add_api},
        {"rocpd_op", "start end gpuId queueId description_id opType_id id", add_op},
        {"rocpd_monitor", "start monitorType deviceId value", add_monitor},
    };
    struct rpd rpd = {.asked_count = 0};
    recording->own = &rpd;
    bool ok =
        id_texts_load(&recording->texts, &recording->tables, "rocpd_string", "id string", err) &&
        tables_load_map(&recording->tables, "rocpd_api_ops", "op_id api_id", &rpd.call_of, err) &&
        load_asked(recording, &rpd, err) && load_autograd(recording, &rpd, err) &&
        recording_read(recording, parts, sizeof parts / sizeof *parts,
                       "the database of rocmProfileData has no rows", options, out, err);
    id_map_free(&rpd.call_of);
    id_map_free(&rpd.asked_by);
    id_map_free(&rpd.autograd_of);
    SCRATCH_FREE(rpd.autograd, rpd.asked);
    return ok;
}

/* ---- rocprofv3 ---- */

#define AGENTS_MAX 4096 /* of a node */

struct rocpd {
    struct id_texts symbols;  /* names of kernels */
    struct id_map agents;     /* -> number among those of their kind, those of later nodes behind */
    struct id_map categories; /* of events -> id of a text */
    struct id_map stacks;     /* of events -> their stack */
    struct id_map calls;      /* stacks of regions */
};

static int64_t stack_of(const struct rocpd *rocpd, sqlite3_stmt *row, int column)
{
    const struct id_slot *slot = id_map_find(&rocpd->stacks, tables_int(row, column, RELAY_NONE));
    return slot == NULL || slot->value == 0 || slot->value == TABLES_NULL ? RELAY_NONE
                                                                          : (int64_t)slot->value;
}

static int64_t agent_of(const struct rocpd *rocpd, sqlite3_stmt *row, int column)
{
    int64_t agent = tables_int(row, column, 0);
    const struct id_slot *slot = id_map_find(&rocpd->agents, agent);
    return slot == NULL || slot->value == TABLES_NULL ? agent : (int64_t)slot->value;
}

static void add_region(struct recording *recording, sqlite3_stmt *row)
{
    const struct rocpd *rocpd = recording->own;
    const struct id_slot *category =
        id_map_find(&rocpd->categories, tables_int(row, 4, RELAY_NONE));
    bool is_marker =
        category != NULL && text_begins(id_texts_get(&recording->texts, category->value), "MARKER");
    struct relay_event event = relay_blank(is_marker ? RELAY_ANNOTATION : RELAY_RUNTIME);
    recording_set_times(&event, row);
    relay_set_name(&event, text_at(recording, row, 2));
    event.process = "rocprofv3";
    event.tid = tables_int(row, 3, RELAY_NONE);
    event.correlation = is_marker ? RELAY_NONE : stack_of(rocpd, row, 4);
    relay_add(&recording->relay, &event);
}

static struct relay_event
device_event(const struct recording *recording, sqlite3_stmt *row, enum relay_role role)
{
    const struct rocpd *rocpd = recording->own;
    struct relay_event event = relay_blank(role);
    recording_set_times(&event, row);
    event.device = agent_of(rocpd, row, 2);
    event.stream = tables_int(row, 3, RELAY_NONE);
    event.correlation = stack_of(rocpd, row, 4);
    event.is_linked =
        event.correlation != RELAY_NONE && id_map_find(&rocpd->calls, event.correlation) != NULL;
    return event;
}

/* Grids are in work items: blocks are as many as groups of them. */
static void write_dims(struct json_write *w, sqlite3_stmt *row, int group, int grid)
{
    if (sqlite3_column_type(row, group) != SQLITE_INTEGER) {
        return;
    }
    for (int of_grid = 1; of_grid >= 0; of_grid--) {
        jw_key_array_begin(w, of_grid != 0 ? "grid" : "block");
        for (int i = 0; i < 3; i++) {
            int64_t items = i64_max(tables_int(row, group + i, 1), 1);
            int64_t all = i64_max(tables_int(row, grid + i, 1), 1);
            jw_int(w, of_grid != 0 ? (all - 1) / items + 1 : items);
        }
        jw_array_end(w);
    }
}

static void add_dispatch(struct recording *recording, sqlite3_stmt *row)
{
    const struct rocpd *rocpd = recording->own;
    struct relay_event event = device_event(recording, row, RELAY_KERNEL);
    char unnamed[40];
    int64_t kernel = tables_int(row, 5, 0);
    const char *name = id_texts_get(&rocpd->symbols, kernel);
    if (*name == '\0') {
        (void)snprintf(unnamed, sizeof unnamed, "kernel %lld", (long long)kernel);
        name = unnamed;
    }
    relay_set_name(&event, name);
    bool communicates = relay_is_communication(name, strlen(name));
    event.role = communicates ? RELAY_COMMUNICATION : RELAY_KERNEL;
    relay_begin(&recording->relay, &event);
    write_dims(&recording->relay.args, row, 6, 9);
    relay_end(&recording->relay);
}

static void add_rocpd_copy(struct recording *recording, sqlite3_stmt *row)
{
    struct relay_event event = device_event(recording, row, RELAY_MEMCPY);
    relay_set_name(&event, text_at(recording, row, 5));
    relay_begin(&recording->relay, &event);
    jw_key_int(&recording->relay.args, "bytes", tables_int(row, 6, 0));
    relay_end(&recording->relay);
}

/* Stacks of calls, of which a dispatch has the one that it was made in. */
static bool
find_calls(struct recording *recording, struct rocpd *rocpd, const char *regions, struct err *err)
{
    sqlite3_stmt *rows;
    bool ok = tables_open(&recording->tables, regions, "event_id", &rows, err);
    while (ok && tables_next(&recording->tables, rows)) {
        int64_t stack = stack_of(rocpd, rows, 0);
        ok = stack == RELAY_NONE || id_map_add(&rocpd->calls, stack) != NULL ||
             err_set(err, ERR_NO_MEMORY, "no memory for the calls of a recording");
    }
    (void)sqlite3_finalize(rows);
    return ok;
}

/* The nodes in the order of the file; returns how many numbers each has. */
static int64_t note_nodes(struct recording *recording, sqlite3_stmt *rows, struct id_map *nodes)
{
    int64_t numbers = 0;
    while (tables_next(&recording->tables, rows)) {
        int64_t number = tables_int(rows, 1, -1);
        numbers = i64_max(numbers, number < AGENTS_MAX ? number + 1 : 0);
        if (id_map_add(nodes, tables_int(rows, 2, 0)) == NULL) {
            return -1;
        }
    }
    return numbers;
}

/* Each node numbers its agents from 0: those of the second in the file follow those of the first,
 * and so on [FMT-3.3]. */
static bool
number_agents(struct recording *recording, struct rocpd *rocpd, const char *table, struct err *err)
{
    static const char columns[] = "id type_index nid";
    struct id_map nodes;
    sqlite3_stmt *rows;
    id_map_init(&nodes);
    bool ok = tables_open(&recording->tables, table, columns, &rows, err);
    int64_t numbers = ok ? note_nodes(recording, rows, &nodes) : 0;
    (void)sqlite3_finalize(rows);
    rows = NULL;
    ok = ok && tables_open(&recording->tables, table, columns, &rows, err);
    while (ok && tables_next(&recording->tables, rows)) {
        const struct id_slot *node = id_map_find(&nodes, tables_int(rows, 2, 0));
        struct id_slot *agent = id_map_add(&rocpd->agents, tables_int(rows, 0, 0));
        int64_t number = tables_int(rows, 1, -1);
        int64_t before = node == NULL ? 0 : node->index * numbers;
        if (numbers < 0 || agent == NULL) {
            ok = err_set(err, ERR_NO_MEMORY, "no memory for the devices of a recording");
        } else {
            bool fits = number >= 0 && number < AGENTS_MAX && before < TABLES_NULL - AGENTS_MAX;
            agent->value = fits ? (uint32_t)(before + number) : TABLES_NULL;
        }
    }
    (void)sqlite3_finalize(rows);
    id_map_free(&nodes);
    return ok;
}

enum { STRINGS, AGENTS, SYMBOLS, EVENTS, REGIONS, DISPATCHES, COPIES, NAMES };

static void free_rocpd(struct rocpd *rocpd)
{
    id_texts_free(&rocpd->symbols);
    id_map_free(&rocpd->agents);
    id_map_free(&rocpd->categories);
    id_map_free(&rocpd->stacks);
    id_map_free(&rocpd->calls);
}

/* A file may hold several sessions, each with tables of its own: the first that has dispatches is
 * read, and the others are named. */
static bool choose_session(struct recording *recording, char dispatches[TABLES_NAME_BYTES])
{
    static const char prefix[] = "rocpd_kernel_dispatch";
    static const char reason[] = "kernels of another session, and all else of it: one session of a "
                                 "file is read, record each into a file of its own";
    struct tables *tables = &recording->tables;
    char name[TABLES_NAME_BYTES] = "";
    bool has_rows = false;
    bool has_any = tables_find(tables, prefix, dispatches);
    for (bool more = has_any; more && tables_find_next(tables, prefix, name);) {
        int64_t count = tables_count(tables, name);
        if (count > 0 && has_rows) {
            relay_skip(&recording->relay, name, reason, count);
        } else if (count > 0) {
            has_rows = true;
            memcpy(dispatches, name, sizeof name);
        }
    }
    return has_any;
}

bool rocpd_recording_read(struct recording *recording,
                          const struct format_options *options,
                          struct trace **out,
                          struct err *err)
{
    static const char *const prefixes[NAMES] = {
        "rocpd_string", "rocpd_info_agent",      "rocpd_info_kernel_symbol", "rocpd_event",
        "rocpd_region", "rocpd_kernel_dispatch", "rocpd_memory_copy"};
    char names[NAMES][TABLES_NAME_BYTES + 32];
    char dispatches[TABLES_NAME_BYTES];
    struct rocpd rocpd = {.symbols = {.texts = NULL}};
    struct tables *tables = &recording->tables;
    recording->own = &rocpd;
    if (!choose_session(recording, dispatches)) {
        return err_set(err, ERR_BAD_INPUT, "the database of rocprofv3 has no table of dispatches");
    }
    for (size_t i = 0; i < NAMES; i++) { /* all end in the session's suffix */
        (void)snprintf(names[i], sizeof names[i], "%s%s", prefixes[i],
                       dispatches + strlen(prefixes[DISPATCHES]));
    }
    const struct recording_part parts[] = {
        {names[REGIONS], "start end name_id tid event_id", add_region},
        {names[DISPATCHES],
         "start end agent_id stream_id event_id kernel_id workgroup_size_x workgroup_size_y "
         "workgroup_size_z grid_size_x grid_size_y grid_size_z",
         add_dispatch},
        {names[COPIES], "start end dst_agent_id stream_id event_id name_id size", add_rocpd_copy},
    };
    bool ok =
        (id_texts_init(&rocpd.symbols) ||
         err_set(err, ERR_NO_MEMORY, "no memory for the names of kernels")) &&
        id_texts_load(&recording->texts, tables, names[STRINGS], "id string", err) &&
        id_texts_load(&rocpd.symbols, tables, names[SYMBOLS], "id display_name kernel_name", err) &&
        number_agents(recording, &rocpd, names[AGENTS], err) &&
        tables_load_map(tables, names[EVENTS], "id category_id", &rocpd.categories, err) &&
        tables_load_map(tables, names[EVENTS], "id stack_id", &rocpd.stacks, err) &&
        find_calls(recording, &rocpd, names[REGIONS], err) &&
        recording_read(recording, parts, sizeof parts / sizeof *parts,
                       "the database of rocprofv3 has no rows", options, out, err);
    free_rocpd(&rocpd);
    return ok;
}
