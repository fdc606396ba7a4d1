#include "ingest/base/memory/scratch.h"

#include "ingest/base/memory/heap.h"

#include <stdlib.h>
#include <string.h>

void *scratch_alloc(size_t count, size_t size)
{
    if (count > SIZE_MAX / size) {
        return NULL;
    }
    return heap_use_large_pages(malloc(count == 0 ? 1 : count * size), count * size);
}

void *scratch_calloc(size_t count, size_t size)
{
    return heap_use_large_pages(calloc(count == 0 ? 1 : count, size), count * size);
}

uint32_t *scratch_none(size_t count)
{
    uint32_t *out = scratch_alloc(count, sizeof *out);
    if (out != NULL) {
        memset(out, 0xFF, count * sizeof *out);
    }
    return out;
}

void scratch_free(void *array)
{
    free(array);
}

void scratch_free_all(void *const *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(arrays[i]);
    }
}

void *scratch_resize(void *array, size_t count, size_t size)
{
    if (count > SIZE_MAX / size) {
        return NULL;
    }
    return heap_use_large_pages(realloc(array, count == 0 ? 1 : count * size), count * size);
}

void *scratch_grow_now(void *array, size_t *cap, size_t size)
{
    size_t more = *cap < 32 ? 64 : *cap * 2;
    void *out = scratch_resize(array, more, size);
    if (out != NULL) {
        *cap = more;
    }
    return out;
}
