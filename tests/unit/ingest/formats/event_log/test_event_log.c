/* The log of events loses nothing: written back as JSON, each event is what the file says. */
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"
#include "tests/unit/ingest/formats/event_log/event_log_fixture.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>

#define PATH_BYTES 1024

static const size_t block_sizes[] = {0, 1, 7, 64};

/* --- helpers --- */

/* The text without space outside of strings. */
static char *squeezed(const char *text)
{
    struct buf out;
    bool in_string = false;
    buf_init(&out, SIZE_MAX);
    for (const char *at = text; *at != '\0'; at++) {
        if (in_string && *at == '\\') {
            buf_append(&out, at, 2);
            at++;
            continue;
        }
        in_string = *at == '"' ? !in_string : in_string;
        if (in_string || strchr(" \t\r\n", *at) == NULL) {
            buf_putc(&out, *at);
        }
    }
    return buf_take(&out, NULL);
}

static json_t *parsed(const char *text)
{
    json_error_t fault;
    json_t *value = json_loads(text, JSON_ALLOW_NUL | JSON_DECODE_ANY, &fault);
    if (value == NULL) {
        fail_msg("%s: %s", fault.text, text);
    }
    return value;
}

/* Reads a list of one event with a log; the answer is what the log wrote. */
static char *logged(const char *element, size_t block_bytes)
{
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    struct written_log log = {.events = NULL};
    struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_printf(&text, "{\"traceEvents\": [\n%s\n]}", element);
    if (!read_with_log(text.ptr, text.len, block_bytes, &bundle, &log, &err)) {
        fail_msg("%s: %s", element, err.msg);
    }
    assert_int_equal(bundle.items[0].model->events.count, 1);
    assert_int_equal(log.count, 1);
    assert_string_equal(log.head, "");
    char *event = log.events[0];
    log.events[0] = NULL;
    free_written(&log);
    format_bundle_free(&bundle);
    buf_free(&text);
    return event;
}

static void check_logged(const char *element, const char *expected)
{
    for (size_t i = 0; i < COUNT_OF(block_sizes); i++) {
        char *event = logged(element, block_sizes[i]);
        assert_string_equal(event, expected);
        free(event);
    }
}

/* --- one event --- */

/* Elements whose `args` stands last come back as they are, but for the space around tokens. */
static void proper_events_come_back_as_they_are(void **state)
{
    static const char *const elements[] = {
        "{ \"ph\" : \"X\", \"ts\": 17.250, \"dur\": 3, \"args\": { } }",
        "{\"ph\": \"X\", \"ts\": 1, \"unknown key\": [1, {\"a b\": \" c , d \"}], \"args\": {}}",
        "{\"ph\": \"X\", \"ts\": 1, \"args\": {\"Dims\": [[2, 8], []], \"u\": {\"x\": [ ]}}}",
        "{\"ph\": \"i\", \"ts\": 1, \"s\": \"g\", \"name\": \"say \\\"hi\\\" \\u00e9 \\/ \\n\"}",
        "{\"ph\": \"X\", \"ts\": 1, \"args\": null}",
        "{\"ph\": \"X\", \"ts\": 1, \"args\": \"text\"}",
        "{\"ph\": \"X\", \"ts\": 1, \"args\": [1, 2]}",
        "{\"ph\": \"M\", \"name\": \"thread_name\", \"args\": {\"name\": \"\"}}",
        "{\"ph\": \"f\", \"id\": \"0x7f\", \"bp\": \"e\", \"ts\": 5}",
        "{\"ph\": \"X\", \"k\\u0065y\": 1, \"\": 2, \"a\\\"b\": true, \"args\": {\"\": 0}}",
        "{\"ph\": \"X\", \"ts\": 1, \"\xC3\xA9\xE2\x82\xAC\": \"\xF0\x9F\x98\x80\"}",
        "{\"ph\": \"X\", \"ts\": 1, \"args\": {\"args\": \"{\\\"hostname\\\": \\\"h\\\"}\"}}",
        "{\"ph\": \"X\", \"ts\": 1, \"args\": {\"ph\": 1, \"ts\": 2}}",
        "{\"ph\": \"X\", \"ts\": 1, \"surrogate\": \"\\ud83d\\ude00 \\ud83d \\u0000\"}",
        "{\"ph\": 5, \"ts\": 1, \"\\u0061rgs\": {\"a\": 1}}",
    };
    for (size_t i = 0; i < COUNT_OF(elements); i++) {
        char *expected = squeezed(elements[i]);
        check_logged(elements[i], expected);
        free(expected);
    }
}

