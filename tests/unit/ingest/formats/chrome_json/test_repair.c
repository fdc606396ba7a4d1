/* Each repair: what is read, what is counted and where. The middle event of three is damaged. */
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <stdio.h>

#define BEFORE                                                                                  \
    "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"first\", \"pid\": 1, " \
    "\"tid\": 1, \"ts\": 1, \"dur\": 1},\n"
#define AFTER                                                                                      \
    ",\n{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"last\", \"pid\": 1, \"tid\": 1, \"ts\": " \
    "3, \"dur\": 1}]}"

struct repair {
    const char *event;
    const char *name; /* of the repaired event, NULL: it is lost */
    const char *at;   /* the warning's place: this text within the event */
    uint64_t count;
    enum warning_code code;
    unsigned extra; /* warnings of other kinds */
};

static const struct repair repairs[] = {
    /* control characters */
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\tb\", \"ts\": 2}", "a\tb", "\tb", 1,
     WARN_CONTROL_CHARACTER, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2, \"args\": {\"x\": "
     "\"\x01\x02\"}}",
     "a", "\x01\x02", 1, WARN_CONTROL_CHARACTER, 0},
    /* bare words */
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2, \"args\": {\"Rank\": N/A}}",
     "a", "N/A", 1, WARN_BARE_NAN, 0},
    {"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\", \"ts\": 2, \"args\": {\"blocks per "
     "SM\": -Infinity, "
     "\"x\": [NaN, inf], \"y\": None, \"z\": undefined, \"w\": nan}}",
     "a", "-Infinity", 6, WARN_BARE_NAN, 0},
    /* backslashes */
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"C:\\Users\\me\", \"ts\": 2}",
     "C:\\Users\\me", "\\Users", 2, WARN_BACKSLASH, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"args\": {\"path\": \"C:\\Dir\\\", "
     "\"External id\": 5}, "
     "\"ts\": 2}",
     "a", "\\Dir", 2, WARN_BACKSLASH, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"dir\\\", \"ts\": 2}", "dir\\", "\\\"", 1,
     WARN_BACKSLASH, 0},
    /* quotes */
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"say \"hi\" twice\", \"ts\": 2}",
     "say \"hi\" twice", "\"hi", 2, WARN_QUOTE, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"f(\"a\", \"b\")\", \"ts\": 2}",
     "f(\"a\", \"b\")", "\"a", 4, WARN_QUOTE, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"lost, \"pid\": 7, \"tid\": 8, \"ts\": 2}",
     "lost", ", \"pid", 1, WARN_SYNTAX, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid: 7, \"ts\": 2}", "a", "pid", 1,
     WARN_SYNTAX, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", pid\": 7, \"ts\": 2}", "a", "pid", 1,
     WARN_SYNTAX, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"pid\": 7, tid\":8, \"name\": \"a\", \"ts\": 2}", "a",
     "tid", 1, WARN_SYNTAX, 0},
    /* commas and brackets */
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\",, \"name\": \"a\", \"ts\": 2}", "a", ", \"name", 1,
     WARN_SYNTAX, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\" \"name\": \"a\", \"ts\": 2}", "a", "\"name", 1,
     WARN_SYNTAX, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2, }", "a", ", }", 1,
     WARN_SYNTAX, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2, \"args\": {\"External id\": "
     "1, }}",
     "a", ", }}", 1, WARN_SYNTAX, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2, \"args\": {, \"External "
     "id\": 1}}",
     "a", ", \"External", 1, WARN_SYNTAX, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2, \"args\": {\"x\": [1,, 2 3, "
     "]}}",
     "a", ", 2", 3, WARN_SYNTAX, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2", "a", NULL, 1, WARN_SYNTAX,
     0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2, \"args\": {\"Input Dims\": "
     "[[2], [3], "
     "\"External id\": 1}}",
     "a", ", \"External", 1, WARN_SYNTAX, 0},
    /* characters */
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\xFF"
     "b\", \"ts\": 2}",
     "a\xEF\xBF\xBD"
     "b",
     "\xFF", 1, WARN_UTF8, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2, \"x\": \"\xE2\x82 \xC0\"}",
     "a", "\xE2", 2, WARN_UTF8, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\\u0000b\", \"ts\": 2}",
     "a\xEF\xBF\xBD"
     "b",
     "\\u0000", 1, WARN_NUL, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"\\ud83d\", \"ts\": 2}", "\xEF\xBF\xBD",
     "\\ud83d", 1, WARN_UTF8, 0},
    /* keys that come twice */
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"x\", \"ts\": 2, \"name\": \"a\"}", "a",
     "a\"}", 1, WARN_DUPLICATE_KEY, 0},
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2, \"args\": {\"External id\": "
     "1, "
     "\"External id\": 2}}",
     "a", "2}}", 1, WARN_DUPLICATE_KEY, 0},
    /* beyond repair */
    {"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": ?, \"ts\": 2}", NULL, "{", 1,
     WARN_DAMAGED_EVENT, 0},
    {"{\"ph\" \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2}", NULL, "{", 1,
     WARN_DAMAGED_EVENT, 0},
    {"{\"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 2}", NULL, "{", 1, WARN_DAMAGED_EVENT, 0},
    {"null", NULL, "null", 1, WARN_SKIPPED_BYTES, 0},
    {"", NULL, NULL, 1, WARN_SYNTAX, 0},
};

