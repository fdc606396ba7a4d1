#include "api/table/csv.h"
#include "api/table/field.h"
#include "tests/unit/unit.h"

#include <math.h>

static void check_text(const char *text, const char *expected)
{
    struct buf out;
    struct csv_write csv;
    buf_init(&out, 1000);
    csv_write_init(&csv, &out);
    csv_text(&csv, text);
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static void quotes_where_needed(void **state)
{
    check_text("plain", "plain");
    check_text("", "");
    check_text(NULL, "");
    check_text("a,b", "\"a,b\"");
    check_text("a\"b", "\"a\"\"b\"");
    check_text("\"", "\"\"\"\"");
    check_text("a\nb", "\"a\nb\"");
    check_text("a\r\nb", "\"a\r\nb\"");
    check_text(" a", "\" a\"");
}

static void guards_against_formulas(void **state)
{
    check_text("=1+1", "'=1+1");
    check_text("+1", "'+1");
    check_text("-1", "'-1");
    check_text("@SUM(A1)", "'@SUM(A1)");
    check_text("=A1,\"x\"", "\"'=A1,\"\"x\"\"\"");
    check_text("\t=1", "\"'\t=1\"");
    check_text("\n=1", "\"'\n=1\"");
    check_text("f;=1+1", "\"f;=1+1\"");
    check_text("f\t=1+1", "\"f\t=1+1\"");
    check_text("\r=1", "\"'\r=1\"");
    check_text("a=1", "a=1");
}

static void write_row(struct field_out *out, int64_t number)
{
    static const char *const pair[] = {"p", "q,r"};
    field_row_begin(out);
    field_text(out, "name", "-x");
    field_int(out, "count", number);
    field_double(out, "mean", 0.5);
    field_double(out, "none", (double)NAN);
    field_bool(out, "yes", true);
    field_null(out, "null");
    field_texts(out, "pair", pair, 2);
    field_row_end(out);
}

static void rows_serve_both_notations(void **state)
{
    struct buf text;
    struct csv_write csv;
    struct json_write json;
    buf_init(&text, 1000);
    csv_write_init(&csv, &text);
    struct field_out out = {.notation = FIELD_CSV_HEADER, .csv = &csv};
    write_row(&out, 0);
    out.notation = FIELD_CSV;
    write_row(&out, -5);
    assert_string_equal(text.ptr, "name,count,mean,none,yes,null,pair_1,pair_2\r\n"
                                  "'-x,-5,0.5,,true,,p,\"q,r\"\r\n");
    buf_clear(&text);
    jw_init(&json, &text, false);
    out = (struct field_out){.notation = FIELD_JSON, .json = &json};
    write_row(&out, -5);
    assert_string_equal(text.ptr,
                        "{\"name\": \"-x\", \"count\": -5, \"mean\": 0.5, \"none\": null, "
                        "\"yes\": true, \"null\": null, \"pair\": [\"p\", \"q,r\"]}");
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_where_needed),
        cmocka_unit_test(guards_against_formulas),
        cmocka_unit_test(rows_serve_both_notations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
