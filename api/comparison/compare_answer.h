/* Answers with a comparison, for the routes that read one and that make one. */
#ifndef KS_API_COMPARISON_COMPARE_ANSWER_H
#define KS_API_COMPARISON_COMPARE_ANSWER_H

#include "api/call.h"

#include <stdbool.h>
#include <stdint.h>

/* Answers in the format, and with the rows, that the query selects. */
bool compare_answer(struct api_call *call, int64_t id, struct err *err) KS_MUST_USE;
/* Writes its address on the page as the member "url". */
void compare_answer_url(struct json_write *w, const struct api *api, int64_t id);

#endif
