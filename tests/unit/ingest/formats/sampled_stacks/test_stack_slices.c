/* Stacks with weights become slices within slices [FMT-8]: collapsed, speedscope, Proton. */
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

struct slice {
    const char *name;
    int64_t begin_ns, dur_ns;
};

static void reads_as(const char *text, const char *format, const struct slice *slices, size_t count)
{
    struct format_bundle bundle = read_text(text);
    const struct trace *trace = bundle.items[0].model;
    size_t found = 0;
    int64_t first_ns = 0;
    assert_string_equal(bundle.format, format);
    for (uint32_t i = 0; i < trace->events.count; i++) {
        if (trace_phase(&trace->events, i) != 'X') {
            continue;
        }
        if (found == count) {
            fail_msg("%s: more than %zu slices", text, count);
        }
        assert_string_equal(event_name(trace, i), slices[found].name);
        first_ns = found == 0 ? trace->events.ts_ns[i] : first_ns;
        assert_int_equal(trace->events.ts_ns[i] - first_ns, slices[found].begin_ns);
        assert_int_equal(trace_dur_ns(&trace->events, i), slices[found].dur_ns);
        found++;
    }
    assert_int_equal(found, count);
    format_bundle_free(&bundle);
}

static void is_refused(const char *text)
{
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    assert_false(read_bytes(text, strlen(text), 0, &bundle, &err));
}

static void collapsed_stacks_join_while_their_callers_stay(void **state)
{
    static const struct slice slices[] = {
        {"main", 0, 6}, {"step", 0, 4}, {"gemm x", 0, 3}, {"relu", 3, 1}, {"log", 4, 2}};
    reads_as("main;step;gemm x 3\nmain;step;relu 1\nmain;log 2\n", "collapsed-stacks", slices,
             COUNT_OF(slices));
    is_refused("main step\nno stack\n");
}

static void sampled_profiles_of_speedscope_are_read(void **state)
{
    static const struct slice slices[] = {{"a", 0, 5000}, {"b", 0, 2000}, {"b", 4000, 1000}};
    reads_as("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{"
             "\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":[{\"type\":\"sampled\","
             "\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":5,\"samples\":[[0,1],[0],"
             "[0,1]],\"weights\":[2,2,1]}]}",
             "speedscope", slices, COUNT_OF(slices));
}

static void evented_profiles_of_speedscope_are_read(void **state)
{
    static const struct slice slices[] = {{"a", 0, 9}, {"b", 2, 3}};
    reads_as("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{"
             "\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":[{\"type\":\"evented\","
             "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":9,\"events\":["
             "{\"type\":\"O\",\"frame\":0,\"at\":0},{\"type\":\"O\",\"frame\":1,\"at\":2},"
             "{\"type\":\"C\",\"frame\":1,\"at\":5},{\"type\":\"C\",\"frame\":0,\"at\":9}]}]}",
             "speedscope", slices, COUNT_OF(slices));
}

static void trees_of_proton_hold_what_their_children_take(void **state)
{
    static const struct slice slices[] = {{"ROOT", 0, 30}, {"gemm", 0, 20}, {"relu", 20, 10}};
    reads_as("[{\"children\":[{\"children\":[],\"frame\":{\"name\":\"gemm\",\"type\":\"function\"},"
             "\"metrics\":{\"time (ns)\":20,\"count\":1}},{\"children\":[],\"frame\":{\"name\":"
             "\"relu\",\"type\":\"function\"},\"metrics\":{\"time (ns)\":10,\"count\":1}}],"
             "\"frame\":{\"name\":\"ROOT\",\"type\":\"function\"},\"metrics\":{}}]",
             "proton", slices, COUNT_OF(slices));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collapsed_stacks_join_while_their_callers_stay),
        cmocka_unit_test(sampled_profiles_of_speedscope_are_read),
        cmocka_unit_test(evented_profiles_of_speedscope_are_read),
        cmocka_unit_test(trees_of_proton_hold_what_their_children_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
