#define _DEFAULT_SOURCE /* MADV_HUGEPAGE */
#include "ingest/base/memory/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_PAGE_BYTES ((uintptr_t)2 << 20)

#if defined(__GLIBC__)
#include <malloc.h>

/* Larger pieces come from the system and go back to it when they are freed. Setting it also keeps
 * glibc from raising it with each large piece that is freed. */
#define SYSTEM_PIECE_BYTES (4 << 20)
/* Free memory at the end of the heap stays up to this size. */
#define KEPT_END_BYTES (64 << 20)

void heap_init(void)
{
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_MMAP_THRESHOLD, SYSTEM_PIECE_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_END_BYTES);
}

void heap_return_free_pieces(void)
{
    (void)malloc_trim(0);
}
#else
void heap_init(void)
{
}

void heap_return_free_pieces(void)
{
}
#endif

#if defined(MADV_HUGEPAGE)
/* Within the array, from one boundary of a large page to another. */
void heap_use_large_pages(void *array, size_t size_bytes)
{
    size_t before = (size_t)(-(uintptr_t)array & (LARGE_PAGE_BYTES - 1));
    if (array != NULL && size_bytes >= before + LARGE_PAGE_BYTES) {
        size_t whole_bytes = (size_bytes - before) & ~(size_t)(LARGE_PAGE_BYTES - 1);
        (void)madvise((char *)array + before, whole_bytes, MADV_HUGEPAGE);
    }
}
#else
void heap_use_large_pages(void *array, size_t size_bytes)
{
    (void)array;
    (void)size_bytes;
}
#endif
