#include "ingest/formats/csv/line_scan.h"
#include "ingest/formats/csv/scan.h"
#include "tests/unit/ingest/formats/table_fixture.h"

#include <float.h>

#define TEXT(text) text, sizeof(text) - 1

/* A text as a stream of windows. */
struct source {
    struct input *in;
    struct text_stream stream;
};

static void open_source(struct source *source, const char *text, size_t len, size_t window_size)
{
    struct err err = ERR_INIT;
    assert_true(input_open_memory(&source->in, text, len, window_size, &err));
    assert_true(text_stream_open(&source->stream, source->in, &err));
}

static void print_row(struct buf *out, const struct csv_row *row)
{
    buf_printf(out, "%llu@%llu:", (unsigned long long)row->line, (unsigned long long)row->byte_off);
    if (row->flaw != CSV_WHOLE) {
        assert_int_equal(row->cell_count, 0);
        buf_printf(out, " %s", csv_flaw_text(row->flaw));
    }
    for (size_t i = 0; i < row->cell_count; i++) {
        buf_puts(out, " [");
        buf_append(out, row->cells[i].text, row->cells[i].len);
        buf_puts(out, "]");
    }
    buf_puts(out, row->is_last_line ? " (last)\n" : "\n");
}

/* All rows as one text: "line@offset: [cell] [cell]". */
static void
print_rows(struct buf *out, const char *text, size_t len, size_t window_size, char separator)
{
    struct source source;
    struct csv_scan scan;
    struct err err = ERR_INIT;
    bool more;
    open_source(&source, text, len, window_size);
    csv_open(&scan, &source.stream, separator, 1);
    for (;;) {
        assert_true(csv_next(&scan, &more, &err));
        if (!more) {
            break;
        }
        print_row(out, &scan.row);
    }
    csv_close(&scan);
    input_close(source.in);
}

static void rows_are_split(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *rows;
    } cases[] = {
        {TEXT(""), ""},
        {TEXT("a,b\nc,d\n"), "1@0: [a] [b]\n2@4: [c] [d]\n"},
        {TEXT("a,b\r\nc,d\r\n"), "1@0: [a] [b]\n2@5: [c] [d]\n"},
        {TEXT("a,b"), "1@0: [a] [b] (last)\n"},
        {TEXT("a,b\r"), "1@0: [a] [b] (last)\n"},
        {TEXT(",\n"), "1@0: [] []\n"},
        {TEXT("a,\n,b\n"), "1@0: [a] []\n2@3: [] [b]\n"},
        {TEXT("\n\n  \na\n\r\nb"), "4@5: [a]\n6@9: [b] (last)\n"},
        {TEXT("\"a\",\"b\"\n"), "1@0: [a] [b]\n"},
        {TEXT("\"a,b\",c\n"), "1@0: [a,b] [c]\n"},
        {TEXT("\"a\"\"b\",\"\"\n"), "1@0: [a\"b] []\n"},
        {TEXT("\"\"\"\"\n"), "1@0: [\"]\n"},
        {TEXT("\"a\nb\nc\",d\ne\n"), "1@0: [a\nb\nc] [d]\n4@10: [e]\n"},
        {TEXT("\"a\"\r\n\"b\"\r\n"), "1@0: [a]\n2@5: [b]\n"},
        {TEXT("a\"b,c \"d\"\n"), "1@0: [a\"b] [c \"d\"]\n"},
        {TEXT("\"a\"b\"c,d\n"), "1@0: [ab\"c] [d]\n"},
        {TEXT(" \"a\",b\n"), "1@0: [ \"a\"] [b]\n"},
        {TEXT("x\n\"a,b\nc,d\n"), "1@0: [x]\n2@2: a quote is not closed\n3@7: [c] [d]\n"},
        {TEXT("x\n\"a,b"), "1@0: [x]\n2@2: a quote is not closed (last)\n"},
        {TEXT("a\0b,c\n"), "1@0: [a"},
        {TEXT("\xCE\xB2,\xFF\n"), "1@0: [\xCE\xB2] [\xFF]\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (size_t w = 0; w < COUNT_OF(window_sizes); w++) {
            struct buf out;
            buf_init(&out, SIZE_MAX);
            print_rows(&out, cases[i].text, cases[i].len, window_sizes[w], ',');
            assert_string_equal(out.ptr == NULL ? "" : out.ptr, cases[i].rows);
            buf_free(&out);
        }
    }
}

