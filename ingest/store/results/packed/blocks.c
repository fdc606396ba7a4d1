#include "ingest/store/results/packed/blocks.h"

#include "ingest/store/codec/column_parts.h"
#include "ingest/store/results/packed/cycle_use_codec.h"
#include "ingest/store/results/packed/rank_blocks.h"

#include <stdlib.h>
#include <string.h>

#define CALL_TREE "call_tree"
#define MEMORY_LOG "memory_log"
#define COMM_LOG "comm_log"
#define GPU_COUNTERS "gpu_counters"
#define CYCLE_USE "cycle_use"
#define RANK_DIGEST "rank_digest"
#define OPERATIONS "operations"

/* ---- columns of logs ---- */

/* A log being packed: its columns are arrays, or `source` tells them. */
struct log_writing {
    struct column_parts *parts;
    const struct column_source *source;
    uint32_t count;
    int64_t *values; /* of `parts` */
};

/* Without the memory for values there are none to write. */
static struct log_writing
begin_log(struct column_parts *parts, const struct column_source *source, uint32_t count)
{
    return (struct log_writing){.parts = parts,
                                .source = source,
                                .count = parts->failed ? 0 : count,
                                .values = parts->values};
}

static uint32_t next_part(const struct log_writing *w, uint32_t first)
{
    return w->count - first < COLUMN_PART_VALUES ? w->count - first : COLUMN_PART_VALUES;
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
    column_parts_begin_column(w->parts);
    for (uint32_t first = 0, part; first < w->count; first += part) {
        part = next_part(w, first);
        read_part(w, column, first, part, none);
        column_parts_values(w->parts, w->values, part);
    }
}

static void put_u32(struct log_writing *w, unsigned column, const uint32_t *array)
{
    if (array == NULL) {
        put_told(w, column, CALL_NONE);
        return;
    }
    column_parts_begin_column(w->parts);
    for (uint32_t first = 0, part; first < w->count; first += part) {
        part = next_part(w, first);
        for (uint32_t i = 0; i < part; i++) {
            w->values[i] = array[first + i];
        }
        column_parts_values(w->parts, w->values, part);
    }
}

static void put_i64(struct log_writing *w, unsigned column, const int64_t *array)
{
    if (array == NULL) {
        put_told(w, column, CALL_NO_MODULE);
        return;
    }
    column_parts_begin_column(w->parts);
    for (uint32_t first = 0, part; first < w->count; first += part) {
        part = next_part(w, first);
        memcpy(w->values, array + first, part * sizeof *array);
        column_parts_values(w->parts, w->values, part);
    }
}

static void put_u8(struct log_writing *w, unsigned column, const uint8_t *array)
{
    uint8_t bytes[COLUMN_PART_VALUES];
    for (uint32_t first = 0, part; array == NULL && first < w->count; first += part) {
        part = next_part(w, first);
        read_part(w, column, first, part, 0);
        for (uint32_t i = 0; i < part; i++) {
            bytes[i] = (uint8_t)w->values[i];
        }
        column_parts_bytes(w->parts, bytes, part);
    }
    if (array != NULL) {
        column_parts_bytes(w->parts, array, w->count);
    }
}

/* ---- call trees ---- */

static void encode_threads(struct column_encoder *enc, const struct call_tree *tree)
{
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        const struct call_thread *thread = &tree->threads[t];
        column_encode_number(enc, thread->first);
        column_encode_number(enc, thread->end);
        column_encode_i64(enc, &thread->tid, 1);
        column_encode_texts(enc, &thread->label, 1);
    }
}

