/* Tables beside an Ascend trace: cells by the name of their column, for columns differ with the
 * profiler's level. */
#ifndef KS_FORMATS_ASCEND_CSV_H
#define KS_FORMATS_ASCEND_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASCEND_COLUMNS_MAX 8
#define ASCEND_CELL_BYTES 512
#define ASCEND_FAULT_BYTES 160

struct ascend_cell {
    char text[ASCEND_CELL_BYTES]; /* trimmed; longer ones are cut */
};

struct ascend_csv {
    const char *at, *end;
    int column_of[ASCEND_COLUMNS_MAX]; /* place in the file; -1: it has none */
    size_t column_count;
    int cell_count; /* of the header */
    int line;       /* under way, from 1 */
};

/* What a reader wants of a table; names are found in any case. */
struct ascend_columns {
    const char *names[ASCEND_COLUMNS_MAX]; /* up to NULL */
    size_t needed;                         /* the first so many must be there */
    uint32_t numbers; /* bit i: name i holds decimals; blank and N/A are none, and no damage */
};

/* Where a table cannot be read: "line 3, column 10 (Duration(us)): no number". */
struct ascend_fault {
    char text[ASCEND_FAULT_BYTES];
};

/* Goes through the whole table, so that one that cannot be read is left out as a whole [FMT-1.3a],
 * then stands behind its header. */
bool ascend_csv_open(struct ascend_csv *csv,
                     const char *bytes,
                     size_t len,
                     const struct ascend_columns *columns,
                     struct ascend_fault *fault);
/* A table from its header on; a byte order mark is not before it. */
struct ascend_csv ascend_csv_of(const char *bytes, size_t len);
/* The next cell, of whatever column; *is_last: the row ends behind it. */
void ascend_csv_cell(struct ascend_csv *csv, struct ascend_cell *cell, bool *is_last);
/* The next row's cells, in the order of the columns; "" where there is none. Blank lines are no
 * rows. False at the end. */
bool ascend_csv_next(struct ascend_csv *csv, struct ascend_cell cells[ASCEND_COLUMNS_MAX]);

/* A decimal times a factor up to 2^20 or 10^6, rounded half up; 0 for what is no decimal. */
int64_t ascend_scaled(const char *text, size_t len, int64_t factor);
/* Decimal microseconds in ns, exact [FMT-0.1b]; `none` for what is none. */
int64_t ascend_us(const char *text, size_t len, int64_t none);

#endif
