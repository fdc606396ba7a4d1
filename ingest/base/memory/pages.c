#include "ingest/base/memory/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#if defined(__linux__) && SIZE_MAX > UINT32_MAX && !defined(HAS_SANITIZER)

#include "ingest/base/memory/pages_pool.h"

#include <malloc.h>
#include <pthread.h>

/* Of addresses: they cost nothing. */
#define RANGE_BYTES ((size_t)64 << 30)
/* Below, malloc has room of its own that it uses again. */
#define LARGE_BYTES ((size_t)128 << 10)

static struct pages_pool *the_pool;

static void create_pool(void)
{
    the_pool = pages_pool_create(RANGE_BYTES);
}

/* NULL where the system gives no range. */
static struct pages_pool *pool(void)
{
    static pthread_once_t created = PTHREAD_ONCE_INIT;
    (void)pthread_once(&created, create_pool);
    return the_pool;
}

static bool is_pooled(const void *array)
{
    return pool() != NULL && pages_pool_owns(pool(), array);
}

static void *take_large(size_t size_bytes, bool *is_zero)
{
    return size_bytes < LARGE_BYTES || pool() == NULL
               ? NULL
               : pages_pool_alloc(pool(), size_bytes, is_zero);
}

void *pages_alloc(size_t size_bytes)
{
    bool is_zero = false;
    void *array = take_large(size_bytes, &is_zero);
    return array != NULL ? array : malloc(size_bytes == 0 ? 1 : size_bytes);
}

void *pages_calloc(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    bool is_zero = false;
    void *array = take_large(count * size, &is_zero);
    if (array == NULL) {
        return calloc(count == 0 ? 1 : count, size == 0 ? 1 : size);
    }
    return is_zero ? array : memset(array, 0, count * size);
}

void *pages_resize(void *array, size_t size_bytes)
{
    bool pooled = is_pooled(array);
    if (pooled && pages_pool_resize(pool(), array, size_bytes)) {
        return array;
    }
    if (!pooled && (size_bytes < LARGE_BYTES || pool() == NULL)) {
        return realloc(array, size_bytes == 0 ? 1 : size_bytes);
    }
    void *moved = pages_alloc(size_bytes);
    if (moved != NULL && array != NULL) {
        size_t old_bytes = pooled ? pages_pool_size(pool(), array) : malloc_usable_size(array);
        memcpy(moved, array, old_bytes < size_bytes ? old_bytes : size_bytes);
        pages_free(array);
    }
    return moved;
}

void pages_free(void *array)
{
    if (is_pooled(array)) {
        pages_pool_free(pool(), array);
    } else {
        free(array);
    }
}

void pages_keep(bool keeps)
{
    if (pool() != NULL) {
        pages_pool_keep(pool(), keeps);
    }
}

#else

void *pages_alloc(size_t size_bytes)
{
    return malloc(size_bytes == 0 ? 1 : size_bytes);
}

void *pages_calloc(size_t count, size_t size)
{
    return calloc(count == 0 ? 1 : count, size == 0 ? 1 : size);
}

void *pages_resize(void *array, size_t size_bytes)
{
    return realloc(array, size_bytes == 0 ? 1 : size_bytes);
}

void pages_free(void *array)
{
    free(array);
}

void pages_keep(bool keeps)
{
    (void)keeps;
}

#endif
