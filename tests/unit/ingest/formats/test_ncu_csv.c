#include "ingest/formats/nsight/quantity.h"
#include "tests/unit/ingest/formats/kernel_table_fixture.h"

#define OLD_HEADER                                                                          \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\"," \
    "\"Context\",\"Stream\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
#define OLD_ROW(id, process, kernel, metric, unit, value)                            \
    "\"" id "\",\"" process "\",\"python\",\"node1\",\"" kernel "\",\"2024-01-05\"," \
    "\"1\",\"7\",\"Command line profiler metrics\",\"" metric "\",\"" unit "\",\"" value "\"\n"
#define NEW_HEADER                                                                                \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\","           \
    "\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\"," \
    "\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"\n"
#define NEW_ROW(id, kernel, metric, unit, value)                                             \
    "\"" id "\",\"11\",\"python\",\"node1\",\"" kernel "\",\"1\",\"7\",\"(128, 1, 1)\","     \
    "\"(64, 18, 1)\",\"0\",\"8.0\",\"GPU Speed Of Light Throughput\",\"" metric "\",\"" unit \
    "\",\"" value "\",\"\",\"\",\"\"\n"
#define DURATION "gpu__time_duration.sum"
#define TENSOR "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
#define DRAM "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
#define SM "sm__throughput.avg.pct_of_peak_sustained_elapsed"

/* ---- numbers and units ---- */