static void numbers_keep_their_text(void **state)
{
    static const char *const numbers[] = {
        "0",
        "-1",
        "-0",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "123456789012345678901234567890",
        "1e5",
        "1E+05",
        "-1.5e-7",
        "0.10",
        "1.0",
        "0.0",
        "-0.5",
        "-0.0",
        "-1.50",
        "17.250",
        "1623142623460111.125",
        "0.00000000000000001",
        "0.000000000000000001",
        "123456789.123456789",
        "1234567890.123456789",
        "999999999999999999.0",
        "922337203685477580.7",
        "922337203685477580.8",
        "-9999999999999999.999",
        "0.9999999999999999999",
        "0.0000000000000000001",
        "99999999999999999.9",
        "0.1234567890123456789012345678901234567890",
    };
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        char element[256];
        (void)snprintf(element, sizeof element,
                       "{\"ph\":\"X\",\"ts\":1,\"a\":%s,\"b\":[%s],\"args\":{\"c\":%s}}",
                       numbers[i], numbers[i], numbers[i]);
        check_logged(element, element);
    }
}

static void repeated_keys_keep_the_last_value(void **state)
{
    check_logged("{\"ph\":\"X\",\"a\":1,\"ts\":1,\"a\":\"two\",\"a\":3.5}",
                 "{\"ph\":\"X\",\"a\":3.5,\"ts\":1}");
    check_logged("{\"ph\":\"X\",\"ts\":1,\"args\":{\"a\":1,\"b\":2,\"a\":[3]}}",
                 "{\"ph\":\"X\",\"ts\":1,\"args\":{\"a\":[3],\"b\":2}}");
    check_logged("{\"ph\":\"X\",\"args\":{\"a\":1},\"ts\":1,\"args\":{\"b\":2}}",
                 "{\"ph\":\"X\",\"ts\":1,\"args\":{\"b\":2}}");
    check_logged("{\"ph\":\"X\",\"args\":{\"a\":1},\"ts\":1,\"args\":null}",
                 "{\"ph\":\"X\",\"ts\":1,\"args\":null}");
    check_logged("{\"ph\":\"X\",\"args\":null,\"ts\":1,\"args\":{}}",
                 "{\"ph\":\"X\",\"ts\":1,\"args\":{}}");
    check_logged("{\"ph\":\"X\",\"args\":null,\"ts\":1,\"args\":{},\"args\":[]}",
                 "{\"ph\":\"X\",\"args\":[],\"ts\":1}");
}

/* One key in two spellings: the text as a whole, in which the last one stands, too. */
static void two_spellings_of_a_key_are_one_key(void **state)
{
    static const char *const elements[] = {
        "{\"ph\":\"X\",\"ts\":1,\"ab\":1,\"\\u0061b\":2}",
        "{\"ph\":\"X\",\"ts\":1,\"args\":{\"ab\":1,\"\\u0061b\":2}}",
        "{\"ph\":\"X\",\"ts\":1,\"args\":{\"ab\":1},\"\\u0061rgs\":2}",
    };
    for (size_t i = 0; i < COUNT_OF(elements); i++) {
        check_logged(elements[i], elements[i]);
    }
}

