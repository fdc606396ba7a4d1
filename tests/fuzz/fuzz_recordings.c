/* Files of other recorders: pickles, protocol buffers, JSON, databases. */
#include "ingest/analysis/contents/contents.h"
#include "ingest/analysis/execution_trace/tensors.h"
#include "ingest/analysis/memory_snapshot/memory_snapshot.h"
#include "ingest/formats/ascend/tables.h"
#include "ingest/formats/execution_trace/execution_trace.h"
#include "ingest/formats/memory_snapshot/snapshot.h"
#include "ingest/input/input.h"
#include "ingest/input/tar.h"
#include "ingest/input/zip.h"
#include "tests/fuzz/fuzz_reading.h"

#include <stdlib.h>
#include <string.h>

/* Of an execution trace; each costs a scan. */
#define NODES_ASKED 64
#define FILE_NAME_BYTES 64

static void ask_contents(const struct format_bundle *bundle)
{
    for (size_t i = 0; i < bundle->item_count; i++) {
        const struct trace *trace = bundle->items[i].model;
        struct arena arena;
        struct contents contents;
        struct named_rows names;
        arena_init(&arena, 0);
        if (trace != NULL) {
            fuzz_require(contents_analyse(trace, 0, &arena, &contents), "contents need no luck");
            fuzz_require(contents_names(trace, &arena, &names), "names need no luck");
        }
        arena_free(&arena);
    }
}

static void ask_device(const struct memory_snapshot *snapshot,
                       const struct snapshot_device *device,
                       struct arena *arena)
{
    struct snapshot_figures figures;
    struct snapshot_curve curve;
    struct snapshot_lives lives;
    const struct snapshot_window window = {
        .end_event = SNAPSHOT_NONE, .high_bytes = SNAPSHOT_NONE, .limit = 5};
    fuzz_require(snapshot_figures_of(snapshot, device, arena, &figures), "figures");
    fuzz_require(snapshot_curve_of(snapshot, device, 3, arena, &curve), "a curve");
    fuzz_require(snapshot_lives_of(snapshot, device, &window, arena, &lives), "lives");
    fuzz_require(curve.total_points == figures.events + 1, "a point an event, and one before");
}

static void ask_snapshot(const struct memory_snapshot *snapshot)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < snapshot->device_count; i++) {
        ask_device(snapshot, &snapshot->devices[i], &arena);
    }
    for (int when = SNAPSHOT_AT_PEAK; when <= SNAPSHOT_AT_END; when++) {
        const struct snapshot_question question = {snapshot, snapshot, SNAPSHOT_NONE,
                                                   (enum snapshot_when)when};
        struct snapshot_frame_row *frames = NULL;
        struct snapshot_block_row *blocks = NULL;
        size_t count = 0;
        fuzz_require(snapshot_frames(&question, &arena, &frames, &count), "frames");
        fuzz_require(snapshot_blocks(&question, &arena, &blocks, &count), "blocks");
    }
    arena_free(&arena);
}

static void load_snapshot(const uint8_t *bytes, size_t len)
{
    const struct format_options options = {.memory_budget_bytes = (size_t)256 << 20};
    struct memory_snapshot *snapshot = NULL;
    struct err err = ERR_INIT;
    struct input *in = NULL;
    fuzz_require(input_open_memory(&in, bytes, len, 0, &err), "memory can be opened");
    if (memory_snapshot_load(in, &options, &snapshot, &err)) {
        ask_snapshot(snapshot);
        memory_snapshot_destroy(snapshot);
    }
    input_close(in);
}

/* Whatever the bytes are: what is no JSON is tried as Chakra's messages. */
static void load_execution_trace(const uint8_t *bytes, size_t len)
{
    const struct format_options options = {.memory_budget_bytes = (size_t)256 << 20};
    struct execution_trace *trace = NULL;
    struct err err = ERR_INIT;
    struct input *in = NULL;
    struct arena arena;
    arena_init(&arena, 0);
    fuzz_require(input_open_memory(&in, bytes, len, 0, &err), "memory can be opened");
    if (execution_trace_load(in, &options, &trace, &err)) {
        for (uint32_t i = 0; i < trace->node_count && i < NODES_ASKED; i++) {
            struct node_tensors tensors;
            fuzz_require(node_tensors_find(trace, i, &arena, &tensors), "tensors need no luck");
        }
        execution_trace_destroy(trace);
    } else {
        fuzz_require(err.msg[0] != '\0', "who refuses says why");
    }
    arena_free(&arena);
    input_close(in);
}

