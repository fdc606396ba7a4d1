#include "ingest/store/db/sort.h"

#include "ingest/base/text/buf.h"

#include <string.h>

#define LIST_MAX_BYTES 2048

static bool
refuse(const struct sort_column *columns, size_t column_count, const char *name, struct err *err)
{
    struct buf list;
    buf_init(&list, LIST_MAX_BYTES);
    for (size_t i = 0; i < column_count; i++) {
        buf_printf(&list, "%s%s", i == 0 ? "" : ", ", columns[i].name);
    }
    (void)err_set(err, ERR_BAD_REQUEST, "cannot sort by \"%.40s\"; sort is one of %s", name,
                  list.ptr);
    buf_free(&list);
    return false;
}

bool sort_find(const struct sort_column *columns,
               size_t column_count,
               const char *name,
               const char **key,
               struct err *err)
{
    *key = NULL;
    if (name == NULL || name[0] == '\0') {
        return true;
    }
    for (size_t i = 0; i < column_count; i++) {
        if (strcmp(columns[i].name, name) == 0) {
            *key = columns[i].key;
            return true;
        }
    }
    return refuse(columns, column_count, name, err);
}

size_t sort_page_rows(const struct store_page *page, int64_t total)
{
    int64_t offset = page->offset > 0 ? page->offset : 0;
    int64_t left = total > offset ? total - offset : 0;
    return (size_t)(page->limit > 0 && page->limit < left ? page->limit : left);
}