static void improper_values_are_made_proper(void **state)
{
    static const char *const pairs[][2] = {
        {"00", "null"},
        {"007", "null"},
        {"-00.50", "null"},
        {"[00, -01, 1]", "[null,null,1]"},
        {"\"a\tb\x01\"", "\"a\\u0009b\\u0001\""},
        {"[\"a\nb\", {\"k\n\": 1}]", "[\"a\\u000ab\",{\"k\\u000a\":1}]"},
        {"\"\xFF\xC3(\xE2\x82\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\""},
        {"[\"\xFF\"]", "[\"\xEF\xBF\xBD\"]"},
        {"NaN", "null"},
        {"N/A", "\"N/A\""},
        {"-Infinity", "null"},
        {"[1, NaN, \"x\"]", "[1,null,\"x\"]"},
        {"{\"a\": nan, \"b\": [inf , 2]}", "{\"a\":null,\"b\":[null,2]}"},
        {"1.", "null"},
        {"\"say \"hi\" twice\"", "\"say \\\"hi\\\" twice\""},
        {"[\"say \"hi\" twice\", 2]", "[\"say \\\"hi\\\" twice\",2]"},
        {"\"C:\\dir\\q\"", "\"C:\\\\dir\\\\q\""},
        {"[1 2,,3]", "[1,2,3]"},
    };
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        char element[256];
        char expected[256];
        (void)snprintf(element, sizeof element,
                       "{\"ph\": \"X\", \"ts\": 1, \"args\": {\"a\": %s, \"name\": \"n\"}}",
                       pairs[i][0]);
        (void)snprintf(expected, sizeof expected,
                       "{\"ph\":\"X\",\"ts\":1,\"args\":{\"a\":%s,\"name\":\"n\"}}", pairs[i][1]);
        check_logged(element, expected);
        json_decref(parsed(expected));
    }
}

/* --- many shapes --- */

static void append_keys(struct buf *out, int count)
{
    for (int i = 0; i < count; i++) {
        buf_printf(out, ",\"key %d\":%d", i, i);
    }
}

static void events_of_many_keys_are_one_text(void **state)
{
    static const struct {
        int top;
        int args;
    } counts[] = {{254, 0}, {255, 0}, {300, 0}, {0, 256}, {100, 200}, {1, 300}};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct buf text;
        buf_init(&text, SIZE_MAX);
        buf_puts(&text, "{\"ph\":\"X\",\"ts\":1");
        append_keys(&text, counts[i].top);
        buf_puts(&text, ",\"args\":{\"a\":[]");
        append_keys(&text, counts[i].args);
        buf_puts(&text, "}}");
        check_logged(text.ptr, text.ptr);
        buf_free(&text);
    }
}

/* Every second event has keys of its own; they come twice, so that the first templates are met
 * again when there is no room for new ones. */
static void events_beyond_the_last_template_are_one_text(void **state)
{
    enum { SHAPES = 5000, ROUNDS = 2 };
    struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_puts(&text, "[");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SHAPES; i++) {
            buf_printf(&text, "{\"ph\":\"i\",\"ts\":%d,\"args\":{\"k%d\":%d.5}},", i, i, i);
            buf_puts(&text, "{\"ph\":\"X\",\"ts\":1},");
        }
    }
    text.ptr[text.len - 1] = ']';
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    struct written_log log = {.events = NULL};
    assert_true(read_with_log(text.ptr, text.len, 0, &bundle, &log, &err));
    assert_int_equal(log.count, 2 * SHAPES * ROUNDS);
    assert_int_equal(log.template_count, EVENT_TEMPLATES_MAX);
    assert_int_equal(log.whole_count, ROUNDS * (SHAPES - (EVENT_TEMPLATES_MAX - 2)));
    for (size_t i = 0; i < log.count; i++) {
        char expected[64] = "{\"ph\":\"X\",\"ts\":1}";
        int number = (int)(i / 2) % SHAPES;
        if (i % 2 == 0) {
            (void)snprintf(expected, sizeof expected,
                           "{\"ph\":\"i\",\"ts\":%d,\"args\":{\"k%d\":%d.5}}", number, number,
                           number);
        }
        assert_string_equal(log.events[i], expected);
    }
    free_written(&log);
    format_bundle_free(&bundle);
    buf_free(&text);
}

