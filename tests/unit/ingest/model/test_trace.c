#include "ingest/model/results/results.h"
#include "ingest/model/trace.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void columns_grow_together(void **state)
{
    struct trace *trace = trace_create();
    assert_non_null(trace);
    for (uint32_t i = 0; i < 5000; i++) {
        struct trace_event event = {.ts_ns = i,
                                    .dur_ns = (int64_t)i * 2,
                                    .correlation = -(int64_t)i,
                                    .external_id = TRACE_NO_ID,
                                    .name = i % 7,
                                    .track = i % 3,
                                    .args = TRACE_NO_ARGS,
                                    .category = (uint16_t)(i % 5),
                                    .kind = EVENT_KERNEL,
                                    .flags = EVENT_HAS_DUR,
                                    .phase = 'X'};
        assert_true(trace_add_event(trace, &event));
    }
    trace_seal(trace);
    assert_int_equal(trace->events.count, 5000);
    assert_int_equal(trace->events.capacity, 5000);
    assert_int_equal(trace->events.ts_ns[4999], 4999);
    assert_int_equal(trace_dur_ns(&trace->events, 1234), 2468);
    assert_int_equal(trace_correlation(&trace->events, 1234), -1234);
    assert_int_equal(trace->events.name[13], 6);
    assert_int_equal(trace_kind(&trace->events, 0), EVENT_KERNEL);
    assert_int_equal(trace_phase(&trace->events, 4999), 'X');
    /* 35 bytes an event, 8 for each negative number, and what an empty trace takes */
    assert_in_range(trace_memory_bytes(trace), 5000 * 43, 5000 * 43 + 200000);

    struct trace_event more = {.name = 3, .phase = 'i'};
    assert_true(trace_add_event(trace, &more));
    assert_int_equal(trace->events.name[5000], 3);
    trace_destroy(trace);
}

/* Whatever is expected, the columns hold what comes. */
static void expectations_only_make_room(void **state)
{
    const uint32_t count = 100000;
    const uint64_t expected[] = {0, 1, 50000, 100000, 120000, 3000000, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        struct trace *trace = trace_create();
        assert_non_null(trace);
        uint32_t moves = 0;
        for (uint32_t row = 0; row < count; row++) {
            uint32_t capacity = trace->events.capacity;
            struct trace_event event = {.ts_ns = row, .correlation = row, .args = ~row};
            trace_expect(trace, expected[i]);
            assert_true(trace_add_event(trace, &event));
            moves += row >= 30000 && trace->events.capacity != capacity;
        }
        assert_true(expected[i] < count ? moves > 0 : moves == 0);
        assert_true(trace->events.capacity <= 400000);
        trace_seal(trace);
        assert_int_equal(trace->events.capacity, count);
        for (uint32_t row = 0; row < count; row++) {
            assert_true(trace->events.ts_ns[row] == row && trace->events.args[row] == ~row);
            assert_true(trace_correlation(&trace->events, row) == row);
        }
        trace_destroy(trace);
    }
}

static bool has_class(const struct trace *trace, uint32_t event, struct event_class class)
{
    return memcmp(trace_event_class(&trace->events, event), &class, sizeof class) == 0;
}

static void classes_of_any_number_come_back(void **state)
{
    const uint32_t count = 3 * (UINT16_MAX + 1);
    struct trace *trace = trace_create();
    for (uint32_t i = 0; i < count; i++) {
        struct trace_event event = {.category = (uint16_t)(i / 3),
                                    .kind = EVENT_KERNEL,
                                    .flags = (uint8_t)(i % 3),
                                    .phase = '\xff'};
        assert_true(trace_add_event(trace, &event));
    }
    struct event_class rare = {
        .category = 7, .kind = EVENT_RUNTIME, .flags = EVENT_NO_TS, .phase = 'C'};
    assert_true(trace_set_class(trace, 1, rare));
    assert_int_equal(trace->events.class_count, count + 1);
    assert_true(trace_set_class(trace, count - 1, *trace_event_class(&trace->events, 0)));
    assert_int_equal(trace->events.class_count, count + 1);
    trace_seal(trace);
    assert_true(has_class(trace, 1, rare));
    assert_true(has_class(trace, count - 1, *trace_event_class(&trace->events, 0)));
    for (uint32_t i = 2; i < count - 1; i++) {
        struct event_class class = {.category = (uint16_t)(i / 3),
                                    .kind = EVENT_KERNEL,
                                    .flags = (uint8_t)(i % 3),
                                    .phase = '\xff'};
        assert_true(has_class(trace, i, class));
    }
    assert_int_equal(trace_phase(&trace->events, 2), '\xff');
    trace_destroy(trace);
}

