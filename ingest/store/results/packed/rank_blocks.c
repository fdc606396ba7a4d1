#include "ingest/store/results/packed/rank_blocks.h"

#include "ingest/model/operations.h"
#include "ingest/model/rank_digest.h"
#include "ingest/store/internal.h"

#include <stddef.h>
#include <string.h>

/* ---- fields of rows as columns ---- */

enum width { WIDTH_8, WIDTH_32, WIDTH_64 };

struct member {
    size_t offset;
    enum width width;
};

#define MEMBER(type, field)                                                    \
    {                                                                          \
        offsetof(type, field), sizeof(((type *)NULL)->field) == 8   ? WIDTH_64 \
                               : sizeof(((type *)NULL)->field) == 4 ? WIDTH_32 \
                                                                    : WIDTH_8  \
    }

static const struct member collective_members[] = {
    MEMBER(struct rank_collective, start_ns),    MEMBER(struct rank_collective, duration_ns),
    MEMBER(struct rank_collective, sequence),    MEMBER(struct rank_collective, size),
    MEMBER(struct rank_collective, in_bytes),    MEMBER(struct rank_collective, out_bytes),
    MEMBER(struct rank_collective, event),       MEMBER(struct rank_collective, name),
    MEMBER(struct rank_collective, dtype),       MEMBER(struct rank_collective, group),
    MEMBER(struct rank_collective, group_ranks), MEMBER(struct rank_collective, in_split),
    MEMBER(struct rank_collective, kind),
};
static const struct member step_members[] = {
    MEMBER(struct rank_step, number),
    MEMBER(struct rank_step, start_ns),
    MEMBER(struct rank_step, duration_ns),
};
static const struct member segment_members[] = {
    MEMBER(struct rank_segment, start_ns),
    MEMBER(struct rank_segment, compute_ns),
    MEMBER(struct rank_segment, memory_ns),
    MEMBER(struct rank_segment, input_ns),
};
static const struct member part_members[] = {
    MEMBER(struct rank_part, segment),
    MEMBER(struct rank_part, name),
    MEMBER(struct rank_part, ns),
};
static const struct member busy_members[] = {
    MEMBER(struct rank_busy, start_ns),
    MEMBER(struct rank_busy, end_ns),
};
static const struct member annotated_members[] = {
    MEMBER(struct rank_operation, start_ns), MEMBER(struct rank_operation, duration_ns),
    MEMBER(struct rank_operation, step),     MEMBER(struct rank_operation, stage),
    MEMBER(struct rank_operation, type),
};
static const struct member operation_members[] = {
    MEMBER(struct operation, start_s),     MEMBER(struct operation, duration_s),
    MEMBER(struct operation, step),        MEMBER(struct operation, rank),
    MEMBER(struct operation, seq_id),      MEMBER(struct operation, chunk),
    MEMBER(struct operation, model_chunk), MEMBER(struct operation, dp_rank),
    MEMBER(struct operation, stage),       MEMBER(struct operation, type),
};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static int64_t get_member(const unsigned char *row, struct member member)
{
    int64_t wide = 0;
    uint32_t word = 0;
    switch (member.width) {
    case WIDTH_64:
        memcpy(&wide, row + member.offset, sizeof wide);
        return wide;
    case WIDTH_32:
        memcpy(&word, row + member.offset, sizeof word);
        return word;
    default:
        return row[member.offset];
    }
}

static void set_member(unsigned char *row, struct member member, int64_t value)
{
    uint32_t word = (uint32_t)value;
    switch (member.width) {
    case WIDTH_64:
        memcpy(row + member.offset, &value, sizeof value);
        break;
    case WIDTH_32:
        memcpy(row + member.offset, &word, sizeof word);
        break;
    default:
        row[member.offset] = (unsigned char)value;
        break;
    }
}

static void put_rows(struct column_parts *parts,
                     const void *rows,
                     uint32_t count,
                     size_t row_bytes,
                     const struct member *members,
                     size_t member_count)
{
    for (size_t m = 0; m < member_count && !parts->failed; m++) {
        column_parts_begin_column(parts);
        for (uint32_t first = 0; first < count && !parts->failed; first += COLUMN_PART_VALUES) {
            uint32_t left = count - first;
            uint32_t part = left < COLUMN_PART_VALUES ? left : COLUMN_PART_VALUES;
            for (uint32_t i = 0; i < part; i++) {
                const unsigned char *row =
                    (const unsigned char *)rows + (size_t)(first + i) * row_bytes;
                parts->values[i] = get_member(row, members[m]);
            }
            column_parts_values(parts, parts->values, part);
        }
    }
}

static void *get_rows(struct column_decoder *dec,
                      uint32_t count,
                      size_t row_bytes,
                      const struct member *members,
                      size_t member_count)
{
    /* A value takes a byte at least: a damaged count asks for no more than the bytes can hold. */
    bool fits = count <= (uint64_t)(dec->end - dec->at);
    unsigned char *rows =
        dec->failed || !fits ? NULL : arena_calloc(dec->arena, (size_t)count + 1, row_bytes);
    dec->failed = dec->failed || rows == NULL;
    for (size_t m = 0; m < member_count && !dec->failed; m++) {
        uint64_t value = 0;
        for (uint32_t i = 0; i < count && !dec->failed; i++) {
            value += (uint64_t)column_decode_signed(dec);
            set_member(rows + (size_t)i * row_bytes, members[m], (int64_t)value);
        }
    }
    return rows;
}

