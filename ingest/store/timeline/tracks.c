#include "ingest/store/timeline/tracks.h"

#include "ingest/store/codec/column_codec.h"

#include <stdlib.h>
#include <string.h>

/* ---- tracks and levels ---- */

static const char *text_of(const char *text)
{
    return text == NULL ? "" : text;
}

static void encode_track(struct column_encoder *enc, const struct timeline_track *track)
{
    const char *texts[] = {text_of(track->process), text_of(track->label), track->pid, track->tid};
    const int64_t numbers[] = {(int64_t)track->item_count, track->first_ns, track->end_ns,
                               track->busy_ns};
    bool has_series = track->series != NULL;
    column_encode_number(enc, (uint64_t)track->kind);
    column_encode_number(enc, track->lane_count);
    column_encode_number(enc, track->member_count);
    column_encode_texts(enc, texts, sizeof texts / sizeof *texts);
    column_encode_i64(enc, numbers, sizeof numbers / sizeof *numbers);
    column_encode_number(enc, has_series);
    if (has_series) {
        column_encode_texts(enc, track->series, track->lane_count);
    }
}

bool timeline_encode_tracks(const struct timeline *timeline,
                            void **bytes,
                            size_t *len,
                            struct err *err)
{
    struct column_encoder enc;
    column_encode_init(&enc);
    column_encode_number(&enc, timeline->track_count);
    column_encode_number(&enc, timeline->label_count);
    column_encode_number(&enc, timeline->level_count);
    for (uint32_t level = 0; level < timeline->level_count && level < TIMELINE_LEVELS_MAX;
         level++) {
        const int64_t numbers[] = {timeline->levels[level].width_ns,
                                   (int64_t)timeline->levels[level].item_count};
        column_encode_i64(&enc, numbers, 2);
    }
    const int64_t numbers[] = {timeline->start_ns, timeline->end_ns, (int64_t)timeline->flow_count};
    column_encode_i64(&enc, numbers, sizeof numbers / sizeof *numbers);
    for (uint32_t t = 0; t < timeline->track_count; t++) {
        encode_track(&enc, &timeline->tracks[t]);
    }
    bool ok = column_encode_finish(&enc, bytes, len, err);
    column_encode_free(&enc);
    return ok;
}

static const char *const *decode_series(struct column_decoder *dec, uint32_t lane_count)
{
    const char **series = column_decode_texts(dec, lane_count);
    for (uint32_t lane = 0; lane < lane_count && !dec->failed; lane++) {
        series[lane] = text_of(series[lane]);
    }
    return series;
}

static void decode_track(struct column_decoder *dec, struct timeline_track *track)
{
    uint32_t kind = column_decode_count(dec);
    track->lane_count = column_decode_count(dec);
    track->member_count = column_decode_count(dec);
    const char **texts = column_decode_texts(dec, 4);
    const int64_t *numbers = column_decode_i64(dec, 4);
    bool has_series = column_decode_count(dec) != 0;
    dec->failed = dec->failed || kind > TIMELINE_GROUP || texts[0] == NULL || texts[1] == NULL ||
                  track->lane_count > TIMELINE_LANES_MAX;
    if (dec->failed) {
        return;
    }
    track->kind = (enum timeline_track_kind)kind;
    track->process = texts[0];
    track->label = texts[1];
    track->pid = texts[2];
    track->tid = texts[3];
    track->item_count = (uint64_t)numbers[0];
    track->first_ns = numbers[1];
    track->end_ns = numbers[2];
    track->busy_ns = numbers[3];
    track->series = has_series ? decode_series(dec, track->lane_count) : NULL;
}

/* Widths ascend from 0, so that who looks for a level finds one. */
static void decode_levels(struct column_decoder *dec, struct timeline *timeline)
{
    dec->failed = dec->failed || timeline->level_count > TIMELINE_LEVELS_MAX;
    int64_t before = -1;
    for (uint32_t level = 0; level < timeline->level_count && !dec->failed; level++) {
        const int64_t *numbers = column_decode_i64(dec, 2);
        if (numbers == NULL) {
            return;
        }
        dec->failed = numbers[0] <= before || (level == 0 && numbers[0] != 0);
        before = numbers[0];
        timeline->levels[level].width_ns = numbers[0];
        timeline->levels[level].item_count = (uint64_t)numbers[1];
    }
}

static void decode_timeline(struct column_decoder *dec, struct timeline *timeline)
{
    timeline->track_count = column_decode_count(dec);
    timeline->label_count = column_decode_count(dec);
    timeline->level_count = column_decode_count(dec);
    decode_levels(dec, timeline);
    const int64_t *numbers = column_decode_i64(dec, 3);
    /* A track takes more than a byte, so that no count is larger than what is left. */
    if (numbers == NULL || timeline->track_count > (size_t)(dec->end - dec->at)) {
        dec->failed = true;
        return;
    }
    timeline->start_ns = numbers[0];
    timeline->end_ns = numbers[1];
    timeline->flow_count = (uint64_t)numbers[2];
    timeline->tracks =
        arena_calloc(dec->arena, (size_t)timeline->track_count + 1, sizeof *timeline->tracks);
    dec->failed = dec->failed || timeline->tracks == NULL;
    for (uint32_t t = 0; t < timeline->track_count && !dec->failed; t++) {
        decode_track(dec, &timeline->tracks[t]);
    }
}

