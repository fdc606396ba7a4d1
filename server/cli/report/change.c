/* What changed between two traces, as a report for people: the page's "What changed" in text. */
#include "api/diff/change.h"

#include "api/comparison/text/environment.h"
#include "server/cli/report/prose.h"
#include "server/cli/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void cell_delta(struct prose *p, double ns)
{
    char text[TEXT_FIGURE_BYTES];
    char cell[TEXT_FIGURE_BYTES + 1];
    text_time(text, fabs(ns));
    const char *sign = fabs(ns) < 0.5 ? "" : ns > 0 ? "+" : "-";
    (void)snprintf(cell, sizeof cell, "%s%s", sign, text);
    report_table_cell(&p->table, cell);
}

static void cells_of_sides(struct prose *p, const double ns[SIDE_COUNT])
{
    prose_cell_time(p, ns[SIDE_BASE]);
    prose_cell_time(p, ns[SIDE_CANDIDATE]);
    cell_delta(p, ns[SIDE_CANDIDATE] - ns[SIDE_BASE]);
}

static void begin_table(struct prose *p, const char *first, const char *last)
{
    PROSE_BEGIN_TABLE(p, TEXTS(first), NUMBERS("base"), NUMBERS("candidate"), NUMBERS("difference"),
                      NUMBERS(last));
}

static void section_categories(struct prose *p, const struct step_change *step)
{
    prose_heading(p, 2, step->per_step ? "The step by category, mean" : "The trace by category");
    begin_table(p, "category", "");
    for (int category = 0; category < TIME_CATEGORY_COUNT; category++) {
        const double *ns = step->category_ns[category];
        if (ns[SIDE_BASE] != 0 || ns[SIDE_CANDIDATE] != 0) {
            report_table_cell(&p->table, time_category_label((enum time_category)category));
            cells_of_sides(p, ns);
        }
    }
    report_table_cell(&p->table, "total");
    cells_of_sides(p, step->step_ns);
    prose_end_table(p);
}

static void cell_change(struct prose *p, const struct trace_change_row *row)
{
    char text[TEXT_FIGURE_BYTES];
    if (row->row->presence != NAME_IN_BOTH) {
        (void)snprintf(text, sizeof text, "%s", name_presence_text(row->row->presence));
    } else if (row->ns[SIDE_BASE] == 0) {
        (void)snprintf(text, sizeof text, "-");
    } else {
        (void)snprintf(text, sizeof text, "%+.1f%%", 100 * row->delta_ns / row->ns[SIDE_BASE]);
    }
    report_table_cell(&p->table, text);
}

static void section_names(struct prose *p,
                          const char *title,
                          const char *first,
                          const struct trace_change_row *rows,
                          size_t count)
{
    if (count == 0) {
        return;
    }
    prose_heading(p, 2, title);
    begin_table(p, first, "change");
    for (size_t i = 0; i < count; i++) {
        prose_cell_name(p, rows[i].row->name, TEXT_NAME_SHORT);
        cells_of_sides(p, rows[i].ns);
        cell_change(p, &rows[i]);
    }
    prose_end_table(p);
}

static void section_environment(struct prose *p, const struct environment sides[SIDE_COUNT])
{
    static const char *const labels[SIDE_COUNT] = {
        [SIDE_BASE] = "base", [SIDE_CANDIDATE] = "candidate"};
    if (p->markdown) {
        environment_markdown(p->out, sides, labels);
    } else {
        environment_plain(p->out, sides);
    }
    buf_putc(p->out, '\n');
}

static void section_sentence(struct prose *p, const struct query_change *change)
{
    struct buf sentence;
    buf_init(&sentence, PROSE_LINE_MAX_BYTES);
    trace_change_sentence(&sentence, change);
    prose_text(p, sentence.failed ? "" : sentence.ptr);
    buf_putc(p->out, '\n');
    buf_free(&sentence);
}

static void cell_value(struct prose *p, const struct cause_change_row *row, double value)
{
    if (strcmp(row->unit, "ns") == 0) {
        prose_cell_time(p, value);
    } else if (value > 1) {
        report_table_cell(&p->table, "above 100%");
    } else {
        prose_cell_share(p, value);
    }
}

static void section_causes(struct prose *p, const struct cause_change *causes, bool per_step)
{
    char text[TEXT_FIGURE_BYTES];
    prose_heading(p, 2, per_step ? "Idle time and efficiency, a step" : "Idle time and efficiency");
    if (causes->count > 0) {
        PROSE_BEGIN_TABLE(p, TEXTS("of"), TEXTS("figure"), NUMBERS("base"), NUMBERS("candidate"),
                          NUMBERS("difference"));
        for (size_t i = 0; i < causes->count; i++) {
            const struct cause_change_row *row = &causes->rows[i];
            if (row->base == 0 && row->candidate == 0) {
                continue;
            }
            report_table_cell(&p->table, row->part);
            report_table_cell(&p->table, row->figure);
            cell_value(p, row, row->base);
            cell_value(p, row, row->candidate);
            if (strcmp(row->unit, "ns") == 0) {
                cell_delta(p, row->delta);
            } else {
                (void)snprintf(text, sizeof text, "%+.1f pp", 100 * row->delta);
                report_table_cell(&p->table, text);
            }
        }
        prose_end_table(p);
    }
    for (size_t i = 0; i < causes->missing_count; i++) {
        const struct cause_missing *missing = &causes->missing[i];
        buf_clear(&p->line);
        buf_printf(&p->line, "%s is not compared: of the %s, %s", missing->part,
                   missing->side == SIDE_BASE ? "base" : "candidate", missing->reason);
        prose_bullet(p, p->line.ptr);
    }
}

void report_change(struct buf *out,
                   const char *title,
                   const struct query_change *change,
                   const struct cause_change *causes,
                   bool markdown)
{
    struct prose p = {.out = out, .markdown = markdown};
    struct trace_change_row rows[PROSE_TOP_ROWS];
    const char *unit = change->change.step.per_step ? "per step" : "in total";
    char heading[120];
    arena_init(&p.arena, 0);
    buf_init(&p.line, PROSE_LINE_MAX_BYTES);
    buf_puts(out, markdown ? "# What changed: " : "What changed: ");
    prose_text(&p, title);
    buf_puts(out, "\n\n");
    section_environment(&p, change->change.environment);
    section_sentence(&p, change);
    section_categories(&p, &change->change.step);
    section_causes(&p, causes, change->change.step.per_step);
    (void)snprintf(heading, sizeof heading, "Operators that changed most, %s self time %s",
                   trace_change_on_device(change) ? "device" : "host", unit);
    section_names(&p, heading, "operator", rows,
                  trace_change_operators(change, rows, PROSE_TOP_ROWS));
    (void)snprintf(heading, sizeof heading, "Kernels that changed most, %s", unit);
    section_names(&p, heading, "kernel", rows, trace_change_kernels(change, rows, PROSE_TOP_ROWS));
    buf_free(&p.line);
    arena_free(&p.arena);
}
