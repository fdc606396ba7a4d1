#include "ingest/base/err.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static void codes_have_text_status_and_title(void **state)
{
    static const struct {
        const char *text;
        enum err_code code;
        int http_status;
    } rows[] = {
        {"none", ERR_NONE, 200},           {"bad_request", ERR_BAD_REQUEST, 400},
        {"too_large", ERR_TOO_LARGE, 413}, {"bad_input", ERR_BAD_INPUT, 422},
        {"internal", ERR_INTERNAL, 500},   {"no_space", ERR_NO_SPACE, 507},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_string_equal(err_code_text(rows[i].code), rows[i].text);
        assert_int_equal(err_http_status(rows[i].code), rows[i].http_status);
        assert_true(strlen(err_title(rows[i].code)) > 3);
    }
    assert_string_equal(err_code_text((enum err_code)9999), "internal");
}

static void set_fills_code_and_message_and_forgets_the_offset(void **state)
{
    struct err err = ERR_INIT;
    assert_false(err_set_at(&err, ERR_BAD_INPUT, 77, "no value after key \"%s\"", "ts"));
    assert_int_equal(err.code, ERR_BAD_INPUT);
    assert_int_equal(err.byte_off, 77);
    assert_string_equal(err.msg, "no value after key \"ts\"");

    assert_false(err_set(&err, ERR_NOT_FOUND, "run %d", 7));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_true(err.byte_off == ERR_NO_OFFSET);
    assert_string_equal(err.msg, "run 7");
}

static void context_stands_before_the_message(void **state)
{
    struct err err = ERR_INIT;
    (void)err_set_at(&err, ERR_BAD_INPUT, 5, "bad number");
    assert_false(err_context(&err, "event %d", 3));
    assert_false(err_context(&err, "trace %s", "a.json"));
    assert_string_equal(err.msg, "trace a.json: event 3: bad number");
    assert_int_equal(err.code, ERR_BAD_INPUT);
    assert_int_equal(err.byte_off, 5);
}

static void arguments_may_be_the_message_itself(void **state)
{
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_IO, "inner");
    (void)err_set(&err, ERR_STORE, "outer (%s)", err.msg);
    assert_string_equal(err.msg, "outer (inner)");
    (void)err_context(&err, "<%s>", err.msg);
    assert_string_equal(err.msg, "<outer (inner)>: outer (inner)");
}

static void errno_text_is_appended_and_full_disks_are_told(void **state)
{
    static const struct {
        int errnum;
        enum err_code code;
    } rows[] = {{ENOENT, ERR_IO}, {EIO, ERR_IO}, {ENOSPC, ERR_NO_SPACE}, {EDQUOT, ERR_NO_SPACE}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = ERR_INIT;
        assert_false(err_set_errno(&err, ERR_IO, rows[i].errnum, "writing %s", "x.db"));
        assert_int_equal(err.code, rows[i].code);
        assert_memory_equal(err.msg, "writing x.db: ", 14);
        assert_true(strlen(err.msg) > 14);
    }
    struct err err = ERR_INIT;
    (void)err_set_errno(&err, ERR_IO, ENOENT, "open");
    assert_string_equal(err.msg, "open: No such file or directory");
}

/* Characters of 1 to 4 bytes at every phase: the cut never splits one and never wastes one. */
static void long_messages_are_cut_at_a_characters_end(void **state)
{
    static const char *const chars[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t c = 0; c < COUNT_OF(chars); c++) {
        size_t char_len = strlen(chars[c]);
        for (size_t phase = 0; phase < 4; phase++) {
            char text[700];
            memset(text, 'x', phase);
            size_t len = phase;
            while (len + char_len < sizeof text) {
                memcpy(text + len, chars[c], char_len);
                len += char_len;
            }
            text[len] = '\0';
            struct err err = ERR_INIT;
            (void)err_set(&err, ERR_INTERNAL, "%s", text);
            size_t cut_len = strlen(err.msg);
            assert_true(cut_len > sizeof err.msg - 1 - char_len);
            assert_int_equal((cut_len - phase) % char_len, 0);

            (void)err_context(&err, "ctx");
            size_t joined_len = strlen(err.msg);
            assert_memory_equal(err.msg, "ctx: ", 5);
            assert_true(joined_len > sizeof err.msg - 1 - char_len);
            assert_int_equal((joined_len - 5 - phase) % char_len, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_have_text_status_and_title),
        cmocka_unit_test(set_fills_code_and_message_and_forgets_the_offset),
        cmocka_unit_test(context_stands_before_the_message),
        cmocka_unit_test(arguments_may_be_the_message_itself),
        cmocka_unit_test(errno_text_is_appended_and_full_disks_are_told),
        cmocka_unit_test(long_messages_are_cut_at_a_characters_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
