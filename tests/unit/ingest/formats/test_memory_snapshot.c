#include "ingest/analysis/memory_snapshot/memory_snapshot.h"
#include "ingest/formats/memory_snapshot/pickle.h"
#include "ingest/formats/memory_snapshot/snapshot.h"
#include "tests/unit/unit.h"

#include <string.h>

#define BYTES(text) (text), sizeof(text) - 1

static struct pickle read_good(const char *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct pickle pickle;
    if (!pickle_read(&pickle, bytes, len, 0, &err)) {
        fail_msg("%s", err.msg);
    }
    return pickle;
}

static struct err refusal(const char *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct pickle pickle;
    assert_false(pickle_read(&pickle, bytes, len, 0, &err));
    pickle_free(&pickle);
    assert_int_equal(err.code, ERR_BAD_INPUT);
    return err;
}

/* {"a": [1, -2, 300, True, None, 0.5], "b": "x"}, with the list memoized and used twice */
static void plain_data_is_read(void **state)
{
    struct pickle pickle =
        read_good(BYTES("\x80\x04}(\x8c\x01"
                        "a]\x94(K\x01J\xfe\xff\xff\xffM\x2c\x01\x88NG\x3f\xe0\0\0\0\0\0\0e\x8c\x01"
                        "bh\0u."));
    const struct pickle_container *list =
        pickle_list(&pickle, pickle_get(&pickle, &pickle.root, "a"));
    assert_int_equal(list->count, 6);
    assert_int_equal(pickle_int(&list->items[1], 0), -2);
    assert_int_equal(pickle_int(&list->items[2], 0), 300);
    assert_int_equal(list->items[3].kind, PICKLE_BOOL);
    assert_true(list->items[5].real == 0.5);
    assert_ptr_equal(pickle_list(&pickle, pickle_get(&pickle, &pickle.root, "b")), list);
    assert_null(pickle_get(&pickle, &pickle.root, "c"));
    pickle_free(&pickle);
}

/* Of every opcode that could run code, or does not fit, the offset is told. */
static void code_is_refused_where_it_stands(void **state)
{
    static const char forbidden[] =
        "cRbioIQPVUTSFLdl\x81\x82\x83\x84\x8b\x8d\x8e\x8f\x90\x91\x92\x93\x96\x97\x98";
    for (size_t i = 0; i < sizeof forbidden - 1; i++) {
        char bytes[] = "\x80\x04]?.";
        bytes[3] = forbidden[i];
        assert_int_equal(refusal(bytes, sizeof bytes - 1).byte_off, 3);
    }
    assert_int_equal(refusal(BYTES("\x80\x04K\x01K\x02"
                                   "a."))
                         .byte_off,
                     6);                                            /* a number takes no items */
    assert_int_equal(refusal(BYTES("\x80\x04]e.")).byte_off, 3);    /* no mark */
    assert_int_equal(refusal(BYTES("\x80\x04h\x07.")).byte_off, 2); /* nothing is memoized */
    assert_int_equal(refusal(BYTES("\x80\x06N.")).byte_off, 0);     /* protocol 6 */
    assert_int_equal(refusal(BYTES("\x80\x04X\xff\xff\xff\x7fx.")).byte_off, 9);
    assert_int_equal(refusal(BYTES("\x80\x04")).byte_off, 2);
}

static void nesting_is_bounded(void **state)
{
    char bytes[200] = "\x80\x04";
    memset(bytes + 2, '(', 100);
    assert_int_equal(refusal(bytes, 102).byte_off, 2 + 64);
}

/* One list of blocks that many segments refer to is no snapshot. */
static void repeated_lists_are_refused(void **state)
{
    static const char head[] = "\x80\x04}\x8c\x08segments](}\x8c\x06"
                               "blocks](";
    char bytes[4096];
    size_t len = sizeof head - 1;
    memcpy(bytes, head, len);
    memset(bytes + len, '}', 100);
    len += 100;
    memcpy(bytes + len, "es\x94", 3); /* the list, into the segment, which is memoized */
    len += 3;
    for (size_t i = 0; i < 500; i++) {
        memcpy(bytes + len, "h\0", 2);
        len += 2;
    }
    memcpy(bytes + len, "es.", 3);
    len += 3;
    struct err err = ERR_INIT;
    struct memory_snapshot *snapshot = NULL;
    struct input *in = NULL;
    const struct format_options options = {.memory_budget_bytes = 0};
    assert_true(input_open_memory(&in, bytes, len, 0, &err));
    assert_false(memory_snapshot_load(in, &options, &snapshot, &err));
    assert_int_equal(err.code, ERR_BAD_INPUT);
    input_close(in);
}

