#include "api/query_string.h"
#include "tests/unit/unit.h"

#include <string.h>

static int set_up(void **state)
{
    static struct arena arena;
    arena_init(&arena, 0);
    *state = &arena;
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static struct query_string parse(void **state, const char *text)
{
    struct query_string query;
    struct err err = ERR_INIT;
    assert_true(query_string_parse(&query, *state, text, &err));
    return query;
}

static void finds_parameters(void **state)
{
    struct query_string query = parse(state, "a=1&b=&c&&a=2&=x&d=e=f");
    assert_string_equal(query_string_get(&query, "a"), "1");
    assert_string_equal(query_string_get(&query, "b"), "");
    assert_string_equal(query_string_get(&query, "c"), "");
    assert_string_equal(query_string_get(&query, "d"), "e=f");
    assert_null(query_string_get(&query, "e"));
    assert_int_equal(parse(state, "").count, 0);
}

static void undoes_escapes(void **state)
{
    struct query_string query = parse(state, "a%3db=x+y%2By%26%c3%A4%25");
    assert_string_equal(query_string_get(&query, "a=b"), "x y+y&\xC3\xA4%");
}

static void refuses_bad_escapes(void **state)
{
    static const char *const bad[] = {"a=%", "a=%4", "a=%zz", "%g0=1", "a=%00", "a=1%2&b=2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct query_string query;
        struct err err = ERR_INIT;
        assert_false(query_string_parse(&query, *state, bad[i], &err));
        assert_int_equal(err.code, ERR_BAD_REQUEST);
    }
}

static void bounds_the_number(void **state)
{
    char text[4 * (QUERY_STRING_PARAMS_MAX + 2)] = "";
    struct query_string query;
    struct err err = ERR_INIT;
    for (int i = 0; i < QUERY_STRING_PARAMS_MAX; i++) {
        memcpy(text + strlen(text), "a=1&", 5);
    }
    assert_int_equal(parse(state, text).count, QUERY_STRING_PARAMS_MAX);
    memcpy(text + strlen(text), "a", 2);
    assert_false(query_string_parse(&query, *state, text, &err));
    assert_int_equal(err.code, ERR_BAD_REQUEST);
}

static void plus_stays_in_paths(void **state)
{
    const char *out = NULL;
    struct err err = ERR_INIT;
    assert_true(query_string_decode(&out, *state, "a+b%2Fc-left", 6, false, &err));
    assert_string_equal(out, "a+b/");
}

static void reads_integers(void **state)
{
    struct query_string query = parse(state, "a=12&b=-3&c=&d=1x&e=99999999999999999999&f=+5&g=--1");
    struct err err = ERR_INIT;
    int64_t value = 7;
    assert_true(query_string_int(&query, "a", 0, 12, &value, &err));
    assert_int_equal(value, 12);
    assert_true(query_string_int(&query, "b", -3, 0, &value, &err));
    assert_int_equal(value, -3);
    assert_true(query_string_int(&query, "c", 0, 1, &value, &err));
    assert_true(query_string_int(&query, "none", 0, 1, &value, &err));
    assert_int_equal(value, -3);
    assert_false(query_string_int(&query, "a", 0, 11, &value, &err));
    assert_false(query_string_int(&query, "b", 0, 11, &value, &err));
    assert_false(query_string_int(&query, "d", 0, 11, &value, &err));
    assert_false(query_string_int(&query, "e", 0, INT64_MAX, &value, &err));
    assert_false(query_string_int(&query, "f", 0, 11, &value, &err));
    assert_false(query_string_int(&query, "g", -1, 11, &value, &err));
    assert_int_equal(value, -3);
}

static void encodes_segments(void **state)
{
    const char *encoded = query_string_encode(*state, "a/b c\xC3\xA4%-._~");
    assert_non_null(encoded);
    assert_string_equal(encoded, "a%2Fb%20c%C3%A4%25-._~");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(undoes_escapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_bad_escapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounds_the_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plus_stays_in_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_integers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(encodes_segments, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
