/* Large arrays in one range of addresses whose memory is used again. Freed arrays keep their pages,
 * and what comes next stands where it needs the fewest new ones. Those come in the size of the
 * processor's large ones where the system has them, since each first touch is a fault.
 *
 * Memory held is at most what lived in the range at its fullest, and 2 MB: pages taken anew while
 * others lie free cost as many of the free ones, which go back to the system.
 *
 * Any function from any thread, but create and destroy. Pages are the system's, mostly of 4 KB. */
#ifndef KS_BASE_MEMORY_PAGES_POOL_H
#define KS_BASE_MEMORY_PAGES_POOL_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>

struct pages_pool;

/* A range of so many bytes of addresses, none of memory. NULL where the system gives none. */
struct pages_pool *pages_pool_create(size_t range_bytes) KS_MUST_USE;
void pages_pool_destroy(struct pages_pool *pool); /* with all its arrays; NULL is allowed */

/* Whether the array, which may be NULL, came from this pool. */
bool pages_pool_owns(const struct pages_pool *pool, const void *array);
/* An array that begins with a page, not cleared; NULL when the range has no such room. `*is_zero`
 * says that all of it is zero. */
void *pages_pool_alloc(struct pages_pool *pool, size_t size_bytes, bool *is_zero) KS_MUST_USE;
/* Another size for an array where it stands. False when what follows it is in use: the array is
 * then as before. */
bool pages_pool_resize(struct pages_pool *pool, void *array, size_t size_bytes) KS_MUST_USE;
/* The bytes of an array: those asked for, up to a whole page. */
size_t pages_pool_size(struct pages_pool *pool, const void *array);
void pages_pool_free(struct pages_pool *pool, void *array);
/* Whether pages that become free are kept, up to a quarter of the most that was in use. Else, as at
 * first, they go back to the system, and what is kept goes now. */
void pages_pool_keep(struct pages_pool *pool, bool keeps);

struct pages_pool_use {
    size_t used_bytes; /* of arrays */
    size_t kept_bytes; /* of free pages that have memory */
};

struct pages_pool_use pages_pool_use(struct pages_pool *pool);

#endif
