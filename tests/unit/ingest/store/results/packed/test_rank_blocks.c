/* Digests of ranks packed and read back; no damaged byte gives a digest that an analysis could
 * stumble over. */
#include "ingest/model/rank_digest.h"
#include "ingest/store/results/packed/rank_blocks.h"
#include "tests/unit/unit.h"

#include <string.h>

static const char *texts[] = {"allreduce", "0", "gemm", ""};
static struct rank_collective collectives[] = {
    {.start_ns = INT64_C(1) << 60,
     .duration_ns = 5,
     .sequence = RANK_UNKNOWN,
     .size = 2,
     .in_bytes = 4,
     .out_bytes = 8,
     .event = UINT32_MAX - 1,
     .name = 0,
     .dtype = RANK_NO_TEXT,
     .group = 1,
     .group_ranks = RANK_NO_TEXT,
     .in_split = 3,
     .kind = RANK_BARRIER},
    {.start_ns = -1, .group = RANK_NO_TEXT, .kind = RANK_OTHER},
};
static struct rank_step steps[] = {{7, -5, 9}};
static struct rank_segment segments[] = {{1, 2, 3, 4}, {9, 0, 0, 0}};
static struct rank_part parts[] = {{0, 2, 11}};
static struct rank_busy busy[] = {{-7, 12}, {40, INT64_MAX}};

static void pack(void **bytes, size_t *len)
{
    const struct rank_digest digest = {.rank = 3,
                                       .first_ns = RANK_UNKNOWN,
                                       .communication_ns = 40,
                                       .hidden_ns = 30,
                                       .texts = texts,
                                       .collectives = collectives,
                                       .steps = steps,
                                       .segments = segments,
                                       .parts = parts,
                                       .last_ns = 77,
                                       .busy = busy,
                                       .text_count = COUNT_OF(texts),
                                       .collective_count = COUNT_OF(collectives),
                                       .step_count = COUNT_OF(steps),
                                       .segment_count = COUNT_OF(segments),
                                       .part_count = COUNT_OF(parts),
                                       .busy_count = COUNT_OF(busy)};
    struct column_parts out;
    struct err err = ERR_INIT;
    column_parts_init(&out);
    rank_digest_encode(&out, &digest);
    assert_true(column_parts_finish(&out, bytes, len, &err));
    column_parts_free(&out);
}

static bool unpack(struct arena *arena, const void *bytes, size_t len, struct rank_digest *digest)
{
    struct column_decoder dec;
    struct err err = ERR_INIT;
    if (!column_decode_init(&dec, arena, bytes, len, &err)) {
        return false;
    }
    rank_digest_decode(&dec, digest);
    return column_decode_finish(&dec, &err);
}

static void a_digest_comes_back(void **state)
{
    struct arena arena;
    struct rank_digest digest = {.rank = 0};
    void *bytes = NULL;
    size_t len = 0;
    arena_init(&arena, 0);
    pack(&bytes, &len);
    assert_true(unpack(&arena, bytes, len, &digest));
    assert_int_equal(digest.rank, 3);
    assert_int_equal(digest.first_ns, RANK_UNKNOWN);
    assert_int_equal(digest.communication_ns, 40);
    assert_int_equal(digest.hidden_ns, 30);
    assert_int_equal(digest.last_ns, 77);
    assert_int_equal(digest.busy_count, 2);
    assert_memory_equal(digest.busy, busy, sizeof busy);
    assert_int_equal(digest.collective_count, 2);
    const struct rank_collective *item = &digest.collectives[0];
    assert_int_equal(item->start_ns, collectives[0].start_ns);
    assert_int_equal(item->sequence, RANK_UNKNOWN);
    assert_int_equal(item->event, UINT32_MAX - 1);
    assert_int_equal(item->dtype, RANK_NO_TEXT);
    assert_int_equal(item->in_split, 3);
    assert_int_equal(item->kind, RANK_BARRIER);
    assert_int_equal(digest.collectives[1].start_ns, -1);
    assert_memory_equal(digest.steps, steps, sizeof steps);
    assert_memory_equal(digest.segments, segments, sizeof segments);
    assert_int_equal(digest.parts[0].ns, 11);
    assert_string_equal(digest.texts[2], "gemm");
    free(bytes);
    arena_free(&arena);
}

static void a_text_that_is_not_there_is_damage(void **state)
{
    struct arena arena;
    struct rank_digest digest = {.rank = 0};
    void *bytes = NULL;
    size_t len = 0;
    arena_init(&arena, 0);
    collectives[1].name = COUNT_OF(texts);
    pack(&bytes, &len);
    assert_false(unpack(&arena, bytes, len, &digest));
    free(bytes);
    collectives[1].name = 0;
    parts[0].segment = COUNT_OF(segments);
    pack(&bytes, &len);
    assert_false(unpack(&arena, bytes, len, &digest));
    free(bytes);
    parts[0].segment = 0;
    pack(&bytes, &len);
    assert_false(unpack(&arena, bytes, len - 1, &digest));
    free(bytes);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_digest_comes_back),
        cmocka_unit_test(a_text_that_is_not_there_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
