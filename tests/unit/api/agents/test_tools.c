/* What agents are told: figures with units, tables that end where the room does, answers of at most
 * 4 kB with a link. */
#include "api/agents/markdown.h"
#include "api/agents/tools.h"
#include "tests/unit/api/api_fixture.h"

#include <jansson.h>

#define ROWS 200

static json_t *parse(const char *text)
{
    json_t *value = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(value);
    return value;
}

static void figures_have_units_and_what_is_null_is_left_out(void **state)
{
    static const struct agents_figure figures[] = {{"run", "run", AGENTS_TEXT},
                                                   {"f.step", "step", AGENTS_NS},
                                                   {"f.none", "none", AGENTS_NS},
                                                   {"f.gone.deeper", "gone", AGENTS_INT},
                                                   {"f.list.1.busy", "busy", AGENTS_SHARE},
                                                   {"f.memory", "memory", AGENTS_BYTES},
                                                   {"f.calls", "calls", AGENTS_INT},
                                                   {"f.yes", "yes", AGENTS_INT},
                                                   {"f.tags", "tags", AGENTS_TEXT},
                                                   {NULL, NULL, AGENTS_TEXT}};
    struct buf out;
    json_t *value =
        parse("{\"run\": \"a|b\", \"f\": {\"step\": 1234567, \"none\": null, \"memory\": "
              "3221225472, \"calls\": 12, \"yes\": true, \"tags\": [\"x\", \"y\"], "
              "\"list\": [{\"busy\": 1}, {\"busy\": 0.125}]}}");
    buf_init(&out, 4096);
    agents_put_figures(&out, value, figures);
    assert_string_equal(out.ptr, "run: a\\|b; step: 1.235 ms; busy: 12.5%; memory: 3 GiB; "
                                 "calls: 12; yes: yes; tags: x, y\n");
    buf_clear(&out);
    agents_put_figures(&out, NULL, figures);
    assert_int_equal(out.len, 0);
    buf_free(&out);
    json_decref(value);
}

static void a_table_ends_where_the_room_does(void **state)
{
    static const struct agents_figure columns[] = {
        {"name", "name", AGENTS_TEXT}, {"value", "value", AGENTS_VALUE}, {NULL, NULL, AGENTS_TEXT}};
    struct buf out;
    char long_name[2001];
    json_t *rows = json_array();
    memset(long_name, 'k', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(
            json_array_append_new(rows, json_pack("{s:s, s:i}", "name",
                                                  i == 1 ? long_name : "short", "value", 1500 * i)),
            0);
    }
    buf_init(&out, 8192);
    agents_put_table(&out, 1000, rows, columns, "ns");
    assert_non_null(strstr(out.ptr, "\n| name | value |\n|---|--:|\n| short | 0 ns |\n| kkk"));
    assert_non_null(strstr(out.ptr, "kkk... | 1.5 us |\n| short | 3 us |\n"));
    const char *tail = strstr(out.ptr, "of 200 rows fit here.\n");
    assert_non_null(tail);
    assert_true(out.len > 900 && out.len <= 1000 + 40);
    size_t lines = 0;
    for (const char *at = out.ptr; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    /* An empty line, two of the header, one that says how many: the rest are the rows it counts. */
    while (tail[-1] != '\n') {
        tail--;
    }
    assert_int_equal(strtoul(tail, NULL, 10), lines - 4);

    buf_clear(&out);
    json_t *few = json_array();
    agents_put_table(&out, 1000, few, columns, NULL);
    assert_string_equal(out.ptr, "\nNo rows.\n");
    buf_free(&out);
    json_decref(few);
    json_decref(rows);
}

/* ---- tools ---- */

/* Calls a tool; the text is the caller's. */
static char *call_tool(struct fixture *f, const char *tool, const char *arguments, bool *is_error)
{
    char body[512];
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": "
                   "{\"name\": \"%s\", \"arguments\": %s}}",
                   tool, arguments);
    assert_status(f, send_body(f, "POST", "/mcp", body), 200);
    json_t *answer = parse(body_text(f));
    const json_t *result = json_object_get(answer, "result");
    const char *text = json_string_value(agents_at(result, "content.0.text"));
    assert_non_null(text);
    *is_error = json_is_true(json_object_get(result, "isError"));
    char *copy = strdup(text);
    assert_non_null(copy);
    json_decref(answer);
    return copy;
}

static void answers_fit_and_end_with_a_link(void **state)
{
    struct fixture *f = *state;
    struct trace_results results = hand_results();
    char run[240];
    bool is_error = true;
    for (int i = 0; i < 50; i++) {
        /* Two bytes a letter: a cut between them would be no text. */
        int len = snprintf(run, sizeof run, "%d-%s", i, i % 2 == 0 ? "" : "x");
        for (int k = 0; k < 90; k++) {
            len += snprintf(run + len, sizeof run - (size_t)len, "\xC3\xA4");
        }
        char file[32];
        (void)snprintf(file, sizeof file, "w%d.pt.trace.json", i);
        (void)publish(f, run, file, "w", "1", run, &results);
    }
    char *text = call_tool(f, "list_runs", "{\"limit\": 50}", &is_error);
    assert_false(is_error);
    assert_true(strlen(text) <= AGENTS_ANSWER_MAX_BYTES);
    assert_null(strstr(text, "\xEF\xBF\xBD")); /* no half of a letter */
    assert_non_null(strstr(text, "rows fit here.\n"));
    const char *link = strstr(text, "\nhttp://traces.example:8080/prefix/#/\n");
    assert_true(link != NULL && link[strlen("\nhttp://traces.example:8080/prefix/#/\n")] == '\0');
    free(text);
}

static void a_wrong_call_says_what_is_wrong(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *tool, *arguments, *has;
    } cases[] = {{"overview", "{}", "trace"},
                 {"overview", "{\"trace\": 999}", "999"},
                 {"overview", "{\"trace\": \"x\"}", "trace"},
                 {"list_runs", "{\"colour\": 1}", "colour"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool is_error = false;
        char *text = call_tool(f, cases[i].tool, cases[i].arguments, &is_error);
        assert_true(is_error);
        assert_non_null(strstr(text, cases[i].has));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_have_units_and_what_is_null_is_left_out),
        cmocka_unit_test(a_table_ends_where_the_room_does),
        cmocka_unit_test_setup_teardown(answers_fit_and_end_with_a_link, set_up_api, tear_down_api),
        cmocka_unit_test_setup_teardown(a_wrong_call_says_what_is_wrong, set_up_api, tear_down_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
