#include "ingest/formats/event_log/values.h"

#include "ingest/base/bytes.h"
#include "ingest/base/text/num.h"
#include "ingest/formats/event_log/event.h"
#include "ingest/formats/json/clean.h"
#include "ingest/formats/json/lenient.h"

#include <stdlib.h>
#include <string.h>

#define SCRATCH_BYTES_MAX ((size_t)512 << 20)
#define RAW_FIRST ((uint32_t)256)
/* Longer slices, and those behind so many bytes, are not worth remembering. */
#define RAW_SLICE_BYTES_MAX 4096
#define RAW_BYTES_MAX ((size_t)64 << 20)
/* Times since the epoch have 16 digits before the point and three behind. */
#define DECIMAL_DIGITS_MAX 19
#define INT_DIGITS_MAX 19

/* --- numbers --- */

/* Up to 19 digits, which json_scan has checked; four at a time, for each step waits for the one
 * before. */
static inline uint64_t number_of(const char *digits, size_t len)
{
    uint64_t sum = 0;
    for (; len >= 4; len -= 4, digits += 4) {
        sum = sum * 10000 + (uint64_t)((digits[0] - '0') * 1000 + (digits[1] - '0') * 100 +
                                       (digits[2] - '0') * 10 + (digits[3] - '0'));
    }
    for (; len > 0; len--, digits++) {
        sum = sum * 10 + (uint64_t)(*digits - '0');
    }
    return sum;
}

bool event_value_int(const struct json_value *value, int64_t *number)
{
    if (value->kind != JSON_KIND_NUMBER || (value->flags & JSON_DECIMAL) != 0) {
        return false;
    }
    bool negative = *value->ptr == '-';
    const char *digits = value->ptr + negative;
    size_t len = value->len - negative;
    if (len == 0 || len > INT_DIGITS_MAX || (*digits == '0' && (len > 1 || negative))) {
        return false;
    }
    uint64_t sum = number_of(digits, len);
    if (KS_UNLIKELY(sum > INT64_MAX)) {
        bool is_least = negative && sum == (uint64_t)INT64_MAX + 1;
        *number = INT64_MIN;
        return is_least;
    }
    *number = negative ? -(int64_t)sum : (int64_t)sum;
    return true;
}

static inline size_t digits_before_end(const char *at, const char *end)
{
    size_t count = 0;
    while (at + count < end && json_is_digit(at[count])) {
        count++;
    }
    return count;
}

bool event_value_decimal(const struct json_value *value, int64_t number[2])
{
    if (value->kind != JSON_KIND_NUMBER || (value->flags & JSON_DECIMAL) == 0) {
        return false;
    }
    bool negative = *value->ptr == '-';
    const char *whole = value->ptr + negative;
    size_t whole_len = digits_before_end(whole, value->ptr + value->len);
    const char *fraction = whole + whole_len + 1;
    size_t fraction_len = digits_before_end(fraction, value->ptr + value->len);
    bool is_plain = whole[whole_len] == '.' && fraction + fraction_len == value->ptr + value->len;
    if (!is_plain || fraction_len > DECIMAL_DIGITS_MAX ||
        whole_len > DECIMAL_DIGITS_MAX - fraction_len ||
        (*whole == '0' && (whole_len > 1 || negative))) {
        return false;
    }
    uint64_t sum = number_of(whole, whole_len) * num_powers_of_ten[fraction_len] +
                   number_of(fraction, fraction_len);
    if (sum > INT64_MAX) {
        return false;
    }
    number[0] = negative ? -(int64_t)sum : (int64_t)sum;
    number[1] = (int64_t)fraction_len;
    return true;
}

/* --- texts --- */

bool event_texts_init(struct event_texts *texts)
{
    *texts = (struct event_texts){.texts = strtab_create(), .raw = strtab_create()};
    buf_init(&texts->scratch, SCRATCH_BYTES_MAX);
    return texts->texts != NULL && texts->raw != NULL;
}

void event_texts_free(struct event_texts *texts)
{
    strtab_destroy(texts->texts);
    strtab_destroy(texts->raw);
    free(texts->raw_text);
    buf_free(&texts->scratch);
}

size_t event_texts_memory(const struct event_texts *texts)
{
    return strtab_bytes(texts->texts) + strtab_bytes(texts->raw) +
           texts->raw_capacity * sizeof *texts->raw_text + texts->scratch.cap;
}

static uint32_t intern_scratch(struct event_texts *texts)
{
    return texts->scratch.failed
               ? STRTAB_NONE
               : strtab_intern(texts->texts, texts->scratch.ptr, texts->scratch.len);
}

static uint32_t clean_text(struct event_texts *texts, const char *raw, size_t len)
{
    buf_clear(&texts->scratch);
    json_clean_value(raw, len, &texts->scratch);
    return intern_scratch(texts);
}

