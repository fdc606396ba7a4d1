/* The report as the reference writes it [CMP-2f] [CMP-3] [CMP-7] [CMP-8]: the same sections,
 * figures and tables, in words of our own; our sections stand before the table. */
#include "api/comparison/text/columns.h"
#include "api/comparison/text/environment.h"
#include "api/comparison/text/text.h"
#include "api/comparison/text/words.h"
#include "api/table/markdown_table.h"
#include "ingest/base/text/num.h"

#include <inttypes.h>
#include <math.h>

#define HEADER_COUNT_MAX 17
#define HEADER_BYTES_MAX ((size_t)1 << 20)

/* Headers with the two labels in them; the texts live in one buffer each. */
struct headers {
    struct buf texts[HEADER_COUNT_MAX];
    const char *list[HEADER_COUNT_MAX];
    size_t count;
};

static void
add_header(struct headers *headers, const char *before, const char *label, const char *after)
{
    struct buf *text = &headers->texts[headers->count];
    buf_init(text, HEADER_BYTES_MAX);
    buf_puts(text, before);
    markdown_table_cell(text, label);
    buf_puts(text, after);
    headers->list[headers->count++] = text->ptr;
}

static void free_headers(struct headers *headers)
{
    for (size_t i = 0; i < headers->count; i++) {
        buf_free(&headers->texts[i]);
    }
}

static const char *label_of(const struct comparison *comparison, enum comparison_side side)
{
    return comparison->roles[side].label;
}

/* "Base" of "base" or "base_pid_17" */
static void put_side_word(struct buf *out, const struct comparison_role *role)
{
    struct buf word;
    buf_init(&word, HEADER_BYTES_MAX);
    buf_append(&word, role->label, comparison_plain_label_len(role));
    if (word.len > 0 && word.ptr[0] >= 'a' && word.ptr[0] <= 'z') {
        word.ptr[0] = (char)(word.ptr[0] - 'a' + 'A');
    }
    markdown_table_text(out, word.ptr);
    buf_free(&word);
}

static void put_title(struct buf *out, const struct comparison *comparison)
{
    const struct comparison_role *roles = comparison->roles;
    bool has_pids =
        roles[SIDE_BASE].pid != COMPARISON_NO_PID && roles[SIDE_CANDIDATE].pid != COMPARISON_NO_PID;
    buf_puts(out, comparison->strict ? "# Strict Performance Comparison: "
                                     : "# Cross Performance Comparison: ");
    markdown_table_text(out, comparison->title);
    if (has_pids && comparison->strict) {
        buf_printf(out, " (PID: %" PRId64 ")", roles[SIDE_BASE].pid);
    } else if (has_pids) {
        buf_puts(out, " (");
        put_side_word(out, &roles[SIDE_BASE]);
        buf_printf(out, " PID:%" PRId64 " vs ", roles[SIDE_BASE].pid);
        put_side_word(out, &roles[SIDE_CANDIDATE]);
        buf_printf(out, " PID:%" PRId64 ")", roles[SIDE_CANDIDATE].pid);
    }
    buf_puts(out, "\n\n");
}

/* ---- 1. summary ---- */

static void summary_cell(const void *ctx, size_t row, size_t column, struct buf *out)
{
    const struct comparison *comparison = ctx;
    const struct comparison_role *roles = comparison->roles;
    bool counts = row == 0;
    switch (column) {
    case 0:
        buf_puts(out, counts ? "Total Cycles" : "Avg Cycle Time (us)");
        break;
    case 1:
    case 2:
        if (counts) {
            buf_printf(out, "%" PRId64, roles[column - 1].cycles);
        } else {
            markdown_table_thousands(out, roles[column - 1].mean_cycle_us);
        }
        break;
    case 3:
        if (counts) {
            buf_printf(out, "%" PRId64, roles[SIDE_CANDIDATE].cycles - roles[SIDE_BASE].cycles);
        } else {
            markdown_table_thousands(out, roles[SIDE_CANDIDATE].mean_cycle_us -
                                              roles[SIDE_BASE].mean_cycle_us);
        }
        break;
    default:
        if (counts) {
            buf_putc(out, '-');
        } else {
            buf_printf(out, "%+.2f%%", words_change_pct(comparison));
        }
        break;
    }
}