bool timeline_decode_tracks(
    struct arena *arena, const void *bytes, size_t len, struct timeline **out, struct err *err)
{
    struct column_decoder dec;
    struct timeline *timeline = arena_calloc(arena, 1, sizeof *timeline);
    if (timeline == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the tracks of the timeline");
    }
    if (!column_decode_init(&dec, arena, bytes, len, err)) {
        return false;
    }
    decode_timeline(&dec, timeline);
    *out = timeline;
    return column_decode_finish(&dec, err);
}

/* ---- labels ---- */

struct label_numbers {
    uint64_t name_len[TIMELINE_LABELS_PER_ROW];
    uint64_t category_len[TIMELINE_LABELS_PER_ROW];
    uint64_t role[TIMELINE_LABELS_PER_ROW];
    uint64_t count[TIMELINE_LABELS_PER_ROW];
    uint64_t total[TIMELINE_LABELS_PER_ROW];
};

void timeline_put_labels(struct column_writer *writer,
                         const struct timeline_label *labels,
                         size_t count)
{
    struct label_numbers of;
    struct buf texts;
    buf_init(&texts, TIMELINE_LABELS_MAX_BYTES);
    for (size_t i = 0; i < count; i++) {
        of.name_len[i] = strlen(labels[i].name);
        of.category_len[i] = strlen(labels[i].category);
        of.role[i] = labels[i].role;
        of.count[i] = labels[i].count;
        of.total[i] = column_fold((uint64_t)labels[i].total_ns);
        buf_append(&texts, labels[i].name, of.name_len[i]);
        buf_append(&texts, labels[i].category, of.category_len[i]);
    }
    const uint64_t head[] = {count};
    column_writer_clear(writer);
    column_put(writer, head, 1);
    column_put(writer, of.name_len, count);
    column_put(writer, of.category_len, count);
    column_put(writer, of.role, count);
    column_put(writer, of.count, count);
    column_put(writer, of.total, count);
    column_put_bytes(writer, texts.ptr, texts.len);
    writer->raw.failed = writer->raw.failed || texts.failed;
    buf_free(&texts);
}

static bool get_label_numbers(struct column_reader *reader, struct label_numbers *of, size_t *count)
{
    uint64_t head = 0;
    if (!column_get(reader, &head, 1) || head > TIMELINE_LABELS_PER_ROW) {
        return false;
    }
    *count = (size_t)head;
    return column_get(reader, of->name_len, *count) &&
           column_get(reader, of->category_len, *count) && column_get(reader, of->role, *count) &&
           column_get(reader, of->count, *count) && column_get(reader, of->total, *count);
}

static bool copy_label(struct arena *arena,
                       const struct label_numbers *of,
                       size_t at,
                       const char *name,
                       const char *category,
                       struct timeline_label *label)
{
    uint64_t total = column_unfold(of->total[at]);
    label->name = arena_strndup(arena, name, (size_t)of->name_len[at]);
    label->category = arena_strndup(arena, category, (size_t)of->category_len[at]);
    label->role = (uint8_t)of->role[at];
    label->count = of->count[at];
    memcpy(&label->total_ns, &total, sizeof total);
    return label->name != NULL && label->category != NULL;
}

static bool no_label_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the labels of the timeline");
}

bool timeline_get_labels(struct column_reader *reader,
                         struct arena *arena,
                         uint32_t first_id,
                         const uint32_t *ids,
                         size_t count,
                         struct timeline_label *labels,
                         struct err *err)
{
    /* 40 KB: too much for the stack of a request thread. */
    struct label_numbers *of = malloc(sizeof *of);
    if (of == NULL) {
        return no_label_memory(err);
    }
    size_t row_count = 0;
    size_t found = 0;
    bool has_memory = true;
    bool ok = get_label_numbers(reader, of, &row_count);
    for (size_t i = 0; ok && has_memory && i < row_count; i++) {
        const char *name = column_get_bytes(reader, (size_t)of->name_len[i]);
        const char *category = column_get_bytes(reader, (size_t)of->category_len[i]);
        ok = name != NULL && category != NULL;
        bool wanted = ok && found < count && ids[found] - first_id == i;
        has_memory = !wanted || copy_label(arena, of, i, name, category, &labels[found++]);
    }
    free(of);
    if (!has_memory) {
        return no_label_memory(err);
    }
    reader->failed = reader->failed || !ok || found < count;
    return column_reader_finish(reader, err);
}