static uint32_t repaired_text(struct event_texts *texts, const struct json_value *value)
{
    const struct text_stream *stream = texts->stream;
    const struct json_lenient how = {.end = stream->end,
                                     .base = stream->window,
                                     .base_off = stream->window_off,
                                     .is_known_key = kineto_is_known_key};
    buf_clear(&texts->scratch);
    json_lenient_clean(&how, value, &texts->scratch);
    return intern_scratch(texts);
}

/* Lists and objects: made into one line once per distinct slice. *raw_id: where the slice is kept,
 * STRTAB_NONE when it is not. */
static uint32_t
nested_text(struct event_texts *texts, const char *raw, size_t len, uint32_t *raw_id)
{
    *raw_id = STRTAB_NONE;
    if (len > RAW_SLICE_BYTES_MAX || strtab_bytes(texts->raw) > RAW_BYTES_MAX) {
        return clean_text(texts, raw, len);
    }
    uint32_t known = strtab_count(texts->raw);
    uint32_t id = strtab_intern(texts->raw, raw, len);
    if (KS_LIKELY(id < known)) {
        *raw_id = id;
        return texts->raw_text[id];
    }
    if (id == STRTAB_NONE) {
        return STRTAB_NONE;
    }
    if (id >= texts->raw_capacity) {
        uint32_t capacity = id + id / 2 + RAW_FIRST;
        uint32_t *raw_text = realloc(texts->raw_text, capacity * sizeof *raw_text);
        if (raw_text == NULL) {
            return STRTAB_NONE;
        }
        texts->raw_text = raw_text;
        texts->raw_capacity = capacity;
    }
    *raw_id = id;
    texts->raw_text[id] = clean_text(texts, raw, len);
    return texts->raw_text[id];
}

static inline void
remember(struct event_text_memo *memo, const struct strtab *tab, uint32_t raw_id, uint32_t id)
{
    if (raw_id == STRTAB_NONE || id == STRTAB_NONE) {
        return;
    }
    memo->raw = strtab_text(tab, raw_id);
    memo->raw_len = (uint32_t)strtab_len(tab, raw_id);
    memo->id = id;
}

/* Whether the slice is the text. */
static inline bool is_text_already(const struct event_texts *texts, const struct json_value *value)
{
    return value->kind != JSON_KIND_STRING ||
           ((value->flags & JSON_CONTROL) == 0 && !texts->has_invalid);
}

/* Where a text of these bytes is remembered: the first, middle and last ones tell most apart. */
static inline struct event_text_memo *
memo_of(struct event_texts *texts, const char *raw, uint32_t len)
{
    uint64_t bytes = event_text_head(raw, len) + len;
    if (len > sizeof bytes) {
        uint64_t middle;
        uint64_t last;
        memcpy(&middle, raw + (len - sizeof middle) / 2, sizeof middle);
        memcpy(&last, raw + len - sizeof last, sizeof last);
        bytes ^= middle * 31 ^ (last << 17 | last >> 47);
    }
    return &texts->memos[bytes * BYTES_SPREAD >> 32 & (EVENT_TEXT_MEMOS - 1)];
}

uint32_t event_texts_value(struct event_texts *texts, const struct json_value *value)
{
    if (KS_UNLIKELY(texts->is_repaired)) {
        return repaired_text(texts, value);
    }
    bool is_string = value->kind == JSON_KIND_STRING;
    const char *raw = value->ptr - is_string;
    uint32_t len = value->len + 2U * is_string;
    struct event_text_memo *memo = memo_of(texts, raw, len);
    if (len == memo->raw_len && memcmp(raw, memo->raw, len) == 0) {
        return memo->id;
    }
    uint32_t id;
    if (value->kind == JSON_KIND_ARRAY || value->kind == JSON_KIND_OBJECT) {
        uint32_t raw_id;
        id = nested_text(texts, raw, len, &raw_id);
        remember(memo, texts->raw, raw_id, id);
        return id;
    }
    if (KS_LIKELY(is_text_already(texts, value))) {
        id = strtab_intern(texts->texts, raw, len);
        remember(memo, texts->texts, id, id);
        return id;
    }
    return clean_text(texts, raw, len);
}

uint32_t event_texts_object(struct event_texts *texts, const char *begin, const char *end)
{
    struct json_value object = {
        .ptr = begin, .len = (uint32_t)(end - begin), .kind = JSON_KIND_OBJECT};
    return texts->is_repaired ? repaired_text(texts, &object)
                              : clean_text(texts, begin, (size_t)(end - begin));
}

uint32_t event_texts_key(struct event_texts *texts, const char *key, uint32_t len)
{
    const struct json_value value = {.ptr = key, .len = len, .kind = JSON_KIND_STRING};
    buf_clear(&texts->scratch);
    json_clean_string(&value, &texts->scratch);
    return intern_scratch(texts);
}
