#include "ingest/formats/comparison_report/columns.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define BETA_PREFIX "β_"
#define BETA_SUFFIX "(%)"
#define MU_PREFIX "μ_"

/* Figures whose column names hold a label are found by it, the first base, the second candidate. */
static const struct {
    const char *column; /* NULL: the name holds a label */
    size_t offset;      /* in struct comparison_row */
} figures[REPORT_FIGURES] = {
    {"Suspicion Score", offsetof(struct comparison_row, score)},
    {NULL, offsetof(struct comparison_row, beta_pct[SIDE_BASE])},
    {NULL, offsetof(struct comparison_row, beta_pct[SIDE_CANDIDATE])},
    {"Δβ(%)", offsetof(struct comparison_row, delta_beta)},
    {"Z-Score(β)", offsetof(struct comparison_row, z_beta)},
    {"p-value(β)", offsetof(struct comparison_row, p_beta)},
    {"U-test p(β)", offsetof(struct comparison_row, u_beta)},
    {NULL, offsetof(struct comparison_row, mu[SIDE_BASE])},
    {NULL, offsetof(struct comparison_row, mu[SIDE_CANDIDATE])},
    {"Δμ", offsetof(struct comparison_row, delta_mu)},
    {"Z-Score(μ)", offsetof(struct comparison_row, z_mu)},
    {"Z-Score(log_μ)", offsetof(struct comparison_row, z_log_mu)},
    {"p-value(μ)", offsetof(struct comparison_row, p_mu)},
    {"U-test p(μ)", offsetof(struct comparison_row, u_mu)},
    {"q-value(β)", offsetof(struct comparison_row, q_beta)},
    {"q-value(μ)", offsetof(struct comparison_row, q_mu)},
    {"p-value(presence)", offsetof(struct comparison_row, p_presence)},
    {"q-value(presence)", offsetof(struct comparison_row, q_presence)},
};

#define FIGURE_SCORE 0
#define FIGURE_BETA 1
#define FIGURE_MU 7

/* --- the header --- */

/* What stands between prefix and suffix of a name; false: it has not both. */
static bool label_in(const struct csv_cell *name,
                     const char *prefix,
                     const char *suffix,
                     struct csv_cell *label)
{
    size_t before = strlen(prefix);
    size_t behind = strlen(suffix);
    if (name->len < before + behind || memcmp(name->text, prefix, before) != 0 ||
        memcmp(name->text + name->len - behind, suffix, behind) != 0) {
        return false;
    }
    *label = (struct csv_cell){.text = name->text + before, .len = name->len - before - behind};
    return true;
}

/* Columns whose names hold labels, which follow each other. */
static void find_sides(const struct csv_row *header,
                       const char *prefix,
                       const char *suffix,
                       size_t figure,
                       struct report_columns *columns)
{
    size_t side = 0;
    for (size_t i = 0; i < header->cell_count && side < SIDE_COUNT; i++) {
        struct csv_cell name = csv_trim(header->cells[i]);
        struct csv_cell label;
        if (label_in(&name, prefix, suffix, &label)) {
            columns->figures[figure + side] = i;
            columns->labels[side] = label;
            side++;
        }
    }
}

bool report_columns_find(const struct csv_cell *cells, size_t count, struct report_columns *columns)
{
    struct csv_row header = {.cells = cells, .cell_count = count};
    *columns = (struct report_columns){.column_count = count};
    for (size_t i = 0; i < REPORT_FIGURES; i++) {
        columns->figures[i] =
            figures[i].column == NULL ? CSV_NO_COLUMN : csv_column(&header, figures[i].column);
    }
    columns->function = csv_column(&header, "Function Name");
    columns->metric = csv_column(&header, "Metric Name");
    columns->device = csv_column(&header, "Device");
    columns->presence = csv_column(&header, "Presence");
    find_sides(&header, MU_PREFIX, "", FIGURE_MU, columns);
    find_sides(&header, BETA_PREFIX, BETA_SUFFIX, FIGURE_BETA, columns);
    return columns->function != CSV_NO_COLUMN && columns->metric != CSV_NO_COLUMN &&
           columns->device != CSV_NO_COLUMN && columns->figures[FIGURE_SCORE] != CSV_NO_COLUMN;
}

