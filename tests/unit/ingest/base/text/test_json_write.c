#include "ingest/base/text/json_write.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void begin(struct json_write *w, struct buf *out, bool ascii)
{
    buf_init(out, (size_t)1 << 20);
    jw_init(w, out, ascii);
}

static void separators_are_pythons(void **state)
{
    struct buf out;
    struct json_write w;
    begin(&w, &out, true);
    jw_object_begin(&w);
    jw_key_int(&w, "a", 1);
    jw_key_string(&w, "b", "x");
    jw_key(&w, "list");
    jw_array_begin(&w);
    jw_int(&w, -5);
    jw_array_begin(&w);
    jw_array_end(&w);
    jw_object_begin(&w);
    jw_object_end(&w);
    jw_double(&w, 754);
    jw_array_end(&w);
    jw_key_bool(&w, "yes", true);
    jw_key_bool(&w, "no", false);
    jw_key_null(&w, "none");
    jw_key_double(&w, "d", 1e-5);
    jw_key(&w, "raw");
    jw_raw(&w, "[1,2]", 5);
    jw_object_end(&w);
    assert_string_equal(out.ptr,
                        "{\"a\": 1, \"b\": \"x\", \"list\": [-5, [], {}, 754.0], \"yes\": true, "
                        "\"no\": false, \"none\": null, \"d\": 1e-05, \"raw\": [1,2]}");
    assert_false(out.failed);
    buf_free(&out);
}

static void strings_are_escaped(void **state)
{
    static const struct {
        const char *text;
        const char *ascii;
        const char *utf8;
    } rows[] = {
        {NULL, "null", "null"},
        {"", "\"\"", "\"\""},
        {"aten::add", "\"aten::add\"", "\"aten::add\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\"", "\"a\\\"b\\\\c/\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1F\x7F", "\"\\u0001\\u001f\x7F\"", "\"\\u0001\\u001f\x7F\""},
        {"\xC3\xA9", "\"\\u00e9\"", "\"\xC3\xA9\""},
        {"\xE2\x82\xAC!", "\"\\u20ac!\"", "\"\xE2\x82\xAC!\""},
        {"\xF0\x9F\x98\x80", "\"\\ud83d\\ude00\"", "\"\xF0\x9F\x98\x80\""},
        {"\xF4\x8F\xBF\xBF", "\"\\udbff\\udfff\"", "\"\xF4\x8F\xBF\xBF\""},
        {"x\xFFy", "\"x\\ufffdy\"", "\"x\xEF\xBF\xBDy\""},
        {"cut \xE2\x82", "\"cut \\ufffd\"", "\"cut \xEF\xBF\xBD\""},
        {"\xED\xA0\x80", "\"\\ufffd\\ufffd\\ufffd\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out;
        struct json_write w;
        begin(&w, &out, true);
        jw_string(&w, rows[i].text);
        assert_string_equal(out.ptr, rows[i].ascii);
        buf_free(&out);
        begin(&w, &out, false);
        jw_string(&w, rows[i].text);
        assert_string_equal(out.ptr, rows[i].utf8);
        buf_free(&out);
    }
}

/* A special byte at each place of texts of each length: the fast scan misses none and invents none.
 * The text ends with its allocation, so that AddressSanitizer sees any read beyond. */
static void specials_are_found_at_every_place(void **state)
{
    static const struct {
        char byte;
        const char *escaped;
    } specials[] = {{'"', "\\\""},
                    {'\\', "\\\\"},
                    {'\n', "\\n"},
                    {0x00, "\\u0000"},
                    {0x1F, "\\u001f"},
                    {(char)0xFF, "\\ufffd"},
                    {(char)0x80, "\\ufffd"},
                    {0x20, " "},
                    {0x21, "!"},
                    {0x23, "#"},
                    {0x5B, "["},
                    {0x5D, "]"},
                    {0x7F, "\x7F"}};
    for (size_t s = 0; s < COUNT_OF(specials); s++) {
        for (size_t len = 1; len <= 26; len++) {
            char *text = malloc(len);
            assert_non_null(text);
            for (size_t at = 0; at < len; at++) {
                memset(text, 'v', len);
                text[at] = specials[s].byte;
                char expected[64];
                (void)snprintf(expected, sizeof expected, "\"%.*s%s%.*s\"", (int)at,
                               "vvvvvvvvvvvvvvvvvvvvvvvvvv", specials[s].escaped,
                               (int)(len - at - 1), "vvvvvvvvvvvvvvvvvvvvvvvvvv");
                struct buf out;
                struct json_write w;
                begin(&w, &out, true);
                jw_string_n(&w, text, len);
                assert_string_equal(out.ptr, expected);
                buf_free(&out);
            }
            free(text);
        }
    }
}

static void integers_of_all_sizes(void **state)
{
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {{0, "0"},
                {7, "7"},
                {-1, "-1"},
                {1000000, "1000000"},
                {INT64_MAX, "9223372036854775807"},
                {INT64_MIN, "-9223372036854775808"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out;
        struct json_write w;
        begin(&w, &out, true);
        jw_int(&w, rows[i].value);
        assert_string_equal(out.ptr, rows[i].text);
        buf_free(&out);
    }
}

static void doubles_that_are_not_finite_are_null(void **state)
{
    struct buf out;
    struct json_write w;
    begin(&w, &out, true);
    jw_array_begin(&w);
    jw_double(&w, (double)NAN);
    jw_double(&w, (double)INFINITY);
    jw_double(&w, -(double)INFINITY);
    jw_double(&w, -0.0);
    jw_array_end(&w);
    assert_string_equal(out.ptr, "[null, null, null, -0.0]");
    buf_free(&out);
}

static void keys_are_escaped_too(void **state)
{
    struct buf out;
    struct json_write w;
    begin(&w, &out, true);
    jw_object_begin(&w);
    jw_key_null(&w, "a\"\n");
    jw_object_end(&w);
    assert_string_equal(out.ptr, "{\"a\\\"\\n\": null}");
    buf_free(&out);
}

static void nesting_reaches_62_levels_and_no_more(void **state)
{
    for (unsigned depth = 60; depth <= 70; depth++) {
        struct buf out;
        struct json_write w;
        begin(&w, &out, true);
        for (unsigned i = 0; i < depth; i++) {
            jw_array_begin(&w);
            jw_int(&w, 1);
        }
        for (unsigned i = 0; i < depth && !out.failed; i++) {
            jw_array_end(&w);
            if (i + 1 < depth) {
                jw_int(&w, 2);
            }
        }
        assert_int_equal(out.failed, depth > 62);
        if (!out.failed) {
            assert_int_equal(out.len, depth * 2 + depth + (depth - 1) * 5);
        }
        buf_free(&out);
    }
}

static void an_end_too_many_fails(void **state)
{
    struct buf out;
    struct json_write w;
    begin(&w, &out, true);
    jw_array_begin(&w);
    jw_array_end(&w);
    assert_false(out.failed);
    jw_array_end(&w);
    assert_true(out.failed);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators_are_pythons),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(specials_are_found_at_every_place),
        cmocka_unit_test(integers_of_all_sizes),
        cmocka_unit_test(doubles_that_are_not_finite_are_null),
        cmocka_unit_test(keys_are_escaped_too),
        cmocka_unit_test(nesting_reaches_62_levels_and_no_more),
        cmocka_unit_test(an_end_too_many_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
