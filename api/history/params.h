/* Which series a request asks for, and by which rules its changes are found. */
#ifndef KS_API_HISTORY_PARAMS_H
#define KS_API_HISTORY_PARAMS_H

#include "api/call.h"
#include "ingest/query/history/history.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define HISTORY_METRIC_DEFAULT "step_time"

/* The metric, by metric=, kernel= or operator=. */
bool history_params_metric(struct api_call *call, const char **metric, struct err *err) KS_MUST_USE;
/* All values of a parameter that may be repeated, in the arena. */
bool history_params_all(struct api_call *call,
                        const char *name,
                        const char *const **values,
                        size_t *count,
                        struct err *err) KS_MUST_USE;
bool history_params_filter(struct api_call *call,
                           struct store_series_filter *filter,
                           struct err *err) KS_MUST_USE;
bool history_params_rules(const struct api_call *call,
                          struct history_rules *rules,
                          struct err *err) KS_MUST_USE;

/* Members of a body. Each leaves the value as it is where there is none. ERR_BAD_REQUEST. */
bool history_body_number(const json_t *body, const char *name, double *value, struct err *err)
    KS_MUST_USE;
/* `p_name`: how this body calls the rules' p. */
bool history_body_rules(const json_t *body,
                        const char *p_name,
                        struct history_rules *rules,
                        struct err *err) KS_MUST_USE;

#endif
