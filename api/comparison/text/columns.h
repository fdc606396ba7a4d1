/* The numeric columns of a comparison's rows, declared once for CSV and Markdown. */
#ifndef KS_API_COMPARISON_COLUMNS_H
#define KS_API_COMPARISON_COLUMNS_H

#include "ingest/base/text/buf.h"
#include "ingest/model/results/comparison.h"

#include <stdbool.h>
#include <stddef.h>

/* How Markdown prints them; CSV has six decimals throughout. */
enum column_style { STYLE_SCORE, STYLE_SHARE, STYLE_SIGNED, STYLE_P, STYLE_THOUSANDS };

struct comparison_column {
    const char *before; /* of the label */
    const char *after;
    int side; /* the side whose label is in between; SIDE_COUNT: none */
    enum column_style style;
    size_t offset; /* of the double in a row */
};

/* The reference's columns after function, metric and device; then ours. */
#define REFERENCE_COLUMN_COUNT 14
#define COMPARISON_COLUMN_COUNT 18
extern const struct comparison_column comparison_columns[COMPARISON_COLUMN_COUNT];

double comparison_column_value(const struct comparison_column *column,
                               const struct comparison_row *row);
/* With `plain`, omits the _pid_N of a cross pair's label. */
void comparison_column_header(struct buf *out,
                              const struct comparison_column *column,
                              const struct comparison_role roles[SIDE_COUNT],
                              bool plain);

/* Length of a cross pair's label without its _pid_N; the whole length when it has none. */
size_t comparison_plain_label_len(const struct comparison_role *role);

#endif
