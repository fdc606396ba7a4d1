#include "ingest/store/events/search/stored_texts.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT_TEXTS 4096u
#define SEGMENT_BYTES ((size_t)256 << 10)
/* Segments that were not asked for lately are kept up to here. */
#define HELD_BYTES ((size_t)32 << 20)

/* ---- writing ---- */

uint32_t stored_texts_segment_end(const struct strtab *texts, uint32_t first, bool is_last)
{
    uint32_t count = strtab_count(texts);
    uint32_t end = first;
    size_t bytes = 0;
    while (end < count && end - first < SEGMENT_TEXTS && bytes < SEGMENT_BYTES) {
        bytes += strtab_len(texts, end);
        end++;
    }
    bool is_full = end - first == SEGMENT_TEXTS || bytes >= SEGMENT_BYTES;
    return is_full || is_last ? end : first;
}

void stored_texts_encode(struct column_encoder *enc,
                         const struct strtab *texts,
                         uint32_t first,
                         uint32_t end)
{
    column_encode_number(enc, end - first);
    for (uint32_t id = first; id < end; id++) {
        column_encode_number(enc, strtab_len(texts, id));
    }
    for (uint32_t id = first; id < end; id++) {
        buf_append(&enc->raw, strtab_text(texts, id), strtab_len(texts, id));
    }
}

/* ---- one segment ---- */

static void decode_segment(struct column_decoder *dec, struct text_segment *out)
{
    uint64_t total = 0;
    uint32_t count = column_decode_count(dec);
    if (dec->failed || count > (size_t)(dec->end - dec->at)) {
        dec->failed = true;
        return;
    }
    out->ends = malloc(((size_t)count + 1) * sizeof *out->ends);
    dec->failed = out->ends == NULL;
    for (uint32_t i = 0; i < count && !dec->failed; i++) {
        total += column_decode_count(dec);
        dec->failed = dec->failed || total > UINT32_MAX;
        out->ends[i] = (uint32_t)total;
    }
    const char *bytes = dec->failed ? NULL : column_decode_peek(dec, (size_t)total);
    out->bytes = bytes == NULL ? NULL : malloc((size_t)total + 1);
    if (out->bytes == NULL) {
        dec->failed = true;
        return;
    }
    memcpy(out->bytes, bytes, (size_t)total);
    out->bytes[total] = '\0';
    out->count = count;
    out->size_bytes = (size_t)total + count * sizeof *out->ends;
}

bool text_segment_decode(
    struct text_segment *out, uint32_t first_id, const void *bytes, size_t len, struct err *err)
{
    struct column_decoder dec;
    *out = (struct text_segment){.first_id = first_id};
    if (!column_decode_init(&dec, NULL, bytes, len, err)) {
        return false;
    }
    decode_segment(&dec, out);
    if (!column_decode_finish(&dec, err)) {
        text_segment_free(out);
        return false;
    }
    return true;
}

void text_segment_free(struct text_segment *segment)
{
    free(segment->ends);
    free(segment->bytes);
    *segment = (struct text_segment){.count = 0};
}

struct json_slice text_segment_text(const struct text_segment *segment, uint32_t id)
{
    uint32_t at = id - segment->first_id;
    uint32_t start = at == 0 ? 0 : segment->ends[at - 1];
    return (struct json_slice){.text = segment->bytes + start, .len = segment->ends[at] - start};
}

/* ---- several ---- */

void stored_texts_init(struct stored_texts *texts, int64_t log_id)
{
    *texts = (struct stored_texts){.log_id = log_id};
}

void stored_texts_free(struct stored_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        text_segment_free(&texts->segments[i]);
    }
    scratch_free(texts->segments);
    *texts = (struct stored_texts){.log_id = texts->log_id};
}

static void release(struct stored_texts *texts)
{
    while (texts->held_bytes > HELD_BYTES && texts->count > 0) {
        size_t oldest = 0;
        for (size_t i = 1; i < texts->count; i++) {
            if (texts->segments[i].used_at < texts->segments[oldest].used_at) {
                oldest = i;
            }
        }
        texts->held_bytes -= texts->segments[oldest].size_bytes;
        text_segment_free(&texts->segments[oldest]);
        memmove(&texts->segments[oldest], &texts->segments[oldest + 1],
                (texts->count - oldest - 1) * sizeof *texts->segments);
        texts->count--;
    }
}

/* The first segment that begins behind `id`. */
static size_t segment_behind(const struct stored_texts *texts, uint32_t id)
{
    size_t low = 0;
    ORDER_SEARCH(low, texts->count, at, texts->segments[at].first_id <= id);
    return low;
}

static bool has_text(const struct text_segment *segment, uint32_t id)
{
    return id >= segment->first_id && id - segment->first_id < segment->count;
}

static bool read_segment(struct stored_texts *texts,
                         struct db *db,
                         uint32_t id,
                         struct text_segment *out,
                         struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool ok = true;
    *out = (struct text_segment){.count = 0};
    db_prepare(&st, db,
               "SELECT first_id, bytes FROM event_text WHERE log_id = ? AND first_id <= ?"
               " ORDER BY first_id DESC LIMIT 1");
    db_put_int(&st, texts->log_id);
    db_put_int(&st, id);
    if (db_next(&st)) {
        size_t len;
        uint32_t first_id = (uint32_t)db_get_int(&st);
        const void *bytes = db_peek_blob(&st, &len);
        ok = text_segment_decode(out, first_id, bytes, len, err);
    }
    ok = db_done(&st, ok ? err : &second) && ok;
    if (ok && !has_text(out, id)) {
        (void)err_set(err, ERR_STORE, "text %u of an event is missing", id);
        ok = false;
    }
    if (!ok) {
        text_segment_free(out);
    }
    return ok;
}

static bool
load_segment(struct stored_texts *texts, struct db *db, uint32_t id, size_t at, struct err *err)
{
    struct text_segment segment;
    struct text_segment *segments =
        scratch_grow(texts->segments, texts->count, &texts->cap, sizeof *segments);
    if (segments == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the texts of events");
    }
    texts->segments = segments;
    if (!read_segment(texts, db, id, &segment, err)) {
        return false;
    }
    memmove(&texts->segments[at + 1], &texts->segments[at],
            (texts->count - at) * sizeof *texts->segments);
    texts->segments[at] = segment;
    texts->count++;
    texts->held_bytes += segment.size_bytes;
    return true;
}

bool stored_texts_get(struct stored_texts *texts,
                      struct db *db,
                      const uint32_t *ids,
                      size_t count,
                      struct json_slice *out,
                      struct err *err)
{
    struct text_segment *segment = NULL;
    release(texts);
    texts->clock++;
    for (size_t i = 0; i < count; i++) {
        if (segment == NULL || !has_text(segment, ids[i])) {
            size_t behind = segment_behind(texts, ids[i]);
            if (behind == 0 || !has_text(&texts->segments[behind - 1], ids[i])) {
                if (!load_segment(texts, db, ids[i], behind, err)) {
                    return false;
                }
                behind++;
            }
            segment = &texts->segments[behind - 1];
            segment->used_at = texts->clock;
        }
        out[i] = text_segment_text(segment, ids[i]);
    }
    return true;
}
