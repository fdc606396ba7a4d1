#include "server/cli/report/table.h"
#include "server/cli/text.h"
#include "tests/unit/unit.h"

#include <math.h>

static void times_choose_their_unit(void **state)
{
    static const struct {
        double ns;
        const char *expect;
    } rows[] = {
        {0, "0 ns"},
        {999, "999 ns"},
        {999.6, "1.00 \xC2\xB5s"},
        {12345, "12.3 \xC2\xB5s"},
        {99960, "100 \xC2\xB5s"},
        {4560000, "4.56 ms"},
        {1234000000, "1.23 s"},
        {123400000000, "123 s"},
        {-4560000, "-4.56 ms"},
    };
    char text[TEXT_FIGURE_BYTES];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        text_time(text, rows[i].ns);
        assert_string_equal(text, rows[i].expect);
    }
    text_time(text, (double)NAN);
    assert_string_equal(text, "-");
}

static void counts_bytes_and_shares(void **state)
{
    char text[TEXT_FIGURE_BYTES];
    text_count(text, 0);
    assert_string_equal(text, "0");
    text_count(text, 1234567);
    assert_string_equal(text, "1,234,567");
    text_count(text, -100);
    assert_string_equal(text, "-100");
    text_count(text, INT64_MIN);
    assert_string_equal(text, "-9,223,372,036,854,775,808");
    text_bytes(text, 512);
    assert_string_equal(text, "512 B");
    text_bytes(text, 1536);
    assert_string_equal(text, "1.50 KiB");
    text_bytes(text, 25769803776);
    assert_string_equal(text, "24.0 GiB");
    text_share(text, 0.3656);
    assert_string_equal(text, "36.6%");
    text_share(text, -0.0);
    assert_string_equal(text, "0.0%");
}

static void nothing_from_a_file_steers_the_terminal(void **state)
{
    struct buf out;
    buf_init(&out, 1000);
    text_clean(&out, "a\033[31m\r\n\xC2\x9Bz\xFF\xC3\xA9");
    assert_string_equal(
        out.ptr, "a\xEF\xBF\xBD[31m\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xC3\xA9");
    buf_free(&out);
}

/* What is printed for an error, whole. */
static void assert_printed(const char *path, const struct err *err, const char *expect)
{
    char line[1024];
    FILE *stream = tmpfile();
    assert_non_null(stream);
    text_print_error(stream, path, err);
    rewind(stream);
    line[fread(line, 1, sizeof line - 1, stream)] = '\0';
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(line, expect);
}

static void an_error_is_one_safe_line(void **state)
{
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_BAD_INPUT, "no\nJSON");
    assert_printed(NULL, &err, "kinetoscope: no\xEF\xBF\xBDJSON\n");
    assert_printed("a\x1B[2J.json", &err,
                   "kinetoscope: a\xEF\xBF\xBD[2J.json: no\xEF\xBF\xBDJSON\n");
    (void)err_set_at(&err, ERR_BAD_INPUT, 5000000000, "no number");
    assert_printed("a", &err, "kinetoscope: a: no number (at byte 5000000000)\n");
}

static void a_file_name_follows_the_last_slash(void **state)
{
    assert_string_equal(text_file_name("a.json"), "a.json");
    assert_string_equal(text_file_name("/b/c//a.json"), "a.json");
    assert_string_equal(text_file_name("b/"), "");
    assert_string_equal(text_file_name(""), "");
}

static void kernel_names_keep_what_tells_them_apart(void **state)
{
    static const struct {
        const char *name;
        size_t width;
        const char *expect;
    } rows[] = {
        {"sgemm_128x64_nn", 40, "sgemm_128x64_nn"},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::F<float>, "
         "at::detail::Array<char*, 2> >(int, F, Array)",
         80, "at::native::vectorized_elementwise_kernel<4, \xE2\x80\xA6> (F)"},
        {"void (anonymous namespace)::k<float>(float*)", 80, "k<float>"},
        {"void k<a<b>>(void (*)(int))", 80, "k<\xE2\x80\xA6> (a)"},
        {"Memcpy HtoD (Pageable -> Device)", 80, "Memcpy HtoD (Pageable -> Device)"},
        {"(x)", 80, "(x)"},
        {"abcdefghij", 5, "abcd\xE2\x80\xA6"},
        {"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 3, "\xC3\xA9\xC3\xA9\xE2\x80\xA6"},
        {"k<Foo<float>, 4>", 80, "k<\xE2\x80\xA6> (Foo)"},
        {"a<b", 80, "a<b"},
        {"", 10, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        buf_init(&out, 1000);
        text_short_name(&out, rows[i].name, TEXT_NAME_SHORT, rows[i].width);
        assert_string_equal(out.ptr, rows[i].expect);
        buf_free(&out);
    }
}

static void a_full_name_keeps_its_parameters(void **state)
{
    struct buf out;
    buf_init(&out, 1000);
    text_short_name(&out, "void k<Foo<float>, 4>(int)", TEXT_NAME_FULL, 80);
    assert_string_equal(out.ptr, "k<Foo<float>, 4>");
    buf_free(&out);
}

static void tables_align_by_characters(void **state)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct report_table table;
    report_table_init(
        &table, &arena,
        (const struct report_column[]){{"name", true}, {"", true}, {"time", false}, {NULL, false}});
    report_table_cell(&table, "a|b");
    report_table_cell(&table, "1 \xC2\xB5s");
    report_table_cell(&table, "\xC3\xA9");
    report_table_cell(&table, "12 ms");
    struct buf out;
    buf_init(&out, 1000);
    report_table_write(&table, false, &out);
    assert_string_equal(out.ptr, "  name   time\n"
                                 "  a|b    1 \xC2\xB5s\n"
                                 "  \xC3\xA9     12 ms\n");
    buf_clear(&out);
    report_table_write(&table, true, &out);
    assert_string_equal(out.ptr, "| name | time |\n"
                                 "|---|---:|\n"
                                 "| a\\|b | 1 \xC2\xB5s |\n"
                                 "| \xC3\xA9 | 12 ms |\n");
    buf_free(&out);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_choose_their_unit),
        cmocka_unit_test(counts_bytes_and_shares),
        cmocka_unit_test(nothing_from_a_file_steers_the_terminal),
        cmocka_unit_test(an_error_is_one_safe_line),
        cmocka_unit_test(a_file_name_follows_the_last_slash),
        cmocka_unit_test(kernel_names_keep_what_tells_them_apart),
        cmocka_unit_test(a_full_name_keeps_its_parameters),
        cmocka_unit_test(tables_align_by_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
