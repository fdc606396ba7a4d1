/* A growable array of rows of one kind. Zeroed, except for row_bytes, it is empty. */
#ifndef KS_FORMATS_CSV_ROW_LIST_H
#define KS_FORMATS_CSV_ROW_LIST_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct row_list {
    size_t row_bytes;
    char *rows;
    size_t count;
    size_t capacity;
};

/* A zeroed row at the end, valid until the next call; NULL without memory. */
void *row_list_add(struct row_list *list) KS_MUST_USE;
/* Moves the rows into the arena: *rows and *count are theirs, the list is empty. False without
 * memory: the list stays as it is. */
bool row_list_finish(struct row_list *list, struct arena *arena, void *rows, size_t *count)
    KS_MUST_USE;
void row_list_free(struct row_list *list);

#endif
