/* A comparison as an answer, for those who ask for it and those who made it. */
#ifndef KS_API_COMPARISON_COMPARE_ANSWER_H
#define KS_API_COMPARISON_COMPARE_ANSWER_H

#include "api/call.h"

#include <stdbool.h>
#include <stdint.h>

/* In the format and with the rows that the query asks for. */
bool compare_answer(struct api_call *call, int64_t id, struct err *err) KS_MUST_USE;
/* Address in the page: a member "url". */
void compare_answer_url(struct json_write *w, const struct api *api, int64_t id);

#endif
