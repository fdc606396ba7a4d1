/* Lines of --webhooks: words, quotes, filters, rules, and what identifies a line. */
#include "server/webhooks/webhook_lines.h"
#include "tests/unit/unit.h"

#include <string.h>
#include <unistd.h>

struct lines {
    struct arena arena;
    struct webhook_line lines[WEBHOOK_LINES_MAX];
    size_t count;
    struct err err;
};

static bool read_text(struct lines *l, const char *text)
{
    char path[] = "/tmp/webhook_lines_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
    l->err = (struct err)ERR_INIT;
    arena_init(&l->arena, 0);
    bool ok = webhook_lines_read(path, &l->arena, l->lines, &l->count, &l->err);
    (void)unlink(path);
    return ok;
}

static void a_line_has_all_its_words(void **state)
{
    struct lines l;
    assert_true(
        read_text(&l, "# a comment\n\nhttps://u:p@host/path \"kernel:a \\\"b\\\" \\\\c\" tag=x=y "
                      "tag=z project=p run=/r/ device=GPU p=0.01 min_magnitude=0.1 window=20 "
                      "format=slack secret=s\n"));
    assert_int_equal(l.count, 1);
    const struct webhook_line *line = &l.lines[0];
    assert_string_equal(line->url, "https://u:p@host/path");
    assert_string_equal(line->place, "host");
    assert_string_equal(line->metric, "kernel:a \"b\" \\c");
    assert_int_equal(line->filter.tag_count, 2);
    assert_string_equal(line->filter.tags[0], "x=y");
    assert_string_equal(line->filter.run, "/r/");
    assert_true(line->filter.run_may_match);
    assert_int_equal(line->rules.window, 20);
    assert_true(line->is_slack);
    assert_string_equal(line->secret, "s");
    arena_free(&l.arena);
}

static void a_secret_makes_no_other_line(void **state)
{
    struct lines l;
    assert_true(read_text(&l, "http://h/a step_time\nhttp://h/a step_time secret=s format=json\n"
                              "http://h/a step_time tag=x\nhttp://h/b step_time"));
    assert_int_equal(l.count, 4);
    assert_string_equal(l.lines[0].sha256_hex, l.lines[1].sha256_hex);
    assert_string_not_equal(l.lines[0].sha256_hex, l.lines[2].sha256_hex);
    assert_string_not_equal(l.lines[0].sha256_hex, l.lines[3].sha256_hex);
    assert_string_equal(l.lines[3].place, "http://h");
    arena_free(&l.arena);
}

static void what_is_wrong_is_refused_with_its_line(void **state)
{
    static const char *const texts[] = {"x",
                                        "http://h/",
                                        "ftp://h/ step_time",
                                        "http:/// step_time",
                                        "http://h/ none",
                                        "http://h/ step_time x",
                                        "http://h/ step_time window=1",
                                        "http://h/ step_time p=2",
                                        "http://h/ \"step_time",
                                        "http://h/ step_time tag="};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[200];
        struct lines l;
        (void)snprintf(text, sizeof text, "http://h/ step_time\n%s\n", texts[i]);
        assert_false(read_text(&l, text));
        assert_int_equal(l.err.code, ERR_BAD_INPUT);
        assert_non_null(strstr(l.err.msg, "line 2"));
        arena_free(&l.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_all_its_words),
        cmocka_unit_test(a_secret_makes_no_other_line),
        cmocka_unit_test(what_is_wrong_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
