#include "api/table_params.h"

#include <stdio.h>
#include <string.h>

#define KNOWN_BYTES 400

static void add_known(char known[KNOWN_BYTES], const char *word)
{
    size_t len = strlen(known);
    (void)snprintf(known + len, KNOWN_BYTES - len, "%s%s", len == 0 ? "" : ", ", word);
}

bool table_params_choice(const struct api_call *call,
                         const char *name,
                         const char *const *words,
                         size_t *choice,
                         struct err *err)
{
    const char *value = query_string_get(&call->query, name);
    char known[KNOWN_BYTES] = "";
    *choice = 0;
    if (value == NULL || *value == '\0') {
        return true;
    }
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], value) == 0) {
            *choice = i;
            return true;
        }
        add_known(known, words[i]);
    }
    return err_set(err, ERR_BAD_REQUEST, "%s=%.60s is unknown: it can be %s", name, value, known);
}

static bool contains(const char *const *texts, const char *name)
{
    for (; *texts != NULL; texts++) {
        if (strcmp(*texts, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_sort(struct table_params *params,
                      const struct api_call *call,
                      const char *const *texts,
                      const char *default_sort,
                      struct err *err)
{
    static const char *const orders[] = {"asc", "desc", NULL};
    size_t order = 0;
    if (!table_params_choice(call, "order", orders, &order, err)) {
        return false;
    }
    const char *name = query_string_get(&call->query, "sort");
    const char *given = query_string_get(&call->query, "order");
    params->page.sort = name == NULL || *name == '\0' ? default_sort : name;
    params->page.descending =
        given == NULL || *given == '\0' ? !contains(texts, params->page.sort) : order == 1;
    return true;
}

bool table_params_read(struct table_params *params,
                       const struct api_call *call,
                       const char *const *texts,
                       const char *default_sort,
                       int64_t default_limit,
                       struct err *err)
{
    static const char *const formats[] = {"json", "csv", NULL};
    size_t format = 0;
    *params = (struct table_params){.csv = false};
    if (!table_params_choice(call, "format", formats, &format, err)) {
        return false;
    }
    const char *q = query_string_get(&call->query, "q");
    params->csv = format == 1;
    params->page.limit = params->csv ? 0 : default_limit;
    params->page.q = q == NULL || *q == '\0' ? NULL : q;
    return query_string_int(&call->query, "limit", 0, INT64_MAX, &params->page.limit, err) &&
           query_string_int(&call->query, "offset", 0, INT64_MAX, &params->page.offset, err) &&
           read_sort(params, call, texts, default_sort, err);
}

void table_params_members(struct json_write *w,
                          const struct table_params *params,
                          int64_t total,
                          const char *group_by)
{
    jw_key_int(w, "total", total);
    jw_key_string(w, "group_by", group_by);
    jw_key_string(w, "sort", params->page.sort);
    jw_key_string(w, "order", params->page.descending ? "desc" : "asc");
}

void table_params_begin_csv(struct api_call *call, struct csv_write *csv, const char *stem)
{
    call->response->status = 200;
    call->response->content_type = "text/csv; charset=utf-8";
    buf_clear(&call->response->body);
    csv_write_init(csv, &call->response->body);
    const char *file_name = call_format(call, "%s.csv", stem);
    if (file_name != NULL) {
        call_add_attachment(call, file_name);
    }
}