/* ---- whose memory ---- */

static const char *device_type_of(const char *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct memory_snapshot *snapshot = NULL;
    struct input *in = NULL;
    const struct format_options options = {.memory_budget_bytes = 0};
    assert_true(input_open_memory(&in, bytes, len, 0, &err));
    if (!memory_snapshot_load(in, &options, &snapshot, &err)) {
        fail_msg("%s", err.msg);
    }
    input_close(in);
    bool is_npu = snapshot->is_npu;
    memory_snapshot_destroy(snapshot);
    return is_npu ? "NPU" : "GPU";
}

/* {"segments": [{POOL: 1}], "device_traces": [[EVENT]]}; each text has its length before it */
#define SNAPSHOT(pool, event)                               \
    BYTES("\x80\x04}\x8c\x08segments]}" pool "K\x01sas\x8c" \
          "\x0d"                                            \
          "device_traces]]" event "aas.")
#define POOL "\x8c\x0fsegment_pool_id"
#define NO_POOL "\x8c\x06stream"
#define EVENT         \
    "}\x8c\x06stream" \
    "K\x01s"
#define EVENT_AT_TIME  \
    "}\x8c\x07time_us" \
    "K\x01s"
#define EVENT_AT_TIME_IN(file)       \
    EVENT_AT_TIME "\x8c\x06"         \
                  "frames]}\x8c\x08" \
                  "filename" file "sas"

/* [FMT-4.1d] */
static void a_snapshot_says_whose_memory_it_is(void **state)
{
    assert_string_equal(device_type_of(SNAPSHOT(POOL, EVENT)), "NPU");
    assert_string_equal(device_type_of(SNAPSHOT(NO_POOL, EVENT)), "GPU");
    assert_string_equal(device_type_of(SNAPSHOT(POOL, EVENT_AT_TIME)), "GPU");
    assert_string_equal(device_type_of(SNAPSHOT(POOL, EVENT_AT_TIME_IN("\x8c\x10"
                                                                       "x/torch_npu/m.py"))),
                        "NPU");
    assert_string_equal(device_type_of(SNAPSHOT(POOL, EVENT_AT_TIME_IN("\x8c\x0f"
                                                                       "my_torch_npu.py"))),
                        "GPU");
}

/* ---- replay ---- */

static struct snapshot_event event(enum snapshot_action action, int64_t addr, int64_t size)
{
    return (struct snapshot_event){.action = (uint8_t)action,
                                   .addr = addr,
                                   .size = size,
                                   .stream = 1,
                                   .time_us = SNAPSHOT_NONE,
                                   .device_free = SNAPSHOT_NONE,
                                   .frame = SNAPSHOT_NO_FRAMES};
}