static void check(const struct repair *row)
{
    char text[1024];
    (void)snprintf(text, sizeof text, "%s%s%s", BEFORE, row->event, AFTER);
    struct format_bundle bundle = read_text(text);
    const struct trace *trace = bundle.items[0].model;
    const struct warning_count *warning = &trace->warnings.by_code[row->code];
    uint32_t expected = row->name == NULL ? 2 : 3;
    bool right = trace->events.count == expected && strcmp(event_name(trace, 0), "first") == 0 &&
                 strcmp(event_name(trace, expected - 1), "last") == 0;
    right = right && (row->name == NULL || strcmp(event_name(trace, 1), row->name) == 0);
    right = right &&
            (row->code == WARN_SKIPPED_BYTES ? warning->count > 0 : warning->count == row->count);
    if (right && row->at != NULL) {
        uint64_t offset = (uint64_t)(strstr(text + strlen(BEFORE), row->at) - text);
        right = warning->first_offset == offset;
    }
    if (!right) {
        for (int i = 0; i < WARNING_CODE_COUNT; i++) {
            const struct warning_count *other = &trace->warnings.by_code[i];
            if (other->count != 0) {
                print_message("%s: %d at %d\n", warning_code_text((enum warning_code)i),
                              (int)other->count, (int)other->first_offset - (int)strlen(BEFORE));
            }
        }
        fail_msg("%s: %d events, second is %s", row->event, (int)trace->events.count,
                 event_name(trace, trace->events.count > 1));
    }
    format_bundle_free(&bundle);
}

static void each_damage_is_repaired_and_counted(void **state)
{
    for (size_t i = 0; i < COUNT_OF(repairs); i++) {
        check(&repairs[i]);
    }
}

static void repaired_values_are_used(void **state)
{
    struct format_bundle bundle = read_text(
        "[{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"lost, \"pid\": 7, \"tid\": 8, \"ts\": "
        "2, \"dur\": NaN, "
        "\"args\": {\"External id\": 5, \"Input Dims\": N/A, \"Call stack\": \"a \"b\" c\"}},"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"x\", \"pid\": 7, \"tid\": 8, \"ts\": "
        "N/A}]");
    const struct trace *trace = bundle.items[0].model;
    const struct op_args *args = &trace->op_args[trace->events.args[0]];
    assert_int_equal(trace->events.count, 2);
    assert_int_equal(trace->tracks[trace_event_track(&trace->events, 0)].pid_int, 7);
    assert_int_equal(trace_external_id(&trace->events, 0), 5);
    assert_int_equal(trace_flags(&trace->events, 0) & EVENT_HAS_DUR, 0);
    assert_string_equal(string_at(trace, args->shape), "N/A");
    assert_string_equal(string_at(trace, args->call_stack), "a \"b\" c");
    assert_true((trace_flags(&trace->events, 1) & EVENT_NO_TS) != 0);
    format_bundle_free(&bundle);
}