static void numbers_are_read_as_printed(void **state)
{
    static const struct {
        const char *text;
        enum quantity quantity;
        double value;
    } rows[] = {
        {"12", QUANTITY_NUMBER, 12},
        {" -12.5 ", QUANTITY_NUMBER, -12.5},
        {"1,234", QUANTITY_NUMBER, 1234},
        {"1,234.5", QUANTITY_NUMBER, 1234.5},
        {"1.234,5", QUANTITY_NUMBER, 1234.5},
        {"1,234,567", QUANTITY_NUMBER, 1234567},
        {"1.234.567", QUANTITY_NUMBER, 1234567},
        {"1.234.567,25", QUANTITY_NUMBER, 1234567.25},
        {"1 234 567,25", QUANTITY_NUMBER, 1234567.25},
        {"1\xC2\xA0"
         "234.25",
         QUANTITY_NUMBER, 1234.25},
        {"1\xE2\x80\xAF"
         "234",
         QUANTITY_NUMBER, 1234},
        {"1'234.25", QUANTITY_NUMBER, 1234.25},
        {"12,5", QUANTITY_NUMBER, 12.5},
        {"0,125", QUANTITY_NUMBER, 0.125},
        {"12.345", QUANTITY_NUMBER, 12.345},
        {"4096,125", QUANTITY_NUMBER, 4096.125},
        {"1.5e+06", QUANTITY_NUMBER, 1500000},
        {"55 %", QUANTITY_NUMBER, 55},
        {"55%", QUANTITY_NUMBER, 55},
        {"", QUANTITY_MISSING, 0},
        {"n/a", QUANTITY_MISSING, 0},
        {"N/A", QUANTITY_MISSING, 0},
        {"-", QUANTITY_MISSING, 0},
        {"nan", QUANTITY_MISSING, 0},
        {"inf", QUANTITY_MISSING, 0},
        {"(!) n/a", QUANTITY_MISSING, 0},
        {"%", QUANTITY_NONE, 0},
        {"12,34,56", QUANTITY_NONE, 0},
        {"1,23.5", QUANTITY_NONE, 0},
        {"1 23", QUANTITY_NONE, 0},
        {"1.2.3,4,5", QUANTITY_NONE, 0},
        {"1,234.567.8", QUANTITY_NONE, 0},
        {"12 kernels", QUANTITY_NONE, 0},
        {"0x12", QUANTITY_NONE, 0},
        {"1e", QUANTITY_NONE, 0},
        {"1e999", QUANTITY_NONE, 0},
        {"--5", QUANTITY_NONE, 0},
        {"CachePreferNone", QUANTITY_NONE, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double value = 0;
        enum quantity quantity = quantity_read(rows[i].text, strlen(rows[i].text), &value);
        if (quantity != rows[i].quantity ||
            (quantity == QUANTITY_NUMBER && value != rows[i].value)) {
            fail_msg("\"%s\": %d, %g", rows[i].text, (int)quantity, value);
        }
    }
}

static void long_numbers_are_refused(void **state)
{
    char text[300];
    double value;
    for (size_t len = 1; len < sizeof text; len++) {
        memset(text, '7', len);
        enum quantity quantity = quantity_read(text, len, &value);
        assert_int_equal(quantity, len <= 64 ? QUANTITY_NUMBER : QUANTITY_NONE);
        text[len / 2] = '.';
        quantity = quantity_read(text, len, &value);
        assert_true(quantity == QUANTITY_NUMBER || len == 1 || len > 64);
        text[len - 1] = 'e';
        assert_int_equal(quantity_read(text, len, &value), QUANTITY_NONE);
    }
}

static void units_lose_their_prefix(void **state)
{
    static const struct {
        const char *unit;
        const char *base;
        double factor;
    } rows[] = {
        {"usecond", "ns", 1000},
        {"ms", "ns", 1e6},
        {"\xC2\xB5s", "ns", 1000},
        {"second", "ns", 1e9},
        {"Kbyte", "byte", 1000},
        {"Gbyte/second", "byte/second", 1e9},
        {"Gbyte/s", "byte/second", 1e9},
        {"byte/nsecond", "byte/second", 1e9},
        {"Kbyte/block", "byte/block", 1000},
        {"Ghz", "hz", 1e9},
        {"cycle/usecond", "cycle/second", 1e6},
        {"register/thread", "register/thread", 1},
        {"%", "%", 1},
        {"", "", 1},
        {"/", "/", 1},
        {"a very long unit that nobody has ever seen in the output of a profiler, or has one?",
         "a very long unit that nobody has ever seen in the output of a p", 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char base[QUANTITY_UNIT_BYTES];
        assert_near(quantity_base_unit(rows[i].unit, strlen(rows[i].unit), base), rows[i].factor);
        assert_string_equal(base, rows[i].base);
    }
}

/* ---- the long form ---- */

static void rows_of_one_id_are_one_launch(void **state)
{
    struct format_bundle bundle = read_text(
        "[2024-01-05] training starts, all is well\n"
        "==PROF== Connected to process 11 (/usr/bin/python3)\n"
        "loss: 0.5, \"accuracy\", 3\n"
        "==PROF== Disconnected from process 11\n" OLD_HEADER OLD_ROW(
            "0", "11", "void f<int, 4>(int, float)", DRAM, "%", "12.5")
            OLD_ROW(
                "0", "11", "void f<int, 4>(int, float)", DURATION, "usecond",
                "1,234.5") "==WARNING== Some metrics are not available\n" OLD_ROW("0", "11",
                                                                                  "void f<int, "
                                                                                  "4>(int, float)",
                                                                                  SM, "%", "50")
                OLD_ROW("0", "11", "void f<int, 4>(int, float)", TENSOR, "%",
                        "n/a") "epoch 2 done\n\n" OLD_ROW("1", "11", "g", DURATION, "nsecond",
                                                          "2048")
                    OLD_ROW("1", "11", "g", TENSOR, "%", "75.25")
                        OLD_ROW("1", "11", "g", "l1tex__t_bytes.sum", "Kbyte", "1.5")
                            OLD_ROW("1", "11", "g", "launch__cache_config", "", "CachePreferNone")
                                OLD_ROW("1", "11", "g", "launch__waves", "", ""));
    const struct kernel_table *table = table_of(&bundle, "ncu-csv");
    assert_int_equal(table->launch_count, 2);
    assert_int_equal(table->bad_row_count, 0);
    assert_string_equal(launch_name(table, 0), "void f<int, 4>(int, float)");
    assert_int_equal(table->launches[0].dur_ns, 1234500);
    assert_near(table->launches[0].dram, 0.125);
    assert_near(table->launches[0].sm, 0.5);
    assert_true(isnan(table->launches[0].tensor));
    assert_int_equal(table->launches[0].stream, 7);
    assert_true(table->launches[0].device == INT64_MIN);
    assert_int_equal(table->launches[1].dur_ns, 2048);
    assert_near(table->launches[1].tensor, 0.7525);
    assert_int_equal(table->metric_count, 1);
    assert_near(metric_of(table, 1, "l1tex__t_bytes.sum", "byte"), 1500);
    format_bundle_free(&bundle);
}

static void sections_are_read_by_their_labels(void **state)
{
    struct format_bundle bundle = read_text(
        NEW_HEADER NEW_ROW("0", "f", "DRAM Frequency", "Ghz", "1.21")
            NEW_ROW("0", "f", "Compute (SM) Throughput", "%", "40.5")
                NEW_ROW("0", "f", "DRAM Throughput", "%", "20")
                    NEW_ROW("0", "f", "Duration", "us", "5.12")
                        NEW_ROW("0", "f", "Memory Throughput", "%", "33")
                            NEW_ROW("0", "f", "Memory Throughput", "Gbyte/second", "300")
                                NEW_ROW("0", "f", "Memory Throughput", "%",
                                        "99") "\"0\",\"11\",\"python\",\"node1\",\"f\",\"1\",\"7\","
                                              "\"(128, 1, 1)\",\"(64, 18, 1)\","
                                              "\"0\",\"8.0\",\"SpeedOfLight\",\"\",\"\",\"\","
                                              "\"Bottleneck\",\"WRN\",\"Low use, \"\"very\"\""
                                              " low\"\n");
    const struct kernel_table *table = table_of(&bundle, "ncu-csv");
    assert_int_equal(table->launch_count, 1);
    const struct kernel_table_launch *launch = &table->launches[0];
    assert_int_equal(launch->dur_ns, 5120);
    assert_near(launch->sm, 0.405);
    assert_near(launch->dram, 0.2);
    assert_int_equal(launch->device, 0);
    assert_string_equal(text_at(table, launch->block), "[128, 1, 1]");
    assert_string_equal(text_at(table, launch->grid), "[64, 18, 1]");
    assert_int_equal(table->metric_count, 3);
    assert_near(metric_of(table, 0, "Memory Throughput", "%"), 33);
    assert_near(metric_of(table, 0, "Memory Throughput", "byte/second"), 300e9);
    assert_near(metric_of(table, 0, "DRAM Frequency", "hz"), 1.21e9);
    format_bundle_free(&bundle);
}

static void ids_restart_with_processes_and_headers(void **state)
{
    struct format_bundle bundle = read_text(
        OLD_HEADER OLD_ROW("0", "11", "f", DURATION, "ns", "10")
            OLD_ROW("0", "12", "f", DURATION, "ns", "20") OLD_ROW("0", "11", "f", "a.sum", "", "1")
                OLD_ROW("0", "12", "f", "a.sum", "", "2") OLD_ROW("0", "11", "f", "b.sum", "", "3")
                    OLD_ROW("0", "12", "g", DURATION, "ns", "30")
                        OLD_HEADER OLD_ROW("0", "11", "f", DURATION, "ns", "40"));
    const struct kernel_table *table = table_of(&bundle, "ncu-csv");
    assert_int_equal(table->launch_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(table->launches[i].dur_ns, 10 * (i + 1));
    }
    assert_int_equal(table->metric_count, 3);
    for (uint32_t i = 1; i < 3; i++) {
        assert_true(table->metrics[i - 1].launch <= table->metrics[i].launch);
    }
    assert_near(metric_of(table, 0, "b.sum", ""), 3);
    assert_near(metric_of(table, 1, "a.sum", ""), 2);
    format_bundle_free(&bundle);
}

static void kindred_metrics_stand_in(void **state)
{
    struct format_bundle bundle = read_text(
        OLD_HEADER OLD_ROW("0", "11", "f", "gpu__time_duration.avg", "msecond", "2")
            OLD_ROW("0", "11", "f", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", "60")
                OLD_ROW("1", "11", "f", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%",
                        "60") OLD_ROW("1", "11", "f", DRAM, "%", "70")
                    OLD_ROW("1", "11", "f", DURATION, "s", "1"));
    const struct kernel_table *table = table_of(&bundle, "ncu-csv");
    assert_int_equal(table->launches[0].dur_ns, 2000000);
    assert_near(table->launches[0].dram, 0.6);
    assert_near(table->launches[1].dram, 0.7);
    assert_int_equal(table->launches[1].dur_ns, 1000000000);
    format_bundle_free(&bundle);
}

static void bad_rows_are_told_and_left_out(void **state)
{
    struct format_bundle bundle = read_text(
        OLD_HEADER OLD_ROW("0", "11", "f", TENSOR, "%", "10") OLD_ROW(
            "1", "11", "g", DURATION, "ns", "10") OLD_ROW("1", "11", "g", TENSOR, "%", "much")
            OLD_ROW("1", "11", "g", "a.sum", "",
                    "5") "\"2\",\"11\",\"python\",\"node1\",\"g\"\n" OLD_ROW("x", "11", "g",
                                                                             DURATION, "ns", "10")
                OLD_ROW("3", "11", "", DURATION, "ns", "10")
                    OLD_ROW("4", "11", "h", DURATION, "furlong", "10"));
    static const char *const says[] = {
        "line 4: \"much\" is no number", "line 6: the row breaks off",
        "line 7: the ID is no number",   "line 8: the kernel has no name",
        "line 2: a launch of f has no ", "line 9: a launch of h has no ",
    };
    const struct kernel_table *table = table_of(&bundle, "ncu-csv");
    assert_int_equal(table->launch_count, 1);
    assert_string_equal(launch_name(table, 0), "g");
    assert_true(isnan(table->launches[0].tensor));
    assert_int_equal(table->metric_count, 1);
    assert_int_equal(table->metrics[0].launch, 0);
    assert_int_equal(table->bad_row_count, COUNT_OF(says));
    for (size_t i = 0; i < COUNT_OF(says); i++) {
        assert_int_equal(strncmp(table->bad_rows[i], says[i], strlen(says[i])), 0);
    }
    format_bundle_free(&bundle);
}

/* ---- the wide form ---- */

#define WIDE_HEADER                                                                                \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\"," \
    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"" DRAM "\",\"" DURATION                      \
    "\",\"launch__cache\",\"l1tex__t_bytes.sum\",\"" TENSOR "\"\n"
#define WIDE_UNITS \
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"%\",\"us\",\"\",\"Mbyte\",\"%\"\n"
#define WIDE_ROW(id, kernel, figures)                                                    \
    "\"" id "\",\"11\",\"python\",\"node1\",\"" kernel "\",\"1\",\"13\",\"(32, 2, 1)\"," \
    "\"(8, 1, 1)\",\"1\",\"9.0\"," figures "\n"

static void wide_tables_are_read(void **state)
{
    struct format_bundle bundle = read_text(
        "==PROF== Connected\nstep, 1, of, 2\n" WIDE_HEADER
        "==PROF== Profiling \"f\"\n" WIDE_UNITS WIDE_ROW(
            "0", "f(int, int)", "\"10.5\",\"1,000.25\",\"none\",\"2\",\"80\"")
            WIDE_ROW(
                "0", "f(int, int)",
                "\"n/a\",\"7\",\"none\",\"\",\"\"") "\"2\",\"11\"\n" WIDE_ROW("3", "g",
                                                                              "\"1\",\"\",\"\","
                                                                              "\"\",\"\""));
    const struct kernel_table *table = table_of(&bundle, "ncu-csv");
    assert_int_equal(table->launch_count, 2);
    const struct kernel_table_launch *launch = &table->launches[0];
    assert_string_equal(launch_name(table, 0), "f(int, int)");
    assert_int_equal(launch->dur_ns, 1000250);
    assert_near(launch->dram, 0.105);
    assert_near(launch->tensor, 0.8);
    assert_int_equal(launch->stream, 13);
    assert_int_equal(launch->device, 1);
    assert_string_equal(text_at(table, launch->block), "[32, 2, 1]");
    assert_int_equal(table->launches[1].dur_ns, 7000);
    assert_true(isnan(table->launches[1].dram));
    assert_int_equal(table->metric_count, 1);
    assert_near(metric_of(table, 0, "l1tex__t_bytes.sum", "byte"), 2e6);
    assert_int_equal(table->bad_row_count, 2);
    assert_string_equal(table->bad_rows[0], "line 8: the row breaks off");
    assert_int_equal(strncmp(table->bad_rows[1], "line 9: a launch of g", 21), 0);
    format_bundle_free(&bundle);
}

static void a_wide_table_may_lack_units_and_ids(void **state)
{
    struct format_bundle bundle = read_text("Kernel Name;" DURATION ";" TENSOR "\nf;1234;25,5\n"
                                            "g;99;50\n");
    const struct kernel_table *table = table_of(&bundle, "ncu-csv");
    assert_int_equal(table->launch_count, 2);
    assert_int_equal(table->launches[0].dur_ns, 1234);
    assert_near(table->launches[0].tensor, 0.255);
    format_bundle_free(&bundle);
}

static void forms_may_follow_each_other(void **state)
{
    struct format_bundle bundle =
        read_text(OLD_HEADER OLD_ROW("0", "11", "f", DURATION, "ns", "1")
                      WIDE_HEADER WIDE_UNITS WIDE_ROW("0", "f", "\"1\",\"0.002\",\"\",\"\",\"\"")
                          OLD_HEADER OLD_ROW("0", "11", "f", DURATION, "ns", "3"));
    const struct kernel_table *table = table_of(&bundle, "ncu-csv");
    assert_int_equal(table->launch_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(table->launches[i].dur_ns, i + 1);
    }
    format_bundle_free(&bundle);
}

/* ---- what is refused ---- */

static void tables_without_launches_are_refused(void **state)
{
    static const struct {
        const char *text;
        enum err_code code;
        const char *says;
    } rows[] = {
        {OLD_HEADER, ERR_BAD_INPUT, "--metrics gpu__time_duration.sum"},
        {OLD_HEADER OLD_ROW("0", "11", "f", TENSOR, "%", "1"), ERR_BAD_INPUT, "line 2: "},
        {WIDE_HEADER WIDE_UNITS, ERR_BAD_INPUT, "has no launch"},
        {"\"Process ID\",\"Kernel Name\",\"Invocations\",\"Section Name\",\"Metric Name\","
         "\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n",
         ERR_UNSUPPORTED, "--print-summary"},
        {"==PROF== Connected to process 5\nno table\n", ERR_UNSUPPORTED, "Nsight Compute"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        assert_false(read_bytes(rows[i].text, strlen(rows[i].text), 0, &bundle, &err));
        if (err.code != rows[i].code || strstr(err.msg, rows[i].says) == NULL) {
            fail_msg("row %d: %s", (int)i, err.msg);
        }
    }
}

static void blocks_of_any_size_give_the_same(void **state)
{
    static const char text[] = OLD_HEADER OLD_ROW("0", "11", "f\"\"x\"\"", DURATION, "ns", "10")
        OLD_ROW("0", "11", "f\"\"x\"\"", TENSOR, "%", "50")
            OLD_ROW("1", "11", "g", DURATION, "ns", "20");
    for (size_t block = 1; block < 80; block += 3) {
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        assert_true(read_bytes(text, strlen(text), block, &bundle, &err));
        const struct kernel_table *table = table_of(&bundle, "ncu-csv");
        assert_int_equal(table->launch_count, 2);
        assert_string_equal(launch_name(table, 0), "f\"x\"");
        assert_near(table->launches[0].tensor, 0.5);
        format_bundle_free(&bundle);
    }
}

static void damage_does_no_harm(void **state)
{
    damage_text(
        "==PROF== Connected\n" OLD_HEADER OLD_ROW("0", "11", "f<int>", DURATION, "us", "1.5")
            OLD_ROW("0", "11", "f<int>", "a.sum", "Kbyte", "1,500")
                OLD_ROW("0", "12", "g", DURATION, "ms", "2"));
    damage_text(WIDE_HEADER WIDE_UNITS WIDE_ROW("0", "f", "\"10\",\"1\",\"x\",\"2\",\"80\"")
                    WIDE_ROW("1", "f", "\"10\",\"1\",\"x\",\"2\",\"80\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_printed),
        cmocka_unit_test(long_numbers_are_refused),
        cmocka_unit_test(units_lose_their_prefix),
        cmocka_unit_test(rows_of_one_id_are_one_launch),
        cmocka_unit_test(sections_are_read_by_their_labels),
        cmocka_unit_test(ids_restart_with_processes_and_headers),
        cmocka_unit_test(kindred_metrics_stand_in),
        cmocka_unit_test(bad_rows_are_told_and_left_out),
        cmocka_unit_test(wide_tables_are_read),
        cmocka_unit_test(a_wide_table_may_lack_units_and_ids),
        cmocka_unit_test(forms_may_follow_each_other),
        cmocka_unit_test(tables_without_launches_are_refused),
        cmocka_unit_test(blocks_of_any_size_give_the_same),
        cmocka_unit_test(damage_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
