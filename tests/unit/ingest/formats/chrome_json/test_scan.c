#include "ingest/formats/json/scan.h"
#include "tests/unit/unit.h"

#include <string.h>

#define PADDING_BYTES 64

/* The text in memory of its own with padding of quotes, which must not be used. */
static char *padded(const char *text, size_t len)
{
    char *out = malloc(len + PADDING_BYTES);
    assert_non_null(out);
    memcpy(out, text, len);
    memset(out + len, '"', PADDING_BYTES);
    return out;
}

static void vector_and_plain_search_agree(void **state)
{
    char text[100 + PADDING_BYTES];
    static const char specials[] = {'"', '\\', 0x00, 0x1F, '\n'};
    static const char others[] = {' ', 'a', 0x7F, (char)0x80, (char)0xFF, '!', '['};
    for (size_t special = 0; special < sizeof specials; special++) {
        for (size_t at = 0; at <= 70; at++) {
            for (size_t i = 0; i < sizeof text; i++) {
                text[i] = others[(i + at) % sizeof others];
            }
            text[at] = specials[special];
            const char *end = text + 70;
            const char *plain = json_find_special_plain(text, end);
            const char *fast = json_find_special(text, end);
            assert_ptr_equal(plain, at < 70 ? text + at : end);
            assert_true(fast == plain || (plain == end && fast >= end));
        }
    }
}