static void a_history_is_replayed_from_its_end(void **state)
{
    struct snapshot_event events[] = {
        event(SNAPSHOT_FREE_REQUESTED, 0x10, 7), /* lived before */
        event(SNAPSHOT_ALLOC, 0x20, 100),
        event(SNAPSHOT_FREE_REQUESTED, 0x20, 100),
        event(SNAPSHOT_ALLOC, 0x20, 30),
    };
    struct snapshot_segment segment = {.total_size = 512, .block_count = 1, .stream = 1};
    struct snapshot_block block = {.address = 0x20,
                                   .size = 512,
                                   .requested_size = 30,
                                   .frame = SNAPSHOT_NO_FRAMES,
                                   .state = SNAPSHOT_ALLOCATED};
    struct snapshot_device device = {.segments = &segment,
                                     .blocks = &block,
                                     .events = events,
                                     .segment_count = 1,
                                     .block_count = 1,
                                     .event_count = COUNT_OF(events)};
    const struct memory_snapshot snapshot = {.devices = &device, .device_count = 1};
    struct arena arena;
    struct snapshot_figures figures;
    struct snapshot_frame_row *frames;
    size_t count;
    arena_init(&arena, 0);
    assert_true(snapshot_figures_of(&snapshot, &device, &arena, &figures));
    assert_int_equal(figures.history_start_allocated_bytes, 7);
    assert_int_equal(figures.peak_allocated_bytes, 100);
    assert_int_equal(figures.peak_event, 1);
    assert_int_equal(figures.peak_ns, SNAPSHOT_NONE);
    const struct snapshot_question question = {&snapshot, NULL, SNAPSHOT_NONE, SNAPSHOT_AT_END};
    assert_true(snapshot_frames(&question, &arena, &frames, &count));
    assert_int_equal(count, 1);
    assert_string_equal(frames[0].frame, "(no frames)");
    assert_int_equal(frames[0].bytes, 30);
    arena_free(&arena);
}

/* ---- segments ---- */

static void segments_say_what_is_free_and_where(void **state)
{
    struct snapshot_segment segments[] = {
        {.address = 0x1000, .total_size = 1280, .stream = 7, .first_block = 0, .block_count = 4},
        {.address = 0x8000, .total_size = 2560, .first_block = 4, .block_count = 1},
        {.address = 0x9000, .total_size = 0, .first_block = 5, .block_count = 1},
    };
    struct snapshot_block blocks[] = {
        {.address = 0x1000, .size = 640, .state = SNAPSHOT_ALLOCATED},
        {.address = 0x1000 + 640, .size = 320, .state = SNAPSHOT_INACTIVE},
        {.address = 0x1000 + 960, .size = 5, .state = SNAPSHOT_PENDING_FREE},
        {.address = 0x1000 + 965, .size = 315, .state = SNAPSHOT_INACTIVE},
        {.address = 0x7fff,
         .size = INT64_MAX,
         .state = SNAPSHOT_ALLOCATED}, /* beyond its segment */
        {.address = INT64_MIN, .size = 9, .state = SNAPSHOT_ALLOCATED},
    };
    struct snapshot_device device = {.segments = segments,
                                     .blocks = blocks,
                                     .segment_count = COUNT_OF(segments),
                                     .block_count = COUNT_OF(blocks)};
    struct arena arena;
    struct snapshot_segments found;
    arena_init(&arena, 0);
    assert_true(snapshot_segments_of(&device, SNAPSHOT_BY_FREE, 2, &arena, &found));
    assert_int_equal(found.total, 3);
    assert_int_equal(found.count, 2);
    const struct snapshot_segment_row *row = &found.rows[0];
    assert_string_equal(row->address, "0x1000");
    assert_int_equal(row->stream, 7);
    assert_int_equal(row->allocated_bytes, 640);
    assert_int_equal(row->pending_bytes, 5);
    assert_int_equal(row->free_bytes, 635);
    assert_int_equal(row->largest_free_bytes, 320);
    assert_int_equal(row->allocated[63], 100);
    assert_int_equal(row->allocated[64], 0);
    assert_int_equal(row->pending[96], 50); /* 5 of the 10 bytes of a part */
    assert_true(snapshot_segments_of(&device, SNAPSHOT_BY_SIZE, 1, &arena, &found));
    assert_string_equal(found.rows[0].address, "0x8000");
    assert_int_equal(found.rows[0].allocated[SNAPSHOT_SEGMENT_CELLS - 1], 100);
    assert_true(snapshot_segments_of(&device, SNAPSHOT_BY_ADDRESS, 9, &arena, &found));
    assert_string_equal(found.rows[2].address, "0x9000");
    assert_int_equal(found.rows[2].allocated[0], 0);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_data_is_read),
        cmocka_unit_test(code_is_refused_where_it_stands),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(repeated_lists_are_refused),
        cmocka_unit_test(a_snapshot_says_whose_memory_it_is),
        cmocka_unit_test(a_history_is_replayed_from_its_end),
        cmocka_unit_test(segments_say_what_is_free_and_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
