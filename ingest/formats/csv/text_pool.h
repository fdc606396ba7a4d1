/* Interns the texts of a table's cells in the arena of its results, always as valid UTF-8. */
#ifndef KS_FORMATS_CSV_TEXT_POOL_H
#define KS_FORMATS_CSV_TEXT_POOL_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/text/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_pool {
    struct arena *arena;
    struct strtab *ids;
    const char **texts; /* by id */
    size_t capacity;
    struct buf scratch;
    uint64_t nul_count; /* NUL characters that were replaced */
};

/* False without memory. text_pool_free is allowed, and needed, either way. */
bool text_pool_init(struct text_pool *pool, struct arena *arena) KS_MUST_USE;
/* The texts stay with the arena. */
void text_pool_free(struct text_pool *pool);
/* The bytes as a text of the arena; NULs and bytes that are no UTF-8 become U+FFFD. NULL without
 * memory. */
const char *text_pool_add(struct text_pool *pool, const char *bytes, size_t len) KS_MUST_USE;
size_t text_pool_bytes(const struct text_pool *pool); /* memory held, without the arena */

#endif
