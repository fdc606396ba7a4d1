#include "ingest/store/timeline/tracks.h"

#include "ingest/store/codec/column_codec.h"

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

void timeline_encode_tracks(struct column_encoder *enc, const struct timeline *timeline)
{
    const int64_t numbers[] = {timeline->start_ns, timeline->end_ns, (int64_t)timeline->flow_count};
    column_encode_clear(enc);
    column_encode_number(enc, timeline->track_count);
    column_encode_number(enc, timeline->label_count);
    column_encode_number(enc, timeline->level_count);
    for (uint32_t level = 0; level < timeline->level_count && level < TIMELINE_LEVELS_MAX;
         level++) {
        const int64_t of_level[] = {timeline->levels[level].width_ns,
                                    (int64_t)timeline->levels[level].item_count};
        column_encode_i64(enc, of_level, 2);
    }
    column_encode_i64(enc, numbers, sizeof numbers / sizeof *numbers);
    for (uint32_t t = 0; t < timeline->track_count; t++) {
        encode_track(enc, &timeline->tracks[t]);
    }
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

void timeline_encode_labels(struct column_encoder *enc,
                            const struct timeline_label *labels,
                            uint32_t count)
{
    column_encode_clear(enc);
    column_encode_number(enc, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *texts[] = {labels[i].name, labels[i].category};
        column_encode_texts(enc, texts, 2);
        column_encode_number(enc, labels[i].role);
        column_encode_number(enc, labels[i].count);
        column_encode_i64(enc, &labels[i].total_ns, 1);
    }
}

/* A text in place, without its end; NULL after a failure. */
static const char *peek_text(struct column_decoder *dec, size_t *len)
{
    uint64_t length = column_decode_number(dec);
    dec->failed = dec->failed || length == 0;
    *len = dec->failed ? 0 : (size_t)length - 1;
    return column_decode_peek(dec, *len);
}

static void decode_label(struct column_decoder *dec, struct timeline_label *label)
{
    size_t name_len = 0;
    size_t category_len = 0;
    const char *name = peek_text(dec, &name_len);
    const char *category = peek_text(dec, &category_len);
    uint32_t role = column_decode_count(dec);
    uint64_t count = column_decode_number(dec);
    int64_t total_ns = column_decode_signed(dec);
    if (label == NULL || dec->failed) {
        return;
    }
    *label = (struct timeline_label){.name = arena_strndup(dec->arena, name, name_len),
                                     .category = arena_strndup(dec->arena, category, category_len),
                                     .role = (uint8_t)role,
                                     .count = count,
                                     .total_ns = total_ns};
    dec->failed = label->name == NULL || label->category == NULL;
}

bool timeline_decode_labels(struct arena *arena,
                            const void *bytes,
                            size_t len,
                            uint32_t first_id,
                            const uint32_t *ids,
                            size_t count,
                            struct timeline_label *labels,
                            struct err *err)
{
    struct column_decoder dec;
    size_t found = 0;
    if (!column_decode_init(&dec, arena, bytes, len, err)) {
        return false;
    }
    uint32_t row_count = column_decode_count(&dec);
    for (uint32_t i = 0; i < row_count && !dec.failed; i++) {
        bool wanted = found < count && ids[found] - first_id == i;
        decode_label(&dec, wanted ? &labels[found++] : NULL);
    }
    dec.failed = dec.failed || found < count;
    return column_decode_finish(&dec, err);
}
