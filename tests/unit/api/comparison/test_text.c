/* A comparison in words and tables: CSV, Markdown, plain text, JSON. */
#include "api/comparison/text/text.h"
#include "api/comparison/text/words.h"
#include "api/table/field.h"
#include "api/table/markdown_table.h"
#include "ingest/base/text/json_write.h"
#include "ingest/model/tables.h"
#include "ingest/query/compare/compare_query.h"
#include "tests/unit/ingest/analysis/compare/compare_fixture.h"
#include "tests/unit/ingest/formats/table_fixture.h"

#define TEXT_MAX ((size_t)64 << 20)

/* ---- tables ---- */

struct cells {
    const char *const *texts; /* row by row */
    size_t columns;
};

static void cell_of(const void *ctx, size_t row, size_t column, struct buf *out)
{
    const struct cells *cells = ctx;
    buf_puts(out, cells->texts[row * cells->columns + column]);
}

static void check_table(const char *const *texts,
                        size_t rows,
                        const char *const *headers,
                        size_t columns,
                        enum markdown_table_column first,
                        enum markdown_table_floats floats,
                        const char *expected)
{
    const enum markdown_table_column types[] = {first, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL,
                                                MARKDOWN_TABLE_CELL};
    const struct cells cells = {texts, columns};
    struct buf out;
    buf_init(&out, TEXT_MAX);
    markdown_table_write(&out, &(struct markdown_table){.row_count = rows,
                                                        .column_count = columns,
                                                        .headers = headers,
                                                        .columns = types,
                                                        .floats = floats,
                                                        .cell = cell_of,
                                                        .ctx = &cells});
    assert_false(out.failed);
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static void columns_are_what_their_cells_are(void **state)
{
    static const char *const headers[] = {"name", "int", "float", "Δμ"};
    static const char *const texts[] = {
        "a",  "12", "+0.30",     "1,234.50", /* a separator makes a column text */
        "bβ", "-7", "1164.7928", " 2.5 ",    /* six digits */
        "c",  "0",  "nan",       "-1",
    };
    check_table(texts, 3, headers, 4, MARKDOWN_TABLE_NAME, MARKDOWN_TABLE_G,
                "| name   |   int |   float | Δμ       |\n"
                "|:-------|------:|--------:|:---------|\n"
                "| a      |    12 |    0.3  | 1,234.50 |\n"
                "| bβ     |    -7 | 1164.79 | 2.5      |\n"
                "| c      |     0 |  nan    | -1       |\n");
}

static void large_and_small_numbers_have_exponents(void **state)
{
    static const char *const headers[] = {"x"};
    static const char *const texts[] = {"24865863044077.46", "0.00001", "0.000", "-0.00",
                                        "1000000.0"};
    check_table(texts, 5, headers, 1, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_G,
                "|            x |\n"
                "|-------------:|\n"
                "|  2.48659e+13 |\n" /* what stands behind the point or the e counts as decimals */
                "|  1e-05       |\n"
                "|  0           |\n"
                "| -0           |\n"
                "|  1e+06       |\n");
}

static void thousands_are_separated(void **state)
{
    static const char *const headers[] = {"t"};
    static const char *const texts[] = {"771618.75", "999.5", "-1234567.0", "nan"};
    check_table(texts, 4, headers, 1, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_THOUSANDS,
                "|                t |\n"
                "|-----------------:|\n"
                "|    771,618.75    |\n" /* no number, so that it has no decimals */
                "|           999.50 |\n"
                "| -1,234,567.00    |\n"
                "|           nan    |\n");
    static const char *const mixed[] = {"771618.75", "-"};
    check_table(mixed, 2, headers, 1, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_THOUSANDS,
                "| t         |\n"
                "|:----------|\n"
                "| 771618.75 |\n"
                "| -         |\n");
}

static void names_stay_names_and_break_no_table(void **state)
{
    static const char *const headers[] = {"n"};
    static const char *const texts[] = {"12", "a|b", "c\nd\x1B[31m", "`e`", "\xFF", " f "};
    check_table(texts, 6, headers, 1, MARKDOWN_TABLE_NAME, MARKDOWN_TABLE_G,
                "| n        |\n"
                "|:---------|\n"
                "| 12       |\n"
                "| a\\|b     |\n"
                "| c d [31m |\n"
                "| `e`      |\n"
                "| \xEF\xBF\xBD        |\n"
                "| f        |\n");
    check_table(NULL, 0, headers, 1, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_G, "| n   |\n|:----|\n");
}

static void names_become_no_markup(void **state)
{
    static const struct {
        const char *text;
        const char *expect;
    } rows[] = {
        {"<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"},
        {"<img src=x onerror=y>", "&lt;img src=x onerror=y>"},
        {"<IMG/src=x>", "&lt;IMG/src=x>"},
        {"\\<a>", "\\&lt;a>"},
        {"<b", "&lt;b"},
        {"<!-- x", "&lt;!-- x"},
        {"<javascript:x>", "&lt;javascript:x>"},
        {"[x](javascript:y)", "[x&#93;(javascript:y)"},
        {"&lt;a>", "&amp;lt;a>"},
        {"void f<int>(std::array<float, 4> [3], at::Half)",
         "void f&lt;int>(std::array&lt;float, 4> [3], at::Half)"},
        {"<int onfocus=x autofocus tabindex=1>", "&lt;int onfocus=x autofocus tabindex=1>"},
        {"<x::y onclick=z>", "&lt;x::y onclick=z>"},
        {"k<at::Half>", "k&lt;at::Half>"},
        {"a < b && c", "a &lt; b && c"},
        {"&#60;b>", "&amp;#60;b>"},
        {"http://a.example/", "http&#58;//a.example/"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        buf_init(&out, TEXT_MAX);
        markdown_table_text(&out, rows[i].text);
        assert_string_equal(out.ptr, rows[i].expect);
        buf_free(&out);
    }
}

/* ---- a comparison ---- */

struct made {
    struct arena arena;
    struct made_trace *sides[SIDE_COUNT];
    struct comparison_list list;
    struct buf out;
};

static int setup(void **state)
{
    struct made *made = calloc(1, sizeof *made);
    arena_init(&made->arena, 0);
    buf_init(&made->out, TEXT_MAX);
    for (int side = 0; side < SIDE_COUNT; side++) {
        made->sides[side] = calloc(1, sizeof *made->sides[side]);
        made_begin(made->sides[side]);
    }
    *state = made;
    return 0;
}

static int teardown(void **state)
{
    struct made *made = *state;
    for (int side = 0; side < SIDE_COUNT; side++) {
        free(made->sides[side]);
    }
    buf_free(&made->out);
    arena_free(&made->arena);
    free(made);
    return 0;
}

static const struct comparison *compare(struct made *made, const char *title)
{
    struct err err = ERR_INIT;
    const struct trace_results *traces[SIDE_COUNT] = {&made->sides[SIDE_BASE]->results,
                                                      &made->sides[SIDE_CANDIDATE]->results};
    const struct query_side sides[SIDE_COUNT] = {
        {.results = &traces[SIDE_BASE], .count = 1, .label = "base"},
        {.results = &traces[SIDE_CANDIDATE], .count = 1, .label = "candidate"}};
    if (!query_compare_results(&made->arena, sides, title, COMPARISON_NO_PID, COMPARISON_NO_PID, -1,
                               &made->list, &err)) {
        fail_msg("%s", err.msg);
    }
    return made->list.items[0];
}

/* Five cycles a side; `function` takes 10 % and then 20 %, its clock falls; `fresh` appears. */
static void fill(struct made *made, const char *function, int64_t base_pid, int64_t candidate_pid)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct made_trace *trace = made->sides[side];
        int64_t pid = side == SIDE_BASE ? base_pid : candidate_pid;
        for (int i = 0; i < 5; i++) {
            made_cycle(trace, i + 1, CYCLE_STEP, 1000.5 + i + 100 * side);
            (void)made_use(trace, pid, function, "gpu_clock", 10 + 0.1 * i + 10 * side,
                           side == SIDE_BASE ? 1500.0 + i : 900.0);
            (void)made_use(trace, pid, "steady", "gpu_clock", 5 + 0.1 * i, 20.0 + i);
            if (side == SIDE_CANDIDATE) {
                (void)made_use(trace, pid, "fresh", "gpu_clock", 3.25, 1);
            }
        }
    }
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        count++;
    }
    return count;
}

