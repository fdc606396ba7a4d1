#include "tests/unit/ingest/formats/kernel_table_fixture.h"

#define HEADING "Kernel                              Latency Tensor   DRAM\n"

static void rows_are_launches(void **state)
{
    struct format_bundle bundle = read_text(HEADING "gemm_128x64      |  1000   0.25   0.50\n"
                                                    "at::native::mul:  200   0.00   1.00\n"
                                                    "gemm_128x64      |    40   0.75   0.00\n");
    const struct kernel_table *table = table_of(&bundle, "kernel-table");
    assert_int_equal(table->launch_count, 3);
    assert_string_equal(launch_name(table, 0), "gemm_128x64");
    assert_string_equal(launch_name(table, 1), "at::native::mul");
    assert_int_equal(table->launches[0].name, table->launches[2].name);
    assert_int_equal(table->launches[1].dur_ns, 200);
    assert_near(table->launches[0].tensor, 0.25);
    assert_near(table->launches[0].dram, 0.5);
    assert_true(isnan(table->launches[0].sm));
    assert_true(table->launches[0].start_ns == INT64_MIN);
    assert_int_equal(table->launches[0].grid, STRTAB_NONE);
    assert_int_equal(table->bad_row_count, 0);
    format_bundle_free(&bundle);
}

static void names_hold_separators_and_blanks(void **state)
{
    static const struct {
        const char *row;
        const char *name;
        int64_t dur_ns;
        double tensor;
    } rows[] = {
        {"a::b::c | 7 0.5 0.5", "a::b::c", 7, 0.5},
        {"a: b: c : 8 0.5 0.5", "a: b: c", 8, 0.5},
        {"scale: 3 of 4 | 9 0.5 0.5", "scale: 3 of 4", 9, 0.5},
        {"k|10|0.5|0.5|", "k", 10, 0.5},
        {"ampere_fp16_s16816gemm_fp16_64x128_ldg8_relu_f2...| 11 0.5 0.5",
         "ampere_fp16_s16816gemm_fp16_64x128_ldg8_relu_f2...", 11, 0.5},
        {"k | 12 0.5 0.5 at 13:14 on gpu: 0", "k", 12, 0.5},
        {"k | 1,234,567 0.5 0.5", "k", 1234567, 0.5},
        {"k:1.5e3 0.5 0.5", "k", 1500, 0.5},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[256];
        (void)snprintf(text, sizeof text, HEADING "%s\r\n", rows[i].row);
        struct format_bundle bundle = read_text(text);
        const struct kernel_table *table = table_of(&bundle, "kernel-table");
        assert_int_equal(table->launch_count, 1);
        assert_string_equal(launch_name(table, 0), rows[i].name);
        assert_int_equal(table->launches[0].dur_ns, rows[i].dur_ns);
        assert_near(table->launches[0].tensor, rows[i].tensor);
        assert_near(table->launches[0].dram, 0.5);
        format_bundle_free(&bundle);
    }
}

static void missing_uses_are_unknown(void **state)
{
    struct format_bundle bundle = read_text(HEADING "a | 1 n/a 0.5\n"
                                                    "b | 2 0.5 -\n"
                                                    "c | 3 0.5\n"
                                                    "d | 4\n"
                                                    "e | 5 not measured\n");
    const struct kernel_table *table = table_of(&bundle, "kernel-table");
    assert_int_equal(table->launch_count, 5);
    assert_true(isnan(table->launches[0].tensor));
    assert_near(table->launches[0].dram, 0.5);
    assert_near(table->launches[1].tensor, 0.5);
    for (uint32_t i = 1; i < 5; i++) {
        assert_int_equal(table->launches[i].dur_ns, i + 1);
        assert_true(isnan(table->launches[i].dram));
    }
    assert_true(isnan(table->launches[4].tensor));
    format_bundle_free(&bundle);
}

static void the_heading_says_which_columns_there_are(void **state)
{
    struct format_bundle bundle = read_text("# measured on Tuesday\n\n"
                                            "Kernel Name    DRAM  Latency (us)  SM\n"
                                            "---------------------------\n"
                                            "k            | 0.25     1.5        0.75\n"
                                            "Kernel Latency Tensor DRAM\n"
                                            "k            | 9 0.5 0.125\n");
    const struct kernel_table *table = table_of(&bundle, "kernel-table");
    assert_int_equal(table->launch_count, 2);
    assert_int_equal(table->bad_row_count, 0);
    assert_int_equal(table->launches[0].dur_ns, 1500);
    assert_near(table->launches[0].dram, 0.25);
    assert_near(table->launches[0].sm, 0.75);
    assert_true(isnan(table->launches[0].tensor));
    assert_int_equal(table->launches[1].dur_ns, 9);
    assert_near(table->launches[1].tensor, 0.5);
    format_bundle_free(&bundle);
}

