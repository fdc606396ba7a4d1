#include "api/table/csv.h"

#include "ingest/base/text/num.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void csv_write_init(struct csv_write *csv, struct buf *out)
{
    *csv = (struct csv_write){.out = out};
}

static void begin_cell(struct csv_write *csv)
{
    if (csv->row_has_cells) {
        buf_putc(csv->out, ',');
    }
    csv->row_has_cells = true;
}

static bool looks_like_formula(const char *text)
{
    return *text != '\0' && strchr("=+-@\t\r\n", *text) != NULL;
}

void csv_text(struct csv_write *csv, const char *text)
{
    begin_cell(csv);
    if (text == NULL) {
        return;
    }
    const char *guard = looks_like_formula(text) ? "'" : "";
    size_t len = strlen(text);
    bool spaced = len > 0 && (text[0] == ' ' || text[len - 1] == ' ');
    if (strpbrk(text, ",;\t\"\r\n") == NULL && !spaced) {
        buf_puts(csv->out, guard);
        buf_puts(csv->out, text);
        return;
    }
    buf_putc(csv->out, '"');
    buf_puts(csv->out, guard);
    while (*text != '\0') {
        size_t run = strcspn(text, "\"");
        buf_append(csv->out, text, run);
        text += run;
        if (*text == '"') {
            buf_puts(csv->out, "\"\"");
            text++;
        }
    }
    buf_putc(csv->out, '"');
}

void csv_int(struct csv_write *csv, int64_t value)
{
    begin_cell(csv);
    buf_printf(csv->out, "%" PRId64, value);
}

void csv_double(struct csv_write *csv, double value)
{
    begin_cell(csv);
    if (isfinite(value)) {
        char text[NUM_TEXT_BYTES];
        size_t len = num_repr(text, value);
        buf_append(csv->out, text, len);
    }
}

void csv_row_end(struct csv_write *csv)
{
    buf_puts(csv->out, "\r\n");
    csv->row_has_cells = false;
}

/* A minus in front of a number makes no formula. */
void csv_fixed(struct csv_write *csv, double value, int digits)
{
    if (isfinite(value)) {
        buf_printf(csv->out, ",%.*f", digits, value);
    } else {
        buf_putc(csv->out, ',');
    }
}

void csv_line_end(struct csv_write *csv)
{
    buf_putc(csv->out, '\n');
    csv->row_has_cells = false;
}
