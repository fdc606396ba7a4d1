#include "ingest/model/column_source.h"

/* Rows that are narrowed at a time. */
#define CHUNK_ROWS ((uint32_t)1 << 10)

static uint32_t read_chunk(const struct column_source *source,
                           unsigned column,
                           uint32_t first,
                           uint32_t count,
                           int64_t chunk[CHUNK_ROWS])
{
    uint32_t rows = count - first < CHUNK_ROWS ? count - first : CHUNK_ROWS;
    source->read(source->context, column, first, rows, chunk);
    return rows;
}

uint8_t *column_source_u8(const struct column_source *source,
                          unsigned column,
                          uint32_t count,
                          struct arena *arena)
{
    int64_t chunk[CHUNK_ROWS];
    uint8_t *out = arena_calloc(arena, count, sizeof *out);
    for (uint32_t first = 0, rows; out != NULL && first < count; first += rows) {
        rows = read_chunk(source, column, first, count, chunk);
        for (uint32_t i = 0; i < rows; i++) {
            out[first + i] = (uint8_t)chunk[i];
        }
    }
    return out;
}

uint32_t *column_source_u32(const struct column_source *source,
                            unsigned column,
                            uint32_t count,
                            struct arena *arena)
{
    int64_t chunk[CHUNK_ROWS];
    uint32_t *out = arena_calloc(arena, count, sizeof *out);
    for (uint32_t first = 0, rows; out != NULL && first < count; first += rows) {
        rows = read_chunk(source, column, first, count, chunk);
        for (uint32_t i = 0; i < rows; i++) {
            out[first + i] = (uint32_t)chunk[i];
        }
    }
    return out;
}

int64_t *column_source_i64(const struct column_source *source,
                           unsigned column,
                           uint32_t count,
                           struct arena *arena)
{
    int64_t *out = arena_calloc(arena, count, sizeof *out);
    if (out != NULL) {
        source->read(source->context, column, 0, count, out);
    }
    return out;
}
