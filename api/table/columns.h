/* Writes columns of tens of thousands of numbers as JSON arrays, straight into the buffer, with
 * bare commas. */
#ifndef KS_API_TABLE_COLUMNS_H
#define KS_API_TABLE_COLUMNS_H

#include "ingest/base/text/json_write.h"

#include <stddef.h>
#include <stdint.h>

void columns_ints(struct json_write *w, const char *key, const int64_t *values, size_t count);
/* Writes the value `none` as null. */
void columns_known_ints(
    struct json_write *w, const char *key, const int64_t *values, size_t count, int64_t none);
void columns_uints(struct json_write *w, const char *key, const uint32_t *values, size_t count);
/* Whole numbers have no point; non-finite ones are null. */
void columns_doubles(struct json_write *w, const char *key, const double *values, size_t count);

#endif