static void bad_rows_are_told_and_left_out(void **state)
{
    static const char *const says[] = {
        "line 3: no \"|\" or \":\" with a latency behind it (just words)",
        "line 5: the latency is no time (k)",
        "line 6: a utilisation is not between 0 and 1 (k)",
        "line 7: the kernel has no name ()",
        "line 8: a utilisation is not between 0 and 1 (k)",
        "line 9: the latency is no time (k)",
    };
    struct format_bundle bundle = read_text(HEADING "good | 1 0.5 0.5\n"
                                                    "just words\r\n"
                                                    "\n"
                                                    "k | -5 0.5 0.5\n"
                                                    "k | 5 50 0.5\n"
                                                    "  | 5 0.5 0.5\n"
                                                    "k | 5 0.5 -0.5\n"
                                                    "k | n/a 0.5 0.5\n"
                                                    "good | 2 0.5 0.5");
    const struct kernel_table *table = table_of(&bundle, "kernel-table");
    assert_int_equal(table->launch_count, 2);
    assert_int_equal(table->launches[1].dur_ns, 2);
    assert_int_equal(table->bad_row_count, COUNT_OF(says));
    for (size_t i = 0; i < COUNT_OF(says); i++) {
        assert_string_equal(table->bad_rows[i], says[i]);
    }
    const struct warning_count *bad = &table->warnings.by_code[WARN_BAD_LINE];
    assert_int_equal(bad->count, COUNT_OF(says));
    assert_int_equal(bad->first_offset, strlen(HEADING "good | 1 0.5 0.5\n"));
    format_bundle_free(&bundle);
}

static void a_table_without_a_good_row_is_refused(void **state)
{
    static const struct {
        const char *text;
        const char *says;
    } rows[] = {
        {HEADING, "no row"},
        {HEADING "\r\n-----\n", "no row"},
        {HEADING "one\ntwo\n", "line 2: no \"|\""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        assert_false(read_bytes(rows[i].text, strlen(rows[i].text), 0, &bundle, &err));
        assert_int_equal(err.code, ERR_BAD_INPUT);
        assert_non_null(strstr(err.msg, rows[i].says));
    }
}

static void names_that_are_no_utf8_are_repaired(void **state)
{
    struct format_bundle bundle = read_text("\xEF\xBB\xBF" HEADING "k\xFFk | 1 0 0\n");
    const struct kernel_table *table = table_of(&bundle, "kernel-table");
    assert_string_equal(launch_name(table, 0), "k\xEF\xBF\xBDk");
    assert_int_equal(table->warnings.by_code[WARN_UTF8].count, 1);
    format_bundle_free(&bundle);
}

static void the_memory_budget_holds(void **state)
{
    static const char row[] = "kernel | 10 0.5 0.5\n";
    const size_t rows = 4000;
    char *text = malloc(strlen(HEADING) + rows * strlen(row) + 1);
    assert_non_null(text);
    char *at = stpcpy(text, HEADING);
    for (size_t i = 0; i < rows; i++) {
        at = stpcpy(at, row);
    }
    struct err err = ERR_INIT;
    struct input *in;
    struct format_bundle bundle;
    assert_true(input_open_memory(&in, text, strlen(text), 0, &err));
    assert_false(format_read(in, &(const struct format_options){.memory_budget_bytes = 100000},
                             &bundle, &err));
    assert_int_equal(err.code, ERR_TOO_LARGE);
    input_close(in);
    assert_true(input_open_memory(&in, text, strlen(text), 7, &err));
    assert_true(format_read(in, &(const struct format_options){.memory_budget_bytes = 10000000},
                            &bundle, &err));
    assert_int_equal(table_of(&bundle, "kernel-table")->launch_count, rows);
    input_close(in);
    format_bundle_free(&bundle);
    free(text);
}

static void damage_does_no_harm(void **state)
{
    damage_text(HEADING "gemm_128x64      |  1000   0.25   0.50\n"
                        "at::native::mul:  200   0.00   1.00 note: 5\r\n"
                        "void cutlass::Kernel<cutlass_80<int> >(P) | 1,234.5 n/a 0.00\n");
}

static void the_seeds_are_read(void **state)
{
    static const struct {
        const char *name;
        uint32_t launches;
        int64_t total_ns;
    } seeds[] = {
        {"seeds/000_abc90e299168b04d.txt", 560, 59945216},
        {"seeds/001_2e6eb07346960d83.txt", 1626, 57191968},
        {"seeds/002_a62fcc25c90d6fd4.txt", 971, 32061824},
    };
    for (size_t i = 0; i < COUNT_OF(seeds); i++) {
        char path[1024];
        if (!reference_path(path, sizeof path, seeds[i].name)) {
            skip();
        }
        struct format_bundle bundle = read_path(path);
        const struct kernel_table *table = table_of(&bundle, "kernel-table");
        int64_t total_ns = 0;
        for (uint32_t l = 0; l < table->launch_count; l++) {
            total_ns += table->launches[l].dur_ns;
        }
        assert_int_equal(table->launch_count, seeds[i].launches);
        assert_int_equal(total_ns, seeds[i].total_ns);
        assert_int_equal(table->bad_row_count, 0);
        format_bundle_free(&bundle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_launches),
        cmocka_unit_test(names_hold_separators_and_blanks),
        cmocka_unit_test(missing_uses_are_unknown),
        cmocka_unit_test(the_heading_says_which_columns_there_are),
        cmocka_unit_test(bad_rows_are_told_and_left_out),
        cmocka_unit_test(a_table_without_a_good_row_is_refused),
        cmocka_unit_test(names_that_are_no_utf8_are_repaired),
        cmocka_unit_test(the_memory_budget_holds),
        cmocka_unit_test(damage_does_no_harm),
        cmocka_unit_test(the_seeds_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
