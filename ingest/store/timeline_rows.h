/* The timeline on its way into the store: blocks are packed when they come, and wait until some
 * megabytes of them make a transaction. */
#ifndef KS_STORE_TIMELINE_ROWS_H
#define KS_STORE_TIMELINE_ROWS_H

#include <stdint.h>

/* What lies between the calls of one ingest; belongs to one log and begins anew with another. */
struct timeline_rows;

/* What was not yet written is lost with it: NULL is allowed. */
void timeline_rows_free(struct timeline_rows *rows);

#endif
