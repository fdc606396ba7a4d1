/* Blocks of the timeline in the store. The first byte of an input chooses: the rest is what stands
 * in the store (0), or that before it is compressed (1); or items that are stored and come back
 * (2).
 */
#include "ingest/store/timeline/blocks.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Of an input, for an item. */
#define ITEM_BYTES 8

static void check_block(const struct timeline_block *block)
{
    fuzz_require(block->item_count <= TIMELINE_BLOCK_ITEMS, "a block keeps its size");
    for (uint32_t i = 0; i < block->item_count; i++) {
        int64_t dur_ns = block->dur_ns[i];
        fuzz_require(dur_ns >= TIMELINE_INSTANT, "durations are none or not negative");
        fuzz_require(dur_ns <= 0 || block->start_ns[i] <= INT64_MAX - dur_ns,
                     "no end is beyond 64 bits");
        fuzz_require(block->busy_ns[i] >= 0 && block->busy_ns[i] <= (dur_ns > 0 ? dur_ns : 0),
                     "what is busy lies within the item");
        bool sorted = i == 0 || block->track[i - 1] < block->track[i] ||
                      (block->track[i - 1] == block->track[i] &&
                       block->start_ns[i - 1] <= block->start_ns[i]);
        fuzz_require(sorted, "items are sorted");
    }
}

static void get_any(const void *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct timeline_block block;
    struct timeline_points points;
    arena_init(&arena, 0);
    if (timeline_decode_block(&arena, bytes, len, &block, &err)) {
        check_block(&block);
    }
    if (timeline_decode_points(&arena, bytes, len, &points, &err)) {
        fuzz_require(points.item_count <= TIMELINE_BLOCK_ITEMS, "points keep their number");
    }
    for (int by_target = 0; by_target <= 1; by_target++) {
        struct timeline_flow *flows;
        size_t count;
        if (timeline_decode_flows(&arena, by_target != 0, bytes, len, &flows, &count, &err)) {
            fuzz_require(count <= TIMELINE_BLOCK_ITEMS, "flows keep their number");
        }
    }
    arena_free(&arena);
}

static void get_compressed(const uint8_t *bytes, size_t len)
{
    size_t room = ZSTD_compressBound(len);
    void *packed = malloc(room);
    fuzz_require(packed != NULL, "memory to compress");
    size_t packed_len = ZSTD_compress(packed, room, bytes, len, 1);
    fuzz_require(!ZSTD_isError(packed_len), "every input can be compressed");
    get_any(packed, packed_len);
    free(packed);
}

/* ---- items that come back ---- */

struct items {
    uint32_t track[TIMELINE_BLOCK_ITEMS];
    int64_t start_ns[TIMELINE_BLOCK_ITEMS];
    int64_t dur_ns[TIMELINE_BLOCK_ITEMS];
    uint32_t lane[TIMELINE_BLOCK_ITEMS];
    uint32_t label[TIMELINE_BLOCK_ITEMS];
    uint32_t event[TIMELINE_BLOCK_ITEMS];
    uint32_t count[TIMELINE_BLOCK_ITEMS];
    int64_t busy_ns[TIMELINE_BLOCK_ITEMS];
};

/* The first byte shifts the others to all sizes. */
static void make_item(struct items *items, uint32_t i, const uint8_t bytes[ITEM_BYTES])
{
    int64_t unit_ns = (bytes[1] & 2) != 0 ? 1000 : 1;
    unsigned shift = bytes[0] % (unit_ns == 1 ? 48U : 32U);
    uint32_t last = i == 0 ? 0 : items->track[i - 1];
    items->track[i] = last + (bytes[1] & 1);
    int64_t step_ns = ((int64_t)bytes[2] << shift) * unit_ns;
    bool same = i > 0 && items->track[i] == last;
    items->start_ns[i] =
        same ? items->start_ns[i - 1] + step_ns : step_ns - unit_ns * ((int64_t)1 << shift);
    items->dur_ns[i] =
        bytes[3] == 0 ? TIMELINE_INSTANT : ((int64_t)(bytes[3] - 1) << shift) * unit_ns;
    bool together = same && items->start_ns[i] == items->start_ns[i - 1];
    items->lane[i] = (together ? items->lane[i - 1] : 0) + bytes[4] % 4;
    items->label[i] = bytes[5];
    items->event[i] = (uint32_t)bytes[6] << (shift % 24);
    items->count[i] = items->dur_ns[i] > 0 ? 1U + bytes[7] % 5 : 1U;
    int64_t whole_ns = items->dur_ns[i] > 0 ? items->dur_ns[i] : 0;
    items->busy_ns[i] = items->count[i] == 1 ? whole_ns : whole_ns - whole_ns / 2000 * 1000;
}

static bool same_columns(const struct timeline_block *a, const struct timeline_block *b)
{
    size_t n = a->item_count;
    return a->item_count == b->item_count &&
           memcmp(a->track, b->track, n * sizeof *a->track) == 0 &&
           memcmp(a->start_ns, b->start_ns, n * sizeof *a->start_ns) == 0 &&
           memcmp(a->dur_ns, b->dur_ns, n * sizeof *a->dur_ns) == 0 &&
           memcmp(a->lane, b->lane, n * sizeof *a->lane) == 0 &&
           memcmp(a->label, b->label, n * sizeof *a->label) == 0 &&
           memcmp(a->event, b->event, n * sizeof *a->event) == 0 &&
           memcmp(a->count, b->count, n * sizeof *a->count) == 0 &&
           memcmp(a->busy_ns, b->busy_ns, n * sizeof *a->busy_ns) == 0;
}

static void check_round_trip(const struct timeline_block *block)
{
    struct err err = ERR_INIT;
    struct column_encoder enc;
    struct timeline_extent extent;
    struct timeline_block back;
    struct arena arena;
    void *bytes;
    size_t len;
    arena_init(&arena, 0);
    column_encode_init(&enc);
    fuzz_require(timeline_encode_block(&enc, block, &extent, &err), "a sound block is stored");
    fuzz_require(column_encode_finish(&enc, &bytes, &len, &err), "and compressed");
    fuzz_require(timeline_decode_block(&arena, bytes, len, &back, &err), "and read");
    fuzz_require(same_columns(block, &back), "as it was");
    free(bytes);
    column_encode_free(&enc);
    arena_free(&arena);
}

static void put_any(const uint8_t *bytes, size_t len)
{
    struct items *items = malloc(sizeof *items);
    fuzz_require(items != NULL, "memory for items");
    struct timeline_block block = {.track = items->track,
                                   .start_ns = items->start_ns,
                                   .dur_ns = items->dur_ns,
                                   .lane = items->lane,
                                   .label = items->label,
                                   .event = items->event,
                                   .count = items->count,
                                   .busy_ns = items->busy_ns};
    for (uint32_t i = 0; i < TIMELINE_BLOCK_ITEMS && (i + 1) * (size_t)ITEM_BYTES <= len; i++) {
        make_item(items, i, bytes + i * (size_t)ITEM_BYTES);
        block.item_count = i + 1;
    }
    if (block.item_count > 0) {
        check_round_trip(&block);
    }
    free(items);
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    if (len == 0) {
        return 0;
    }
    switch (bytes[0] % 3) {
    case 0:
        get_any(bytes + 1, len - 1);
        break;
    case 1:
        get_compressed(bytes + 1, len - 1);
        break;
    default:
        put_any(bytes + 1, len - 1);
        break;
    }
    return 0;
}
