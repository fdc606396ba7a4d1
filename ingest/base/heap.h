/* How the process holds the memory that it frees. Ingest works in stages with arrays of tens of
 * megabytes each: what one stage frees is to be there for the next one, or for others. */
#ifndef KS_BASE_HEAP_H
#define KS_BASE_HEAP_H

/* Large pieces go back to the system as soon as they are freed, whatever was freed before. For the
 * whole process and for good; any thread, any number of times. Where the C library has no such
 * setting nothing happens. */
void heap_return_large_pieces(void);
/* Small ones that are free go back, too. Takes some milliseconds. */
void heap_return_free_pieces(void);

#endif