static void another_separator_is_possible(void **state)
{
    struct buf out;
    buf_init(&out, SIZE_MAX);
    print_rows(&out, TEXT("a;b,c\n\"d;e\";f\n"), 0, ';');
    assert_string_equal(out.ptr, "1@0: [a] [b,c]\n2@6: [d;e] [f]\n");
    buf_free(&out);
}

/* `before`, a number of x, `behind`. */
static char *long_text(const char *before, size_t count, const char *behind, size_t *len)
{
    size_t head = strlen(before);
    *len = head + count + strlen(behind);
    char *text = malloc(*len + 1);
    assert_non_null(text);
    memset(text, 'x', *len);
    memmove(text, before, head);
    memmove(text + head + count, behind, strlen(behind));
    text[*len] = '\0';
    return text;
}

static void rows_longer_than_a_window_are_read(void **state)
{
    const size_t count = 300000;
    size_t len;
    char *text = long_text("a,\"", count, "\"\"y\",c\nd,e,f\n", &len);
    struct source source;
    struct csv_scan scan;
    struct err err = ERR_INIT;
    bool more;
    open_source(&source, text, len, 4096);
    csv_open(&scan, &source.stream, ',', 1);
    assert_true(csv_next(&scan, &more, &err) && more);
    assert_int_equal(scan.row.cell_count, 3);
    assert_int_equal(scan.row.cells[1].len, count + 2);
    assert_memory_equal(scan.row.cells[1].text + count, "\"y", 2);
    assert_true(csv_next(&scan, &more, &err) && more);
    assert_true(csv_cell_equals(&scan.row.cells[2], "f"));
    assert_int_equal(scan.row.byte_off, len - 6);
    csv_close(&scan);
    input_close(source.in);
    free(text);
}

static void rows_too_long_are_passed_over(void **state)
{
    static const char *const befores[] = {"a\nb,", "a\nb,\""};
    for (size_t i = 0; i < COUNT_OF(befores); i++) {
        size_t len;
        char *text = long_text(befores[i], CSV_ROW_BYTES_MAX + INPUT_BLOCK_BYTES * 4,
                               i == 0 ? "\nc,d\n" : "\"\nc,d\n", &len);
        struct buf out;
        buf_init(&out, SIZE_MAX);
        print_rows(&out, text, len, 0, ',');
        assert_non_null(strstr(out.ptr, i == 0 ? "2@2: the row is too long\n3@"
                                               : "2@2: a quote is not closed\n3@"));
        assert_non_null(strstr(out.ptr, ": [c] [d]\n"));
        buf_free(&out);
        free(text);
    }
}

static void rows_of_too_many_cells_are_passed_over(void **state)
{
    size_t len;
    char *text = long_text("", CSV_CELLS_MAX, "\nc,d\n", &len);
    memset(text, ',', CSV_CELLS_MAX);
    struct buf out;
    buf_init(&out, SIZE_MAX);
    print_rows(&out, text, len, 0, ',');
    assert_non_null(strstr(out.ptr, "1@0: the row is too long\n2@"));
    assert_non_null(strstr(out.ptr, ": [c] [d]\n"));
    buf_free(&out);
    free(text);
}

static void count_hostile_rows(const char *text, size_t len)
{
    struct buf out;
    buf_init(&out, SIZE_MAX);
    print_rows(&out, text, len, 0, ',');
    size_t rows = 0;
    for (size_t i = 0; i < out.len; i++) {
        rows += out.ptr[i] == '\n';
    }
    assert_true(rows > 1 && rows < 200);
    buf_free(&out);
}

/* Lines that are no rows of their own, for each opens a quote that the next one closes, only to
 * open another: no row ends before the text does, or before there are too many cells. */
static void hostile_quotes_cost_no_square_of_the_text(void **state)
{
    static const struct {
        size_t x_count, line_count;
    } cases[] = {{1, 300000}, {2000, 8000}};
    for (size_t which = 0; which < COUNT_OF(cases); which++) {
        size_t line_len;
        size_t count = cases[which].line_count;
        char *line = long_text("", cases[which].x_count, "\",\"y\n", &line_len);
        char *text = malloc(count * line_len);
        assert_non_null(text);
        for (size_t i = 0; i < count; i++) {
            memcpy(text + i * line_len, line, line_len);
        }
        count_hostile_rows(text, count * line_len);
        free(text);
        free(line);
    }
}