#define assert_has(text, part)                             \
    do {                                                   \
        if (strstr((text), (part)) == NULL) {              \
            fail_msg("no \"%s\" in:\n%s", (part), (text)); \
        }                                                  \
    } while (0)

static void csv_has_the_columns_of_the_reference_first(void **state)
{
    struct made *made = *state;
    fill(made, "gemm", 7, 7);
    const struct comparison *c = compare(made, "t");
    comparison_csv(&made->out, &c, 1);
    const char *text = made->out.ptr;
    assert_true(strncmp(text,
                        "Function Name,Metric Name,Device,Suspicion Score,β_base(%),β_candidate(%),"
                        "Δβ(%),Z-Score(β),p-value(β),U-test p(β),μ_base,μ_candidate,Δμ,Z-Score(μ),"
                        "Z-Score(log_μ),p-value(μ),U-test p(μ),q-value(β),q-value(μ),"
                        "p-value(presence),q-value(presence),Presence\n",
                        40) == 0);
    assert_has(text, "U-test p(μ),q-value(β),q-value(μ),p-value(presence),q-value(presence),"
                     "Presence\ngemm,gpu_clock,GPU 0,");
    assert_has(text, ",10.200000,20.200000,10.000000,63.245553,");
    assert_has(text, ",1502.000000,900.000000,-602.000000,");
    assert_has(text, "\nfresh,gpu_clock,GPU 0,0.000000,0.000000,3.250000,");
    /* all clocks of `fresh` are equal, but one side has none: its test says 1; that of presence
     * does not: 2 of C(10, 5) arrangements */
    assert_has(text, ",1.000000,1.000000,1.000000,1.000000,0.007937,0.023810,added\n");
    assert_null(strchr(text, '\r'));
    assert_int_equal(count_of(text, "\n"), 4);
}