/* One place in a template has an integer now and a text then, and the texts change. */
static void changing_values_are_kept_apart(void **state)
{
    static const char *const values[] = {"1",       "\"1\"", "1.0",      "[1]",   "[ 1 ]", "[1]",
                                         "\"[1]\"", "null",  "\"\"",     "true",  "1",     "\"1\"",
                                         "1e0",     "-0",    "[1, 2]",   "[1,2]", "{}",    "{ }",
                                         "\"1\"",   "1.00",  "\"null\"", "false", "01",    "1"};
    struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_puts(&text, "[");
    for (size_t i = 0; i < COUNT_OF(values) * COUNT_OF(values); i++) {
        buf_printf(&text, "%s{\"ph\":\"X\",\"ts\":1,\"v\":%s,\"args\":{\"w\":%s}}",
                   i > 0 ? "," : "", values[i / COUNT_OF(values)], values[i % COUNT_OF(values)]);
    }
    buf_puts(&text, "]");
    for (size_t b = 0; b < COUNT_OF(block_sizes); b++) {
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        struct written_log log = {.events = NULL};
        assert_true(read_with_log(text.ptr, text.len, block_sizes[b], &bundle, &log, &err));
        assert_int_equal(log.count, COUNT_OF(values) * COUNT_OF(values));
        for (size_t i = 0; i < log.count; i++) {
            char element[128];
            const char *v = values[i / COUNT_OF(values)];
            const char *w = values[i % COUNT_OF(values)];
            (void)snprintf(element, sizeof element,
                           "{\"ph\":\"X\",\"ts\":1,\"v\":%s,\"args\":{\"w\":%s}}",
                           strcmp(v, "01") == 0 ? "null" : v, strcmp(w, "01") == 0 ? "null" : w);
            char *expected = squeezed(element);
            assert_string_equal(log.events[i], expected);
            free(expected);
        }
        free_written(&log);
        format_bundle_free(&bundle);
    }
    buf_free(&text);
}

/* --- the document --- */

static void check_head(const char *document, const char *expected)
{
    for (size_t i = 0; i < COUNT_OF(block_sizes); i++) {
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        struct written_log log = {.events = NULL};
        if (!read_with_log(document, strlen(document), block_sizes[i], &bundle, &log, &err)) {
            fail_msg("%s: %s", document, err.msg);
        }
        assert_string_equal(log.head, expected);
        free_written(&log);
        format_bundle_free(&bundle);
    }
}

#define ONE_EVENT "{\"ph\": \"X\", \"ts\": 1}"

static void members_of_the_document_are_kept(void **state)
{
    check_head("[" ONE_EVENT "]", "");
    check_head(ONE_EVENT "," ONE_EVENT, "");
    check_head("{\"traceEvents\": [" ONE_EVENT "]}", "");
    check_head(
        "{\"schemaVersion\": 1, \"deviceProperties\": [ { \"id\": 0 } ], \"traceEvents\": "
        "[" ONE_EVENT "], \"traceName\": \"a \\\"b\\\"\", \"unknown\": { \"a\": [ 1, \"x y\" ] }, "
        "\"empty\": [ ], \"x\": null, \"y\": 1.50, \"z\": true}",
        "\"schemaVersion\": 1, \"deviceProperties\": [{\"id\":0}], \"traceName\": \"a \\\"b\\\"\", "
        "\"unknown\": {\"a\":[1,\"x y\"]}, \"empty\": [], \"x\": null, \"y\": 1.50, \"z\": true");
    check_head("{\"a key that is much longer than all that the reader knows, and so is cut\": 1, "
               "\"traceEvents\": [" ONE_EVENT "]}",
               "\"a key that is much longer than all that the reader knows, and so is cut\": 1");
    check_head("{\"events\": [" ONE_EVENT "], \"n\": 007, \"bare\": NaN}",
               "\"n\": null, \"bare\": null");
    check_head("{\"traceEvents\": null, \"list\": [" ONE_EVENT "]}", "");
    check_head("{\"unknown\": {\"a\": [NaN, 1]}, \"b\": {\"c\td\": \"\t\"}, \"deviceProperties\": "
               "[NaN], \"traceEvents\": [" ONE_EVENT "]}",
               "\"unknown\": {\"a\":[null,1]}, \"b\": {\"c\\u0009d\":\"\\u0009\"}, "
               "\"deviceProperties\": [null]");
}

