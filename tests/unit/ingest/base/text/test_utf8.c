#include "ingest/base/text/utf8.h"
#include "tests/unit/unit.h"

#include <string.h>

struct decode_row {
    const char *text;
    size_t len; /* of the first character, or of the bytes one U+FFFD stands for */
    uint32_t code_point;
};

static void characters_are_decoded(void **state)
{
    static const struct decode_row rows[] = {
        {"a", 1, 'a'},
        {"\x7F", 1, 0x7F},
        {"\xC2\x80", 2, 0x80},
        {"\xDF\xBF", 2, 0x7FF},
        {"\xE0\xA0\x80", 3, 0x800},
        {"\xED\x9F\xBF", 3, 0xD7FF},
        {"\xEE\x80\x80", 3, 0xE000},
        {"\xEF\xBF\xBF", 3, 0xFFFF},
        {"\xF0\x90\x80\x80", 4, 0x10000},
        {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF},
        /* lone continuation, bytes that begin nothing, overlong forms */
        {"\x80", 1, UTF8_INVALID},
        {"\xC0\x80", 1, UTF8_INVALID},
        {"\xC1\xBF", 1, UTF8_INVALID},
        {"\xE0\x9F\xBF", 1, UTF8_INVALID},
        {"\xF0\x8F\xBF\xBF", 1, UTF8_INVALID},
        {"\xF5\x80\x80\x80", 1, UTF8_INVALID},
        {"\xFF", 1, UTF8_INVALID},
        /* surrogate, beyond U+10FFFF */
        {"\xED\xA0\x80", 1, UTF8_INVALID},
        {"\xF4\x90\x80\x80", 1, UTF8_INVALID},
        /* broken off: by the end, by another character */
        {"\xE2\x82", 2, UTF8_INVALID},
        {"\xF0\x9F\x98", 3, UTF8_INVALID},
        {"\xF0\x9F\x98"
         "A",
         3, UTF8_INVALID},
        {"\xC3(", 1, UTF8_INVALID},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t code_point = 0;
        size_t len = utf8_decode(rows[i].text, strlen(rows[i].text), &code_point);
        if (len != rows[i].len || code_point != rows[i].code_point) {
            fail_msg("row %zu: %zu bytes, U+%X", i, len, (unsigned)code_point);
        }
    }
}

static void a_text_is_valid_if_all_of_it_is(void **state)
{
    static const char character[] = {'\xF0', '\x9F', '\x98', '\x80'};
    char text[300];
    assert_true(utf8_is_valid("", 0));
    for (size_t len = 4; len <= sizeof text; len += 7) {
        memset(text, 'a', len);
        assert_true(utf8_is_valid(text, len));
        for (size_t at = 0; at + 4 <= len; at++) {
            memcpy(text + at, character, sizeof character);
            assert_true(utf8_is_valid(text, len));
            text[at + 3] = 'a';
            assert_false(utf8_is_valid(text, len));
            assert_false(utf8_is_valid(text, at + 3));
            memset(text + at, 'a', 4);
        }
    }
}

static void cut_drops_only_a_broken_last_character(void **state)
{
    static const struct {
        const char *text;
        size_t len;
    } rows[] = {
        {"", 0},
        {"abc", 3},
        {"ab\xC3", 2},
        {"ab\xC3\xA9", 4},
        {"a\xE2\x82", 1},
        {"a\xE2\x82\xAC", 4},
        {"\xF0\x9F\x98", 0},
        {"\xF0\x9F\x98\x80", 4},
        {"a\x80\x80\x80\x80", 5},
        {"\xFF", 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(utf8_cut(rows[i].text, strlen(rows[i].text)), rows[i].len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_decoded),
        cmocka_unit_test(a_text_is_valid_if_all_of_it_is),
        cmocka_unit_test(cut_drops_only_a_broken_last_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
