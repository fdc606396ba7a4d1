/* Arrays that live for one analysis. The caller frees them with scratch_free(). */
#ifndef KS_BASE_MEMORY_SCRATCH_H
#define KS_BASE_MEMORY_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* `count` elements, not cleared; NULL without memory or when the product overflows. Never NULL for
 * a count of 0, so that NULL always means failure. */
void *scratch_alloc(size_t count, size_t size);
/* As scratch_alloc, zeroed. */
void *scratch_calloc(size_t count, size_t size);
/* `count` uint32 values with all bits set: the usual "none". */
uint32_t *scratch_none(size_t count);
void scratch_free(void *array); /* NULL is allowed */
/* Several at once: SCRATCH_FREE(a, b, c). */
#define SCRATCH_FREE(...) \
    scratch_free_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void scratch_free_all(void *const *arrays, size_t count);

/* Resizes the array to `count` elements; it may move. NULL without memory: then the old array stays
 * valid. */
void *scratch_resize(void *array, size_t count, size_t size);
void *scratch_grow_now(void *array, size_t *cap, size_t size); /* what scratch_grow calls */
/* Makes room for one more element in an array with `*cap` elements, `count` of them used. Returns
 * the array, which may move, or NULL without memory: then the old array stays valid. */
static inline void *scratch_grow(void *array, size_t count, size_t *cap, size_t size)
{
    return array != NULL && count < *cap ? array : scratch_grow_now(array, cap, size);
}

#endif