static void put_summary(struct buf *out, const struct comparison *comparison)
{
    static const enum markdown_table_column columns[] = {MARKDOWN_TABLE_NAME, MARKDOWN_TABLE_CELL,
                                                         MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL,
                                                         MARKDOWN_TABLE_CELL};
    struct headers headers = {.count = 0};
    struct buf delta;
    buf_init(&delta, HEADER_BYTES_MAX);
    buf_printf(&delta, "%s - %s)", label_of(comparison, SIDE_CANDIDATE),
               label_of(comparison, SIDE_BASE));
    add_header(&headers, "Metric", "", "");
    add_header(&headers, "", label_of(comparison, SIDE_BASE), "");
    add_header(&headers, "", label_of(comparison, SIDE_CANDIDATE), "");
    add_header(&headers, "Δ (", delta.ptr, "");
    add_header(&headers, "Change (%)", "", "");
    buf_puts(out, "## 1. High-Level Performance Summary\n\n");
    markdown_table_write(out, &(struct markdown_table){.row_count = 2,
                                                       .column_count = headers.count,
                                                       .headers = headers.list,
                                                       .columns = columns,
                                                       .cell = summary_cell,
                                                       .ctx = comparison});
    free_headers(&headers);
    buf_free(&delta);
}

/* ---- 2. cycle times ---- */

static void put_repr(struct buf *out, double value)
{
    char text[NUM_TEXT_BYTES];
    buf_append(out, text, num_repr(text, value));
}

static void cycle_cell(const void *ctx, size_t row, size_t column, struct buf *out)
{
    const struct comparison *comparison = ctx;
    const double *dur_us = comparison->cycles[row].dur_us;
    double delta_us = dur_us[SIDE_CANDIDATE] - dur_us[SIDE_BASE];
    double shown = column == 1   ? dur_us[SIDE_BASE]
                   : column == 2 ? dur_us[SIDE_CANDIDATE]
                                 : delta_us;
    if (column == 0) {
        buf_printf(out, "%zu", row + 1);
    } else if (isnan(shown)) {
        buf_putc(out, '-');
    } else if (column == 3) {
        markdown_table_thousands(out, delta_us);
    } else if (column == 4) {
        buf_printf(out, "%+.2f%%",
                   dur_us[SIDE_BASE] > 0 ? delta_us / dur_us[SIDE_BASE] * 100 : (double)INFINITY);
    } else {
        put_repr(out, shown);
    }
}

static void put_cycles(struct buf *out, const struct comparison *comparison)
{
    static const enum markdown_table_column columns[] = {MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL,
                                                         MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL,
                                                         MARKDOWN_TABLE_CELL};
    struct headers headers = {.count = 0};
    add_header(&headers, "Time Rank", "", "");
    add_header(&headers, "", label_of(comparison, SIDE_BASE), " Time (us)");
    add_header(&headers, "", label_of(comparison, SIDE_CANDIDATE), " Time (us)");
    add_header(&headers, "Δ (us)", "", "");
    add_header(&headers, "Δ (%)", "", "");
    buf_puts(out, "\n## 2. Cycle Duration Distribution Comparison\n\n");
    markdown_table_write(out, &(struct markdown_table){.row_count = comparison->cycle_count,
                                                       .column_count = headers.count,
                                                       .headers = headers.list,
                                                       .columns = columns,
                                                       .floats = MARKDOWN_TABLE_THOUSANDS,
                                                       .cell = cycle_cell,
                                                       .ctx = comparison});
    free_headers(&headers);
}

/* ---- 3. findings ---- */