static void csv_leaves_numbers_and_guards_names(void **state)
{
    struct made *made = *state;
    fill(made, "=cmd|' /C calc'!A0", 7, 7);
    const struct comparison *c = compare(made, "t");
    comparison_csv(&made->out, &c, 1);
    assert_has(made->out.ptr, "\n'=cmd|' /C calc'!A0,gpu_clock,");
    assert_has(made->out.ptr, ",-602.000000,");
    assert_null(strstr(made->out.ptr, ",.-"));
}

static void csv_of_pairs_tells_which_pair(void **state)
{
    struct made *made = *state;
    fill(made, "gemm", 7, 8);
    for (int i = 0; i < 3; i++) {
        (void)made_use(made->sides[SIDE_CANDIDATE], 9, "gemm", NULL, 1, NO_METRIC);
    }
    (void)compare(made, "t");
    assert_int_equal(made->list.count, 2);
    comparison_csv(&made->out, (const struct comparison *const *)made->list.items, 2);
    assert_has(made->out.ptr, ",β_base(%),β_candidate(%),");
    assert_has(made->out.ptr, ",Presence,Kind,Base PID,Candidate PID\n");
    assert_int_equal(count_of(made->out.ptr, ",step,7,8\n"), 3);
    assert_int_equal(count_of(made->out.ptr, ",step,7,9\n"), 2);
    buf_clear(&made->out);
    comparison_csv(&made->out, (const struct comparison *const *)made->list.items, 1);
    assert_has(made->out.ptr, ",β_base_pid_7(%),β_candidate_pid_9(%),");
}

