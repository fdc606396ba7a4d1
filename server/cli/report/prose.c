#include "server/cli/report/prose.h"

#include "ingest/base/text/python_frame.h"

#include <math.h>

void prose_text(struct prose *p, const char *text)
{
    struct buf clean;
    if (!p->markdown) {
        text_clean(p->out, text);
        return;
    }
    buf_init(&clean, PROSE_LINE_MAX_BYTES);
    text_clean(&clean, text);
    report_table_markdown(p->out, clean.len == 0 ? "" : clean.ptr);
    buf_free(&clean);
}

void prose_heading(struct prose *p, unsigned level, const char *text)
{
    buf_putc(p->out, '\n');
    if (p->markdown) {
        buf_printf(p->out, "%.*s ", (int)level, "###");
    }
    prose_text(p, text);
    buf_puts(p->out, p->markdown ? "\n\n" : "\n");
}

void prose_cell_name(struct prose *p, const char *name, enum text_name how)
{
    buf_clear(&p->line);
    text_short_name(&p->line, name, how, PROSE_NAME_WIDTH);
    report_table_cell(&p->table, p->line.ptr);
}

void prose_cell_clean(struct prose *p, const char *text)
{
    buf_clear(&p->line);
    text_clean(&p->line, text);
    report_table_cell(&p->table, p->line.ptr);
}

void prose_cell_source(struct prose *p, const char *source)
{
    struct buf text;
    buf_init(&text, PROSE_LINE_MAX_BYTES);
    python_frame_print(&text, source == NULL ? "-" : source);
    prose_cell_clean(p, text.failed ? "-" : text.ptr);
    buf_free(&text);
}

void prose_cell_time(struct prose *p, double ns)
{
    char text[TEXT_FIGURE_BYTES];
    text_time(text, ns);
    report_table_cell(&p->table, text);
}

void prose_cell_count(struct prose *p, int64_t count)
{
    char text[TEXT_FIGURE_BYTES];
    text_count(text, count);
    report_table_cell(&p->table, text);
}

void prose_cell_step(struct prose *p, double ns, int64_t steps)
{
    if (steps > 0) {
        prose_cell_time(p, ns / (double)steps);
    }
}

double prose_ratio(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

void prose_cell_share(struct prose *p, double share)
{
    char text[TEXT_FIGURE_BYTES];
    text_share(text, share);
    report_table_cell(&p->table, text);
}

void prose_end_table(struct prose *p)
{
    report_table_write(&p->table, p->markdown, p->out);
}

void prose_bullet(struct prose *p, const char *text)
{
    buf_puts(p->out, p->markdown ? "- " : "  - ");
    prose_text(p, text);
    buf_putc(p->out, '\n');
}
