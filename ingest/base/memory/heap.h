/* How the process holds the memory that it frees. Ingest works in stages with arrays of tens of
 * megabytes each: what one stage frees is to be there for the next one, or for others. Any thread,
 * any number of times. */
#ifndef KS_BASE_MEMORY_HEAP_H
#define KS_BASE_MEMORY_HEAP_H

/* Stages begin: the pages of their arrays are kept from one to the next
 * (ingest/base/memory/pages.h), and malloc's large pieces go back to the system as soon as they are
 * freed, whatever was freed before; the latter for good. */
void heap_work(void);
/* Nobody works: whatever is free goes back. Takes some milliseconds. */
void heap_rest(void);
/* What malloc has free in small pieces goes back. Takes some milliseconds. */
void heap_return_free_pieces(void);

#endif
