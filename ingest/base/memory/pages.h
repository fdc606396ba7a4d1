/* Memory for large arrays, used again as soon as it is free: a stage of ingest takes the pages of
 * the one before it, instead of new ones that the system must clear and hand over at each first
 * touch. The process has one pool for them (pages_pool.h); small arrays, and all where there is no
 * such pool, come from malloc. Under sanitizers all do, so that these see where an array ends.
 *
 * Any function from any thread. */
#ifndef KS_BASE_MEMORY_PAGES_H
#define KS_BASE_MEMORY_PAGES_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes aligned for any type, not cleared; NULL without memory. To be freed with pages_free(). */
void *pages_alloc(size_t size_bytes) KS_MUST_USE;
/* count * size bytes, zeroed; NULL also when the product overflows. */
void *pages_calloc(size_t count, size_t size) KS_MUST_USE;
/* The array with another size, moved perhaps; NULL without memory, when the old one stays valid.
 * `array` NULL allocates. */
void *pages_resize(void *array, size_t size_bytes) KS_MUST_USE;
void pages_free(void *array); /* NULL is allowed */
/* Whether pages that become free are kept for later arrays (pages_pool_keep()). */
void pages_keep(bool keeps);

#endif
