#include "server/http/negotiate.h"
#include "tests/unit/unit.h"

static void gzip_is_taken_when_wanted(void **state)
{
    static const struct {
        const char *header;
        bool expect;
    } rows[] = {
        {NULL, false},
        {"", false},
        {"gzip", true},
        {"GZIP", true},
        {"deflate, gzip, br", true},
        {"gzip;q=0", false},
        {"gzip; q=0.001", true},
        {"gzip;q=0.5, identity;q=0.6", false},
        {"gzip;q=0.5, identity;q=0.5", true},
        {"identity", false},
        {"*", true},
        {"*;q=0", false},
        {"*;q=0, gzip", true},
        {"gzip;q=0, *", false},
        {"gzipped", false},
        {",,gzip ;q=1.0,", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(negotiate_gzip(rows[i].header), rows[i].expect);
    }
}

static void etags_compare_weakly(void **state)
{
    assert_false(negotiate_etag_matches(NULL, "\"a\""));
    assert_true(negotiate_etag_matches("\"a\"", "\"a\""));
    assert_true(negotiate_etag_matches("W/\"a\"", "\"a\""));
    assert_true(negotiate_etag_matches("\"x\", W/\"a\" ", "W/\"a\""));
    assert_true(negotiate_etag_matches("*", "\"a\""));
    assert_false(negotiate_etag_matches("\"ab\"", "\"a\""));
    assert_false(negotiate_etag_matches("a", "\"a\""));
}

static void browsers_are_known_by_accept(void **state)
{
    assert_false(negotiate_html(NULL));
    assert_false(negotiate_html("*/*"));
    assert_false(negotiate_html("application/json"));
    assert_true(negotiate_html("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"));
    assert_false(negotiate_html("text/html;q=0"));
}

static void words_of_a_list_are_found(void **state)
{
    assert_true(negotiate_has_word("TE, Keep-Alive", "keep-alive"));
    assert_false(negotiate_has_word("keep-alive-not", "keep-alive"));
    assert_false(negotiate_has_word(NULL, "close"));
}

static void ranges_over_ten_bytes(void **state)
{
    static const struct {
        const char *header;
        enum negotiate_range expect;
        uint64_t first, len;
    } rows[] = {
        {NULL, RANGE_WHOLE, 0, 0},
        {"bytes=0-", RANGE_PART, 0, 10},
        {"bytes=0-0", RANGE_PART, 0, 1},
        {"bytes=3-5", RANGE_PART, 3, 3},
        {"bytes=3-99", RANGE_PART, 3, 7},
        {"bytes=9-", RANGE_PART, 9, 1},
        {"bytes=10-", RANGE_OUTSIDE, 0, 0},
        {"bytes=-3", RANGE_PART, 7, 3},
        {"bytes=-99", RANGE_PART, 0, 10},
        {"bytes=-0", RANGE_OUTSIDE, 0, 0},
        {"bytes=5-3", RANGE_WHOLE, 0, 0},
        {"bytes=-", RANGE_WHOLE, 0, 0},
        {"bytes=0-1,4-5", RANGE_WHOLE, 0, 0},
        {"items=0-1", RANGE_WHOLE, 0, 0},
        {"bytes=a-b", RANGE_WHOLE, 0, 0},
        {"bytes=99999999999999999999-", RANGE_WHOLE, 0, 0},
        {"bytes=18446744073709551615-", RANGE_OUTSIDE, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t first = 0;
        uint64_t len = 0;
        assert_int_equal(negotiate_range(rows[i].header, 10, &first, &len), rows[i].expect);
        if (rows[i].expect == RANGE_PART) {
            assert_int_equal(first, rows[i].first);
            assert_int_equal(len, rows[i].len);
        }
    }
}

static void an_empty_file_has_no_range(void **state)
{
    uint64_t first;
    uint64_t len;
    assert_int_equal(negotiate_range("bytes=0-", 0, &first, &len), RANGE_OUTSIDE);
    assert_int_equal(negotiate_range("bytes=-1", 0, &first, &len), RANGE_OUTSIDE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_is_taken_when_wanted),
        cmocka_unit_test(etags_compare_weakly),
        cmocka_unit_test(browsers_are_known_by_accept),
        cmocka_unit_test(words_of_a_list_are_found),
        cmocka_unit_test(ranges_over_ten_bytes),
        cmocka_unit_test(an_empty_file_has_no_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
