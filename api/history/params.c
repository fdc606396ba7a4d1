#include "api/history/params.h"

#include "api/authorize.h"
#include "api/table/table_params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_of_series(const char *p)
{
    return p != NULL && strcmp(p, HISTORY_P_OF_SERIES) == 0;
}

/* ---- query ---- */

bool history_params_metric(struct api_call *call, const char **metric, struct err *err)
{
    const char *kernel = query_string_word(&call->query, "kernel");
    const char *operator_name = query_string_word(&call->query, "operator");
    *metric = query_string_word(&call->query, "metric");
    if ((*metric != NULL) + (kernel != NULL) + (operator_name != NULL) > 1) {
        return err_set(err, ERR_BAD_REQUEST,
                       "metric, kernel and operator name the same: give one of them");
    }
    if (kernel != NULL) {
        *metric = call_format(call, "kernel:%s", kernel);
    } else if (operator_name != NULL) {
        *metric = call_format(call, "operator:%s", operator_name);
    } else if (*metric == NULL) {
        *metric = HISTORY_METRIC_DEFAULT;
    }
    return *metric != NULL || err_set(err, ERR_BAD_REQUEST, "The name of the metric is too long");
}

bool history_params_all(struct api_call *call,
                        const char *name,
                        const char *const **values,
                        size_t *count,
                        struct err *err)
{
    const char **all = arena_calloc(call_arena(call), call->query.count + 1, sizeof *all);
    *count = 0;
    *values = all;
    if (all == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the parameters");
    }
    for (size_t i = 0; i < call->query.count; i++) {
        const struct query_param *param = &call->query.params[i];
        if (strcmp(param->name, name) == 0 && *param->value != '\0') {
            all[(*count)++] = param->value;
        }
    }
    return true;
}

bool history_params_filter(struct api_call *call,
                           struct store_series_filter *filter,
                           struct err *err)
{
    *filter = (struct store_series_filter){.projects = authorize_projects(call),
                                           .project = query_string_word(&call->query, "project"),
                                           .run = query_string_word(&call->query, "run"),
                                           .run_may_match = true,
                                           .device = query_string_word(&call->query, "device")};
    return history_params_all(call, "tag", &filter->tags, &filter->tag_count, err);
}

static bool read_real(const struct api_call *call, const char *name, double *value, struct err *err)
{
    const char *text = query_string_word(&call->query, name);
    if (text == NULL) {
        return true;
    }
    char *end = NULL;
    double parsed = strtod(text, &end);
    if (strspn(text, "0123456789.eE+-") != strlen(text) || end == text || *end != '\0' ||
        !isfinite(parsed)) {
        return err_set(err, ERR_BAD_REQUEST, "The parameter %s is \"%.40s\": it must be a number",
                       name, text);
    }
    *value = parsed;
    return true;
}

bool history_params_rules(const struct api_call *call, struct history_rules *rules, struct err *err)
{
    static const char *const words[] = {"otava", "strict", NULL};
    size_t rule = 0;
    *rules = HISTORY_RULES_DEFAULT;
    int64_t window = (int64_t)rules->window;
    rules->p_of_series = is_of_series(query_string_word(&call->query, "p"));
    if (!query_string_int(&call->query, "window", 2, INT64_MAX, &window, err) ||
        !(rules->p_of_series || read_real(call, "p", &rules->p, err)) ||
        !read_real(call, "min_magnitude", &rules->min_magnitude, err) ||
        !table_params_choice(call, "rule", words, &rule, err)) {
        return false;
    }
    rules->window = (size_t)window;
    rules->strict = rule == 1;
    return true;
}

/* ---- body ---- */

bool history_body_number(const json_t *body, const char *name, double *value, struct err *err)
{
    const json_t *member = json_object_get(body, name);
    if (member == NULL || json_is_null(member)) {
        return true;
    }
    if (!json_is_number(member)) {
        return err_set(err, ERR_BAD_REQUEST, "\"%s\" must be a number", name);
    }
    *value = json_number_value(member);
    return true;
}

bool history_body_rules(const json_t *body,
                        const char *p_name,
                        struct history_rules *rules,
                        struct err *err)
{
    *rules = HISTORY_RULES_DEFAULT;
    double window = (double)rules->window;
    const json_t *rule = json_object_get(body, "rule");
    rules->p_of_series = is_of_series(json_string_value(json_object_get(body, p_name)));
    if (!history_body_number(body, "window", &window, err) ||
        !(rules->p_of_series || history_body_number(body, p_name, &rules->p, err)) ||
        !history_body_number(body, "min_magnitude", &rules->min_magnitude, err)) {
        return false;
    }
    if (!(window >= 2 && window <= 1e15 && window == floor(window))) {
        return err_set(err, ERR_BAD_REQUEST, "\"window\" must be an integer of at least 2");
    }
    rules->window = (size_t)window;
    if (rule == NULL || json_is_null(rule)) {
        return true;
    }
    const char *word = json_string_value(rule);
    rules->strict = word != NULL && strcmp(word, "strict") == 0;
    return rules->strict || (word != NULL && strcmp(word, "otava") == 0) ||
           err_set(err, ERR_BAD_REQUEST, "\"rule\" must be \"otava\" or \"strict\"");
}