/* The first of many tracks comes late, and the columns grow behind it. */
static void tracks_of_any_number_come_back(void **state)
{
    const uint32_t count = 5000;
    struct trace *trace = trace_create();
    for (uint32_t i = 0; i < count; i++) {
        struct trace_event event = {.track = i < 700 ? i : UINT32_MAX - i};
        assert_true(trace_add_event(trace, &event));
        assert_true((trace->events.track.high != NULL) == (i >= 700));
    }
    trace_seal(trace);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(trace_event_track(&trace->events, i) == (i < 700 ? i : UINT32_MAX - i));
    }
    trace_destroy(trace);
}

static const int64_t odd_numbers[] = {0,
                                      1,
                                      (int64_t)TRACE_WIDE - 1,
                                      TRACE_WIDE,
                                      (int64_t)TRACE_WIDE + 1,
                                      UINT32_MAX - INT64_C(1),
                                      UINT32_MAX,
                                      INT64_C(1) << 32,
                                      INT64_MAX,
                                      -1,
                                      TRACE_NO_ID + 1,
                                      TRACE_NO_ID};
#define ODD_COUNT (sizeof odd_numbers / sizeof odd_numbers[0])

static void numbers_of_any_size_come_back(void **state)
{
    struct trace *trace = trace_create();
    for (uint32_t i = 0; i < 10 * ODD_COUNT; i++) {
        int64_t number = odd_numbers[i % ODD_COUNT];
        struct trace_event event = {.dur_ns = number < 0 ? 0 : number,
                                    .correlation = number,
                                    .external_id = odd_numbers[(i + 1) % ODD_COUNT]};
        assert_true(trace_add_event(trace, &event));
    }
    for (uint32_t i = 0; i < 10 * ODD_COUNT; i++) {
        int64_t number = odd_numbers[i % ODD_COUNT];
        assert_true(trace_dur_ns(&trace->events, i) == (number < 0 ? 0 : number));
        assert_true(trace_correlation(&trace->events, i) == number);
        assert_true(trace_external_id(&trace->events, i) == odd_numbers[(i + 1) % ODD_COUNT]);
    }
    trace_destroy(trace);
}

static void durations_change_in_place(void **state)
{
    struct trace *trace = trace_create();
    struct trace_event event = {.dur_ns = INT64_C(1) << 40};
    assert_true(trace_add_event(trace, &event) && trace_add_event(trace, &event));
    for (size_t i = 0; i < ODD_COUNT; i++) {
        int64_t dur_ns = odd_numbers[i] < 0 ? 7 : odd_numbers[i];
        assert_true(trace_set_dur_ns(trace, 1, dur_ns));
        assert_true(trace_dur_ns(&trace->events, 1) == dur_ns);
        assert_true(trace_dur_ns(&trace->events, 0) == INT64_C(1) << 40);
    }
    /* What is long and stays so takes no more memory. */
    assert_true(trace_set_dur_ns(trace, 0, INT64_MAX));
    uint32_t wide_count = trace->events.dur_ns.wide_count;
    assert_true(trace_set_dur_ns(trace, 0, INT64_C(1) << 50));
    assert_int_equal(trace->events.dur_ns.wide_count, wide_count);
    trace_destroy(trace);
}

static void equal_entries_are_stored_once(void **state)
{
    struct trace *trace = trace_create();
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            struct op_args op = {.shape = i, .call_stack = 1, .input_types = STRTAB_NONE};
            struct kernel_args kernel = {.device = i, .occupancy_pct = (double)NAN, .grid = i};
            struct trace_track track = {.pid_text = i, .tid_text = i / 2, .tid_is_int = true};
            assert_int_equal(trace_add_op_args(trace, &op), i);
            assert_int_equal(trace_add_kernel_args(trace, &kernel), i);
            assert_int_equal(trace_add_track(trace, &track), i);
        }
    }
    assert_int_equal(trace->op_args_count, 1000);
    assert_int_equal(trace->kernel_args_count, 1000);
    assert_int_equal(trace->track_count, 1000);
    trace_destroy(trace);
}

static void text_and_number_make_two_tracks(void **state)
{
    struct trace *trace = trace_create();
    struct trace_track number = {.tid_text = 5, .tid_is_int = true};
    struct trace_track text = {.tid_text = 5, .tid_is_text = true};
    assert_int_not_equal(trace_add_track(trace, &number), trace_add_track(trace, &text));
    trace_destroy(trace);
}