static void large_members_are_left_out(void **state)
{
    const size_t mib = (size_t)1 << 20;
    const struct {
        size_t bytes;
        bool is_kept;
    } cases[] = {{2 * mib, true}, {15 * mib, true}, {17 * mib, false}, {40 * mib, false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int nested = 0; nested < 2; nested++) {
            struct buf text;
            buf_init(&text, SIZE_MAX);
            buf_puts(&text, nested ? "{\"a\": 1, \"big\": [\"" : "{\"a\": 1, \"big\": \"");
            char *room = buf_reserve(&text, cases[i].bytes);
            assert_non_null(room);
            memset(room, 'x', cases[i].bytes);
            text.len += cases[i].bytes;
            buf_puts(&text, nested ? "\"], \"b\": 2, \"traceEvents\": [" ONE_EVENT "]}"
                                   : "\", \"b\": 2, \"traceEvents\": [" ONE_EVENT "]}");
            struct err err = ERR_INIT;
            struct format_bundle bundle;
            struct written_log log = {.events = NULL};
            assert_true(read_with_log(text.ptr, text.len, 0, &bundle, &log, &err));
            assert_int_equal(strlen(log.head) > cases[i].bytes, cases[i].is_kept);
            assert_memory_equal(log.head, "\"a\": 1, ", 8);
            assert_string_equal(log.head + strlen(log.head) - 8, ", \"b\": 2");
            free_written(&log);
            format_bundle_free(&bundle);
            buf_free(&text);
        }
    }
}

/* --- the sink's word --- */

static void a_sink_ends_the_reading(void **state)
{
    struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_puts(&text, "[" ONE_EVENT);
    for (uint32_t i = 0; i < 2 * EVENT_BATCH_EVENTS; i++) {
        buf_puts(&text, "," ONE_EVENT);
    }
    buf_puts(&text, "]");
    for (uint32_t i = 0; i <= 4; i++) {
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        struct written_log log = {.fail_at_batch = i, .fail_at_end = i == 4};
        bool good = read_with_log(text.ptr, text.len, 0, &bundle, &log, &err);
        assert_int_equal(good, i == 0);
        assert_int_equal(log.head != NULL, i == 0 || i == 4);
        if (good) {
            assert_int_equal(log.batch_count, 3);
            assert_int_equal(log.last_batch_events, 1);
            assert_int_equal(log.min_start_ns, 1000);
            assert_int_equal(log.max_end_ns, 1000);
            format_bundle_free(&bundle);
        } else {
            assert_int_equal(err.code, ERR_NO_SPACE);
            assert_int_equal(bundle.item_count, 0);
        }
        free_written(&log);
    }
    buf_free(&text);
}

static void what_is_no_trace_has_no_log(void **state)
{
    static const char *const texts[] = {"{\"a\": [1]}", "{\"traceEvents\": []}",
                                        "{\"traceEvents\": [{\"ts\": 1}]}"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        struct written_log log = {.events = NULL};
        assert_false(read_with_log(texts[i], strlen(texts[i]), 0, &bundle, &log, &err));
        assert_int_equal(log.batch_count, 0);
        assert_null(log.head);
        free_written(&log);
    }
}

static void the_log_counts_into_the_budget(void **state)
{
    enum { EVENTS = 20000 };
    struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_puts(&text, "[" ONE_EVENT);
    for (int i = 0; i < EVENTS; i++) {
        buf_printf(&text, ",{\"ph\":\"X\",\"ts\":1,\"u\":\"a text that nobody else has %d\"}", i);
    }
    buf_puts(&text, "]");
    for (int with_log = 0; with_log < 2; with_log++) {
        struct err err = ERR_INIT;
        struct input *in = NULL;
        struct format_bundle bundle;
        struct written_log log = {.events = NULL};
        const struct event_sink sink = {.context = &log, .take = take_written, .end = end_written};
        const struct format_options options = {.memory_budget_bytes = (size_t)2 << 20,
                                               .events = with_log ? &sink : NULL};
        assert_true(input_open_memory(&in, text.ptr, text.len, 65536, &err));
        bool good = format_read(in, &options, &bundle, &err);
        assert_int_equal(good, !with_log);
        if (good) {
            format_bundle_free(&bundle);
        } else {
            assert_int_equal(err.code, ERR_TOO_LARGE);
        }
        input_close(in);
        free_written(&log);
    }
    buf_free(&text);
}

