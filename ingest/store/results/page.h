/* Part of a large table in some order: which table, which of its rows, which page.
 *
 * A sorted page is read in two steps inside one statement: the inner SELECT sorts narrow rows
 * (position and key) and keeps those of the page, the outer one fetches these few in full. Searches
 * look at each distinct name once, not at each row. */
#ifndef KS_STORE_RESULTS_PAGE_H
#define KS_STORE_RESULTS_PAGE_H

#include "ingest/model/tables/table.h"
#include "ingest/store/db/match.h"
#include "ingest/store/db/text_cache.h"
#include "ingest/store/internal.h"
#include "ingest/store/db/sort.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parameters of all statements, in this order. The last ones only where the table asks for them. */
#define PARAM_TRACE "?1"
#define PARAM_LIMIT "?2"
#define PARAM_OFFSET "?3"
#define PARAM_HAS_QUERY "?4"
#define PARAM_MATCHER "?5"
#define PARAM_NAME "?6"
#define PARAM_GROUPING "?7"
#define PARAM_SHAPE "?8"

enum page_filters {
    PAGE_QUERY_ONLY,
    PAGE_BY_NAME, /* PARAM_NAME */
    PAGE_BY_GROUP /* PARAM_NAME, PARAM_GROUPING, PARAM_SHAPE */
};

struct page_table {
    const struct row_table *rows; /* stored in the table o */
    const char *where;            /* rows of the trace that the filters let through */
    enum page_filters filters;
};

struct page_filter {
    int64_t trace_id;
    const char *name; /* NULL: any */
    int group;
    const char *shape;       /* NULL: any */
    struct matcher *matcher; /* NULL: no search */
};

/* Reads a page over an open reader. `filter` has the matcher of the page already. */
bool page_read(struct db *db,
               struct arena *arena,
               const struct page_table *table,
               const struct page_filter *filter,
               const struct store_page *page,
               void **rows,
               size_t *count,
               int64_t *total,
               struct err *err) KS_MUST_USE;
/* What goes on after the page over the same reader. */
typedef bool page_more(struct db *db,
                       struct arena *arena,
                       int64_t trace_id,
                       const void *rows,
                       size_t count,
                       void *context,
                       struct err *err);
/* The whole way: makes the matcher, takes a reader, reads the page and, when `more` is not NULL,
 * what belongs to it. */
bool page_read_with(struct store *store,
                    struct arena *arena,
                    const struct page_table *table,
                    const struct page_filter *filter,
                    const struct store_page *page,
                    void **rows,
                    size_t *count,
                    int64_t *total,
                    page_more *more,
                    void *context,
                    struct err *err) KS_MUST_USE;

#endif