static void values_are_scanned(void **state)
{
    static const struct {
        const char *text;
        enum json_status status;
        size_t at; /* behind the value, or the offending byte */
        int kind;
        unsigned flags;
    } rows[] = {
        {"12,", JSON_OK, 2, JSON_KIND_NUMBER, 0},
        {"-12.5e+3]", JSON_OK, 8, JSON_KIND_NUMBER, JSON_DECIMAL},
        {"1E5 ", JSON_OK, 3, JSON_KIND_NUMBER, JSON_DECIMAL},
        {"12", JSON_MORE, 0, 0, 0},
        {"-", JSON_MORE, 0, 0, 0},
        {"-x", JSON_BAD, 1, 0, 0},
        {"1.}", JSON_BAD, 2, 0, 0},
        {"1.", JSON_MORE, 0, 0, 0},
        {"1e,", JSON_BAD, 2, 0, 0},
        {".5", JSON_BAD, 0, 0, 0},
        {"true", JSON_OK, 4, JSON_KIND_TRUE, 0},
        {"false", JSON_OK, 5, JSON_KIND_FALSE, 0},
        {"nul", JSON_MORE, 0, 0, 0},
        {"nux", JSON_BAD, 0, 0, 0},
        {"\"a\\nb\"", JSON_OK, 6, JSON_KIND_STRING, JSON_ESCAPED},
        {"\"a\nb\"", JSON_OK, 5, JSON_KIND_STRING, JSON_CONTROL},
        {"\"\\u00e9\"", JSON_OK, 8, JSON_KIND_STRING, JSON_ESCAPED},
        {"\"\\u00e\"", JSON_BAD, 1, 0, 0},
        {"\"\\x\"", JSON_BAD, 1, 0, 0},
        {"\"\\", JSON_MORE, 0, 0, 0},
        {"\"\\u00", JSON_MORE, 0, 0, 0},
        {"\"abc", JSON_MORE, 0, 0, 0},
        {"[1, [\"x]\", {}], {\"a\": [null]}]", JSON_OK, 30, JSON_KIND_ARRAY, 0},
        {"{\"a\": {\"b\": [1, 2]}, \"c\": true} ", JSON_OK, 31, JSON_KIND_OBJECT, 0},
        {"[]", JSON_OK, 2, JSON_KIND_ARRAY, 0},
        {"[1, ]", JSON_BAD, 4, 0, 0},
        {"[1 2]", JSON_BAD, 3, 0, 0},
        {"[1}", JSON_BAD, 2, 0, 0},
        {"{\"a\" 1}", JSON_BAD, 5, 0, 0},
        {"{\"a\": 1,}", JSON_BAD, 8, 0, 0},
        {"{a: 1}", JSON_BAD, 1, 0, 0},
        {"[[[", JSON_MORE, 0, 0, 0},
        {"N/A", JSON_BAD, 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t len = strlen(rows[i].text);
        char *text = padded(rows[i].text, len);
        struct json_scan scan = {.at = text, .end = text + len};
        struct json_value value;
        enum json_status status = json_scan_value(&scan, &value);
        bool right = status == rows[i].status;
        right = right && (status == JSON_MORE || (size_t)(scan.at - text) == rows[i].at);
        right = right &&
                (status != JSON_OK || (value.kind == rows[i].kind && value.flags == rows[i].flags));
        if (!right) {
            fail_msg("%s: status %d at %d", rows[i].text, (int)status, (int)(scan.at - text));
        }
        free(text);
    }
}

/* Every beginning of a value asks for more; nothing is refused early. */
static void cut_values_ask_for_more(void **state)
{
    static const char whole[] = "{\"a\": [1.5e3, -2, true, null, {\"b\\u00e9\\\"\": \"\\n\"}, []]}";
    size_t len = sizeof whole - 1;
    for (size_t cut = 1; cut < len; cut++) {
        char *text = padded(whole, cut);
        struct json_scan scan = {.at = text, .end = text + cut};
        struct json_value value;
        assert_int_equal(json_scan_value(&scan, &value), JSON_MORE);
        free(text);
    }
}

static void depth_is_bounded(void **state)
{
    enum { DEEP = 2 * JSON_DEPTH_MAX };
    char text[DEEP + PADDING_BYTES];
    memset(text, '[', DEEP / 2);
    memset(text + DEEP / 2, ']', DEEP / 2 + PADDING_BYTES);
    struct json_scan scan = {.at = text, .end = text + DEEP};
    struct json_value value;
    assert_int_equal(json_scan_value(&scan, &value), JSON_OK);
    assert_int_equal(value.len, DEEP);
    text[DEEP / 2] = '[';
    scan = (struct json_scan){.at = text, .end = text + DEEP};
    assert_int_equal(json_scan_value(&scan, &value), JSON_BAD);
}

static void control_characters_are_reported(void **state)
{
    char *text = padded("[\"a\tb\tc\", \"d\", \"\x01\"]", 19);
    struct json_scan scan = {.at = text, .end = text + 19};
    struct json_value value;
    assert_int_equal(json_scan_value(&scan, &value), JSON_OK);
    assert_int_equal(scan.control_values, 2);
    assert_ptr_equal(scan.control, text + 3);
    free(text);
}

static enum json_status
skip_in_parts(struct json_skip *skip, const char *text, size_t len, size_t part, size_t *at)
{
    enum json_status status = JSON_MORE;
    *at = 0;
    while (status == JSON_MORE && *at < len) {
        size_t end = *at + part < len ? *at + part : len;
        char *window = padded(text + *at, end - *at);
        const char *p = window;
        status = json_skip_value(skip, &p, window + (end - *at));
        *at += (size_t)(p - window);
        free(window);
    }
    return status;
}

static void skipped_values_tell_what_is_no_json(void **state)
{
    static const struct {
        const char *text;
        unsigned flaws;
    } rows[] = {
        {"[0, -0, 10, 1.5, 1e5, 1E-05, 1.5e+3, true, false, null, \"\\u00e9\\n\", {}, [], {\"a\": "
         "1}]",
         0},
        {"[01]", JSON_FLAW_SYNTAX},
        {"[1.]", JSON_FLAW_SYNTAX},
        {"[.5]", JSON_FLAW_SYNTAX},
        {"[1e]", JSON_FLAW_SYNTAX},
        {"[1+1]", JSON_FLAW_SYNTAX},
        {"[-]", JSON_FLAW_SYNTAX},
        {"[1 2]", JSON_FLAW_SYNTAX},
        {"[1,]", JSON_FLAW_SYNTAX},
        {"[,1]", JSON_FLAW_SYNTAX},
        {"{\"a\": 1,}", JSON_FLAW_SYNTAX},
        {"{\"a\" 1}", JSON_FLAW_SYNTAX},
        {"{\"a\":: 1}", JSON_FLAW_SYNTAX},
        {"{\"a\": \"b\": 1}", JSON_FLAW_SYNTAX},
        {"{\"a\"}", JSON_FLAW_SYNTAX},
        {"[NaN]", JSON_FLAW_WORD},
        {"[-Infinity]", JSON_FLAW_WORD},
        {"[tru]", JSON_FLAW_WORD},
        {"[nulll]", JSON_FLAW_WORD},
        {"[\"\\q\"]", JSON_FLAW_ESCAPE},
        {"[\"\\u12\", \"\\u12g4\"]", JSON_FLAW_ESCAPE},
        {"[\"\x01\"]", JSON_FLAW_CONTROL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (size_t part = 1; part < 12; part++) {
            struct json_skip skip = {.depth = 0};
            size_t at;
            assert_int_equal(skip_in_parts(&skip, rows[i].text, strlen(rows[i].text), part, &at),
                             JSON_OK);
            assert_int_equal(at, strlen(rows[i].text));
            assert_int_equal(skip.flaws, rows[i].flaws);
        }
    }
}

static void values_of_any_size_are_skipped(void **state)
{
    static const struct {
        const char *text;
        enum json_status status;
        size_t at;
    } rows[] = {
        {"{\"a\\\"]\": [1, \"}\\\\\", NaN]}, 5", JSON_OK, 25},
        {"\"abc\", 1", JSON_OK, 5},
        {"123, 1", JSON_OK, 3},
        {"null}", JSON_OK, 4},
        {"[1, 2}", JSON_BAD, 5},
        {"[\"a\"b\"]", JSON_BAD, 4},
        {"[1, 2", JSON_MORE, 5},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (size_t part = 1; part < 12; part++) {
            struct json_skip skip = {.depth = 0};
            size_t at;
            assert_int_equal(skip_in_parts(&skip, rows[i].text, strlen(rows[i].text), part, &at),
                             rows[i].status);
            assert_int_equal(at, rows[i].at);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_and_plain_search_agree),
        cmocka_unit_test(values_are_scanned),
        cmocka_unit_test(cut_values_ask_for_more),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(control_characters_are_reported),
        cmocka_unit_test(skipped_values_tell_what_is_no_json),
        cmocka_unit_test(values_of_any_size_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
