#include "ingest/formats/json/text.h"
#include "tests/unit/unit.h"

#include <string.h>

#define TEXT_BYTES_MAX ((size_t)1 << 16)

static struct json_value slice(const char *text, enum json_kind kind)
{
    bool decimal = kind == JSON_KIND_NUMBER && strpbrk(text, ".eE") != NULL;
    return (struct json_value){.ptr = text,
                               .len = (uint32_t)strlen(text),
                               .kind = (uint8_t)kind,
                               .flags = decimal ? JSON_DECIMAL : 0};
}

static void times_are_exact(void **state)
{
    static const struct {
        const char *text;
        enum json_time found;
        bool decimal;
        int64_t ns;
    } rows[] = {
        {"0", JSON_TIME_OK, false, 0},
        {"1666149715033200", JSON_TIME_OK, false, 1666149715033200000},
        {"1712195495519689.047", JSON_TIME_OK, true, 1712195495519689047},
        {"1623143089861602.9996", JSON_TIME_OK, true, 1623143089861603000},
        {"1623143089861602.9994", JSON_TIME_OK, true, 1623143089861602999},
        {"63.813", JSON_TIME_OK, true, 63813},
        {"53.09", JSON_TIME_OK, true, 53090},
        {"0.1", JSON_TIME_OK, true, 100},
        {"68.0", JSON_TIME_OK, true, 68000},
        {"1.0005", JSON_TIME_OK, true, 1001},
        {"1.00049", JSON_TIME_OK, true, 1000},
        {"-1.0005", JSON_TIME_OK, true, -1001},
        {"-5", JSON_TIME_OK, false, -5000},
        {"0.0004999999999999999999999999", JSON_TIME_OK, true, 0},
        {"0.0005", JSON_TIME_OK, true, 1},
        {"1e3", JSON_TIME_OK, true, 1000000},
        {"1.5e-3", JSON_TIME_OK, true, 2},
        {"2.5E+2", JSON_TIME_OK, true, 250000},
        {"1e-300", JSON_TIME_OK, true, 0},
        {"0e99999", JSON_TIME_OK, true, 0},
        {"4611686018427387.903", JSON_TIME_OK, true, 4611686018427387903},
        {"4611686018427387.904", JSON_TIME_RANGE, true, 0},
        {"18446744073709551615", JSON_TIME_RANGE, false, 0},
        {"-18446744073709551615", JSON_TIME_RANGE, false, 0},
        {"1e300", JSON_TIME_RANGE, true, 0},
        {"99999999999999999999999999999999", JSON_TIME_RANGE, false, 0},
        {"12345678901234567890123456789e-20", JSON_TIME_OK, true, 123456789012},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (int as_string = 0; as_string < 2; as_string++) {
            int64_t ns = 0;
            bool decimal = false;
            struct json_value value =
                slice(rows[i].text, as_string ? JSON_KIND_STRING : JSON_KIND_NUMBER);
            enum json_time found = json_text_time(&value, &ns, &decimal);
            bool right = found == rows[i].found && decimal == rows[i].decimal &&
                         (found != JSON_TIME_OK || ns == rows[i].ns);
            if (!right) {
                fail_msg("%s: %d, %lld", rows[i].text, (int)found, (long long)ns);
            }
        }
    }
}

static void other_values_are_no_times(void **state)
{
    int64_t ns;
    bool decimal = false;
    static const char *const texts[] = {"",  "abc", "1.2.3", "12 us",
                                        "-", ".",   "1e",    "1e9999999999"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct json_value value = slice(texts[i], JSON_KIND_STRING);
        assert_int_equal(json_text_time(&value, &ns, &decimal), JSON_TIME_NONE);
    }
    struct json_value null = slice("null", JSON_KIND_NULL);
    assert_int_equal(json_text_time(&null, &ns, &decimal), JSON_TIME_NONE);
}

static void integers_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t number;
        int64_t bits;
        bool is_int;
        bool is_bits;
    } rows[] = {
        {"0", 0, 0, true, true},
        {"-7", -7, -7, true, true},
        {"9223372036854775807", INT64_MAX, INT64_MAX, true, true},
        {"9223372036854775808", 0, INT64_MIN, false, true},
        {"18446744073709551615", 0, -1, false, true},
        {"18446744073709551616", 0, 0, false, false},
        {"16642998272.0", 16642998272, 16642998272, true, true},
        {"1e3", 1000, 1000, true, true},
        {"1.5", 0, 0, false, false},
        {"1e30", 0, 0, false, false},
        {"-9223372036854775809", 0, 0, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json_value value = slice(rows[i].text, JSON_KIND_NUMBER);
        int64_t number = 0;
        int64_t bits = 0;
        assert_int_equal(json_text_int(&value, &number), rows[i].is_int);
        assert_int_equal(json_text_bits(&value, &bits), rows[i].is_bits);
        assert_true(!rows[i].is_int || number == rows[i].number);
        assert_true(!rows[i].is_bits || bits == rows[i].bits);
    }
}

