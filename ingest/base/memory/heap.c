#include "ingest/base/memory/heap.h"

#include "ingest/base/memory/pages.h"

#include <stdlib.h>

#if defined(__GLIBC__)
#include <malloc.h>

/* Said once it stays: else glibc raises it with each large piece that is freed, and keeps what is
 * smaller. */
#define LARGE_BYTES (512 << 10)

static void return_large_pieces(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

void heap_return_free_pieces(void)
{
    (void)malloc_trim(0);
}
#else
static void return_large_pieces(void)
{
}

void heap_return_free_pieces(void)
{
}
#endif

void heap_work(void)
{
    return_large_pieces();
    pages_keep(true);
}

void heap_rest(void)
{
    pages_keep(false);
    heap_return_free_pieces();
}
