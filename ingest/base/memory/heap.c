#include "ingest/base/memory/heap.h"

#include <stdlib.h>

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