static void the_end_may_come_later(void **state)
{
    static const char text[] = "{\"traceEvents\": [" ONE_EVENT "], \"a\": 1}";
    for (int fails = 0; fails < 2; fails++) {
        struct err err = ERR_INIT;
        struct input *in = NULL;
        struct format_bundle bundle;
        struct written_log log = {.fail_at_end = fails};
        const struct event_sink sink = {.context = &log, .take = take_written, .end = end_written};
        const struct format_options options = {.events = &sink, .events_end_later = true};
        assert_true(input_open_memory(&in, text, strlen(text), 0, &err));
        assert_true(format_read(in, &options, &bundle, &err));
        input_close(in);
        assert_non_null(bundle.items[0].recorder);
        assert_int_equal(format_item_end_events(&bundle.items[0], &err), !fails);
        assert_int_equal(err.code, fails ? ERR_NO_SPACE : ERR_NONE);
        assert_int_equal(log.count, 1);
        assert_string_equal(log.head, "\"a\": 1");
        format_bundle_free(&bundle);
        free_written(&log);
    }
}

/* --- whole traces --- */

/* Name and time of a row, as the log has them. */
static void check_row(const struct trace *trace, uint32_t row, const char *text)
{
    json_t *event = parsed(text);
    const json_t *name = json_object_get(event, "name");
    const json_t *phase = json_object_get(event, "ph");
    const json_t *start = json_object_get(event, "ts");
    if (json_is_string(name)) {
        assert_string_equal(json_string_value(name), event_name(trace, row));
    }
    if (json_is_string(phase) && (*json_string_value(phase) & 0x80) == 0) {
        assert_int_equal(*json_string_value(phase), trace_phase(&trace->events, row));
    }
    if (json_is_integer(start) && (trace_flags(&trace->events, row) & EVENT_NO_TS) == 0) {
        assert_int_equal(json_integer_value(start) * 1000, trace->events.ts_ns[row]);
    }
    json_decref(event);
}

static void check_times(const struct trace *trace, const struct written_log *log)
{
    int64_t min_ns = INT64_MAX;
    int64_t max_ns = INT64_MIN;
    for (uint32_t i = 0; i < trace->events.count; i++) {
        if ((trace_flags(&trace->events, i) & EVENT_NO_TS) == 0) {
            int64_t start_ns = trace->events.ts_ns[i];
            int64_t end_ns = start_ns + trace_dur_ns(&trace->events, i);
            min_ns = start_ns < min_ns ? start_ns : min_ns;
            max_ns = end_ns > max_ns ? end_ns : max_ns;
        }
    }
    assert_int_equal(min_ns, log->min_start_ns);
    assert_int_equal(max_ns, log->max_end_ns);
}

static void check_same_log(const struct written_log *log, const struct written_log *other)
{
    assert_int_equal(log->count, other->count);
    assert_string_equal(log->head, other->head);
    for (size_t i = 0; i < log->count; i++) {
        assert_string_equal(log->events[i], other->events[i]);
    }
}

/* A trace read with a log is the trace read without one. */
static void check_same_trace(const struct trace *trace, const struct trace *other)
{
    assert_int_equal(trace->events.count, other->events.count);
    assert_int_equal(trace->meta_count, other->meta_count);
    assert_memory_equal(&trace->warnings, &other->warnings, sizeof trace->warnings);
    size_t count = trace->events.count;
    assert_memory_equal(trace->events.ts_ns, other->events.ts_ns, count * sizeof(int64_t));
    assert_memory_equal(trace->events.name, other->events.name, count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(trace_correlation(&trace->events, i),
                         trace_correlation(&other->events, i));
    }
}

/* Every element of the list and every other member of a document that jansson can read. Of one that
 * was read with warnings, only if all events were read: they may lie under another key. */
static void
check_document(const char *text, const struct written_log *log, const struct trace *trace)
{
    json_error_t fault;
    json_t *document = json_loads(text, JSON_ALLOW_NUL, &fault);
    if (document == NULL) {
        return;
    }
    const json_t *list =
        json_is_array(document) ? document : json_object_get(document, "traceEvents");
    if (warning_total(trace) > 0 && json_array_size(list) != log->count) {
        json_decref(document);
        return;
    }
    assert_int_equal(json_array_size(list), log->count);
    for (size_t i = 0; i < log->count; i++) {
        json_t *event = parsed(log->events[i]);
        if (!json_equal(event, json_array_get(list, i))) {
            fail_msg("event %zu: %s", i, log->events[i]);
        }
        json_decref(event);
    }
    if (json_is_object(document)) {
        struct buf head;
        buf_init(&head, SIZE_MAX);
        buf_printf(&head, "{%s}", log->head);
        json_t *members = parsed(head.ptr);
        json_object_del(document, "traceEvents");
        assert_true(json_equal(members, document));
        json_decref(members);
        buf_free(&head);
    }
    json_decref(document);
}

