/* The cells of a row of a Markdown table. */
#ifndef KS_FORMATS_CSV_MARKDOWN_ROW_H
#define KS_FORMATS_CSV_MARKDOWN_ROW_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"
#include "ingest/formats/csv/scan.h"

#include <stdbool.h>
#include <stddef.h>

struct markdown_row {
    struct csv_cell *cells; /* without blanks around them; slices of the line, or of `scratch` */
    size_t cell_count;
    size_t cell_capacity;
    struct buf scratch;
};

void markdown_row_init(struct markdown_row *row);
void markdown_row_free(struct markdown_row *row);

static inline bool markdown_is_row(const char *line, size_t len)
{
    return len > 0 && *line == '|';
}

/* Splits a line that is a row. A bar behind a backslash is text. Names may hold bare bars too:
 * where there are more cells than `columns`, the first ones are one. With `columns` 0 there are as
 * many as the line has. A row that does not end in a bar has no cells: it is cut. False without
 * memory. */
bool markdown_row_split(struct markdown_row *row, const char *line, size_t len, size_t columns)
    KS_MUST_USE;
/* The character for which our writer puts an entity (api/table/markdown_table.h), and the entity's
 * length; 0: none begins at `at`. */
char markdown_entity_at(const char *at, const char *end, size_t *len);
/* Whether the row is the line of dashes below a header. */
bool markdown_row_is_rule(const struct markdown_row *row);

#endif
