#include "ingest/base/log.h"
#include "tests/unit/unit.h"

#include <stdio.h>
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
        {"run a\" action=\"delete", "info run a\\x22 action\\x3d\\x22delete\n"},
        {"\\x0a status=200", "info \\x5cx0a status\\x3d200\n"},
        /* the direction of writing, and a line separator */
        {"a\xE2\x80\xAE"
         "b\xE2\x80\xA8",
         "info a\\xe2\\x80\\xaeb\\xe2\\x80\\xa8\n"},
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

static const struct log_field sample_fields[] = {
    {.name = "path",
     .kind = LOG_FIELD_TEXT,
     .text = "/a \"b\" \\x22\n\xFF\x1B[31m\xC2\x9B\xE2\x82\xAC"},
    {.name = "subject", .kind = LOG_FIELD_TEXT, .text = NULL},
    {.name = "status", .kind = LOG_FIELD_INT, .number = -9223372036854775807 - 1},
    {.name = "took_ms", .kind = LOG_FIELD_REAL, .real = 1.5},
};

static void fields_follow_the_message(void **state)
{
    struct capture capture;
    capture_begin(&capture, LOG_INFO);
    log_record(&capture.log, LOG_INFO, "request", sample_fields, COUNT_OF(sample_fields));
    log_record(&capture.log, LOG_DEBUG, "request", sample_fields, COUNT_OF(sample_fields));
    assert_string_equal(
        capture.text + STAMP_CHARS,
        "info request path=\"/a \\x22b\\x22 \\x5cx22\\x0a\\xff\\x1b[31m\\xc2\\x9b\xE2\x82\xAC\" "
        "status=-9223372036854775808 took_ms=1.500\n");
    capture_end(&capture);
}

static void json_is_one_object_a_line(void **state)
{
    struct capture capture;
    capture_begin(&capture, LOG_INFO);
    capture.log.format = LOG_JSON;
    log_record(&capture.log, LOG_WARN, "two\nlines", sample_fields, COUNT_OF(sample_fields));
    const char *head = "{\"time\": \"";
    assert_memory_equal(capture.text, head, strlen(head));
    const char *rest = capture.text + strlen(head) + STAMP_CHARS - 1;
    assert_int_equal(rest[-1], 'Z');
    assert_string_equal(rest,
                        "\", \"level\": \"warn\", \"message\": \"two\\nlines\", "
                        "\"path\": \"/a \\\"b\\\" \\\\x22\\n\\ufffd\\u001b[31m\\u009b\\u20ac\", "
                        "\"status\": -9223372036854775808, \"took_ms\": 1.5}\n");
    capture_end(&capture);
}

static void formats_have_names(void **state)
{
    enum log_format format = LOG_TEXT;
    assert_true(log_format_parse("json", &format));
    assert_int_equal(format, LOG_JSON);
    assert_false(log_format_parse("", &format));
    assert_true(log_format_parse("text", &format));
    assert_int_equal(format, LOG_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_have_names),
        cmocka_unit_test(only_levels_up_to_the_chosen_are_written),
        cmocka_unit_test(lines_are_safe_for_terminals),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(fields_follow_the_message),
        cmocka_unit_test(json_is_one_object_a_line),
        cmocka_unit_test(formats_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
