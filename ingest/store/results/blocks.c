#include "ingest/store/results/blocks.h"

#include "ingest/store/codec/pack_parts.h"
#include "ingest/store/results/cycle_use_pack.h"

#include <stdlib.h>
#include <string.h>

#define CALL_TREE "call_tree"
#define MEMORY_LOG "memory_log"
#define COMM_LOG "comm_log"
#define GPU_COUNTERS "gpu_counters"
#define COMM_LOG_OURS "comm_log_ours"
#define CYCLE_USE "cycle_use"

/* ---- columns of logs ---- */

/* A log being packed: its columns are arrays, or `source` tells them. */
struct log_writing {
    struct pack_parts *parts;
    const struct column_source *source;
    uint32_t count;
    int64_t *values; /* of `parts` */
};

/* Without the memory for values there are none to write. */
static struct log_writing
begin_log(struct pack_parts *parts, const struct column_source *source, uint32_t count)
{
    return (struct log_writing){.parts = parts,
                                .source = source,
                                .count = parts->failed ? 0 : count,
                                .values = parts->values};
}

static uint32_t next_part(const struct log_writing *w, uint32_t first)
{
    return w->count - first < PACK_PART_VALUES ? w->count - first : PACK_PART_VALUES;
}

/* From the source; a column that nobody tells is the value `none` throughout. */
static void
read_part(struct log_writing *w, unsigned column, uint32_t first, uint32_t part, int64_t none)
{
    if (w->source->read != NULL) {
        w->source->read(w->source->context, column, first, part, w->values);
        return;
    }
    for (uint32_t i = 0; i < part; i++) {
        w->values[i] = none;
    }
}

static void put_told(struct log_writing *w, unsigned column, int64_t none)
{
    pack_parts_begin_column(w->parts);
    for (uint32_t first = 0, part; first < w->count; first += part) {
        part = next_part(w, first);
        read_part(w, column, first, part, none);
        pack_parts_values(w->parts, w->values, part);
    }
}

static void put_u32(struct log_writing *w, unsigned column, const uint32_t *array)
{
    if (array == NULL) {
        put_told(w, column, CALL_NONE);
        return;
    }
    pack_parts_begin_column(w->parts);
    for (uint32_t first = 0, part; first < w->count; first += part) {
        part = next_part(w, first);
        for (uint32_t i = 0; i < part; i++) {
            w->values[i] = array[first + i];
        }
        pack_parts_values(w->parts, w->values, part);
    }
}

static void put_i64(struct log_writing *w, unsigned column, const int64_t *array)
{
    if (array == NULL) {
        put_told(w, column, CALL_NO_MODULE);
        return;
    }
    pack_parts_begin_column(w->parts);
    for (uint32_t first = 0, part; first < w->count; first += part) {
        part = next_part(w, first);
        memcpy(w->values, array + first, part * sizeof *array);
        pack_parts_values(w->parts, w->values, part);
    }
}

static void put_u8(struct log_writing *w, unsigned column, const uint8_t *array)
{
    uint8_t bytes[PACK_PART_VALUES];
    for (uint32_t first = 0, part; array == NULL && first < w->count; first += part) {
        part = next_part(w, first);
        read_part(w, column, first, part, 0);
        for (uint32_t i = 0; i < part; i++) {
            bytes[i] = (uint8_t)w->values[i];
        }
        pack_parts_bytes(w->parts, bytes, part);
    }
    if (array != NULL) {
        pack_parts_bytes(w->parts, array, w->count);
    }
}

/* ---- call trees ---- */

static void pack_threads(struct pack *pack, const struct call_tree *tree)
{
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        const struct call_thread *thread = &tree->threads[t];
        pack_number(pack, thread->first);
        pack_number(pack, thread->end);
        pack_i64(pack, &thread->tid, 1);
        pack_texts(pack, &thread->label, 1);
    }
}