static void markdown_has_the_sections_of_the_reference(void **state)
{
    struct made *made = *state;
    static const char *const in_order[] = {
        "# Strict Performance Comparison: my title (PID: 7)\n\n## 1. High-Level Performance "
        "Summary\n",
        "| Total Cycles        | 5        | 5           |                      0 | -            "
        "|\n",
        "| Avg Cycle Time (us) | 1,002.50 | 1,102.50    |                    100 | +9.98%       "
        "|\n",
        "\n## 2. Cycle Duration Distribution Comparison\n\n",
        "\n## 3. In-depth Core Metric Comparison\n\n### Overview\n\n",
        "**`gemm`**, with a clear increase",
        "\n\n### Key Findings:\n- **`gemm` on device `GPU 0`:**\n  - ",
        "(β) **increased** from **10.20%** to **20.20%** (+10.00 ppt), which is statistically "
        "significant (p-value: 0.000).\n",
        "    - **`gpu_clock`**: decreased from 1,502.00 to 900.00.\n",
        "\n**Recommendation:** ",
        "\n### Verdict\n\nThe two differ: 1 of 3 rows",
        "\n### Added and removed functions\n\n| Function Name   | Device   | Presence   |",
        "| fresh           | GPU 0    | added      |",
        "\n### Detailed comparison table\n",
        "\n| Function Name   | Metric Name   | Device   |   Suspicion Score |   β_base(%) |",
        "\n## 5. Legend\n",
    };
    fill(made, "gemm", 7, 7);
    comparison_markdown(&made->out, compare(made, "my title"));
    const char *at = made->out.ptr;
    for (size_t i = 0; i < COUNT_OF(in_order); i++) {
        assert_has(at, in_order[i]);
        at = strstr(at, in_order[i]);
    }
}

/* But in the lines that the reference has too. */
static void no_probability_is_printed_as_0(void **state)
{
    struct made *made = *state;
    fill(made, "gemm", 7, 7);
    const struct comparison *c = compare(made, "t");
    assert_true(c->cycle_p < 0.0005 && c->cycle_u > 0.0005);
    comparison_markdown(&made->out, c);
    assert_has(made->out.ptr, "changed by +9.98% (t-test p < 0.001, Mann-Whitney p = 0.008). ");
    buf_clear(&made->out);
    comparison_plain(&made->out, c, 5, true);
    assert_has(made->out.ptr, "changed by +9.98% (t-test p < 0.001, Mann-Whitney p = 0.008). ");
    assert_has(made->out.ptr, "(p-value: < 0.001)");
    assert_null(strstr(made->out.ptr, "0.000)"));
}

static void markdown_of_a_cross_pair_names_both_processes(void **state)
{
    struct made *made = *state;
    fill(made, "gemm", 7, 8);
    comparison_markdown(&made->out, compare(made, "t"));
    assert_has(made->out.ptr,
               "# Cross Performance Comparison: t (Base PID:7 vs Candidate PID:8)\n\n");
    assert_has(made->out.ptr, "|   Δ (candidate_pid_8 - base_pid_7) |");
}

/* No name can end a cell, a line or a code span. */
static void markdown_survives_hostile_names(void **state)
{
    struct made *made = *state;
    fill(made, "a|b`c\n## d", 7, 7);
    comparison_markdown(&made->out, compare(made, "x\n# y"));
    assert_has(made->out.ptr, "# Strict Performance Comparison: x # y (PID: 7)\n");
    assert_has(made->out.ptr, "- **`` a|b`c ## d `` on device `GPU 0`:**\n");
    assert_has(made->out.ptr, "\n| a\\|b`c ## d ");
    assert_null(strstr(made->out.ptr, "\n## d"));
    assert_null(strstr(made->out.ptr, "\n# y"));
}

static void markdown_tells_what_is_left_out(void **state)
{
    struct made *made = *state;
    static char names[COMPARISON_MARKDOWN_ROWS_MAX + 3][12];
    for (int side = 0; side < SIDE_COUNT; side++) {
        made_cycle(made->sides[side], 1, CYCLE_STEP, 1000);
        for (size_t i = 0; i < COUNT_OF(names); i++) {
            (void)snprintf(names[i], sizeof names[i], "f%zu", i);
            (void)made_use(made->sides[side], 7, names[i], NULL, 1, NO_METRIC);
        }
    }
    const struct comparison *c = compare(made, "t");
    comparison_markdown(&made->out, c);
    assert_int_equal(count_of(made->out.ptr, "\n| f"), COMPARISON_MARKDOWN_ROWS_MAX);
    assert_has(made->out.ptr, "\n*3 rows of lower scores are left out here; the CSV has all.*\n");
    buf_clear(&made->out);
    comparison_csv(&made->out, &c, 1);
    assert_int_equal(count_of(made->out.ptr, "\nf"), COUNT_OF(names));
}

