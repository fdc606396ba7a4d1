/* Writes a timeline: turns blocks into columns as they arrive, then packs and writes them in
 * transactions (timeline_press.h). */
#ifndef KS_STORE_TIMELINE_ROWS_H
#define KS_STORE_TIMELINE_ROWS_H

#include <stdint.h>

/* State between the calls of one ingest; belongs to one log and restarts with another. */
struct timeline_rows;

/* Frees it; what is not yet written is lost. NULL is allowed. */
void timeline_rows_free(struct timeline_rows *rows);

#endif