/* Databases lie in files, in which SQLite seeks. */
static bool read_database(const uint8_t *bytes, size_t len, struct format_bundle *bundle)
{
    struct err err = ERR_INIT;
    struct input *in = NULL;
    fuzz_require(input_open_file(&in, fuzz_file(bytes, len), &err), "the file can be opened");
    bool good = format_read(in, NULL, bundle, &err);
    input_close(in);
    fuzz_require(good || err.msg[0] != '\0', "who refuses says why");
    if (good) {
        fuzz_analyse(bundle);
    }
    return good;
}

/* "operator_memory.csv\nName,…": a table of an Ascend folder, in front of a trace of one kernel,
 * which the seed of kernel_details.csv knows. */
static bool find_table(const uint8_t *bytes, size_t len, char name[FILE_NAME_BYTES], size_t *body)
{
    const uint8_t *end = memchr(bytes, '\n', len < FILE_NAME_BYTES ? len : FILE_NAME_BYTES);
    size_t name_len = end == NULL ? 0 : (size_t)(end - bytes);
    memcpy(name, bytes, name_len);
    name[name_len] = '\0';
    *body = name_len + 1;
    return name_len > 0 && ascend_tables_know(name);
}

static void read_behind(struct ascend_tables *tables)
{
    static const char trace[] =
        "[{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 0, "
        "\"args\": {\"name\": \"CANN\"}}, {\"ph\": \"X\", \"name\": \"MatMulV2\", \"pid\": 1, "
        "\"tid\": 2, \"ts\": \"1000100.125\", \"dur\": 1, \"args\": {\"Task Type\": \"AI_CORE\"}}]";
    struct format_bundle bundle;
    struct err err = ERR_INIT;
    struct input *events = NULL;
    struct input *in = NULL;
    fuzz_require(input_open_memory(&events, trace, sizeof trace - 1, 0, &err) &&
                     ascend_tables_open(tables, events, &in, &err),
                 "memory can be opened");
    bool good = format_read(in, NULL, &bundle, &err);
    input_close(in);
    ascend_tables_close(tables);
    fuzz_require(good || err.msg[0] != '\0', "who refuses says why");
    if (good) {
        fuzz_analyse(&bundle);
        ask_contents(&bundle);
        format_bundle_free(&bundle);
    }
}

static void read_table(const char *name, const uint8_t *bytes, size_t len)
{
    struct ascend_tables *tables = ascend_tables_create();
    char *padded = calloc(1, len + INPUT_PADDING_BYTES);
    fuzz_require(tables != NULL && padded != NULL, "there is memory");
    memcpy(padded, bytes, len);
    fuzz_require(ascend_tables_add(tables, name, padded, len), "a table needs no luck");
    free(padded);
    read_behind(tables);
    ascend_tables_free(tables);
}

static bool is_database(const uint8_t *bytes, size_t len)
{
    static const char magic[16] = "SQLite format 3";
    return len >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* All files of an archive; what it unpacks to is bounded by its limits. */
static void read_zip(const uint8_t *bytes, size_t len)
{
    const struct input_limits limits = {.decompressed_bytes = (uint64_t)64 << 20, .ratio = 1000};
    struct err err = ERR_INIT;
    struct input *in = NULL;
    struct zip *zip = NULL;
    struct tar *tar = NULL;
    struct tar_entry entry;
    bool has_entry = true;
    bool ok = zip_open(&zip, &in, fuzz_file(bytes, len), &limits, &err) && tar_open(&tar, in, &err);
    while (ok && has_entry) {
        ok = tar_next(tar, &entry, &has_entry, &err);
    }
    fuzz_require(ok || err.msg[0] != '\0', "who refuses says why");
    tar_close(tar);
    input_close(in);
    zip_close(zip);
}

/* The other traces of a file that has several. */
static void read_rest(struct format_bundle *bundle)
{
    const struct format_options options = {.memory_budget_bytes = (size_t)256 << 20};
    bool ended = false;
    for (bool ok = true; ok && !ended;) {
        struct err err = ERR_INIT;
        ok = format_bundle_next(bundle, &options, &ended, &err);
        fuzz_require(ok || err.msg[0] != '\0', "who refuses says why");
        if (ok && !ended) {
            fuzz_analyse(bundle);
            ask_contents(bundle);
        }
    }
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    struct format_bundle bundle;
    char name[FILE_NAME_BYTES + 1];
    size_t body;
    if (find_table(bytes, len, name, &body)) {
        read_table(name, bytes + body, len - body);
        return 0;
    }
    if (memory_snapshot_recognises((const char *)bytes, len)) {
        load_snapshot(bytes, len);
    }
    load_execution_trace(bytes, len);
    if (zip_recognises((const char *)bytes, len)) {
        read_zip(bytes, len);
    }
    if (is_database(bytes, len) ? read_database(bytes, len, &bundle)
                                : fuzz_read_and_analyse(bytes, len, &bundle)) {
        ask_contents(&bundle);
        read_rest(&bundle);
        format_bundle_free(&bundle);
    }
    return 0;
}
