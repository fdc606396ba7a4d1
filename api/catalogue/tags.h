/* Tags of runs and traces as clients give them: "branch=main", or any other text. */
#ifndef KS_API_CATALOGUE_TAGS_H
#define KS_API_CATALOGUE_TAGS_H

#include "api/query_string.h"

#include <jansson.h>

/* The tags of a JSON array as the store keeps them: one text, the same for the same tags, in the
 * arena. ERR_BAD_REQUEST unless it is an array of at most 64 strings of 1 to 200 bytes. */
bool tags_of_json(const char **text, struct arena *arena, const json_t *tags, struct err *err)
    KS_MUST_USE;
/* The values of all parameters `tag` in the same form; NULL without any. ERR_BAD_REQUEST as above,
 * also for what is no UTF-8. */
bool tags_of_query(const char **text,
                   struct arena *arena,
                   const struct query_string *query,
                   struct err *err) KS_MUST_USE;

#endif