static void a_self_comparison_says_so(void **state)
{
    struct made *made = *state;
    for (int side = 0; side < SIDE_COUNT; side++) {
        fill(made, "gemm", 7, 7);
        break;
    }
    *made->sides[SIDE_CANDIDATE] = *made->sides[SIDE_BASE];
    made->sides[SIDE_CANDIDATE]->results.cycles = made->sides[SIDE_CANDIDATE]->cycles;
    made->sides[SIDE_CANDIDATE]->results.cycle_uses = made->sides[SIDE_CANDIDATE]->uses;
    const struct comparison *c = compare(made, "t");
    comparison_markdown(&made->out, c);
    assert_has(made->out.ptr, "No significant difference");
    assert_has(made->out.ptr, "no Suspicion Score is above 10.0.");
    assert_has(made->out.ptr, "### Key Findings:\n- None.\n");
    assert_null(strstr(made->out.ptr, "Added and removed"));
}

static void plain_text_is_for_a_terminal(void **state)
{
    struct made *made = *state;
    fill(made, "evil\x1B[2J\xC2\x9B name that is longer than its column by far, and then some", 7,
         8);
    comparison_plain(&made->out, compare(made, "t"), 2, true);
    const char *text = made->out.ptr;
    assert_has(text, "t (step cycles)\n");
    assert_has(text, "5 cycles, mean 1.002 ms on node\n");
    assert_has(text, "The two differ");
    assert_has(text, "Rows by suspicion score (1 of 3)\n");
    assert_has(text, " 10.20    20.20   +10.00 ");
    assert_has(text, "evil [2J  name that is longer than its column b…");
    assert_has(text, "  added      +3.25   0.008  fresh ");
    for (const char *at = text; *at != '\0'; at++) {
        assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
    }
    assert_null(strstr(text, "\xC2\x9B"));
}

static void json_has_what_the_api_promises(void **state)
{
    struct made *made = *state;
    static const char *const parts[] = {
        "{\"title\": \"t\", \"kind\": \"step\", \"strict\": true, \"verdict\": \"different\", "
        "\"comparable\": null, \"environment\": [], "
        "\"summary\": {\"labels\": [\"base\", \"candidate\"], \"base\": {\"label\": \"base\", "
        "\"host\": \"node\", \"pid\": 7, \"cycles\": 5, "
        "\"mean_cycle_ns\": 1002500.0, \"name\": \"base\"}, "
        "\"candidate\": {",
        "\"delta_ns\": 100000.0, \"change_pct\": 9.97",
        "\"cycle_p\": ",
        "\"verdict_text\": \"The two differ: ",
        "\"cycles\": [{\"rank\": 1, \"base_ns\": 1004500.0, \"candidate_ns\": 1104500.0, "
        "\"delta_ns\": 100000.0, \"delta_pct\": 9.95",
        "\"overview\": \"What sets candidate apart from base most is gemm, with a clear increase",
        "\"recommendation\": \"Begin with gemm on GPU 0",
        "\"findings\": [{\"function\": \"gemm\", \"device\": \"GPU 0\", \"base_beta_pct\": 10.2",
        "\"significant\": true, \"metrics\": [{\"metric\": \"gpu_clock\", \"base_mu\": 1502.0, "
        "\"candidate_mu\": 900.0, \"delta_mu\": -602.0}], \"text\": \"gemm on GPU 0: Its share",
        "\"appeared\": [{\"function\": \"fresh\", \"device\": \"GPU 0\", \"presence\": \"added\", "
        "\"base_beta_pct\": 0.0, \"candidate_beta_pct\": 3.25, \"delta_beta\": 3.25, "
        "\"p_presence\": 0.0079",
        "\"rows\": [{\"function\": \"gemm\", \"metric\": \"gpu_clock\", \"device\": \"GPU 0\", "
        "\"score\": ",
        "\"q_mu\": ",
        "\"presence\": \"both\", \"base_cycles\": 5, \"candidate_cycles\": 5}, ",
        "\"total\": 3, \"devices\": [\"GPU 0\"], \"metrics\": [\"gpu_clock\"]}",
    };
    fill(made, "gemm", 7, 7);
    struct json_write w;
    jw_init(&w, &made->out, false);
    jw_object_begin(&w);
    comparison_json_members(&w, compare(made, "t"));
    jw_object_end(&w);
    const char *at = made->out.ptr;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        assert_has(at, parts[i]);
        at = strstr(at, parts[i]);
    }
}