static void encode_call_tree(struct column_parts *parts, const void *block)
{
    const struct call_tree *tree = block;
    struct column_encoder *enc = &parts->enc;
    column_encode_number(enc, tree->node_count);
    column_encode_number(enc, tree->name_count);
    column_encode_number(enc, tree->thread_count);
    column_encode_number(enc, tree->profile_thread);
    column_encode_texts(enc, tree->names, tree->name_count);
    encode_threads(enc, tree);
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

static void decode_threads(struct column_decoder *dec, struct call_tree *tree)
{
    tree->threads = arena_calloc(dec->arena, (size_t)tree->thread_count + 1, sizeof *tree->threads);
    dec->failed = dec->failed || tree->threads == NULL;
    for (uint32_t t = 0; t < tree->thread_count && !dec->failed; t++) {
        struct call_thread *thread = &tree->threads[t];
        thread->first = column_decode_count(dec);
        thread->end = column_decode_count(dec);
        thread->tid = column_decode_signed(dec);
        const char **label = column_decode_texts(dec, 1);
        thread->label = label == NULL ? NULL : label[0];
        dec->failed = dec->failed || thread->first >= thread->end || thread->end > tree->node_count;
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

static void decode_call_tree(struct column_decoder *dec, void *block)
{
    struct call_tree *tree = block;
    tree->node_count = column_decode_count(dec);
    tree->name_count = column_decode_count(dec);
    tree->thread_count = column_decode_count(dec);
    tree->profile_thread = column_decode_count(dec);
    tree->names = column_decode_texts(dec, tree->name_count);
    decode_threads(dec, tree);
    size_t count = tree->node_count;
    tree->name = column_decode_u32(dec, count, tree->name_count, false);
    tree->tid = column_decode_u32(dec, count, tree->name_count, false);
    tree->call_stack = column_decode_u32(dec, count, tree->name_count, true);
    tree->end = column_decode_u32(dec, count, UINT32_MAX, false);
    tree->partner = column_decode_u32(dec, count, tree->node_count, true);
    tree->class = column_decode_bytes(dec, count);
    tree->type = column_decode_bytes(dec, count);
    tree->flags = column_decode_bytes(dec, count);
    tree->start = column_decode_i64(dec, count);
    tree->stop = column_decode_i64(dec, count);
    tree->host_self = column_decode_i64(dec, count);
    tree->device_total = column_decode_i64(dec, count);
    tree->device_self = column_decode_i64(dec, count);
    tree->module_id = column_decode_i64(dec, count);
    dec->failed = dec->failed || !is_sound(tree);
}

/* ---- memory logs ---- */

static void encode_memory_log(struct column_parts *parts, const void *block)
{
    const struct memory_log *log = block;
    struct column_encoder *enc = &parts->enc;
    column_encode_number(enc, log->count);
    column_encode_number(enc, log->device_count);
    column_encode_number(enc, log->node_count);
    column_encode_texts(enc, log->devices, log->device_count);
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
    column_parts_bytes(parts, log->visited, log->node_count);
}

static void decode_memory_log(struct column_decoder *dec, void *block)
{
    struct memory_log *log = block;
    log->count = column_decode_count(dec);
    log->device_count = column_decode_count(dec);
    log->node_count = column_decode_count(dec);
    log->devices = column_decode_texts(dec, log->device_count);
    size_t count = log->count;
    log->ts = column_decode_i64(dec, count);
    log->addr = column_decode_i64(dec, count);
    log->size_bytes = column_decode_i64(dec, count);
    log->allocated_bytes = column_decode_i64(dec, count);
    log->reserved_bytes = column_decode_i64(dec, count);
    log->node = column_decode_u32(dec, count, log->node_count, true);
    log->op = column_decode_u32(dec, count, UINT32_MAX, true);
    log->parent = column_decode_u32(dec, count, UINT32_MAX, true);
    log->device = column_decode_u32(dec, count, log->device_count, false);
    log->flags = column_decode_bytes(dec, count);
    log->visited = column_decode_bytes(dec, log->node_count);
    dec->failed = dec->failed || !has_all_texts(log->devices, log->device_count);
}

/* ---- comm logs ---- */

static void encode_comm_log(struct column_parts *parts, const void *block)
{
    struct column_encoder *enc = &parts->enc;
    const struct collective_log *log = block;
    column_encode_number(enc, log->op_count);
    column_encode_number(enc, log->range_count);
    for (uint32_t i = 0; i < log->op_count; i++) {
        const struct collective_op *op = &log->ops[i];
        column_encode_texts(enc, &op->name, 1);
        column_encode_i64(enc, &op->step, 1);
        column_encode_i64(enc, &op->size_bytes, 1);
        column_encode_number(enc, op->range_count);
        column_encode_texts(enc, &op->group, 1);
        column_encode_i64(enc, &op->group_size, 1);
        column_parts_end_piece(parts);
    }
    for (uint32_t i = 0; i < log->range_count; i++) {
        column_encode_i64(enc, &log->ranges[i].start, 1);
        column_encode_i64(enc, &log->ranges[i].end, 1);
        column_parts_end_piece(parts);
    }
}

static void decode_ranges(struct column_decoder *dec, struct collective_log *log)
{
    log->ranges = arena_calloc(dec->arena, (size_t)log->range_count + 1, sizeof *log->ranges);
    dec->failed = dec->failed || log->ranges == NULL;
    for (uint32_t i = 0; i < log->range_count && !dec->failed; i++) {
        log->ranges[i].start = column_decode_signed(dec);
        log->ranges[i].end = column_decode_signed(dec);
    }
}

static void decode_comm_log(struct column_decoder *dec, void *block)
{
    struct collective_log *log = block;
    uint64_t range_count = 0;
    log->op_count = column_decode_count(dec);
    log->range_count = column_decode_count(dec);
    log->ops = arena_calloc(dec->arena, (size_t)log->op_count + 1, sizeof *log->ops);
    dec->failed = dec->failed || log->ops == NULL;
    for (uint32_t i = 0; i < log->op_count && !dec->failed; i++) {
        struct collective_op *op = &log->ops[i];
        const char **name = column_decode_texts(dec, 1);
        op->name = name == NULL || name[0] == NULL ? "" : name[0];
        op->step = column_decode_signed(dec);
        op->size_bytes = column_decode_signed(dec);
        op->range_count = column_decode_count(dec);
        const char **group = column_decode_texts(dec, 1);
        op->group = group == NULL ? NULL : group[0];
        op->group_size = column_decode_signed(dec);
        op->first_range = (uint32_t)range_count;
        range_count += op->range_count;
        dec->failed = dec->failed || range_count > log->range_count;
    }
    decode_ranges(dec, log);
}

/* ---- counters of devices ---- */

static void encode_gpu_counters(struct column_parts *parts, const void *block)
{
    static const struct column_source arrays = {.read = NULL};
    const struct gpu_counters *counters = block;
    struct column_encoder *enc = &parts->enc;
    column_encode_number(enc, counters->count);
    column_encode_number(enc, counters->device_count);
    column_encode_u32(enc, counters->devices, counters->device_count);
    column_encode_i64(enc, &counters->start, 1);
    column_encode_i64(enc, &counters->end, 1);
    struct log_writing w = begin_log(parts, &arrays, counters->count);
    put_u8(&w, 0, counters->kind);
    put_u32(&w, 0, counters->device);
    put_i64(&w, 0, counters->from);
    put_i64(&w, 0, counters->to);
    put_i64(&w, 0, counters->value);
}

static void decode_gpu_counters(struct column_decoder *dec, void *block)
{
    struct gpu_counters *counters = block;
    counters->count = column_decode_count(dec);
    counters->device_count = column_decode_count(dec);
    counters->devices = column_decode_u32(dec, counters->device_count, UINT32_MAX, false);
    counters->start = column_decode_signed(dec);
    counters->end = column_decode_signed(dec);
    counters->kind = column_decode_bytes(dec, counters->count);
    counters->device = column_decode_u32(dec, counters->count, UINT32_MAX, false);
    counters->from = column_decode_i64(dec, counters->count);
    counters->to = column_decode_i64(dec, counters->count);
    counters->value = column_decode_i64(dec, counters->count);
}

/* ---- the table ---- */

typedef void (*block_encoder)(struct column_parts *parts, const void *block);

static bool
encode_block(block_encoder encode, const void *block, struct packed_log *out, struct err *err)
{
    struct column_parts parts;
    column_parts_init(&parts);
    encode(&parts, block);
    bool ok = column_parts_finish(&parts, &out->bytes, &out->len, err);
    column_parts_free(&parts);
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
write_block(struct row_writer *writer, const char *kind, block_encoder encode, const void *block)
{
    struct packed_log bytes = {.bytes = NULL};
    if (block == NULL || !writer->ok) {
        return;
    }
    writer->ok = encode_block(encode, block, &bytes, writer->err);
    write_bytes(writer, kind, &bytes);
    free(bytes.bytes);
}

static const struct {
    const char *kind;
    block_encoder encode;
} logs[RESULT_LOG_COUNT] = {
    [RESULT_CALL_TREE] = {CALL_TREE, encode_call_tree},
    [RESULT_MEMORY_LOG] = {MEMORY_LOG, encode_memory_log},
    [RESULT_GPU_COUNTERS] = {GPU_COUNTERS, encode_gpu_counters},
};

bool store_encode_log(enum result_log log, const void *columns, struct packed_log *out)
{
    struct err no_memory = ERR_INIT;
    if (!encode_block(logs[log].encode, columns, out, &no_memory)) {
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
        write_block(writer, logs[log].kind, logs[log].encode, columns);
    }
}

void blocks_write(struct row_writer *writer, const struct trace_results *results)
{
    write_log(writer, results, RESULT_CALL_TREE, results->call_tree);
    write_log(writer, results, RESULT_MEMORY_LOG, results->memory_log);
    write_block(writer, COMM_LOG, encode_comm_log, results->comm_log);
    write_log(writer, results, RESULT_GPU_COUNTERS, results->gpu_counters);
    write_block(writer, OPERATIONS, operations_encode, results->operations);
    write_block(writer, RANK_DIGEST, rank_digest_encode, results->rank_digest);
    write_block(writer, CYCLE_USE, cycle_use_encode,
                results->cycle_use_count == 0 ? NULL : results);
}

/* *found says whether there is a block, which is then to be unpacked and finished. */
static bool find_block(struct db *db,
                       struct arena *arena,
                       const char *kind,
                       struct column_decoder *dec,
                       bool *found,
                       struct err *err)
{
    struct db_stmt st;
    bool ok = true;
    *found = false;
    db_prepare(&st, db, "SELECT bytes FROM block WHERE trace_id = ? AND kind = ?");
    db_put_int(&st, RESULTS_LOG_ID);
    db_put_text(&st, kind);
    if (db_next(&st)) {
        size_t len = 0;
        const void *bytes = db_peek_blob(&st, &len);
        *found = column_decode_init(dec, arena, bytes, len, err);
        ok = *found;
    }
    return db_done(&st, err) && ok;
}

bool blocks_read_cycle_uses(struct db *db,
                            struct arena *arena,
                            struct trace_results *out,
                            struct err *err)
{
    struct column_decoder dec;
    struct err damaged = ERR_INIT;
    bool found;
    bool ok = find_block(db, arena, CYCLE_USE, &dec, &found, err);
    if (!found) {
        return ok;
    }
    bool has_memory = cycle_use_decode(&dec, out, err);
    bool is_sound = column_decode_finish(&dec, &damaged);
    if (has_memory && !is_sound) {
        *err = damaged;
    }
    return ok && has_memory && is_sound;
}

/* *block stays NULL when the trace has none. */
static bool read_block(struct store_snapshot *snapshot,
                       struct arena *arena,
                       int64_t trace_id,
                       const char *kind,
                       size_t block_bytes,
                       void (*decode_block)(struct column_decoder *, void *),
                       void **block,
                       struct err *err)
{
    struct db *db = NULL;
    struct column_decoder dec;
    *block = NULL;
    if (!store_snapshot_file(snapshot, trace_id, RESULTS_TABLES, &db, err) || db == NULL) {
        return db == NULL && err->code == ERR_NONE;
    }
    bool found = false;
    bool ok = find_block(db, arena, kind, &dec, &found, err);
    if (!found) {
        return ok;
    }
    *block = arena_calloc(arena, 1, block_bytes);
    if (*block == NULL) {
        dec.failed = true;
    } else {
        decode_block(&dec, *block);
    }
    return column_decode_finish(&dec, err) && ok;
}

bool store_call_tree(struct store_snapshot *snapshot,
                     struct arena *arena,
                     int64_t trace_id,
                     struct call_tree **out,
                     struct err *err)
{
    void *block = NULL;
    bool ok = read_block(snapshot, arena, trace_id, CALL_TREE, sizeof **out, decode_call_tree,
                         &block, err);
    *out = block;
    return ok;
}

bool store_memory_log(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t trace_id,
                      struct memory_log **out,
                      struct err *err)
{
    void *block = NULL;
    bool ok = read_block(snapshot, arena, trace_id, MEMORY_LOG, sizeof **out, decode_memory_log,
                         &block, err);
    *out = block;
    return ok;
}

bool store_comm_log(struct store_snapshot *snapshot,
                    struct arena *arena,
                    int64_t trace_id,
                    struct collective_log **out,
                    struct err *err)
{
    void *block = NULL;
    bool ok =
        read_block(snapshot, arena, trace_id, COMM_LOG, sizeof **out, decode_comm_log, &block, err);
    *out = block;
    return ok;
}

bool store_gpu_counters(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t trace_id,
                        struct gpu_counters **out,
                        struct err *err)
{
    void *block = NULL;
    bool ok = read_block(snapshot, arena, trace_id, GPU_COUNTERS, sizeof **out, decode_gpu_counters,
                         &block, err);
    *out = block;
    return ok;
}

bool store_rank_digest(struct store_snapshot *snapshot,
                       struct arena *arena,
                       int64_t trace_id,
                       struct rank_digest **out,
                       struct err *err)
{
    void *block = NULL;
    bool ok = read_block(snapshot, arena, trace_id, RANK_DIGEST, sizeof **out, rank_digest_decode,
                         &block, err);
    *out = block;
    return ok;
}

bool store_operations(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t trace_id,
                      struct operation_table **out,
                      struct err *err)
{
    void *block = NULL;
    bool ok = read_block(snapshot, arena, trace_id, OPERATIONS, sizeof **out, operations_decode,
                         &block, err);
    *out = block;
    return ok;
}
