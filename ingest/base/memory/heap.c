#define _DEFAULT_SOURCE /* MADV_HUGEPAGE */
#include "ingest/base/memory/heap.h"

#include <stdint.h>
#include <sys/mman.h>

/* Pieces of this size and above come from the system and go back to it when they are freed. Smaller
 * ones do not pay a call of the system. */
#define LARGE_BYTES ((size_t)4 << 20)
/* Of another size the system refuses the advice, and nothing is lost. */
#define PAGE_BYTES ((uintptr_t)4 << 10)

#if defined(__GLIBC__)
#include <malloc.h>

/* Free memory at the end of the heap stays up to this size. */
#define KEPT_END_BYTES (64 << 20)

void heap_init(void)
{
    (void)mallopt(M_ARENA_MAX, 1);
    /* Setting it also keeps glibc from raising it with each large piece that is freed. */
    (void)mallopt(M_MMAP_THRESHOLD, (int)LARGE_BYTES);
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
/* All pages that the array touches. A large array is mostly a mapping of its own: advice for a part
 * would split it, and realloc could then no longer move it without a copy. */
void *heap_use_large_pages(void *array, size_t size_bytes)
{
    uintptr_t first = (uintptr_t)array & ~(PAGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)array + size_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    if (array != NULL && size_bytes >= LARGE_BYTES) {
        (void)madvise((char *)array - ((uintptr_t)array - first), end - first, MADV_HUGEPAGE);
    }
    return array;
}
#else
void *heap_use_large_pages(void *array, size_t size_bytes)
{
    (void)size_bytes;
    return array;
}
#endif
