#include "api/table/table_params.h"

#include "api/authorize.h"

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
    const char *value = query_string_word(&call->query, name);
    char known[KNOWN_BYTES] = "";
    *choice = 0;
    if (value == NULL) {
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

static bool read_sort(struct store_page *page,
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
    const char *name = query_string_word(&call->query, "sort");
    const char *given = query_string_word(&call->query, "order");
    page->sort = name == NULL ? default_sort : name;
    page->descending = given == NULL ? !contains(texts, page->sort) : order == 1;
    return true;
}

bool table_params_page(struct store_page *page,
                       const struct api_call *call,
                       const char *const *texts,
                       const char *default_sort,
                       int64_t default_limit,
                       struct err *err)
{
    *page = (struct store_page){
        .q = query_string_word(&call->query, "q"),
        .limit = default_limit,
        .projects = authorize_projects(call),
    };
    return query_string_int(&call->query, "limit", 0, INT64_MAX, &page->limit, err) &&
           query_string_int(&call->query, "offset", 0, INT64_MAX, &page->offset, err) &&
           read_sort(page, call, texts, default_sort, err);
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
    params->csv = format == 1;
    return table_params_page(&params->page, call, texts, default_sort,
                             params->csv ? 0 : default_limit, err);
}

size_t table_params_slice(const struct store_page *page, size_t count, size_t *offset)
{
    *offset = (uint64_t)page->offset < count ? (size_t)page->offset : count;
    size_t left = count - *offset;
    return page->limit != 0 && (uint64_t)page->limit < left ? (size_t)page->limit : left;
}

void table_params_members(struct json_write *w,
                          const struct store_page *page,
                          int64_t total,
                          const char *group_by)
{
    jw_key_int(w, "total", total);
    if (group_by != NULL) {
        jw_key_string(w, "group_by", group_by);
    }
    jw_key_string(w, "sort", page->sort);
    jw_key_string(w, "order", page->descending ? "desc" : "asc");
    jw_key_string(w, "q", page->q);
    jw_key_int(w, "limit", page->limit);
    jw_key_int(w, "offset", page->offset);
}