static void python_reads_integers_from_texts(void **state)
{
    int64_t number;
    assert_true(json_text_parse_int("25738", 5, &number) && number == 25738);
    assert_true(json_text_parse_int(" -5\n", 4, &number) && number == -5);
    assert_true(json_text_parse_int("+5", 2, &number) && number == 5);
    assert_false(json_text_parse_int("stream 7", 8, &number));
    assert_false(json_text_parse_int("", 0, &number));
    assert_false(json_text_parse_int("-", 1, &number));
    assert_false(json_text_parse_int("99999999999999999999", 20, &number));
}

static void strings_are_decoded(void **state)
{
    static const struct {
        const char *json;
        const char *text;
        uint32_t nuls;
        uint32_t surrogates;
    } rows[] = {
        {"plain", "plain", 0, 0},
        {"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t", "a\"b\\c/d\b\f\n\r\t", 0, 0},
        {"\\u00e9\\u20AC\\uD83D\\uDE00", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 0, 0},
        {"\\uD83Dx", "\xEF\xBF\xBDx", 0, 1},
        {"\\uDE00\\uD83D", "\xEF\xBF\xBD\xEF\xBF\xBD", 0, 2},
        {"a\\u0000b",
         "a\xEF\xBF\xBD"
         "b",
         1, 0},
        {"C:\\Users\\x", "C:\\Users\\x", 0, 0},
        {"tail\\", "tail\\", 0, 0},
        {"\xC3\xA9\xFF\xE2\x82", "\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD", 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json_value value = slice(rows[i].json, JSON_KIND_STRING);
        struct json_repairs repairs = {0};
        struct buf text;
        buf_init(&text, TEXT_BYTES_MAX);
        json_text_string(&value, &text, &repairs);
        assert_string_equal(text.ptr, rows[i].text);
        assert_int_equal(repairs.nul_count, rows[i].nuls);
        assert_int_equal(repairs.utf8_count, rows[i].surrogates);
        buf_free(&text);
    }
}

static void values_print_as_in_python(void **state)
{
    static const struct {
        const char *json;
        enum json_kind kind;
        const char *text;
    } rows[] = {
        {"[[2,8,5],[]]", JSON_KIND_ARRAY, "[[2, 8, 5], []]"},
        {"[ [ 1 ] ,\n null, true,false ]", JSON_KIND_ARRAY, "[[1], None, True, False]"},
        {"[\"float\", \"it's\", \"a\\\"'b\", \"\\n\\\\\"]", JSON_KIND_ARRAY,
         "['float', \"it's\", 'a\"\\'b', '\\n\\\\']"},
        {"[1.0, 1e-5, 1e16, 0.1, -0, -0.0]", JSON_KIND_ARRAY, "[1.0, 1e-05, 1e+16, 0.1, 0, -0.0]"},
        {"{\"a\":1,\"b\":[2]}", JSON_KIND_OBJECT, "{'a': 1, 'b': [2]}"},
        {"[\"\\u00e9\\u00a0\\u200b\"]", JSON_KIND_ARRAY, "['\xC3\xA9\\xa0\\u200b']"},
        {"[NaN, -Infinity, N/A]", JSON_KIND_ARRAY, "[nan, -inf, 'N/A']"},
        {"N/A", JSON_KIND_BARE, "N/A"},
        {"null", JSON_KIND_NULL, "None"},
        {"true", JSON_KIND_TRUE, "True"},
        {"32", JSON_KIND_NUMBER, "32"},
        {"12345678901234567890123", JSON_KIND_NUMBER, "12345678901234567890123"},
        {"0.50", JSON_KIND_NUMBER, "0.5"},
        {"a 'b'", JSON_KIND_STRING, "a 'b'"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json_value value = slice(rows[i].json, rows[i].kind);
        struct buf text;
        buf_init(&text, TEXT_BYTES_MAX);
        json_text_python(&value, &text, NULL);
        assert_string_equal(text.ptr, rows[i].text);
        buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_exact),     cmocka_unit_test(other_values_are_no_times),
        cmocka_unit_test(integers_are_read),   cmocka_unit_test(python_reads_integers_from_texts),
        cmocka_unit_test(strings_are_decoded), cmocka_unit_test(values_print_as_in_python),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
