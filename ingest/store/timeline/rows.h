/* The timeline on its way into the store: blocks become columns when they come, and are packed and
 * written in transactions (timeline_press.h). */
#ifndef KS_STORE_TIMELINE_ROWS_H
#define KS_STORE_TIMELINE_ROWS_H

#include <stdint.h>

/* What lies between the calls of one ingest; belongs to one log and begins anew with another. */
struct timeline_rows;

/* What was not yet written is lost with it: NULL is allowed. */
void timeline_rows_free(struct timeline_rows *rows);

#endif