static void json_has_null_for_what_is_not_known(void **state)
{
    struct made *made = *state;
    struct comparison_row row = {.function = "f",
                                 .metric = "N/A",
                                 .device = "Host",
                                 .p_beta = (double)NAN,
                                 .cycles = {COMPARISON_UNKNOWN, 3}};
    struct comparison c = {.roles = {{.label = "a", .host = "", .pid = COMPARISON_NO_PID},
                                     {.label = "b", .host = "", .pid = 3}}};
    struct json_write w;
    jw_init(&w, &made->out, false);
    jw_array_begin(&w);
    field_row(&(struct field_out){.notation = FIELD_JSON, .json = &w}, &table_comparison_row, &row,
              0);
    jw_object_begin(&w);
    comparison_json_pair(&w, &c, 5);
    jw_object_end(&w);
    jw_array_end(&w);
    assert_has(made->out.ptr, "\"p_beta\": null");
    assert_has(made->out.ptr, "\"base_cycles\": null, \"candidate_cycles\": 3}");
    assert_has(made->out.ptr, "\"base_pid\": null, \"candidate_pid\": 3, ");
    assert_has(made->out.ptr, "\"top_score\": 5.0, \"verdict\": \"no_difference\"}");
}

/* ---- golden ---- */

static void read_whole(const char *path, struct buf *out)
{
    struct err err = ERR_INIT;
    struct input *in;
    const char *window;
    size_t len;
    assert_true(input_open_file(&in, path, &err));
    for (;;) {
        assert_true(input_next(in, 0, &window, &len, &err));
        if (len == 0) {
            break;
        }
        for (size_t i = 0; i < len; i++) {
            if (window[i] != '\r') {
                buf_putc(out, window[i]);
            }
        }
    }
    input_close(in);
}

/* The lines of a text, without the newlines; `cut` commas from the end are cut off. */
struct lines {
    char **items;
    size_t count;
};

static struct lines split(struct arena *arena, const char *text, int cut)
{
    struct lines lines = {.items = arena_calloc(arena, count_of(text, "\n") + 1, sizeof(char *))};
    assert_non_null(lines.items);
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        char *line = arena_strndup(arena, text, len);
        assert_non_null(line);
        for (int i = 0; i < cut; i++) {
            char *comma = strrchr(line, ',');
            assert_non_null(comma);
            *comma = '\0';
        }
        lines.items[lines.count++] = line;
        text += len + (text[len] == '\n');
    }
    return lines;
}

/* The `number`-th run of lines that begin with a bar. */
static struct lines table_of(const struct lines *lines, size_t number)
{
    struct lines table = {.count = 0};
    size_t i = 0;
    for (size_t n = 0; n <= number; n++) {
        i += table.count;
        while (i < lines->count && lines->items[i][0] != '|') {
            i++;
        }
        table = (struct lines){.items = &lines->items[i]};
        while (i + table.count < lines->count && table.items[table.count][0] == '|') {
            table.count++;
        }
    }
    return table;
}

/* What a renderer shows of the lines: the reference writes "<" as it is, we write an entity, which
 * also moves the padding. */
