/* Parameters of every table: ?sort=&order=&q=&limit=&offset=&format=. */
#ifndef KS_API_TABLE_TABLE_PARAMS_H
#define KS_API_TABLE_TABLE_PARAMS_H

#include "api/call.h"

#include <stdbool.h>
#include <stddef.h>

struct table_params {
    struct store_page page; /* limit 0: all */
    bool csv;
};

/* Reads sort, order, q, limit and offset. `texts` lists the text columns (NULL-terminated): they
 * sort ascending by default, numbers descending. ERR_BAD_REQUEST for bad numbers and unknown words;
 * whoever sorts checks that the column exists. */
bool table_params_page(struct store_page *page,
                       const struct api_call *call,
                       const char *const *texts,
                       const char *default_sort,
                       int64_t default_limit,
                       struct err *err) KS_MUST_USE;
/* Also reads the format, json or csv. CSV has no limit unless the request gives one. */
bool table_params_read(struct table_params *params,
                       const struct api_call *call,
                       const char *const *texts,
                       const char *default_sort,
                       int64_t default_limit,
                       struct err *err) KS_MUST_USE;

/* Reads a parameter that is one of several words: its index in `words` (NULL-terminated), 0 when
 * absent or empty. ERR_BAD_REQUEST lists the known words. */
bool table_params_choice(const struct api_call *call,
                         const char *name,
                         const char *const *words,
                         size_t *choice,
                         struct err *err) KS_MUST_USE;

/* Number of `count` rows that are on the page; *offset is the first of them. */
size_t table_params_slice(const struct store_page *page, size_t count, size_t *offset);
/* Writes the members total, group_by (unless NULL), sort, order, q, limit, offset. */
void table_params_members(struct json_write *w,
                          const struct store_page *page,
                          int64_t total,
                          const char *group_by);

#endif
