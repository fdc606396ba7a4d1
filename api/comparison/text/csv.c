#include "api/table/csv.h"

#include "api/comparison/text/columns.h"
#include "api/comparison/text/text.h"

#include <math.h>

static void put_pid(struct csv_write *csv, int64_t pid)
{
    if (pid == COMPARISON_NO_PID) {
        csv_text(csv, NULL);
    } else {
        csv_int(csv, pid);
    }
}

static void put_header(struct csv_write *csv, const struct comparison *comparison, bool several)
{
    struct buf header;
    buf_init(&header, csv->out->max_bytes);
    csv_text(csv, "Function Name");
    csv_text(csv, "Metric Name");
    csv_text(csv, "Device");
    for (size_t i = 0; i < COMPARISON_COLUMN_COUNT; i++) {
        buf_clear(&header);
        comparison_column_header(&header, &comparison_columns[i], comparison->roles, several);
        csv_text(csv, header.ptr);
    }
    csv_text(csv, "Presence");
    if (several) {
        csv_text(csv, "Kind");
        csv_text(csv, "Base PID");
        csv_text(csv, "Candidate PID");
    }
    csv_line_end(csv);
    buf_free(&header);
}

static void put_row(struct csv_write *csv, const struct comparison_row *row)
{
    csv_text(csv, row->function);
    csv_text(csv, row->metric);
    csv_text(csv, row->device);
    for (size_t i = 0; i < COMPARISON_COLUMN_COUNT; i++) {
        csv_fixed(csv, comparison_column_value(&comparison_columns[i], row), 6);
    }
    csv_text(csv, comparison_presence_name(row->presence));
}

void comparison_csv(struct buf *out, const struct comparison *const *items, size_t count)
{
    struct csv_write csv;
    csv_write_init(&csv, out);
    bool several = count > 1;
    if (count > 0) {
        put_header(&csv, items[0], several);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t r = 0; r < items[i]->row_count; r++) {
            put_row(&csv, &items[i]->rows[r]);
            if (several) {
                csv_text(&csv, cycle_kind_name(items[i]->kind));
                put_pid(&csv, items[i]->roles[SIDE_BASE].pid);
                put_pid(&csv, items[i]->roles[SIDE_CANDIDATE].pid);
            }
            csv_line_end(&csv);
        }
    }
}
