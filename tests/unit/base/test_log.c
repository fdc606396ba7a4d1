#include "ingest/base/log.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the lines hold after the 25 characters "2024-05-06T07:08:09.123Z ". */
#define STAMP_CHARS 25

struct capture {
    struct log log;
    char *text;
    size_t len;
};

static void capture_begin(struct capture *capture, enum log_level level)
{
    *capture = (struct capture){.log = {.level = level}};
    capture->log.stream = open_memstream(&capture->text, &capture->len);
    assert_non_null(capture->log.stream);
}

static void capture_end(struct capture *capture)
{
    assert_int_equal(fclose(capture->log.stream), 0);
    free(capture->text);
}

static void levels_have_names(void **state)
{
    (void)state;
    static const char *const words[] = {"error", "warn", "info", "debug"};
    enum log_level level = LOG_ERROR;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        assert_true(log_level_parse(words[i], &level));
        assert_int_equal(level, i);
    }
    assert_false(log_level_parse("", &level));
    assert_false(log_level_parse("INFO", &level));
    assert_int_equal(level, LOG_DEBUG);
}

static void only_levels_up_to_the_chosen_are_written(void **state)
{
    (void)state;
    for (int chosen = LOG_ERROR; chosen <= LOG_DEBUG; chosen++) {
        for (int level = LOG_ERROR; level <= LOG_DEBUG; level++) {
            struct capture capture;
            capture_begin(&capture, (enum log_level)chosen);
            log_write(&capture.log, (enum log_level)level, "x");
            assert_int_equal(capture.len != 0, level <= chosen);
            capture_end(&capture);
        }
    }
    log_write(NULL, LOG_ERROR, "nowhere");
}

static void lines_are_safe_for_terminals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *line;
    } rows[] = {
        {"run a is ready", "info run a is ready\n"},
        {"", "info \n"},
        {"two\nlines\r\t", "info two\\x0alines\\x0d\\x09\n"},
        {"\x1B[31mred\x7F", "info \\x1b[31mred\\x7f\n"},
        {"caf\xC3\xA9 \xE2\x82\xAC", "info caf\xC3\xA9 \xE2\x82\xAC\n"},
        {"c1 \xC2\x9B"
         "31m",
         "info c1 \\xc2\\x9b31m\n"},
        {"bad \xFF\xC3", "info bad \\xff\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct capture capture;
        capture_begin(&capture, LOG_INFO);
        log_write(&capture.log, LOG_INFO, "%s", rows[i].text);
        assert_true(capture.len > STAMP_CHARS);
        assert_int_equal(capture.text[10], 'T');
        assert_memory_equal(capture.text + STAMP_CHARS - 2, "Z ", 2);
        assert_string_equal(capture.text + STAMP_CHARS, rows[i].line);
        capture_end(&capture);
    }
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    char *text = malloc(100001);
    assert_non_null(text);
    memset(text, '\n', 100000);
    text[100000] = '\0';
    struct capture capture;
    capture_begin(&capture, LOG_INFO);
    log_write(&capture.log, LOG_INFO, "%s", text);
    assert_true(capture.len > 1000 && capture.len < 10000);
    assert_ptr_equal(strchr(capture.text, '\n'), capture.text + capture.len - 1);
    capture_end(&capture);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_have_names),
        cmocka_unit_test(only_levels_up_to_the_chosen_are_written),
        cmocka_unit_test(lines_are_safe_for_terminals),
        cmocka_unit_test(long_lines_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
