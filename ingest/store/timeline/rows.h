/* Writes a timeline: packs blocks as they arrive and writes them into the file of the trace. */
#ifndef KS_STORE_TIMELINE_ROWS_H
#define KS_STORE_TIMELINE_ROWS_H

#include <stdint.h>

/* State between the calls of one ingest; belongs to one log and restarts with another. */
struct timeline_rows;

/* NULL is allowed. */
void timeline_rows_free(struct timeline_rows *rows);

#endif