/* `block_bytes`: of a second reading, which must come to the same; 0: none. */
static void check_trace(const char *text, size_t len, size_t block_bytes)
{
    struct err err = ERR_INIT;
    struct format_bundle plain;
    struct format_bundle bundle;
    struct written_log log = {.events = NULL};
    if (!read_bytes(text, len, 0, &plain, &err)) {
        assert_false(read_with_log(text, len, 0, &bundle, &log, &err));
        free_written(&log);
        return;
    }
    if (!read_with_log(text, len, 0, &bundle, &log, &err)) {
        fail_msg("%s", err.msg);
    }
    const struct trace *trace = bundle.items[0].model;
    check_same_trace(trace, plain.items[0].model);
    assert_int_equal(log.count, trace->events.count);
    for (uint32_t i = 0; i < trace->events.count; i++) {
        check_row(trace, i, log.events[i]);
    }
    check_times(trace, &log);
    check_document(text, &log, trace);
    if (block_bytes > 0) {
        struct format_bundle again;
        struct written_log other = {.events = NULL};
        assert_true(read_with_log(text, len, block_bytes, &again, &other, &err));
        check_same_log(&log, &other);
        free_written(&other);
        format_bundle_free(&again);
    }
    free_written(&log);
    format_bundle_free(&bundle);
    format_bundle_free(&plain);
}

static char *decompressed(const char *path, size_t *len)
{
    struct err err = ERR_INIT;
    struct input *in = NULL;
    struct buf text;
    const char *window;
    buf_init(&text, SIZE_MAX);
    assert_true(input_open_file(&in, path, &err));
    do {
        assert_true(input_next(in, 0, &window, len, &err));
        buf_append(&text, window, *len);
    } while (*len > 0);
    input_close(in);
    return buf_take(&text, len);
}

static size_t check_folder(const char *folder)
{
    size_t count = 0;
    DIR *files = opendir(folder);
    if (files == NULL) {
        return 0;
    }
    for (const struct dirent *file; (file = readdir(files)) != NULL;) {
        char path[PATH_BYTES + sizeof file->d_name];
        size_t len;
        if (strstr(file->d_name, ".pt.trace.json") == NULL) {
            continue;
        }
        (void)snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        char *text = decompressed(path, &len);
        check_trace(text, len, len < 200000 ? 1 : 4096);
        check_trace(text, len, 64);
        free(text);
        count++;
    }
    (void)closedir(files);
    return count;
}

static void all_fixtures_come_back(void **state)
{
    size_t count = 0;
    DIR *folders = opendir(KS_TEST_DIR "/fixtures");
    assert_non_null(folders);
    for (const struct dirent *folder; (folder = readdir(folders)) != NULL;) {
        char path[PATH_BYTES];
        (void)snprintf(path, sizeof path, "%s/fixtures/%s", KS_TEST_DIR, folder->d_name);
        if (*folder->d_name != '.') {
            count += check_folder(path);
        }
    }
    (void)closedir(folders);
    assert_true(count >= 17);
}

