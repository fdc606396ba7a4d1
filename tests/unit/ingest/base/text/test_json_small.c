#include "ingest/base/text/json_small.h"
#include "ingest/base/thread.h"
#include "tests/unit/unit.h"

#include <string.h>

/* `levels` times `open`, the text in the middle, `levels` times `close`; freed by the caller. */
static char *nest(const char *open, const char *middle, const char *close, size_t levels)
{
    size_t len = levels * (strlen(open) + strlen(close)) + strlen(middle) + 1;
    char *text = calloc(1, len);
    assert_non_null(text);
    char *at = text;
    for (size_t i = 0; i < levels; i++, at += strlen(open)) {
        memcpy(at, open, strlen(open));
    }
    memcpy(at, middle, strlen(middle));
    at += strlen(middle);
    for (size_t i = 0; i < levels; i++, at += strlen(close)) {
        memcpy(at, close, strlen(close));
    }
    return text;
}

static void as_deep_as_the_bound_is_read(void **state)
{
    static const char *const pairs[][2] = {{"[", "]"}, {"{\"a\": ", "}"}, {"[1, ", ", \"]\"]"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct err err = ERR_INIT;
        char *text = nest(pairs[i][0], "{}", pairs[i][1], JSON_SMALL_LEVELS_MAX - 1);
        json_t *value = json_small_parse(text, strlen(text), 0, "The text", &err);
        assert_non_null(value);
        json_decref(value);
        free(text);
    }
}

static void one_level_more_is_refused_where_it_begins(void **state)
{
    static const struct {
        const char *open;
        const char *close;
        uint64_t offset;
    } rows[] = {{"[", "]", 64}, {"{\"a\":", "}", 64 * 5}, {"[\"]\\\"]\",", "]", 64 * 8}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err err = ERR_INIT;
        char *text = nest(rows[i].open, "[]", rows[i].close, JSON_SMALL_LEVELS_MAX);
        assert_null(json_small_parse(text, strlen(text), 0, "The text", &err));
        assert_int_equal(err.code, ERR_BAD_REQUEST);
        assert_int_equal(err.byte_off, rows[i].offset);
        assert_non_null(strstr(err.msg, "64 levels"));
        free(text);
    }
}

static void brackets_that_do_not_nest_are_not_counted(void **state)
{
    static const char *const texts[] = {"[\"[[[[[\\\"[[[[\"]", "[[],[],[],{}]"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct err err = ERR_INIT;
        char *text = nest("[], ", texts[i], ", []", 100);
        char *list = nest("[", text, "]", 1);
        json_t *value = json_small_parse(list, strlen(list), 0, "The text", &err);
        assert_int_equal(json_array_size(value), 201);
        json_decref(value);
        free(list);
        free(text);
    }
}

static void faults_are_no_levels(void **state)
{
    static const char *const texts[] = {"]]]]", "\"", "\"\\", "[\"\\",
                                        "",     "}{", "[1,",  "{\"a\": ]"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct err err = ERR_INIT;
        assert_null(json_small_parse(texts[i], strlen(texts[i]), 0, "The text", &err));
        assert_int_equal(err.code, ERR_BAD_REQUEST);
        assert_non_null(strstr(err.msg, "The text is no JSON"));
    }
}

static void *read_deep(void *argument)
{
    struct err err = ERR_INIT;
    assert_null(json_small_parse(argument, strlen(argument), 0, "The text", &err));
    return argument;
}

/* jansson alone would take a thousand levels of this, or the whole stack. */
static void no_depth_fills_the_stack_of_a_thread(void **state)
{
    char *text = nest("[{\"a\":", "0", "}]", 1000000);
    pthread_t thread;
    void *done = NULL;
    assert_int_equal(thread_start(&thread, read_deep, text), 0);
    assert_int_equal(pthread_join(thread, &done), 0);
    assert_ptr_equal(done, text);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_deep_as_the_bound_is_read),
        cmocka_unit_test(one_level_more_is_refused_where_it_begins),
        cmocka_unit_test(brackets_that_do_not_nest_are_not_counted),
        cmocka_unit_test(faults_are_no_levels),
        cmocka_unit_test(no_depth_fills_the_stack_of_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
