#include "ingest/store/timeline/blocks.h"

#include <string.h>

/* ---- columns ---- */

static bool begin(struct column_decoder *dec,
                  struct arena *arena,
                  const void *bytes,
                  size_t len,
                  uint32_t *count,
                  struct err *err)
{
    if (!column_decode_init(dec, arena, bytes, len, err)) {
        return false;
    }
    *count = column_decode_count(dec);
    dec->failed = dec->failed || *count > TIMELINE_BLOCK_ITEMS;
    *count = dec->failed ? 0 : *count;
    return true;
}

static int64_t *get_i64(struct column_decoder *dec, uint32_t count)
{
    unsigned stride = 0;
    const int64_t *values = column_decode_column(dec, count, &stride);
    int64_t *column = arena_alloc(dec->arena, (count + 1) * sizeof *column);
    dec->failed = dec->failed || column == NULL;
    for (uint32_t i = 0; i < count && !dec->failed; i++) {
        column[i] = values[(size_t)i * stride];
    }
    return column;
}

static uint32_t *
narrow(struct column_decoder *dec, const int64_t *values, unsigned stride, uint32_t count)
{
    uint32_t *column = arena_alloc(dec->arena, (count + 1) * sizeof *column);
    uint64_t over = 0;
    dec->failed = dec->failed || column == NULL;
    for (uint32_t i = 0; i < count && !dec->failed; i++) {
        over |= (uint64_t)values[(size_t)i * stride];
        column[i] = (uint32_t)values[(size_t)i * stride];
    }
    dec->failed = dec->failed || over > UINT32_MAX;
    return column;
}

static uint32_t *get_u32(struct column_decoder *dec, uint32_t count)
{
    unsigned stride = 0;
    const int64_t *values = column_decode_column(dec, count, &stride);
    return narrow(dec, values, stride, count);
}

static uint32_t *get_events(struct column_decoder *dec, uint32_t count)
{
    int64_t *values = get_i64(dec, count);
    uint64_t bases[TIMELINE_EVENT_BASES] = {0};
    for (uint32_t i = 0; i < count && !dec->failed; i++) {
        int64_t which = values[i] & (TIMELINE_EVENT_BASES - 1);
        bases[which] += (uint64_t)((values[i] - which) / TIMELINE_EVENT_BASES);
        values[i] = (int64_t)bases[which];
    }
    return narrow(dec, values, 1, count);
}

static void
get_places(struct column_decoder *dec, uint32_t count, uint32_t **track, int64_t **start_ns)
{
    *track = get_u32(dec, count);
    *start_ns = column_decode_i64(dec, count);
    bool sorted = true;
    for (uint32_t i = 1; i < count && !dec->failed; i++) {
        sorted &= (*track)[i] > (*track)[i - 1] ||
                  ((*track)[i] == (*track)[i - 1] && (*start_ns)[i] >= (*start_ns)[i - 1]);
    }
    dec->failed = dec->failed || !sorted;
}

/* ---- slices ---- */

/* `busy_ns` holds the gaps. */
static bool are_sound(const struct timeline_block *block)
{
    bool bad = false;
    for (uint32_t i = 0; i < block->item_count; i++) {
        int64_t length_ns = block->dur_ns[i] < 0 ? 0 : block->dur_ns[i];
        bad |= (block->dur_ns[i] < TIMELINE_INSTANT) | (block->busy_ns[i] < 0) |
               (block->busy_ns[i] > length_ns) |
               (block->start_ns[i] > 0 && length_ns > INT64_MAX - block->start_ns[i]);
    }
    return !bad;
}

bool timeline_decode_block(struct arena *arena,
                           const void *bytes,
                           size_t len,
                           struct timeline_block *block,
                           struct err *err)
{
    struct column_decoder dec;
    uint32_t count = 0;
    if (!begin(&dec, arena, bytes, len, &count, err)) {
        return false;
    }
    *block = (struct timeline_block){.item_count = count};
    get_places(&dec, count, &block->track, &block->start_ns);
    block->dur_ns = get_i64(&dec, count);
    block->lane = get_u32(&dec, count);
    block->label = get_u32(&dec, count);
    block->event = get_events(&dec, count);
    block->count = get_u32(&dec, count);
    block->busy_ns = get_i64(&dec, count);
    dec.failed = dec.failed || !are_sound(block);
    for (uint32_t i = 0; i < count && !dec.failed; i++) {
        block->busy_ns[i] = (block->dur_ns[i] < 0 ? 0 : block->dur_ns[i]) - block->busy_ns[i];
    }
    return column_decode_finish(&dec, err);
}

/* ---- points ---- */

/* NULL after a failure. */
static double *doubles_of(struct column_decoder *dec,
                          const int64_t *numbers,
                          const int64_t *base,
                          uint32_t count,
                          bool whole)
{
    double *values = arena_alloc(dec->arena, (count + 1) * sizeof *values);
    dec->failed = dec->failed || values == NULL;
    for (uint32_t i = 0; i < count && !dec->failed; i++) {
        uint64_t number = (uint64_t)numbers[i] + (base == NULL ? 0 : (uint64_t)base[i]);
        memcpy(&values[i], &number, sizeof number);
        values[i] = whole ? (double)(int64_t)number : values[i];
    }
    return values;
}

bool timeline_decode_points(struct arena *arena,
                            const void *bytes,
                            size_t len,
                            struct timeline_points *points,
                            struct err *err)
{
    struct column_decoder dec;
    uint32_t count = 0;
    if (!begin(&dec, arena, bytes, len, &count, err)) {
        return false;
    }
    *points = (struct timeline_points){.item_count = count};
    bool whole = column_decode_count(&dec) != 0;
    get_places(&dec, count, &points->track, &points->start_ns);
    points->lane = get_u32(&dec, count);
    points->event = get_events(&dec, count);
    const int64_t *last = get_i64(&dec, count);
    points->last = doubles_of(&dec, last, NULL, count, whole);
    points->min = doubles_of(&dec, get_i64(&dec, count), last, count, whole);
    points->max = doubles_of(&dec, get_i64(&dec, count), last, count, whole);
    return column_decode_finish(&dec, err);
}

/* ---- flows ---- */

bool timeline_decode_flows(struct arena *arena,
                           bool by_target,
                           const void *bytes,
                           size_t len,
                           struct timeline_flow **flows,
                           size_t *count,
                           struct err *err)
{
    struct column_decoder dec;
    uint32_t items = 0;
    if (!begin(&dec, arena, bytes, len, &items, err)) {
        return false;
    }
    const uint32_t *keys = column_decode_u32(&dec, items, UINT32_MAX, true);
    const uint32_t *others = column_decode_u32(&dec, items, UINT32_MAX, true);
    const uint8_t *kinds = column_decode_bytes(&dec, items);
    *flows = arena_alloc(arena, (items + 1) * sizeof **flows);
    dec.failed = dec.failed || *flows == NULL;
    for (uint32_t i = 0; i < items && !dec.failed; i++) {
        (*flows)[i] = (struct timeline_flow){.from = by_target ? others[i] : keys[i],
                                             .to = by_target ? keys[i] : others[i],
                                             .kind = kinds[i]};
        dec.failed = kinds[i] > TIMELINE_FLOW_OTHER || (i > 0 && keys[i] < keys[i - 1]);
    }
    *count = items;
    return column_decode_finish(&dec, err);
}