static void pack_call_tree(struct pack_parts *parts, const void *block)
{
    const struct call_tree *tree = block;
    struct pack *pack = &parts->pack;
    pack_number(pack, tree->node_count);
    pack_number(pack, tree->name_count);
    pack_number(pack, tree->thread_count);
    pack_number(pack, tree->profile_thread);
    pack_texts(pack, tree->names, tree->name_count);
    pack_threads(pack, tree);
    struct log_writing w = begin_log(parts, &tree->source, tree->node_count);
    put_u32(&w, CALL_COLUMN_NAME, tree->name);
    put_u32(&w, CALL_COLUMN_TID, tree->tid);
    put_u32(&w, CALL_COLUMN_CALL_STACK, tree->call_stack);
    put_u32(&w, CALL_COLUMN_END, tree->end);
    put_u32(&w, CALL_COLUMN_PARTNER, tree->partner);
    put_u8(&w, CALL_COLUMN_CLASS, tree->class);
    put_u8(&w, CALL_COLUMN_TYPE, tree->type);
    put_u8(&w, CALL_COLUMN_FLAGS, tree->flags);
    put_i64(&w, CALL_COLUMN_START, tree->start);
    put_i64(&w, CALL_COLUMN_STOP, tree->stop);
    put_i64(&w, CALL_COLUMN_HOST_SELF, tree->host_self);
    put_i64(&w, CALL_COLUMN_DEVICE_TOTAL, tree->device_total);
    put_i64(&w, CALL_COLUMN_DEVICE_SELF, tree->device_self);
    put_i64(&w, CALL_COLUMN_MODULE_ID, tree->module_id);
}

static void unpack_threads(struct unpack *unpack, struct call_tree *tree)
{
    tree->threads =
        arena_calloc(unpack->arena, (size_t)tree->thread_count + 1, sizeof *tree->threads);
    unpack->failed = unpack->failed || tree->threads == NULL;
    for (uint32_t t = 0; t < tree->thread_count && !unpack->failed; t++) {
        struct call_thread *thread = &tree->threads[t];
        thread->first = unpack_count(unpack);
        thread->end = unpack_count(unpack);
        thread->tid = unpack_signed(unpack);
        const char **label = unpack_texts(unpack, 1);
        thread->label = label == NULL ? NULL : label[0];
        unpack->failed =
            unpack->failed || thread->first >= thread->end || thread->end > tree->node_count;
    }
}

static bool has_all_texts(const char *const *texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (texts[i] == NULL) {
            return false;
        }
    }
    return true;
}

/* Who walks a tree relies on what every subtree must be: not empty, and inside its thread. */
static bool is_sound(const struct call_tree *tree)
{
    for (uint32_t row = 0; row < tree->node_count; row++) {
        if (tree->end[row] <= row || tree->end[row] > tree->node_count ||
            tree->class[row] >= CALL_CLASS_COUNT || tree->type[row] >= CALL_TYPE_COUNT) {
            return false;
        }
    }
    return has_all_texts(tree->names, tree->name_count) &&
           (tree->profile_thread == CALL_NONE || tree->profile_thread < tree->thread_count);
}

static void unpack_call_tree(struct unpack *unpack, void *block)
{
    struct call_tree *tree = block;
    tree->node_count = unpack_count(unpack);
    tree->name_count = unpack_count(unpack);
    tree->thread_count = unpack_count(unpack);
    tree->profile_thread = unpack_count(unpack);
    tree->names = unpack_texts(unpack, tree->name_count);
    unpack_threads(unpack, tree);
    size_t count = tree->node_count;
    tree->name = unpack_u32(unpack, count, tree->name_count, false);
    tree->tid = unpack_u32(unpack, count, tree->name_count, false);
    tree->call_stack = unpack_u32(unpack, count, tree->name_count, true);
    tree->end = unpack_u32(unpack, count, UINT32_MAX, false);
    tree->partner = unpack_u32(unpack, count, tree->node_count, true);
    tree->class = unpack_bytes(unpack, count);
    tree->type = unpack_bytes(unpack, count);
    tree->flags = unpack_bytes(unpack, count);
    tree->start = unpack_i64(unpack, count);
    tree->stop = unpack_i64(unpack, count);
    tree->host_self = unpack_i64(unpack, count);
    tree->device_total = unpack_i64(unpack, count);
    tree->device_self = unpack_i64(unpack, count);
    tree->module_id = unpack_i64(unpack, count);
    unpack->failed = unpack->failed || !is_sound(tree);
}

/* ---- memory logs ---- */

