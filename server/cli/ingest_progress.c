#include "server/cli/ingest_progress.h"

#include "server/cli/text.h"

#define BAR_WIDTH 24
#define NAME_WIDTH 40
#define LINE_MAX_BYTES ((size_t)1 << 10)
/* Back to the line's beginning, and what stands behind the cursor goes. */
#define CLEAR_LINE "\r\033[K"

static void put_bar(struct buf *line, const struct jobs_status *status)
{
    double part =
        status->bytes_total == 0 ? 0 : (double)status->bytes_done / (double)status->bytes_total;
    int filled = part > 1 ? BAR_WIDTH : (int)(part * BAR_WIDTH);
    buf_putc(line, '[');
    for (int i = 0; i < BAR_WIDTH; i++) {
        buf_putc(line, i < filled ? '#' : '.');
    }
    buf_printf(line, "] %3d%%", part > 1 ? 100 : (int)(part * 100));
}

void ingest_progress_show(FILE *terminal, const char *file_name, const struct jobs_status *status)
{
    char done[TEXT_FIGURE_BYTES];
    char total[TEXT_FIGURE_BYTES];
    struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    buf_puts(&line, CLEAR_LINE);
    put_bar(&line, status);
    text_bytes(done, (double)status->bytes_done);
    text_bytes(total, (double)status->bytes_total);
    buf_printf(&line, "  %-9s %s of %s  ", pipeline_stage_text(status->stage), done, total);
    text_short_name(&line, file_name, TEXT_NAME_FULL, NAME_WIDTH);
    (void)fwrite(line.ptr, 1, line.len, terminal);
    (void)fflush(terminal);
    buf_free(&line);
}

void ingest_progress_clear(FILE *terminal)
{
    (void)fputs(CLEAR_LINE, terminal);
    (void)fflush(terminal);
}
