#include "ingest/formats/comparison_report/appeared.h"

#include "ingest/base/order.h"

#include <stdint.h>
#include <stdlib.h>

struct entry {
    const char *function;
    const char *device;
    enum comparison_presence presence;
};

/* A row of the comparison, to be found by function and device, the first of them first. */
struct place {
    uintptr_t function;
    uintptr_t device;
    uint32_t row;
};

void report_appeared_init(struct report_appeared *appeared)
{
    *appeared = (struct report_appeared){.list = {.row_bytes = sizeof(struct entry)}};
}

void report_appeared_free(struct report_appeared *appeared)
{
    row_list_free(&appeared->list);
}

bool report_appeared_header(struct report_appeared *appeared,
                            const struct csv_cell *cells,
                            size_t count)
{
    struct csv_row header = {.cells = cells, .cell_count = count};
    appeared->function = csv_column(&header, "Function Name");
    appeared->device = csv_column(&header, "Device");
    appeared->presence = csv_column(&header, "Presence");
    return appeared->function != CSV_NO_COLUMN && appeared->device != CSV_NO_COLUMN &&
           appeared->presence != CSV_NO_COLUMN;
}

bool report_appeared_row(struct report_appeared *appeared,
                         const struct csv_cell *cells,
                         struct text_pool *texts)
{
    const struct csv_cell *function = &cells[appeared->function];
    const struct csv_cell *device = &cells[appeared->device];
    enum comparison_presence presence =
        csv_cell_equals(&cells[appeared->presence], comparison_presence_name(PRESENCE_ADDED))
            ? PRESENCE_ADDED
            : PRESENCE_REMOVED;
    struct entry *entry = row_list_add(&appeared->list);
    if (entry == NULL) {
        return false;
    }
    *entry = (struct entry){.function = text_pool_add(texts, function->text, function->len),
                            .device = text_pool_add(texts, device->text, device->len),
                            .presence = presence};
    return entry->function != NULL && entry->device != NULL;
}

/* --- into the comparison --- */

ORDER_BY(by_names, struct place, ORDER_UP(function), ORDER_UP(device))

ORDER_BY(by_names_then_row, struct place, ORDER_KEY(by_names(a, b)), ORDER_UP(row))

static void mark_rows(const struct place *places,
                      size_t count,
                      const struct entry *entry,
                      struct comparison *comparison)
{
    struct place key = {.function = (uintptr_t)entry->function, .device = (uintptr_t)entry->device};
    const struct place *found = bsearch(&key, places, count, sizeof *places, by_names);
    if (found == NULL) {
        return;
    }
    const struct place *end = places + count;
    while (found > places && by_names(found - 1, &key) == 0) {
        found--;
    }
    /* Once a function and device: rows that are marked already were taken before. */
    if (comparison->rows[found->row].presence != PRESENCE_BOTH) {
        return;
    }
    comparison->appeared[comparison->appeared_count++] = found->row;
    for (; found < end && by_names(found, &key) == 0; found++) {
        comparison->rows[found->row].presence = entry->presence;
    }
}

bool report_appeared_finish(struct report_appeared *appeared,
                            struct comparison *comparison,
                            struct arena *arena)
{
    const struct entry *entries = (const struct entry *)(void *)appeared->list.rows;
    size_t count = comparison->row_count;
    if (appeared->list.count == 0 || count == 0 || count > UINT32_MAX) {
        return true;
    }
    struct place *places = malloc(count * sizeof *places);
    comparison->appeared = arena_calloc(arena, appeared->list.count, sizeof *comparison->appeared);
    if (places == NULL || comparison->appeared == NULL) {
        free(places);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        places[i] = (struct place){.function = (uintptr_t)comparison->rows[i].function,
                                   .device = (uintptr_t)comparison->rows[i].device,
                                   .row = (uint32_t)i};
    }
    qsort(places, count, sizeof *places, by_names_then_row);
    for (size_t i = 0; i < appeared->list.count; i++) {
        mark_rows(places, count, &entries[i], comparison);
    }
    free(places);
    return true;
}
