/* What the reader keeps of events for the analysis of cycles. */
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <math.h>
#include <stdio.h>

/* The extras of the one event with these fields and arguments; `has` 0 when there are none. */
static struct event_extra
extra_of(const char *fields, const char *args, uint8_t *flags, char host[64], int64_t *correlation)
{
    char text[1024];
    (void)snprintf(text, sizeof text, "[{\"ts\": 1, \"pid\": 1, %s%s%s}]", fields,
                   args == NULL ? "" : ", \"args\": ", args == NULL ? "" : args);
    struct format_bundle bundle = read_text(text);
    const struct trace *trace = bundle.items[0].model;
    struct event_extra extra = {.has = 0};
    assert_int_equal(trace->events.count, 1);
    if (trace->extra_count > 0) {
        extra = trace->extras[0];
        assert_int_equal(extra.event, 0);
        assert_int_not_equal(extra.has, 0);
        (void)snprintf(host, 64, "%s", string_at(trace, extra.host));
    }
    *flags = trace_flags(&trace->events, 0);
    *correlation = trace_correlation(&trace->events, 0);
    format_bundle_free(&bundle);
    return extra;
}

#define KERNEL "\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"dur\": 2"
#define CALL "\"ph\": \"X\", \"cat\": \"python\", \"name\": \"f\", \"dur\": 2"
#define COUNTER "\"ph\": \"C\", \"cat\": \"c\", \"name\": \"n\""

static void usual_events_have_nothing_extra(void **state)
{
    uint8_t flags;
    char host[64];
    int64_t correlation;
    static const char *const args[] = {"{}", "{\"device\": 1, \"correlation\": 7, \"stream\": 7}",
                                       "{\"external id\": 3}"};
    for (size_t i = 0; i < COUNT_OF(args); i++) {
        assert_int_equal(extra_of(KERNEL, args[i], &flags, host, &correlation).has, 0);
        assert_int_equal(flags & EVENT_UNREADABLE, 0);
    }
    assert_int_equal(extra_of(COUNTER, "{\"GPU usage\": 3}", &flags, host, &correlation).has, 0);
    assert_int_equal(extra_of(CALL, "{\"value\": 3}", &flags, host, &correlation).has, 0);
}

static void arguments_of_hosts_are_kept(void **state)
{
    uint8_t flags;
    char host[64];
    int64_t column;
    struct event_extra e =
        extra_of(CALL, "{\"hostname\": \"n\\u00e9\", \"device\": \" 2\"}", &flags, host, &column);
    assert_int_equal(e.has, EXTRA_HAS_HOST | EXTRA_HAS_DEVICE);
    assert_string_equal(host, "n\xC3\xA9");
    assert_int_equal(e.device, 2);
    e = extra_of(CALL, "{\"hostname\": \"\"}", &flags, host, &column);
    assert_int_equal(e.has, EXTRA_HAS_HOST);
    assert_string_equal(host, "");
    assert_int_equal(extra_of(CALL, "{\"hostname\": null}", &flags, host, &column).has, 0);
    e = extra_of(KERNEL, "{\"device\": \"3\", \"correlation\": \"301\"}", &flags, host, &column);
    assert_int_equal(e.has, EXTRA_HAS_DEVICE | EXTRA_HAS_CORRELATION);
    assert_int_equal(e.device, 3);
    assert_int_equal(e.correlation, 301);
    /* The plugin's own column knows texts as texts. */
    assert_int_not_equal(column, 301);
}