static void columns_are_found_by_name(void **state)
{
    static const char *const names[] = {"cycle", "pid", NULL};
    static const struct {
        const char *text;
        bool is_header;
    } cases[] = {
        {"cycle,pid\n", true},
        {"pid,x,cycle", true},
        {"\n\r\n cycle , pid\r\n", true},
        {"\"cycle\",\"pid\"\n1,2\n", true},
        {"cycle\npid\n", false},
        {"Cycle,pid\n", false},
        {"cycles,pid\n", false},
        {"\"cycle,pid", false},
        {"", false},
        {"\"cycle,\",pid\n", false},
        {"[1,cycle,pid\n", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(csv_is_header(cases[i].text, strlen(cases[i].text), ',', names),
                         cases[i].is_header);
    }
    const struct csv_cell cells[] = {{" a ", 3}, {"b", 1}, {"a", 1}};
    const struct csv_row header = {.cells = cells, .cell_count = COUNT_OF(cells)};
    assert_int_equal(csv_column(&header, "a"), 0);
    assert_int_equal(csv_column(&header, "b"), 1);
    assert_true(csv_column(&header, "c") == CSV_NO_COLUMN);
}

/* --- what cells say --- */

static struct csv_cell cell(const char *text)
{
    return (struct csv_cell){.text = text, .len = strlen(text)};
}

static void missing_values_are_known(void **state)
{
    static const char *const missing[] = {"",     "N/A",  "NA",     "nan",      "NaN",     "null",
                                          "NULL", "None", "n/a",    "<NA>",     "#N/A",    "#NA",
                                          "-nan", "-NaN", "1.#IND", "-1.#QNAN", "#N/A N/A"};
    static const char *const there[] = {" ", "0", "none", "Nan", "N/A ", "-", "inf", "NAN", "na"};
    for (size_t i = 0; i < COUNT_OF(missing); i++) {
        struct csv_cell text = cell(missing[i]);
        assert_true(csv_is_missing(&text));
    }
    for (size_t i = 0; i < COUNT_OF(there); i++) {
        struct csv_cell text = cell(there[i]);
        assert_false(csv_is_missing(&text));
    }
}

static void numbers_are_read_as_pandas_reads_them(void **state)
{
    static const struct {
        const char *text;
        double number;
    } cases[] = {
        {"0", 0},
        {"-1", -1},
        {"+1.50", 1.5},
        {" 2.25 ", 2.25},
        {".5", 0.5},
        {"5.", 5},
        {"1e3", 1000},
        {"1E-3", 0.001},
        {"156.8058", 1568058 / 1e4},
        {"737434.7500", 7374347500 / 1e4},
        /* 17 digits at most: further decimals are ignored, further integer digits shift. */
        {"0.12345678901234567899", 1234567890123456 / 1e16},
        {"12345678901234567.9", 12345678901234567.0},
        {"123456789012345678", 12345678901234567.0 * 10},
        {"1763087930003552.2500", 17630879300035522.0 / 10},
        {"00000000000000000123", 0 * 1e3},
        {"1e308", 1e308},
        {"1e-320", 1 / 1e12 / 1e308},
        {"0e999", 0},
        {"inf", HUGE_VAL},
        {"-Infinity", -HUGE_VAL},
    };
    static const char *const none[] = {"",   "-",   "abc",  "1,000", "1.2.3", "0x10",
                                       "1e", "1e+", "nan",  "1 2",   "1e400", "--1",
                                       ".",  "e5",  "infi", "1\xFF"};
    double number;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct csv_cell text = cell(cases[i].text);
        assert_true(csv_number(&text, &number));
        assert_near(number, cases[i].number, 0);
    }
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        struct csv_cell text = cell(none[i]);
        assert_false(csv_number(&text, &number));
    }
}

static void the_reader_of_pandas_is_not_the_nearest_double(void **state)
{
    double pandas = 0;
    double nearest = 1;
    size_t unequal = 0;
    for (unsigned long long digits = 10000000000000001; digits < 10000000000001001; digits++) {
        char decimal[32];
        (void)snprintf(decimal, sizeof decimal, "%llu.%llu", digits / 10, digits % 10);
        struct csv_cell text = cell(decimal);
        assert_true(csv_number(&text, &pandas) && csv_printed_number(&text, &nearest));
        assert_near(pandas, nearest, 0.125); /* an ulp */
        unequal += pandas < nearest || pandas > nearest;
    }
    assert_true(unequal > 0);
}

