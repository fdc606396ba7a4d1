/* How the process holds memory that it has freed. Ingest allocates arrays of megabytes, stage after
 * stage and upload after upload; each page that malloc gets anew from the system must be cleared by
 * the system first. Any thread, any number of times, unless a function says otherwise. */
#ifndef KS_BASE_MEMORY_HEAP_H
#define KS_BASE_MEMORY_HEAP_H

#include <stddef.h>

/* Configures malloc for ingest. Call it once, before the process starts a second thread: without it
 * each thread keeps freed memory of its own, and the peak of an upload grows by a quarter. */
void heap_init(void);
/* Returns all free memory to the system. Call it when nobody waits; takes some milliseconds. */
void heap_return_free_pieces(void);
/* Tells the system that `size_bytes` at `array` will be used from end to end, so that it may give
 * them in large pages: it then clears 2 MB at a time instead of 4 KB. Changes no content, and does
 * nothing for a small array. Returns the array, which may be NULL. */
void *heap_use_large_pages(void *array, size_t size_bytes);

#endif