static void put_finding(struct buf *out, const struct comparison_finding *finding)
{
    buf_puts(out, "- **");
    words_name(out, finding->function, WORDS_MARKDOWN);
    buf_puts(out, " on device ");
    words_name(out, finding->device, WORDS_MARKDOWN);
    buf_puts(out, ":**\n  - ");
    words_share(out, finding, WORDS_MARKDOWN);
    buf_putc(out, '\n');
    if (finding->metric_count > 0) {
        buf_puts(out, "  - Resource metrics (μ) that changed along with it:\n");
    }
    for (size_t i = 0; i < finding->metric_count; i++) {
        buf_puts(out, "    - ");
        words_metric(out, finding, i, WORDS_MARKDOWN);
        buf_putc(out, '\n');
    }
}

static void put_findings(struct buf *out, const struct comparison *comparison)
{
    buf_puts(out, "\n## 3. In-depth Core Metric Comparison\n\n### Overview\n\n");
    words_overview(out, comparison, WORDS_MARKDOWN);
    buf_puts(out, "\n\n### Key Findings:\n");
    for (size_t i = 0; i < comparison->finding_count; i++) {
        put_finding(out, &comparison->findings[i]);
    }
    if (comparison->finding_count == 0) {
        buf_puts(out, "- None.\n");
    }
    if (words_has_large_beta(comparison)) {
        buf_puts(out, "\n*Note: a β above 100% adds up calls that ran at the same time, in several "
                      "threads or within one another.*\n");
    }
    buf_puts(out, "\n**Recommendation:** ");
    words_recommendation(out, comparison, WORDS_MARKDOWN);
    buf_putc(out, '\n');
}

/* ---- ours ---- */

static size_t shown_rows(size_t count)
{
    return count < COMPARISON_MARKDOWN_ROWS_MAX ? count : COMPARISON_MARKDOWN_ROWS_MAX;
}

static void appeared_cell(const void *ctx, size_t row, size_t column, struct buf *out)
{
    const struct comparison *comparison = ctx;
    const struct comparison_row *shown = &comparison->rows[comparison->appeared[row]];
    switch (column) {
    case 0:
        buf_puts(out, shown->function);
        break;
    case 1:
        buf_puts(out, shown->device);
        break;
    case 2:
        buf_puts(out, comparison_presence_name(shown->presence));
        break;
    case 3:
    case 4:
        buf_printf(out, "%.2f", shown->beta_pct[column - 3]);
        break;
    default:
        buf_printf(out, "%+.2f", shown->delta_beta);
        break;
    }
}

static void put_ours(struct buf *out, const struct comparison *comparison)
{
    static const enum markdown_table_column columns[] = {MARKDOWN_TABLE_NAME, MARKDOWN_TABLE_NAME,
                                                         MARKDOWN_TABLE_NAME, MARKDOWN_TABLE_CELL,
                                                         MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL};
    buf_puts(out, "\n### Verdict\n\n");
    words_verdict(out, comparison);
    buf_printf(out, " Kind of cycle compared: %s.\n", cycle_kind_name(comparison->kind));
    if (comparison->appeared_count == 0) {
        return;
    }
    struct headers headers = {.count = 0};
    add_header(&headers, "Function Name", "", "");
    add_header(&headers, "Device", "", "");
    add_header(&headers, "Presence", "", "");
    add_header(&headers, "β_", label_of(comparison, SIDE_BASE), "(%)");
    add_header(&headers, "β_", label_of(comparison, SIDE_CANDIDATE), "(%)");
    add_header(&headers, "Δβ(%)", "", "");
    buf_puts(out, "\n### Added and removed functions\n\n");
    markdown_table_write(
        out, &(struct markdown_table){.row_count = shown_rows(comparison->appeared_count),
                                      .column_count = headers.count,
                                      .headers = headers.list,
                                      .columns = columns,
                                      .cell = appeared_cell,
                                      .ctx = comparison});
    free_headers(&headers);
}

/* ---- table ---- */

#define NAME_COLUMNS 3
#define DETAIL_COLUMNS (NAME_COLUMNS + REFERENCE_COLUMN_COUNT)