static void the_top_level_is_repaired(void **state)
{
    static const struct {
        const char *text;
        const char *trace_name; /* NULL: not read */
        enum warning_code code;
    } rows[] = {
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":2}], \"traceName\": \"C:\\Users\\x\"}",
         "C:\\Users\\x", WARN_BACKSLASH},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":2}], \"rank\": N/A, \"traceName\": \"a\"}", "a",
         WARN_BARE_NAN},
        {"{\"INFO\": [\"abc], \"traceEvents\": [{\"ph\":\"i\",\"ts\":2}], \"traceName\": \"a\"}",
         "a", WARN_SKIPPED_BYTES},
        {"{\"x\": {\"a\": ]}, \"traceEvents\": [{\"ph\":\"i\",\"ts\":2}], \"traceName\": \"a\"}",
         "a", WARN_SKIPPED_BYTES},
        {"{\"traceEvents\": ?{\"ph\":\"i\",\"ts\":2}], \"traceName\": \"a\"}", "a",
         WARN_SKIPPED_BYTES},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":2}, {\"ph\": ?}], \"traceName\": \"a\"}", "a",
         WARN_DAMAGED_EVENT},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":2},], \"traceName\": \"a\"}", "a", WARN_SYNTAX},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":2}]}, \"traceName\": \"a\"}", "a", WARN_SYNTAX},
        {"{\"traceEvents\": [{\"ph\":\"i\",\"ts\":2}]], \"traceName\": \"a\"}", "a",
         WARN_SKIPPED_BYTES},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct format_bundle bundle = read_text(rows[i].text);
        const struct trace *trace = bundle.items[0].model;
        const char *name = NULL;
        for (uint32_t k = 0; k < trace->meta_count; k++) {
            name = strcmp(trace->meta[k].key, "traceName") == 0 ? trace->meta[k].value : name;
        }
        bool right = trace->events.count == 1 && trace->warnings.by_code[rows[i].code].count > 0 &&
                     name != NULL && strcmp(name, rows[i].trace_name) == 0;
        if (!right) {
            fail_msg("%s: %d events", rows[i].text, (int)trace->events.count);
        }
        format_bundle_free(&bundle);
    }
}

/* A bracket or brace that came to be by damage must not end the list. */
static void a_false_end_of_the_list_is_noticed(void **state)
{
    static const char *const texts[] = {
        "{\"traceEvents\": [{\"ph\":\"i\",\"ts\":1}] {\"ph\":\"i\",\"ts\":2}]}",
        "{\"traceEvents\": [{\"ph\":\"i\",\"ts\":1}], {\"ph\":\"i\",\"ts\":2}]}",
        "[{\"ph\":\"i\",\"ts\":1}] {\"ph\":\"i\",\"ts\":2}]",
        "[{\"ph\":\"i\",\"ts\":1}], {\"ph\":\"i\",\"ts\":2}]",
        "[{\"ph\":\"i\",\"ts\":1} {\"ph\":\"i\",\"ts\":2}]",
        "{\"traceEvents\": [{\"ph\":\"i\",\"ts\":1}},{\"ph\":\"i\",\"ts\":2}]}",
        "{\"traceEvents\": [{\"ph\":\"i\",\"args\":{\"a\": 1]},\"ts\":1},{\"ph\":\"i\",\"ts\":2}]}",
        "[{\"ph\":\"i\",\"args\":{\"a\":1],\"bytes\":2},\"ts\":1},{\"ph\":\"i\",\"ts\":2}]",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct format_bundle bundle = read_text(texts[i]);
        if (bundle.items[0].model->events.count != 2 || warning_total(bundle.items[0].model) == 0) {
            fail_msg("%s: %d events", texts[i], (int)bundle.items[0].model->events.count);
        }
        format_bundle_free(&bundle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_damage_is_repaired_and_counted),
        cmocka_unit_test(repaired_values_are_used),
        cmocka_unit_test(the_top_level_is_repaired),
        cmocka_unit_test(a_false_end_of_the_list_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