static struct lines rendered(struct lines lines)
{
    for (size_t i = 0; i < lines.count; i++) {
        char *to = lines.items[i];
        for (const char *at = lines.items[i]; *at != '\0'; at++) {
            bool is_entity = strncmp(at, "&lt;", 4) == 0;
            bool is_padding = (*at == ' ' || *at == '-') && at[1] == *at;
            *to = is_entity ? '<' : *at;
            to += !is_padding;
            at += is_entity ? 3 : 0;
        }
        *to = '\0';
    }
    return lines;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Equal line by line; beyond `ordered` lines as sets, since equal scores may stand in any order. */
static void check_lines(struct lines got, struct lines want, size_t ordered)
{
    assert_int_equal(got.count, want.count);
    assert_true(want.count > ordered || ordered == SIZE_MAX);
    if (ordered < want.count) {
        qsort(got.items + ordered, got.count - ordered, sizeof(char *), compare_lines);
        qsort(want.items + ordered, want.count - ordered, sizeof(char *), compare_lines);
    }
    for (size_t i = 0; i < want.count; i++) {
        assert_string_equal(got.items[i], want.items[i]);
    }
}

static bool load_golden(struct made *made,
                        const char *name,
                        int64_t base_pid,
                        int64_t candidate_pid,
                        struct format_bundle bundles[SIDE_COUNT])
{
    const struct trace_results *traces[SIDE_COUNT];
    struct query_side sides[SIDE_COUNT];
    struct err err = ERR_INIT;
    for (int side = 0; side < SIDE_COUNT; side++) {
        const char *label = side == SIDE_BASE ? "normal" : "abnormal";
        char file[200];
        (void)snprintf(file, sizeof file, "data/compare/%s/%s.csv.gz", name, label);
        if (!read_reference(file, &bundles[side])) {
            return false;
        }
        traces[side] = bundles[side].items[0].results;
        sides[side] = (struct query_side){.results = &traces[side], .count = 1, .label = label};
    }
    assert_true(query_compare_results(&made->arena, sides, name, base_pid, candidate_pid, -1,
                                      &made->list, &err));
    assert_int_equal(made->list.count, 1);
    return true;
}

static struct lines golden_lines(struct arena *arena, const char *name, const char *file)
{
    char path[4096];
    struct buf text;
    const char *reference = getenv("KINETOSCOPE_REFERENCE");
    (void)snprintf(path, sizeof path, "%s/data/compare/%s/%s",
                   reference != NULL ? reference : KS_TEST_DIR "/../../shared", name, file);
    buf_init(&text, TEXT_MAX);
    read_whole(path, &text);
    struct lines lines = split(arena, text.ptr, 0);
    buf_free(&text);
    return lines;
}

static void golden_reports_are_equal(void **state)
{
    struct made *made = *state;
    static const struct {
        const char *name;
        int64_t base_pid, candidate_pid;
        size_t detail; /* which of our tables is the detailed one */
    } cases[] = {{"SGLang_gpu_instability", 944615, 944615, 2},
                 {"SGLang_gpu_memory_squeeze_out_NVLink", 923229, 923229, 2},
                 {"vLLM_cpu_frequency_reduction", 2300005, 2329762, 2}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct format_bundle bundles[SIDE_COUNT];
        const char *name = cases[i].name;
        if (!load_golden(made, name, cases[i].base_pid, cases[i].candidate_pid, bundles)) {
            skip();
            return;
        }
        const struct comparison *c = made->list.items[0];
        buf_clear(&made->out);
        comparison_csv(&made->out, &c, 1);
        check_lines(split(&made->arena, made->out.ptr, 5),
                    golden_lines(&made->arena, name, "golden.csv.gz"), 1);

        buf_clear(&made->out);
        comparison_markdown(&made->out, c);
        struct lines ours = split(&made->arena, made->out.ptr, 0);
        struct lines golden = golden_lines(&made->arena, name, "golden.md.gz");
        size_t detail = cases[i].detail + (c->appeared_count > 0);
        check_lines(table_of(&ours, 0), table_of(&golden, 0), SIZE_MAX);
        check_lines(table_of(&ours, 1), table_of(&golden, 1), SIZE_MAX);
        check_lines(rendered(table_of(&ours, detail)), rendered(table_of(&golden, 2)), 2);
        format_bundle_free(&bundles[SIDE_BASE]);
        format_bundle_free(&bundles[SIDE_CANDIDATE]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_what_their_cells_are),
        cmocka_unit_test(large_and_small_numbers_have_exponents),
        cmocka_unit_test(thousands_are_separated),
        cmocka_unit_test(names_stay_names_and_break_no_table),
        cmocka_unit_test(names_become_no_markup),
        TEST(csv_has_the_columns_of_the_reference_first),
        TEST(csv_leaves_numbers_and_guards_names),
        TEST(csv_of_pairs_tells_which_pair),
        TEST(markdown_has_the_sections_of_the_reference),
        TEST(no_probability_is_printed_as_0),
        TEST(markdown_of_a_cross_pair_names_both_processes),
        TEST(markdown_survives_hostile_names),
        TEST(markdown_tells_what_is_left_out),
        TEST(a_self_comparison_says_so),
        TEST(plain_text_is_for_a_terminal),
        TEST(json_has_what_the_api_promises),
        TEST(json_has_null_for_what_is_not_known),
        TEST(golden_reports_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
