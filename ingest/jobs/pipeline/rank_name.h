/* Finds the rank in a name. */
#ifndef KS_JOBS_PIPELINE_RANK_NAME_H
#define KS_JOBS_PIPELINE_RANK_NAME_H

#include <stdint.h>

#define RANK_NAME_NONE INT64_C(-1)
#define RANK_MAX INT64_C(2147483647)

/* The number after the first "rank" that has one, directly or after "-" and "_": 3 in "rank3",
 * "node1_rank_3" and "frank/rank-3". RANK_NAME_NONE when there is none, or it exceeds RANK_MAX. */
int64_t rank_of_name(const char *name);

#endif
