/* Tables beside an Ascend trace: cells by the name of their column, for columns differ with the
 * profiler's level. */
#ifndef KS_FORMATS_ASCEND_CSV_H
#define KS_FORMATS_ASCEND_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASCEND_COLUMNS_MAX 8
#define ASCEND_CELL_BYTES 512

struct ascend_cell {
    char text[ASCEND_CELL_BYTES]; /* trimmed; longer ones are cut */
};

struct ascend_csv {
    const char *at, *end;
    int column_of[ASCEND_COLUMNS_MAX]; /* place in the file; -1: it has none */
    size_t column_count;
};

/* Reads the header. False: one of the first `needed` columns is missing. `columns` ends with NULL
 * if there are fewer than ASCEND_COLUMNS_MAX. */
bool ascend_csv_open(struct ascend_csv *csv,
                     const char *bytes,
                     size_t len,
                     const char *const *columns,
                     size_t needed);
/* The next row's cells, in the order of the columns; "" where there is none. False at the end. */
bool ascend_csv_next(struct ascend_csv *csv, struct ascend_cell cells[ASCEND_COLUMNS_MAX]);

/* A decimal times a factor up to 2^20 or 10^6, rounded half up; 0 for what is no decimal. */
int64_t ascend_scaled(const char *text, size_t len, int64_t factor);
/* Decimal microseconds in ns, exact [FMT-0.1b]; `none` for what is none. */
int64_t ascend_us(const char *text, size_t len, int64_t none);

#endif
