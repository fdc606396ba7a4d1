/* Sorts by a name that the client gives: only names of a fixed list reach the SQL. */
#ifndef KS_STORE_DB_SORT_H
#define KS_STORE_DB_SORT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sort_column {
    const char *name; /* as the client says it */
    const char *key;  /* SQL expression */
};

/* The expression of `name`; NULL for a NULL or empty name. An unknown one: ERR_BAD_REQUEST with the
 * list. */
bool sort_find(const struct sort_column *columns,
               size_t column_count,
               const char *name,
               const char **key,
               struct err *err) KS_MUST_USE;
/* How many of `total` rows lie on the page. */
size_t sort_page_rows(const struct store_page *page, int64_t total);

#endif