static void pack_memory_log(struct pack_parts *parts, const void *block)
{
    const struct memory_log *log = block;
    struct pack *pack = &parts->pack;
    pack_number(pack, log->count);
    pack_number(pack, log->device_count);
    pack_number(pack, log->node_count);
    pack_texts(pack, log->devices, log->device_count);
    struct log_writing w = begin_log(parts, &log->source, log->count);
    put_i64(&w, MEMORY_COLUMN_TS, log->ts);
    put_i64(&w, MEMORY_COLUMN_ADDR, log->addr);
    put_i64(&w, MEMORY_COLUMN_SIZE, log->size_bytes);
    put_i64(&w, MEMORY_COLUMN_ALLOCATED, log->allocated_bytes);
    put_i64(&w, MEMORY_COLUMN_RESERVED, log->reserved_bytes);
    put_u32(&w, MEMORY_COLUMN_COUNT, log->node);
    put_u32(&w, MEMORY_COLUMN_COUNT, log->op);
    put_u32(&w, MEMORY_COLUMN_COUNT, log->parent);
    put_u32(&w, MEMORY_COLUMN_COUNT, log->device);
    put_u8(&w, MEMORY_COLUMN_FLAGS, log->flags);
    pack_parts_bytes(parts, log->visited, log->node_count);
}

static void unpack_memory_log(struct unpack *unpack, void *block)
{
    struct memory_log *log = block;
    log->count = unpack_count(unpack);
    log->device_count = unpack_count(unpack);
    log->node_count = unpack_count(unpack);
    log->devices = unpack_texts(unpack, log->device_count);
    size_t count = log->count;
    log->ts = unpack_i64(unpack, count);
    log->addr = unpack_i64(unpack, count);
    log->size_bytes = unpack_i64(unpack, count);
    log->allocated_bytes = unpack_i64(unpack, count);
    log->reserved_bytes = unpack_i64(unpack, count);
    log->node = unpack_u32(unpack, count, log->node_count, true);
    log->op = unpack_u32(unpack, count, UINT32_MAX, true);
    log->parent = unpack_u32(unpack, count, UINT32_MAX, true);
    log->device = unpack_u32(unpack, count, log->device_count, false);
    log->flags = unpack_bytes(unpack, count);
    log->visited = unpack_bytes(unpack, log->node_count);
    unpack->failed = unpack->failed || !has_all_texts(log->devices, log->device_count);
}

/* ---- comm logs ---- */

static void pack_comm_log(struct pack_parts *parts, const void *block)
{
    struct pack *pack = &parts->pack;
    const struct comm_log *log = block;
    pack_number(pack, log->op_count);
    pack_number(pack, log->range_count);
    for (uint32_t i = 0; i < log->op_count; i++) {
        const struct comm_op *op = &log->ops[i];
        pack_texts(pack, &op->name, 1);
        pack_i64(pack, &op->step, 1);
        pack_i64(pack, &op->size_bytes, 1);
        pack_number(pack, op->range_count);
        pack_texts(pack, &op->group, 1);
        pack_i64(pack, &op->group_size, 1);
        pack_parts_end_piece(parts);
    }
    for (uint32_t i = 0; i < log->range_count; i++) {
        pack_i64(pack, &log->ranges[i].start, 1);
        pack_i64(pack, &log->ranges[i].end, 1);
        pack_parts_end_piece(parts);
    }
}

static void unpack_ranges(struct unpack *unpack, struct comm_log *log)
{
    log->ranges = arena_calloc(unpack->arena, (size_t)log->range_count + 1, sizeof *log->ranges);
    unpack->failed = unpack->failed || log->ranges == NULL;
    for (uint32_t i = 0; i < log->range_count && !unpack->failed; i++) {
        log->ranges[i].start = unpack_signed(unpack);
        log->ranges[i].end = unpack_signed(unpack);
    }
}

static void unpack_comm_log(struct unpack *unpack, void *block)
{
    struct comm_log *log = block;
    uint64_t range_count = 0;
    log->op_count = unpack_count(unpack);
    log->range_count = unpack_count(unpack);
    log->ops = arena_calloc(unpack->arena, (size_t)log->op_count + 1, sizeof *log->ops);
    unpack->failed = unpack->failed || log->ops == NULL;
    for (uint32_t i = 0; i < log->op_count && !unpack->failed; i++) {
        struct comm_op *op = &log->ops[i];
        const char **name = unpack_texts(unpack, 1);
        op->name = name == NULL || name[0] == NULL ? "" : name[0];
        op->step = unpack_signed(unpack);
        op->size_bytes = unpack_signed(unpack);
        op->range_count = unpack_count(unpack);
        const char **group = unpack_texts(unpack, 1);
        op->group = group == NULL ? NULL : group[0];
        op->group_size = unpack_signed(unpack);
        op->first_range = (uint32_t)range_count;
        range_count += op->range_count;
        unpack->failed = unpack->failed || range_count > log->range_count;
    }
    unpack_ranges(unpack, log);
}

