#include "ingest/formats/csv/row_list.h"

#include "ingest/base/memory/scratch.h"

#include <string.h>

void *row_list_add(struct row_list *list)
{
    char *grown = scratch_grow(list->rows, list->count, &list->capacity, list->row_bytes);
    if (grown == NULL) {
        return NULL;
    }
    list->rows = grown;
    void *row = list->rows + list->count * list->row_bytes;
    list->count++;
    return memset(row, 0, list->row_bytes);
}

bool row_list_finish(struct row_list *list, struct arena *arena, void *rows, size_t *count)
{
    void *moved = arena_alloc(arena, list->count * list->row_bytes);
    if (moved == NULL) {
        return false;
    }
    if (list->count > 0) {
        memcpy(moved, list->rows, list->count * list->row_bytes);
    }
    memcpy(rows, &moved, sizeof moved);
    *count = list->count;
    row_list_free(list);
    return true;
}

void row_list_free(struct row_list *list)
{
    scratch_free(list->rows);
    *list = (struct row_list){.row_bytes = list->row_bytes};
}
