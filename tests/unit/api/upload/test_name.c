#include "api/upload/name.h"
#include "tests/unit/unit.h"

#include <string.h>

static bool run_is_good(const char *name)
{
    struct err err = ERR_INIT;
    bool good = upload_name_check_run(name, &err);
    assert_int_equal(err.code, good ? ERR_NONE : ERR_BAD_REQUEST);
    return good;
}

static bool file_is_good(const char *name)
{
    struct err err = ERR_INIT;
    bool good = upload_name_check_file(name, &err);
    assert_int_equal(err.code, good ? ERR_NONE : ERR_BAD_REQUEST);
    return good;
}

static void takes_good_names(void **state)
{
    static const char *const names[] = {
        "r", "...", ".hidden", "a b", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "100%", "a\\b", "-"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(run_is_good(names[i]));
        assert_true(file_is_good(names[i]));
    }
    assert_true(run_is_good("team/run"));
    assert_false(file_is_good("team/run"));
}

static void refuses_bad_names(void **state)
{
    static const char *const names[] = {"",        ".",        "..",   "a\nb",  "\t",
                                        "a\x7F",   "\xC2\x85", "\xFF", "a\xC3", "\xED\xA0\x80",
                                        "\xC0\xAF"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_false(run_is_good(names[i]));
        assert_false(file_is_good(names[i]));
    }
}

static void bounds_the_length(void **state)
{
    char name[UPLOAD_NAME_MAX_BYTES + 2];
    memset(name, 'x', sizeof name - 1);
    name[UPLOAD_NAME_MAX_BYTES + 1] = '\0';
    assert_false(run_is_good(name));
    name[UPLOAD_NAME_MAX_BYTES] = '\0';
    assert_true(run_is_good(name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_good_names),
        cmocka_unit_test(refuses_bad_names),
        cmocka_unit_test(bounds_the_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