static void counters_have_values(void **state)
{
    static const struct {
        const char *args;
        uint32_t has;
        double value;
    } cases[] = {
        {"{\"value\": 3}", EXTRA_HAS_VALUE | EXTRA_VALUE_IS_INTEGER, 3},
        {"{\"value\": -2.5e1}", EXTRA_HAS_VALUE, -25},
        {"{\"value\": \"7.5\"}", EXTRA_HAS_VALUE, 7.5},
        {"{\"args\": \"{\\\"value\\\": 8}\"}", EXTRA_HAS_VALUE | EXTRA_VALUE_IS_INTEGER, 8},
        {"{\"value\": \"x\"}", 0, 0},
        {"{\"value\": 1e999}", 0, 0},
        {"{\"value\": null}", 0, 0},
        {"{\"value\": [1]}", 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint8_t flags;
        char host[64];
        int64_t column;
        struct event_extra e = extra_of(COUNTER, cases[i].args, &flags, host, &column);
        assert_int_equal(e.has, cases[i].has);
        assert_true(cases[i].has == 0 || fabs(e.value - cases[i].value) <= 0);
    }
}

static void arguments_in_a_text_are_merged(void **state)
{
    uint8_t flags;
    char host[64];
    int64_t column;
    struct event_extra e = extra_of(
        KERNEL,
        "{\"device\": 1, \"args\": \"{\\\"correlation\\\": 9, \\\"device\\\": \\\"4\\\"}\"}",
        &flags, host, &column);
    assert_int_equal(e.has, EXTRA_HAS_DEVICE | EXTRA_HAS_CORRELATION);
    assert_int_equal(e.device, 4);
    assert_int_equal(e.correlation, 9);
    assert_true(column == TRACE_NO_ID);
    /* Not an object: only what stands beside it counts. */
    static const char *const others[] = {"\"\"",     "\"[1]\"",         "\"{\\\"device\\\": 4\"",
                                         "\"{} x\"", "{\"device\": 4}", "17"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        char args[128];
        (void)snprintf(args, sizeof args, "{\"hostname\": \"h\", \"args\": %s}", others[i]);
        e = extra_of(CALL, args, &flags, host, &column);
        assert_int_equal(e.has, EXTRA_HAS_HOST);
    }
    /* A correlation of 0 is none, the text "0" is one. */
    e = extra_of(CALL, "{\"args\": \"{\\\"correlation\\\": 0}\"}", &flags, host, &column);
    assert_int_equal(e.has, 0);
    e = extra_of(CALL, "{\"args\": \"{\\\"correlation\\\": \\\"0\\\"}\"}", &flags, host, &column);
    assert_int_equal(e.has, EXTRA_HAS_CORRELATION);
}

static void unreadable_events_are_marked(void **state)
{
    static const struct {
        const char *fields;
        const char *args;
        bool unreadable;
    } cases[] = {
        {"\"ph\": \"X\", \"dur\": null", "{}", true},
        {"\"ph\": \"X\", \"dur\": \"x\"", "{}", true},
        {"\"ph\": \"X\", \"dur\": \"2.5\"", "{}", false},
        {"\"ph\": \"X\"", "{}", false},
        {"\"ph\": \"X\"", NULL, false},
        {"\"ph\": \"X\"", "null", true},
        {"\"ph\": \"X\"", "\"{}\"", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint8_t flags;
        char host[64];
        int64_t column;
        (void)extra_of(cases[i].fields, cases[i].args, &flags, host, &column);
        assert_int_equal((flags & EVENT_UNREADABLE) != 0, cases[i].unreadable);
    }
    struct format_bundle bundle = read_text(
        "[{\"ph\": \"X\", \"ts\": null}, {\"ph\": \"X\"}, {\"ph\": \"X\", \"ts\": \"4\"}]");
    const uint8_t both = EVENT_UNREADABLE | EVENT_NO_TS;
    const uint8_t wanted[] = {both, EVENT_NO_TS, 0};
    for (uint32_t i = 0; i < COUNT_OF(wanted); i++) {
        assert_int_equal(trace_flags(&bundle.items[0].model->events, i) & both, wanted[i]);
    }
    format_bundle_free(&bundle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_events_have_nothing_extra),
        cmocka_unit_test(arguments_of_hosts_are_kept),
        cmocka_unit_test(counters_have_values),
        cmocka_unit_test(arguments_in_a_text_are_merged),
        cmocka_unit_test(unreadable_events_are_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