static void put_figure(struct buf *out, enum column_style style, double value)
{
    if (isnan(value)) {
        buf_puts(out, "nan");
        return;
    }
    switch (style) {
    case STYLE_SCORE:
        buf_printf(out, "%.4f", value);
        break;
    case STYLE_SHARE:
        buf_printf(out, "%.2f", value);
        break;
    case STYLE_SIGNED:
        buf_printf(out, "%+.2f", value);
        break;
    case STYLE_P:
        buf_printf(out, "%.3f", value);
        break;
    case STYLE_THOUSANDS:
        markdown_table_thousands(out, value);
        break;
    }
}

static void detail_cell(const void *ctx, size_t row, size_t column, struct buf *out)
{
    const struct comparison *comparison = ctx;
    const struct comparison_row *shown = &comparison->rows[row];
    const char *const names[NAME_COLUMNS] = {shown->function, shown->metric, shown->device};
    if (column < NAME_COLUMNS) {
        buf_puts(out, names[column]);
        return;
    }
    const struct comparison_column *figure = &comparison_columns[column - NAME_COLUMNS];
    put_figure(out, figure->style, comparison_column_value(figure, shown));
}

static void put_table(struct buf *out, const struct comparison *comparison)
{
    static const enum markdown_table_column columns[DETAIL_COLUMNS] = {
        MARKDOWN_TABLE_NAME, MARKDOWN_TABLE_NAME, MARKDOWN_TABLE_NAME, MARKDOWN_TABLE_CELL,
        MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL,
        MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL,
        MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL, MARKDOWN_TABLE_CELL,
        MARKDOWN_TABLE_CELL};
    struct headers headers = {.count = 0};
    add_header(&headers, "Function Name", "", "");
    add_header(&headers, "Metric Name", "", "");
    add_header(&headers, "Device", "", "");
    for (size_t i = 0; i < REFERENCE_COLUMN_COUNT; i++) {
        struct buf header;
        buf_init(&header, HEADER_BYTES_MAX);
        comparison_column_header(&header, &comparison_columns[i], comparison->roles, false);
        add_header(&headers, "", header.ptr, "");
        buf_free(&header);
    }
    size_t rows = shown_rows(comparison->row_count);
    buf_puts(out, "### Detailed comparison table\n"
                  "A row a function, metric and device, by **Suspicion Score** descending.\n\n");
    markdown_table_write(out, &(struct markdown_table){.row_count = rows,
                                                       .column_count = headers.count,
                                                       .headers = headers.list,
                                                       .columns = columns,
                                                       .cell = detail_cell,
                                                       .ctx = comparison});
    free_headers(&headers);
    if (rows < comparison->row_count) {
        buf_printf(out, "\n*%zu rows of lower scores are left out here; the CSV has all.*\n",
                   comparison->row_count - rows);
    }
}

static void put_legend(struct buf *out)
{
    buf_puts(
        out,
        "\n## 5. Legend\n"
        "- **β (Beta)**: share of the cycle time that the function takes, in percent.\n"
        "- **μ (Mu)**: mean of a counter (use, frequency, rate) while the function ran.\n"
        "- **Device**: where the function ran or what the counter belongs to.\n"
        "- **Z-Score**: change of the mean in standard deviations of the first side.\n"
        "- **p-value, U-test p**: Welch's t-test and the Mann-Whitney test; below 0.05 chance "
        "hardly explains the change.\n"
        "- **Suspicion Score**: `|Δβ| * (|Z-Score(β)| + |Z-Score(log_μ)|)`; the rows at the top "
        "deserve a look first.\n");
}

void comparison_markdown(struct buf *out, const struct comparison *comparison)
{
    const char *const labels[SIDE_COUNT] = {label_of(comparison, SIDE_BASE),
                                            label_of(comparison, SIDE_CANDIDATE)};
    put_title(out, comparison);
    environment_markdown(out, comparison->environment, labels);
    put_summary(out, comparison);
    put_cycles(out, comparison);
    put_findings(out, comparison);
    put_ours(out, comparison);
    buf_putc(out, '\n');
    put_table(out, comparison);
    put_legend(out);
}