#define PUT_ROWS(parts, rows, count, members) \
    put_rows(parts, rows, count, sizeof *(rows), members, COUNT_OF(members))
#define GET_ROWS(dec, rows, count, members) \
    ((rows) = get_rows(dec, count, sizeof *(rows), members, COUNT_OF(members)))

/* ---- digests ---- */

void rank_digest_encode(struct column_parts *parts, const void *block)
{
    const struct rank_digest *digest = block;
    struct column_encoder *enc = &parts->enc;
    const int64_t head[] = {digest->rank, digest->first_ns, digest->communication_ns,
                            digest->hidden_ns, digest->last_ns};
    column_encode_number(enc, digest->text_count);
    column_encode_number(enc, digest->collective_count);
    column_encode_number(enc, digest->step_count);
    column_encode_number(enc, digest->segment_count);
    column_encode_number(enc, digest->part_count);
    column_encode_number(enc, digest->busy_count);
    column_encode_number(enc, digest->operation_count);
    column_encode_i64(enc, head, COUNT_OF(head));
    column_encode_texts(enc, digest->texts, digest->text_count);
    PUT_ROWS(parts, digest->collectives, digest->collective_count, collective_members);
    PUT_ROWS(parts, digest->steps, digest->step_count, step_members);
    PUT_ROWS(parts, digest->segments, digest->segment_count, segment_members);
    PUT_ROWS(parts, digest->parts, digest->part_count, part_members);
    PUT_ROWS(parts, digest->busy, digest->busy_count, busy_members);
    PUT_ROWS(parts, digest->operations, digest->operation_count, annotated_members);
}

static bool is_text(const struct rank_digest *digest, uint32_t text)
{
    return text < digest->text_count;
}

static bool is_text_or_none(const struct rank_digest *digest, uint32_t text)
{
    return text == RANK_NO_TEXT || is_text(digest, text);
}

/* Analyses index texts and segments without a look. */
static bool is_sound(const struct rank_digest *digest)
{
    for (uint32_t i = 0; i < digest->collective_count; i++) {
        const struct rank_collective *item = &digest->collectives[i];
        if (item->kind >= RANK_KIND_COUNT || !is_text(digest, item->name) ||
            !is_text_or_none(digest, item->dtype) || !is_text_or_none(digest, item->group) ||
            !is_text_or_none(digest, item->group_ranks) ||
            !is_text_or_none(digest, item->in_split)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < digest->part_count; i++) {
        if (digest->parts[i].segment >= digest->segment_count ||
            !is_text(digest, digest->parts[i].name)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < digest->operation_count; i++) {
        if (digest->operations[i].type >= OPERATION_TYPE_COUNT) {
            return false;
        }
    }
    for (uint32_t i = 0; i < digest->text_count; i++) {
        if (digest->texts[i] == NULL) {
            return false;
        }
    }
    return true;
}

void rank_digest_decode(struct column_decoder *dec, void *block)
{
    struct rank_digest *digest = block;
    digest->text_count = column_decode_count(dec);
    digest->collective_count = column_decode_count(dec);
    digest->step_count = column_decode_count(dec);
    digest->segment_count = column_decode_count(dec);
    digest->part_count = column_decode_count(dec);
    digest->busy_count = column_decode_count(dec);
    digest->operation_count = column_decode_count(dec);
    const int64_t *head = column_decode_i64(dec, 5);
    if (head != NULL) {
        digest->rank = head[0];
        digest->first_ns = head[1];
        digest->communication_ns = head[2];
        digest->hidden_ns = head[3];
        digest->last_ns = head[4];
    }
    digest->texts = column_decode_texts(dec, digest->text_count);
    GET_ROWS(dec, digest->collectives, digest->collective_count, collective_members);
    GET_ROWS(dec, digest->steps, digest->step_count, step_members);
    GET_ROWS(dec, digest->segments, digest->segment_count, segment_members);
    GET_ROWS(dec, digest->parts, digest->part_count, part_members);
    GET_ROWS(dec, digest->busy, digest->busy_count, busy_members);
    GET_ROWS(dec, digest->operations, digest->operation_count, annotated_members);
    dec->failed = dec->failed || !is_sound(digest);
}

/* ---- operations ---- */

void operations_encode(struct column_parts *parts, const void *block)
{
    const struct operation_table *table = block;
    column_encode_number(&parts->enc, table->count);
    PUT_ROWS(parts, table->items, table->count, operation_members);
}

void operations_decode(struct column_decoder *dec, void *block)
{
    struct operation_table *table = block;
    table->count = column_decode_count(dec);
    GET_ROWS(dec, table->items, table->count, operation_members);
    for (uint32_t i = 0; i < table->count && !dec->failed; i++) {
        dec->failed = table->items[i].type >= OPERATION_TYPE_COUNT;
    }
}
