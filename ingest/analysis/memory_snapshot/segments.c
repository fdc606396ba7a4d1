/* How segments lie: what of each is given out, waits or is free, and in how large a piece. */
#include "ingest/analysis/memory_snapshot/memory_snapshot.h"
#include "ingest/analysis/memory_snapshot/replay.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <stdlib.h>

static enum snapshot_state state_of(const struct snapshot_block *block)
{
    switch (block->state) {
    case SNAPSHOT_ALLOCATED:
        return SNAPSHOT_ALLOCATED;
    case SNAPSHOT_PENDING_FREE:
    case SNAPSHOT_AWAITING_FREE:
        return SNAPSHOT_PENDING_FREE;
    default:
        return SNAPSHOT_INACTIVE;
    }
}

static struct snapshot_segment_row sums_of(const struct snapshot_device *device,
                                           const struct snapshot_segment *segment)
{
    struct snapshot_segment_row row = {.segment = segment,
                                       .stream = segment->stream,
                                       .total_bytes = segment->total_size,
                                       .blocks = segment->block_count};
    for (uint32_t i = 0; i < segment->block_count; i++) {
        const struct snapshot_block *block = &device->blocks[segment->first_block + i];
        enum snapshot_state state = state_of(block);
        int64_t *sum = state == SNAPSHOT_ALLOCATED      ? &row.allocated_bytes
                       : state == SNAPSHOT_PENDING_FREE ? &row.pending_bytes
                                                        : &row.free_bytes;
        *sum = saturating_add(*sum, block->size);
        if (state == SNAPSHOT_INACTIVE && block->size > row.largest_free_bytes) {
            row.largest_free_bytes = block->size;
        }
    }
    return row;
}

/* ---- order ---- */

static int64_t key_of(const struct snapshot_segment_row *row, enum snapshot_segment_order order)
{
    return order == SNAPSHOT_BY_FREE ? row->free_bytes : row->total_bytes;
}

ORDER_BY(by_address, struct snapshot_segment_row, ORDER_UP(segment->address))

static int by_key(const void *left, const void *right, enum snapshot_segment_order order)
{
    int64_t a = key_of(left, order);
    int64_t b = key_of(right, order);
    return a != b ? (a < b) - (a > b) : by_address(left, right);
}

static int by_size(const void *left, const void *right)
{
    return by_key(left, right, SNAPSHOT_BY_SIZE);
}

static int by_free(const void *left, const void *right)
{
    return by_key(left, right, SNAPSHOT_BY_FREE);
}

/* ---- the map ---- */

/* Adds what the bytes from `begin` to `end` cover of each cell. */
static void cover(double *cells, double begin, double end, double cell_bytes)
{
    size_t first = (size_t)(begin / cell_bytes);
    for (size_t i = first; i < SNAPSHOT_SEGMENT_CELLS && (double)i * cell_bytes < end; i++) {
        double low = (double)i * cell_bytes;
        double from = begin > low ? begin : low;
        double to = end < low + cell_bytes ? end : low + cell_bytes;
        cells[i] += to > from ? to - from : 0;
    }
}

static void round_cells(const double *cells, double cell_bytes, uint8_t *percent)
{
    for (size_t i = 0; i < SNAPSHOT_SEGMENT_CELLS; i++) {
        double share = 100 * cells[i] / cell_bytes;
        percent[i] = (uint8_t)(share > 100 ? 100 : share + 0.5);
    }
}

/* Blocks may lie outside of their segment in a damaged file: what is inside counts. */
static bool
draw(const struct snapshot_device *device, struct arena *arena, struct snapshot_segment_row *row)
{
    const struct snapshot_segment *segment = row->segment;
    double allocated[SNAPSHOT_SEGMENT_CELLS] = {0};
    double pending[SNAPSHOT_SEGMENT_CELLS] = {0};
    double total = (double)segment->total_size;
    double cell_bytes = total / SNAPSHOT_SEGMENT_CELLS;
    row->allocated = arena_calloc(arena, SNAPSHOT_SEGMENT_CELLS, sizeof *row->allocated);
    row->pending = arena_calloc(arena, SNAPSHOT_SEGMENT_CELLS, sizeof *row->pending);
    if (row->allocated == NULL || row->pending == NULL || segment->total_size <= 0) {
        return row->allocated != NULL && row->pending != NULL;
    }
    for (uint32_t i = 0; i < segment->block_count; i++) {
        const struct snapshot_block *block = &device->blocks[segment->first_block + i];
        enum snapshot_state state = state_of(block);
        double begin = (double)saturating_sub(block->address, segment->address);
        double end = begin + (double)block->size;
        begin = begin < 0 ? 0 : begin;
        end = end > total ? total : end;
        if (state != SNAPSHOT_INACTIVE && begin < end) {
            cover(state == SNAPSHOT_ALLOCATED ? allocated : pending, begin, end, cell_bytes);
        }
    }
    round_cells(allocated, cell_bytes, row->allocated);
    round_cells(pending, cell_bytes, row->pending);
    return true;
}

bool snapshot_segments_of(const struct snapshot_device *device,
                          enum snapshot_segment_order order,
                          size_t limit,
                          struct arena *arena,
                          struct snapshot_segments *out)
{
    size_t count = device->segment_count;
    struct snapshot_segment_row *rows = scratch_alloc(count + 1, sizeof *rows);
    *out = (struct snapshot_segments){.total = (int64_t)count};
    out->count = count < limit ? count : limit;
    out->rows = arena_calloc(arena, out->count + 1, sizeof *out->rows);
    bool ok = rows != NULL && out->rows != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        rows[i] = sums_of(device, &device->segments[i]);
    }
    if (ok && count > 0) {
        qsort(rows, count, sizeof *rows,
              order == SNAPSHOT_BY_ADDRESS ? by_address
              : order == SNAPSHOT_BY_FREE  ? by_free
                                           : by_size);
    }
    for (size_t i = 0; ok && i < out->count; i++) {
        out->rows[i] = rows[i];
        ok = draw(device, arena, &out->rows[i]);
        out->rows[i].address = snapshot_address(arena, rows[i].segment->address);
        ok = ok && out->rows[i].address != NULL;
    }
    scratch_free(rows);
    return ok;
}