static void printed_numbers_are_read(void **state)
{
    static const struct {
        const char *text;
        double number;
    } cases[] = {
        {"1,234.50", 1234.5},
        {"118,687.50", 118687.5},
        {"24,867,202,484,509.46", 24867202484509.46},
        {"-2,297.25", -2297.25},
        {"+0.30", 0.3},
        {" 17 ", 17},
        {"2.48659e+13", 2.48659e13},
        {"1299571.0", 1299571},
        {".5", 0.5},
    };
    static const char *const none[] = {"",       "-",         "1,23", "1,2345", ",123",
                                       "1,,234", "12,34,567", "1,5",  "nan",    "inf",
                                       "0x1F",   "1.2,345",   "+-1",  "1e",     "4%"};
    double number;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct csv_cell text = cell(cases[i].text);
        assert_true(csv_printed_number(&text, &number));
        assert_near(number, cases[i].number, 0);
    }
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        struct csv_cell text = cell(none[i]);
        if (csv_printed_number(&text, &number)) {
            fail_msg("%s: %g", none[i], number);
        }
    }
}

static void integers_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t number;
    } cases[] = {
        {"0", 0},
        {"-7", -7},
        {" 12 ", 12},
        {"1,024", 1024},
        {"5.0", 5},
        {"5.", 5},
        {"9223372036854775807", INT64_MAX},
    };
    static const char *const none[] = {
        "", "-", "5.5", "9223372036854775808", "1e3", "1,02", "abc", ".0", "0x10", "--1"};
    int64_t number;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct csv_cell text = cell(cases[i].text);
        assert_true(csv_integer(&text, &number));
        assert_true(number == cases[i].number);
    }
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        struct csv_cell text = cell(none[i]);
        assert_false(csv_integer(&text, &number));
    }
}

/* --- lines --- */

static void print_lines(struct buf *out, const char *text, size_t len, size_t window_size)
{
    struct source source;
    struct line_scan scan;
    struct err err = ERR_INIT;
    bool more;
    open_source(&source, text, len, window_size);
    line_open(&scan, &source.stream, 1);
    for (;;) {
        assert_true(line_next(&scan, &more, &err));
        if (!more) {
            break;
        }
        buf_printf(out, "%llu@%llu[%.*s]%s%s\n", (unsigned long long)scan.line,
                   (unsigned long long)scan.byte_off, scan.len > 10 ? 10 : (int)scan.len, scan.text,
                   scan.is_too_long ? "!" : "", scan.is_last_line ? "$" : "");
    }
    input_close(source.in);
}

static void lines_are_split(void **state)
{
    static const struct {
        const char *text;
        const char *lines;
    } cases[] = {
        {"", ""},
        {"a\nb\n", "1@0[a]\n2@2[b]\n"},
        {"a\r\n\r\nb", "1@0[a]\n2@3[]\n3@5[b]$\n"},
        {"\n\n", "1@0[]\n2@1[]\n"},
        {"a\rb\r", "1@0[a\rb]$\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (size_t w = 0; w < COUNT_OF(window_sizes); w++) {
            struct buf out;
            buf_init(&out, SIZE_MAX);
            print_lines(&out, cases[i].text, strlen(cases[i].text), window_sizes[w]);
            assert_string_equal(out.ptr == NULL ? "" : out.ptr, cases[i].lines);
            buf_free(&out);
        }
    }
}

static void lines_too_long_are_cut(void **state)
{
    size_t len;
    char *text = long_text("a\n", LINE_BYTES_MAX * 3, "\nb\n", &len);
    struct buf out;
    buf_init(&out, SIZE_MAX);
    print_lines(&out, text, len, 0);
    char expected[80];
    (void)snprintf(expected, sizeof expected, "1@0[a]\n2@2[xxxxxxxxxx]!\n3@%zu[b]\n", len - 2);
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_split),
        cmocka_unit_test(another_separator_is_possible),
        cmocka_unit_test(rows_longer_than_a_window_are_read),
        cmocka_unit_test(rows_too_long_are_passed_over),
        cmocka_unit_test(rows_of_too_many_cells_are_passed_over),
        cmocka_unit_test(hostile_quotes_cost_no_square_of_the_text),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(missing_values_are_known),
        cmocka_unit_test(numbers_are_read_as_pandas_reads_them),
        cmocka_unit_test(the_reader_of_pandas_is_not_the_nearest_double),
        cmocka_unit_test(printed_numbers_are_read),
        cmocka_unit_test(integers_are_read),
        cmocka_unit_test(lines_are_split),
        cmocka_unit_test(lines_too_long_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