static const char sample[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\"}],\n"
    "\"other\": {\"a\": [1, 2], \"b\": \"c\"}, \"traceEvents\": [\n"
    "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 0, \"args\": {\"name\": "
    "\"python\"}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": 2, \"ts\": "
    "10.125, \"dur\": 5,\n"
    "  \"args\": {\"External id\": 3, \"Input Dims\": [[2, 3], []], \"x\": {\"y\": [1, null]}}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void k<int>(\\\"x\\\", \xC3\xA9)\", \"pid\": "
    "0, \"tid\": \"stream 7\",\n"
    "  \"ts\": 13, \"dur\": 2, \"args\": {\"correlation\": 7, \"grid\": [1, 1, 1]}},\n"
    "{\"ph\": \"C\", \"name\": \"m\", \"pid\": 1, \"ts\": 14, \"args\": {\"Bytes\": -512}}\n"
    "],\n\"traceName\": \"x.json\", \"baseTimeNanoseconds\": 1000}\n";

/* Cut, and each byte changed to some of those that matter. */
static void damaged_traces_give_proper_events(void **state)
{
    static const char others[] = "\"\\,:{}[] x0\n\xFF";
    char text[sizeof sample];
    for (size_t len = 0; len < sizeof sample; len += unit_stride()) {
        memcpy(text, sample, len);
        text[len] = '\0';
        check_trace(text, len, 7);
    }
    for (size_t at = 0; at < sizeof sample - 1; at += unit_stride()) {
        for (size_t i = at % 3; i < sizeof others - 1; i += 3) {
            memcpy(text, sample, sizeof sample);
            text[at] = others[i];
            check_trace(text, sizeof sample - 1, at % 8 == 0 ? 1 + at % 64 : 0);
        }
    }
}

/* --- the model --- */

static void counters_have_a_value_a_series(void **state)
{
    struct format_bundle bundle = read_text(
        "[{\"ph\":\"C\",\"name\":\"m\",\"ts\":1,\"args\":{\"a\":1,\"b \\u00e9\":2.5,\"c\":\"3\","
        "\"a\":-4}},{\"ph\":\"X\",\"ts\":1,\"args\":{\"a\":1}},{\"ph\":\"C\",\"ts\":2,\"args\":[5]}"
        ","
        "{\"ph\":\"C\",\"ts\":3,\"args\":{\"x\":NaN,\"y\":6,\"z\":1e999}}]");
    const struct trace *trace = bundle.items[0].model;
    static const struct {
        uint32_t event;
        const char *series;
        double value;
    } expected[] = {{0, "b \xC3\xA9", 2.5}, {0, "a", -4}, {3, "y", 6}};
    assert_int_equal(trace->counter_count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const struct trace_counter *counter = &trace->counters[i];
        assert_int_equal(counter->event, expected[i].event);
        assert_string_equal(string_at(trace, counter->series), expected[i].series);
        assert_true(counter->value >= expected[i].value && counter->value <= expected[i].value);
    }
    format_bundle_free(&bundle);
}

static void sort_indices_are_labels(void **state)
{
    struct format_bundle bundle =
        read_text("[{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,\"args\":"
                  "{\"sort_index\": -5}},{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,"
                  "\"tid\":2,\"args\":{\"sort_index\":16777216}}]");
    const struct trace *trace = bundle.items[0].model;
    assert_int_equal(trace->label_count, 2);
    assert_string_equal(string_at(trace, trace->labels[0].kind_name), "process_sort_index");
    assert_string_equal(string_at(trace, trace->labels[0].label), "-5");
    assert_string_equal(string_at(trace, trace->labels[1].kind_name), "thread_sort_index");
    assert_string_equal(string_at(trace, trace->labels[1].label), "16777216");
    format_bundle_free(&bundle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proper_events_come_back_as_they_are),
        cmocka_unit_test(numbers_keep_their_text),
        cmocka_unit_test(repeated_keys_keep_the_last_value),
        cmocka_unit_test(two_spellings_of_a_key_are_one_key),
        cmocka_unit_test(improper_values_are_made_proper),
        cmocka_unit_test(events_of_many_keys_are_one_text),
        cmocka_unit_test(events_beyond_the_last_template_are_one_text),
        cmocka_unit_test(changing_values_are_kept_apart),
        cmocka_unit_test(members_of_the_document_are_kept),
        cmocka_unit_test(large_members_are_left_out),
        cmocka_unit_test(a_sink_ends_the_reading),
        cmocka_unit_test(what_is_no_trace_has_no_log),
        cmocka_unit_test(the_end_may_come_later),
        cmocka_unit_test(the_log_counts_into_the_budget),
        cmocka_unit_test(all_fixtures_come_back),
        cmocka_unit_test(damaged_traces_give_proper_events),
        cmocka_unit_test(counters_have_a_value_a_series),
        cmocka_unit_test(sort_indices_are_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
