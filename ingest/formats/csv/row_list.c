#include "ingest/formats/csv/row_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS 64

void *row_list_add(struct row_list *list)
{
    if (list->count == list->capacity) {
        size_t wanted = list->capacity == 0 ? FIRST_ROWS : list->capacity * 2;
        if (wanted > SIZE_MAX / 2 / list->row_bytes) {
            return NULL;
        }
        char *grown = realloc(list->rows, wanted * list->row_bytes);
        if (grown == NULL) {
            return NULL;
        }
        list->rows = grown;
        list->capacity = wanted;
    }
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
    free(list->rows);
    *list = (struct row_list){.row_bytes = list->row_bytes};
}
