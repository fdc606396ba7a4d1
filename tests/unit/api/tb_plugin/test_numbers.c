#include "api/tb_plugin/common.h"
#include "tests/unit/unit.h"

static const struct trace_results integers = {.decimal_times = false};
static const struct trace_results decimals = {.decimal_times = true};

static void check_us(const struct trace_results *results, int64_t ns, const char *expected)
{
    struct buf out;
    struct json_write w;
    buf_init(&out, 1000);
    jw_init(&w, &out, true);
    plugin_put_us(&w, plugin_ns(results), ns);
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static void prints_microseconds(void **state)
{
    check_us(&integers, 754000, "754");
    check_us(&integers, 0, "0");
    check_us(&integers, INT64_C(9007199254740993000), "9007199254740993");
    check_us(&decimals, 754000, "754.0");
    check_us(&decimals, 754321, "754.321");
    check_us(&decimals, 1, "0.001");
    check_us(&decimals, 0, "0");
}

static void check_sum(const struct trace_results *results, int64_t ns, const char *expected)
{
    struct buf out;
    struct json_write w;
    buf_init(&out, 1000);
    jw_init(&w, &out, true);
    plugin_put_sum_us(&w, plugin_ns(results), ns);
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

/* [TB-1.4] */
static void sums_are_doubles_where_times_are(void **state)
{
    check_sum(&integers, 0, "0");
    check_sum(&integers, 1000, "1");
    check_sum(&decimals, 0, "0.0");
    check_sum(&decimals, 1000, "1.0");
}

static void check_rounded(const struct trace_results *results, int64_t ns, const char *expected)
{
    struct buf out;
    struct json_write w;
    buf_init(&out, 1000);
    jw_init(&w, &out, true);
    plugin_put_rounded_us(&w, plugin_ticks(results), ns);
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static void rounds_microseconds(void **state)
{
    check_rounded(&integers, 754000, "754");
    check_rounded(&decimals, 754499, "754");
    check_rounded(&decimals, 754500, "754");
    check_rounded(&decimals, 755500, "756");
    check_rounded(&decimals, 400, "0");
    check_rounded(&decimals, 0, "0");
}

static void check_value(double value, const char *expected)
{
    struct buf out;
    struct json_write w;
    buf_init(&out, 1000);
    jw_init(&w, &out, true);
    plugin_put_rounded(&w, value);
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static void rounds_means(void **state)
{
    check_value(0.5, "0");
    check_value(1.5, "2");
    check_value(-0.2, "0");
    check_value(1234567.49, "1234567");
    /* the mean of the step without bounds [TB-1.1] */
    check_value(-18446744073709551615.0, "-18446744073709551616");
}

static void check_percent(double part, double whole, const char *expected)
{
    struct buf out;
    struct json_write w;
    buf_init(&out, 1000);
    jw_init(&w, &out, true);
    jw_double(&w, plugin_percent(part, whole));
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static void prints_percentages(void **state)
{
    check_percent(1, 3, "33.33");
    check_percent(30, 100, "30.0");
    check_percent(0, 7, "0.0");
    check_percent(7, 0, "0.0");
    check_percent(0, -18446744073709551616.0, "-0.0");
    check_percent(45, 413451, "0.01");
}

static void huge_times_stay_near(void **state)
{
    assert_true(plugin_us(plugin_ns(&decimals), INT64_MAX) == 9223372036854775.807);
    assert_true(plugin_us(plugin_ns(&decimals), -1500) == -1.5);
}

/* Only steps, operators and launches are in the ticks of the plugin's figures. */
static void ticks_are_microseconds_of_their_own(void **state)
{
    const struct trace_results rounded = {.decimal_times = true, .device_ns = RESULTS_UNKNOWN};
    assert_true(plugin_us(plugin_ticks(&rounded), 3 << 18) == 0.75);
    assert_true(plugin_us(plugin_ns(&rounded), 750) == 0.75);
    const struct trace_results too_long = {
        .decimal_times = true, .device_ns = RESULTS_UNKNOWN, .duration_ns = INT64_MAX};
    assert_true(plugin_us(plugin_ticks(&too_long), 750) == 0.75);
    assert_true(plugin_us(plugin_ticks(&decimals), 750) == 0.75);
    assert_true(plugin_us(plugin_ticks(&integers), 750) == 0.75);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_microseconds),
        cmocka_unit_test(sums_are_doubles_where_times_are),
        cmocka_unit_test(rounds_microseconds),
        cmocka_unit_test(rounds_means),
        cmocka_unit_test(prints_percentages),
        cmocka_unit_test(huge_times_stay_near),
        cmocka_unit_test(ticks_are_microseconds_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