/* --- rows --- */

bool report_figure(struct csv_cell cell, double *figure)
{
    struct csv_cell trimmed = csv_trim(cell);
    if (csv_is_missing(&trimmed) || csv_cell_equals(&trimmed, "-")) {
        *figure = (double)NAN;
        return true;
    }
    return csv_printed_number(&trimmed, figure) || csv_number(&trimmed, figure);
}

static const char *name_of(size_t figure)
{
    if (figures[figure].column != NULL) {
        return figures[figure].column;
    }
    return figure < FIGURE_MU ? "β" : "μ";
}

static enum comparison_presence presence_in(const struct csv_cell *cell)
{
    for (int i = PRESENCE_BOTH; i <= PRESENCE_REMOVED; i++) {
        if (csv_cell_equals(cell, comparison_presence_name((enum comparison_presence)i))) {
            return (enum comparison_presence)i;
        }
    }
    return PRESENCE_BOTH;
}

bool report_columns_read(const struct report_columns *columns,
                         const struct csv_cell *cells,
                         struct text_pool *texts,
                         struct comparison_row *row,
                         const char **unreadable)
{
    const struct csv_cell *function = &cells[columns->function];
    const struct csv_cell *metric = &cells[columns->metric];
    const struct csv_cell *device = &cells[columns->device];
    *unreadable = NULL;
    *row = (struct comparison_row){.cycles = {COMPARISON_UNKNOWN, COMPARISON_UNKNOWN}};
    for (size_t i = 0; i < REPORT_FIGURES; i++) {
        double figure = (double)NAN;
        size_t at = columns->figures[i];
        if (at != CSV_NO_COLUMN && !report_figure(cells[at], &figure)) {
            *unreadable = name_of(i);
            return true;
        }
        memcpy((char *)row + figures[i].offset, &figure, sizeof figure);
    }
    if (columns->presence != CSV_NO_COLUMN) {
        row->presence = presence_in(&cells[columns->presence]);
    }
    row->function = text_pool_add(texts, function->text, function->len);
    row->metric = text_pool_add(texts, metric->text, metric->len);
    row->device = text_pool_add(texts, device->text, device->len);
    return row->function != NULL && row->metric != NULL && row->device != NULL;
}

/* --- the comparison --- */

struct comparison *report_comparison_create(struct arena *arena)
{
    struct comparison *comparison = arena_calloc(arena, 1, sizeof *comparison);
    if (comparison == NULL) {
        return NULL;
    }
    comparison->title = "";
    comparison->verdict = VERDICT_UNDECIDED;
    comparison->cycle_p = (double)NAN;
    comparison->cycle_u = (double)NAN;
    for (int side = 0; side < SIDE_COUNT; side++) {
        comparison->roles[side] =
            (struct comparison_role){.label = side == SIDE_BASE ? "base" : "candidate",
                                     .host = "",
                                     .pid = COMPARISON_NO_PID,
                                     .mean_cycle_us = (double)NAN};
        comparison->kernel_us[side] = (double)NAN;
        comparison->operator_us[side] = (double)NAN;
    }
    return comparison;
}

void report_comparison_finish(struct comparison *comparison, struct trace_results *results)
{
    results->comparison = comparison;
    results->event_count = (int64_t)comparison->row_count;
    results->views = 1U << VIEW_COMPARISON;
    for (size_t i = 0; i < comparison->row_count; i++) {
        if (strncmp(comparison->rows[i].device, "GPU", 3) == 0) {
            results->device_type = "GPU";
        }
    }
}
