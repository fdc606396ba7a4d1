/* Arrays that live for one analysis. The caller frees them with scratch_free(). */
#ifndef KS_BASE_MEMORY_SCRATCH_H
#define KS_BASE_MEMORY_SCRATCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* `count` elements, not cleared; NULL without memory or when the product overflows. Never NULL for
 * a count of 0, so that NULL always means failure. */
static inline void *scratch_alloc(size_t count, size_t size)
{
    if (count > SIZE_MAX / size) {
        return NULL;
    }
    return malloc(count == 0 ? 1 : count * size);
}

/* As scratch_alloc, zeroed. */
static inline void *scratch_calloc(size_t count, size_t size)
{
    return calloc(count == 0 ? 1 : count, size);
}

/* `count` uint32 values with all bits set: the usual "none". */
static inline uint32_t *scratch_none(size_t count)
{
    uint32_t *out = scratch_alloc(count, sizeof *out);
    if (out != NULL) {
        memset(out, 0xFF, count * sizeof *out);
    }
    return out;
}

static inline void scratch_free(void *array)
{
    free(array);
}

/* Resizes the array to `count` elements; it may move. NULL without memory: then the old array stays
 * valid. */
static inline void *scratch_resize(void *array, size_t count, size_t size)
{
    return count > SIZE_MAX / size ? NULL : realloc(array, count == 0 ? 1 : count * size);
}

/* Makes room for one more element in an array with `*cap` elements, `count` of them used. Returns
 * the array, which may move, or NULL without memory: then the old array stays valid. */
static inline void *scratch_grow(void *array, size_t count, size_t *cap, size_t size)
{
    if (array != NULL && count < *cap) {
        return array;
    }
    size_t more = *cap < 32 ? 64 : *cap * 2;
    void *out = scratch_resize(array, more, size);
    if (out != NULL) {
        *cap = more;
    }
    return out;
}

#endif
