/* Bump allocator: many small allocations with one lifetime and one free. Not thread-safe. */
#ifndef KS_BASE_MEMORY_ARENA_H
#define KS_BASE_MEMORY_ARENA_H

#include "ingest/base/attr.h"

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head;
    size_t used_bytes; /* bytes handed out */
    size_t max_bytes;  /* ceiling on the bytes held */
    size_t held_bytes; /* bytes allocated for it */
};

/* Allocates nothing yet. `max_bytes` 0: no ceiling. */
void arena_init(struct arena *arena, size_t max_bytes);
/* `size` bytes aligned for any type, not zeroed. NULL without memory or beyond the ceiling. */
void *arena_alloc(struct arena *arena, size_t size) KS_MUST_USE;
/* count * size bytes, zeroed; NULL also when the product overflows. */
void *arena_calloc(struct arena *arena, size_t count, size_t size) KS_MUST_USE;
/* Makes room for one more element in an array of the arena with `*cap` elements, `count` of them
 * used; the rest is zeroed. Returns the array, which may move, the old one staying as it is until
 * arena_free, or NULL without memory. */
void *
arena_grow(struct arena *arena, void *array, size_t count, size_t *cap, size_t size) KS_MUST_USE;
/* Copies `len` bytes and appends a NUL. */
char *arena_strndup(struct arena *arena, const char *text, size_t len) KS_MUST_USE;
/* Copies a text. */
char *arena_strdup(struct arena *arena, const char *text) KS_MUST_USE;
/* Frees everything at once. The arena can be used again. */
void arena_free(struct arena *arena);

#endif