/* ---- counters of devices ---- */

static void pack_gpu_counters(struct pack_parts *parts, const void *block)
{
    static const struct column_source arrays = {.read = NULL};
    const struct gpu_counters *counters = block;
    struct pack *pack = &parts->pack;
    pack_number(pack, counters->count);
    pack_number(pack, counters->device_count);
    pack_u32(pack, counters->devices, counters->device_count);
    pack_i64(pack, &counters->start, 1);
    pack_i64(pack, &counters->end, 1);
    struct log_writing w = begin_log(parts, &arrays, counters->count);
    put_u8(&w, 0, counters->kind);
    put_u32(&w, 0, counters->device);
    put_i64(&w, 0, counters->from);
    put_i64(&w, 0, counters->to);
    put_i64(&w, 0, counters->value);
}

static void unpack_gpu_counters(struct unpack *unpack, void *block)
{
    struct gpu_counters *counters = block;
    counters->count = unpack_count(unpack);
    counters->device_count = unpack_count(unpack);
    counters->devices = unpack_u32(unpack, counters->device_count, UINT32_MAX, false);
    counters->start = unpack_signed(unpack);
    counters->end = unpack_signed(unpack);
    counters->kind = unpack_bytes(unpack, counters->count);
    counters->device = unpack_u32(unpack, counters->count, UINT32_MAX, false);
    counters->from = unpack_i64(unpack, counters->count);
    counters->to = unpack_i64(unpack, counters->count);
    counters->value = unpack_i64(unpack, counters->count);
}

/* ---- the table ---- */

typedef void (*block_packer)(struct pack_parts *parts, const void *block);

static bool
pack_block(block_packer packer, const void *block, struct packed_log *out, struct err *err)
{
    struct pack_parts parts;
    pack_parts_init(&parts);
    packer(&parts, block);
    bool ok = pack_parts_finish(&parts, &out->bytes, &out->len, err);
    pack_parts_free(&parts);
    return ok;
}

static void write_bytes(struct row_writer *writer, const char *kind, const struct packed_log *bytes)
{
    row_begin(writer, "INSERT INTO block (trace_id, kind, bytes) VALUES (?, ?, ?)");
    row_put_text(writer, kind);
    row_put_blob(writer, bytes->bytes, bytes->len);
    row_end(writer);
}

static void
write_block(struct row_writer *writer, const char *kind, block_packer packer, const void *block)
{
    struct packed_log bytes = {.bytes = NULL};
    if (block == NULL || !writer->ok) {
        return;
    }
    writer->ok = pack_block(packer, block, &bytes, writer->err);
    write_bytes(writer, kind, &bytes);
    free(bytes.bytes);
}

static const struct {
    const char *kind;
    block_packer packer;
} logs[RESULT_LOG_COUNT] = {
    [RESULT_CALL_TREE] = {CALL_TREE, pack_call_tree},
    [RESULT_MEMORY_LOG] = {MEMORY_LOG, pack_memory_log},
    [RESULT_GPU_COUNTERS] = {GPU_COUNTERS, pack_gpu_counters},
};

bool store_pack_log(enum result_log log, const void *columns, struct packed_log *out)
{
    struct err no_memory = ERR_INIT;
    if (!pack_block(logs[log].packer, columns, out, &no_memory)) {
        return false;
    }
    /* It is held for a while, without the room for what cannot be compressed. */
    void *fitting = realloc(out->bytes, out->len);
    out->bytes = fitting == NULL ? out->bytes : fitting;
    return true;
}

static void write_log(struct row_writer *writer,
                      const struct trace_results *results,
                      enum result_log log,
                      const void *columns)
{
    if (results->packed[log].bytes != NULL) {
        write_bytes(writer, logs[log].kind, &results->packed[log]);
    } else {
        write_block(writer, logs[log].kind, logs[log].packer, columns);
    }
}