static void memory_records_are_never_joined(void **state)
{
    struct trace *trace = trace_create();
    struct memory_args args = {.addr = 1};
    assert_int_equal(trace_add_memory_args(trace, &args), 0);
    assert_int_equal(trace_add_memory_args(trace, &args), 1);
    trace_destroy(trace);
}

static void too_many_categories_share_the_empty_one(void **state)
{
    struct trace *trace = trace_create();
    char text[16];
    for (int i = 1; i < 65536; i++) {
        int len = snprintf(text, sizeof text, "c%d", i);
        assert_int_equal(trace_add_category(trace, text, (size_t)len), i);
    }
    assert_int_equal(trace_add_category(trace, "c1", 2), 1);
    assert_int_equal(trace_add_category(trace, "another", 7), 0);
    assert_int_equal(trace->category_count, 65536);
    trace_destroy(trace);
}

static void metadata_is_copied(void **state)
{
    struct trace *trace = trace_create();
    char key[] = "key";
    char value[] = "value";
    struct device_properties device = {.name = value, .has = DEVICE_HAS_NAME};
    struct trace_label label = {.kind_name = 1, .track = 2, .label = 3};
    assert_true(trace_add_meta(trace, key, value));
    assert_true(trace_add_device(trace, &device));
    assert_true(trace_add_label(trace, &label));
    memset(key, 'x', 3);
    memset(value, 'x', 5);
    assert_string_equal(trace->meta[0].key, "key");
    assert_string_equal(trace->meta[0].value, "value");
    assert_string_equal(trace->devices[0].name, "value");
    assert_int_equal(trace->labels[0].label, 3);
    trace_destroy(trace);
    trace_destroy(NULL);
}

static void warnings_keep_the_first_place(void **state)
{
    struct warnings warnings = {0};
    struct warnings other = {0};
    warning_add(&warnings, WARN_UTF8, 50);
    warning_add(&warnings, WARN_UTF8, 20);
    warning_add_times(&warnings, WARN_UTF8, 70, 3);
    warning_add_times(&warnings, WARN_NUL, 70, 0);
    assert_int_equal(warnings.by_code[WARN_UTF8].count, 5);
    assert_int_equal(warnings.by_code[WARN_UTF8].first_offset, 20);
    assert_int_equal(warnings.by_code[WARN_NUL].count, 0);
    warning_add(&other, WARN_UTF8, 7);
    warning_add(&other, WARN_NUL, WARNING_NO_OFFSET);
    warnings_merge(&warnings, &other);
    assert_int_equal(warnings.by_code[WARN_UTF8].count, 6);
    assert_int_equal(warnings.by_code[WARN_UTF8].first_offset, 7);
    assert_true(warnings.by_code[WARN_NUL].first_offset == WARNING_NO_OFFSET);
    for (int i = 0; i < WARNING_CODE_COUNT; i++) {
        assert_non_null(warning_code_text((enum warning_code)i));
        assert_non_null(warning_message((enum warning_code)i));
    }
}

static void roles_and_views_have_names(void **state)
{
    assert_string_equal(time_category_name(TIME_CPU_EXEC), "cpu_exec");
    assert_string_equal(time_category_label(TIME_CPU_EXEC), "CPU Exec");
    assert_string_equal(time_category_label(TIME_DATALOADER), "DataLoader");
    assert_string_equal(view_label(VIEW_DISTRIBUTED), "Distributed");
    for (int i = 0; i < TIME_CATEGORY_COUNT; i++) {
        assert_non_null(time_category_name((enum time_category)i));
        assert_non_null(time_category_label((enum time_category)i));
    }
    for (int i = 0; i < VIEW_COUNT; i++) {
        assert_non_null(view_label((enum view)i));
    }
    struct trace_results *results = results_create();
    assert_non_null(results);
    results_destroy(results);
    results_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_grow_together),
        cmocka_unit_test(expectations_only_make_room),
        cmocka_unit_test(numbers_of_any_size_come_back),
        cmocka_unit_test(classes_of_any_number_come_back),
        cmocka_unit_test(tracks_of_any_number_come_back),
        cmocka_unit_test(durations_change_in_place),
        cmocka_unit_test(equal_entries_are_stored_once),
        cmocka_unit_test(text_and_number_make_two_tracks),
        cmocka_unit_test(memory_records_are_never_joined),
        cmocka_unit_test(too_many_categories_share_the_empty_one),
        cmocka_unit_test(metadata_is_copied),
        cmocka_unit_test(warnings_keep_the_first_place),
        cmocka_unit_test(roles_and_views_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