void blocks_write(struct row_writer *writer, const struct trace_results *results)
{
    write_log(writer, results, RESULT_CALL_TREE, results->call_tree);
    write_log(writer, results, RESULT_MEMORY_LOG, results->memory_log);
    write_block(writer, COMM_LOG, pack_comm_log, results->comm_log);
    write_log(writer, results, RESULT_GPU_COUNTERS, results->gpu_counters);
    write_block(writer, COMM_LOG_OURS, pack_comm_log, results->comm_log_ours);
    write_block(writer, CYCLE_USE, cycle_use_pack, results->cycle_use_count == 0 ? NULL : results);
}

/* *found says whether there is a block, which is then to be unpacked and finished. */
static bool find_block(struct db *db,
                       struct arena *arena,
                       int64_t trace_id,
                       const char *kind,
                       struct unpack *unpack,
                       bool *found,
                       struct err *err)
{
    struct db_stmt st;
    bool ok = true;
    *found = false;
    db_prepare(&st, db, "SELECT bytes FROM block WHERE trace_id = ? AND kind = ?");
    db_put_int(&st, trace_id);
    db_put_text(&st, kind);
    if (db_next(&st)) {
        size_t len = 0;
        const void *bytes = db_peek_blob(&st, &len);
        *found = unpack_init(unpack, arena, bytes, len, err);
        ok = *found;
    }
    return db_done(&st, err) && ok;
}

bool blocks_read_cycle_uses(struct db *db,
                            struct arena *arena,
                            int64_t trace_id,
                            struct trace_results *out,
                            bool *found,
                            struct err *err)
{
    struct unpack unpack;
    struct err damaged = ERR_INIT;
    bool ok = find_block(db, arena, trace_id, CYCLE_USE, &unpack, found, err);
    if (!*found) {
        return ok;
    }
    bool has_memory = cycle_use_unpack(&unpack, out, err);
    bool is_sound = unpack_finish(&unpack, &damaged);
    if (has_memory && !is_sound) {
        *err = damaged;
    }
    return ok && has_memory && is_sound;
}

/* *block stays NULL when the trace has none. */
static bool read_block(struct store *store,
                       struct arena *arena,
                       int64_t trace_id,
                       const char *kind,
                       size_t block_bytes,
                       void (*unpack_block)(struct unpack *, void *),
                       void **block,
                       struct err *err)
{
    struct db *db = NULL;
    struct unpack unpack;
    *block = NULL;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool found = false;
    bool ok = find_block(db, arena, trace_id, kind, &unpack, &found, err);
    store_read_end(store, db);
    if (!found) {
        return ok;
    }
    *block = arena_calloc(arena, 1, block_bytes);
    if (*block == NULL) {
        unpack.failed = true;
    } else {
        unpack_block(&unpack, *block);
    }
    return unpack_finish(&unpack, err) && ok;
}

bool store_call_tree(struct store *store,
                     struct arena *arena,
                     int64_t trace_id,
                     struct call_tree **out,
                     struct err *err)
{
    void *block = NULL;
    bool ok =
        read_block(store, arena, trace_id, CALL_TREE, sizeof **out, unpack_call_tree, &block, err);
    *out = block;
    return ok;
}

bool store_memory_log(struct store *store,
                      struct arena *arena,
                      int64_t trace_id,
                      struct memory_log **out,
                      struct err *err)
{
    void *block = NULL;
    bool ok = read_block(store, arena, trace_id, MEMORY_LOG, sizeof **out, unpack_memory_log,
                         &block, err);
    *out = block;
    return ok;
}

bool store_comm_log(struct store *store,
                    struct arena *arena,
                    int64_t trace_id,
                    enum comm_rule rule,
                    struct comm_log **out,
                    struct err *err)
{
    void *block = NULL;
    const char *kind = rule == COMM_OURS ? COMM_LOG_OURS : COMM_LOG;
    bool ok = read_block(store, arena, trace_id, kind, sizeof **out, unpack_comm_log, &block, err);
    *out = block;
    return ok;
}

bool store_gpu_counters(struct store *store,
                        struct arena *arena,
                        int64_t trace_id,
                        struct gpu_counters **out,
                        struct err *err)
{
    void *block = NULL;
    bool ok = read_block(store, arena, trace_id, GPU_COUNTERS, sizeof **out, unpack_gpu_counters,
                         &block, err);
    *out = block;
    return ok;
}
