#include "ingest/formats/chrome_json/lookup.h"

#include "ingest/formats/chrome_json/category.h"
#include "ingest/formats/json/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_BYTES_MAX ((size_t)1 << 30)
#define RAW_FIRST ((uint32_t)64)

static bool
set_category_kinds(struct kineto_lookup *lookup, uint32_t category, const char *text, size_t len);

bool kineto_lookup_init(struct kineto_lookup *lookup,
                        struct trace *trace,
                        const struct text_stream *stream,
                        struct event_texts *log)
{
    memset(lookup, 0, sizeof *lookup);
    lookup->trace = trace;
    lookup->stream = stream;
    buf_init(&lookup->scratch, SCRATCH_BYTES_MAX);
    lookup->raw = strtab_create();
    bool has_texts = kineto_texts_init(&lookup->texts, log);
    return has_texts && lookup->raw != NULL && set_category_kinds(lookup, 0, "", 0);
}

void kineto_lookup_free(struct kineto_lookup *lookup)
{
    buf_free(&lookup->scratch);
    strtab_destroy(lookup->raw);
    kineto_texts_free(&lookup->texts);
    free(lookup->raw_text);
    free(lookup->category_kinds);
    memset(lookup, 0, sizeof *lookup);
}

size_t kineto_lookup_memory(const struct kineto_lookup *lookup)
{
    return strtab_bytes(lookup->raw) + lookup->raw_capacity * sizeof *lookup->raw_text +
           lookup->scratch.cap + kineto_texts_memory(&lookup->texts);
}

/* --- texts --- */

static uint32_t decoded_text(struct kineto_lookup *lookup, const struct json_value *value)
{
    struct json_repairs repairs = {0};
    struct buf *scratch = &lookup->scratch;
    buf_clear(scratch);
    json_text_python(value, scratch, &repairs);
    if (repairs.nul_count > 0) {
        warning_add_times(&lookup->trace->warnings, WARN_NUL,
                          text_stream_offset(lookup->stream, repairs.first_nul), repairs.nul_count);
    }
    if (repairs.utf8_count > 0) {
        warning_add_times(&lookup->trace->warnings, WARN_UTF8,
                          text_stream_offset(lookup->stream, repairs.first_utf8),
                          repairs.utf8_count);
    }
    return scratch->failed ? STRTAB_NONE
                           : strtab_intern(lookup->trace->strings, scratch->ptr, scratch->len);
}

/* Lists and their like: made into text once per distinct slice. */
static uint32_t remembered_text(struct kineto_lookup *lookup, const struct json_value *value)
{
    uint32_t known = strtab_count(lookup->raw);
    uint32_t raw = strtab_intern(lookup->raw, value->ptr, value->len);
    if (KS_LIKELY(raw < known && raw != 0)) {
        return lookup->raw_text[raw];
    }
    if (raw == STRTAB_NONE) {
        return STRTAB_NONE;
    }
    if (raw >= lookup->raw_capacity) {
        uint32_t capacity = raw + raw / 2 + RAW_FIRST;
        uint32_t *raw_text = realloc(lookup->raw_text, capacity * sizeof *raw_text);
        if (raw_text == NULL) {
            return STRTAB_NONE;
        }
        lookup->raw_text = raw_text;
        lookup->raw_capacity = capacity;
    }
    lookup->raw_text[raw] = decoded_text(lookup, value);
    return lookup->raw_text[raw];
}

static uint32_t text_of(struct kineto_lookup *lookup, const struct json_value *value)
{
    if (value->kind != JSON_KIND_STRING) {
        return remembered_text(lookup, value);
    }
    bool as_it_stands = (value->flags & (JSON_ESCAPED | JSON_CONTROL)) == 0 &&
                        !text_stream_has_invalid(lookup->stream, value->ptr);
    if (KS_LIKELY(as_it_stands)) {
        return strtab_intern(lookup->trace->strings, value->ptr, value->len);
    }
    return decoded_text(lookup, value);
}

/* The text of an integer is what it is in the file. */
static uint32_t number_text(struct kineto_lookup *lookup, const struct json_value *value)
{
    struct kineto_number_memo *memo =
        &lookup->plain_numbers[(uint64_t)value->number % KINETO_MEMO_ENTRIES];
    if (memo->number != value->number || memo->text == 0) {
        uint32_t text = text_of(lookup, value);
        if (text == STRTAB_NONE) {
            return STRTAB_NONE;
        }
        *memo = (struct kineto_number_memo){.number = value->number, .text = text};
    }
    return memo->text;
}

uint32_t kineto_lookup_new_text(struct kineto_lookup *lookup, const struct json_value *value)
{
    if ((value->flags & (JSON_PARSED | JSON_DECIMAL)) == JSON_PARSED) {
        return number_text(lookup, value);
    }
    if ((value->flags & JSON_KNOWN) == 0) {
        return text_of(lookup, value);
    }
    const struct warning_count *counts = lookup->trace->warnings.by_code;
    uint64_t repairs = counts[WARN_NUL].count + counts[WARN_UTF8].count;
    uint32_t string = text_of(lookup, value);
    /* Repairs are counted each time. */
    bool repaired = counts[WARN_NUL].count + counts[WARN_UTF8].count != repairs;
    if (!repaired) {
        lookup->texts.texts[value->number].string = string;
    }
    return string;
}

static uint32_t compact_json(struct kineto_lookup *lookup, const struct json_value *value)
{
    struct buf *scratch = &lookup->scratch;
    bool is_string = value->kind == JSON_KIND_STRING;
    const char *at = value->ptr - is_string;
    const char *end = value->ptr + value->len + is_string;
    bool in_string = false;
    buf_clear(scratch);
    for (; at < end; at++) {
        if (in_string || !json_is_space(*at)) {
            buf_putc(scratch, *at);
        }
        if (in_string && *at == '\\' && at + 1 < end) {
            buf_putc(scratch, *++at);
        } else if (*at == '"') {
            in_string = !in_string;
        }
    }
    return scratch->failed ? STRTAB_NONE
                           : strtab_intern(lookup->trace->strings, scratch->ptr, scratch->len);
}

uint32_t kineto_lookup_json(struct kineto_lookup *lookup, const struct json_value *value)
{
    if ((value->flags & JSON_KNOWN) == 0) {
        return compact_json(lookup, value);
    }
    struct kineto_text *text = &lookup->texts.texts[value->number];
    if (text->json == STRTAB_NONE) {
        text->json = compact_json(lookup, value);
    }
    return text->json;
}

/* --- memos --- */

/* Mixes the first 8 bytes; where the value is shorter, what lies behind it in the padded window is
 * masked. */
static inline uint64_t memo_hash(const struct json_value *value)
{
    uint64_t head = 0;
    if (KS_LIKELY(value->len > 0)) {
        memcpy(&head, value->ptr, sizeof head);
    }
    uint64_t mask = value->len < 8 ? ((uint64_t)1 << (value->len * 8)) - 1 : UINT64_MAX;
    return (head & mask) + value->len;
}

/* The entry for the pair: `used` tells whether it holds the pair's number. */
static inline struct kineto_memo_entry *memo_find(struct kineto_memo *memo,
                                                  const struct json_value *a,
                                                  const struct json_value *b,
                                                  bool *hit)
{
    uint64_t hash = (memo_hash(a) * 31 + memo_hash(b)) * BYTES_SPREAD;
    struct kineto_memo_entry *entry = &memo->entries[(hash >> 32) % KINETO_MEMO_ENTRIES];
    *hit = entry->used && entry->lens[0] == a->len && entry->lens[1] == b->len &&
           entry->kinds[0] == a->kind && entry->kinds[1] == b->kind &&
           memcmp(entry->text, a->ptr, a->len) == 0 &&
           memcmp(entry->text + a->len, b->ptr, b->len) == 0;
    return entry;
}

static void memo_set(struct kineto_memo_entry *entry,
                     const struct json_value *a,
                     const struct json_value *b,
                     uint32_t number)
{
    if (number == UINT32_MAX) {
        return;
    }
    *entry = (struct kineto_memo_entry){.number = number,
                                        .used = true,
                                        .kinds = {a->kind, b->kind},
                                        .lens = {(uint8_t)a->len, (uint8_t)b->len}};
    memcpy(entry->text, a->ptr, a->len);
    memcpy(entry->text + a->len, b->ptr, b->len);
}

/* --- categories --- */

static bool add_category_kinds(struct kineto_lookup *lookup, uint32_t category)
{
    if (category < lookup->category_capacity) {
        return true;
    }
    uint32_t capacity = category + 64;
    struct kineto_category_kinds *kinds = realloc(lookup->category_kinds, capacity * sizeof *kinds);
    if (kinds == NULL) {
        return false;
    }
    lookup->category_kinds = kinds;
    lookup->category_capacity = capacity;
    return true;
}

static bool
set_category_kinds(struct kineto_lookup *lookup, uint32_t category, const char *text, size_t len)
{
    if (!add_category_kinds(lookup, category)) {
        return false;
    }
    lookup->category_kinds[category] =
        (struct kineto_category_kinds){.complete = (uint8_t)kineto_category_kind(text, len),
                                       .flow = (uint8_t)kineto_category_flow_kind(text, len)};
    return true;
}

static uint32_t new_category(struct kineto_lookup *lookup, const struct json_value *value)
{
    struct trace *trace = lookup->trace;
    uint32_t text_id = kineto_lookup_text(lookup, value);
    if (text_id == STRTAB_NONE) {
        return UINT32_MAX;
    }
    const char *text = strtab_text(trace->strings, text_id);
    size_t len = strtab_len(trace->strings, text_id);
    uint32_t category = trace_add_category(trace, text, len);
    bool ok = category != UINT32_MAX && set_category_kinds(lookup, category, text, len);
    return ok ? category : UINT32_MAX;
}

uint32_t kineto_lookup_new_category(struct kineto_lookup *lookup, const struct json_value *value)
{
    static const struct json_value none = {.ptr = "", .kind = JSON_KIND_NULL};
    if ((value->flags & JSON_KNOWN) != 0) {
        uint32_t category = new_category(lookup, value);
        lookup->texts.texts[value->number].category = category;
        return category;
    }
    if (KS_UNLIKELY(value->len > KINETO_MEMO_BYTES)) {
        return new_category(lookup, value);
    }
    bool hit;
    struct kineto_memo_entry *entry = memo_find(&lookup->categories, value, &none, &hit);
    if (KS_LIKELY(hit)) {
        return entry->number;
    }
    uint32_t category = new_category(lookup, value);
    memo_set(entry, value, &none, category);
    return category;
}

/* --- tracks --- */

struct track_id {
    uint32_t text;
    bool is_text;
    bool is_int;
    bool int_valid;
    int64_t number;
};

static bool
track_id(struct kineto_lookup *lookup, const struct json_value *value, struct track_id *id)
{
    *id = (struct track_id){.text = 0};
    if (value->kind == JSON_KIND_NULL || value->kind == JSON_KIND_BARE) {
        return true;
    }
    bool good = true;
    if (value->kind == JSON_KIND_NUMBER) {
        double number;
        id->text = strtab_intern(lookup->trace->strings, value->ptr, value->len);
        id->is_int = (value->flags & JSON_DECIMAL) == 0;
        id->int_valid = id->is_int && json_text_int(value, &id->number);
        if (!id->is_int && json_text_double(value, &number) && fabs(number) < 0x1p63) {
            id->number = (int64_t)number;
            id->int_valid = true;
        }
    } else {
        id->text = kineto_lookup_text(lookup, value);
        good = id->text != STRTAB_NONE;
        id->is_text = value->kind == JSON_KIND_STRING;
        id->int_valid =
            good && id->is_text &&
            json_text_parse_int(strtab_text(lookup->trace->strings, id->text),
                                strtab_len(lookup->trace->strings, id->text), &id->number);
    }
    return good && id->text != STRTAB_NONE;
}

static uint32_t new_track(struct kineto_lookup *lookup,
                          const struct json_value *pid_value,
                          const struct json_value *tid_value)
{
    struct track_id pid;
    struct track_id tid;
    if (!track_id(lookup, pid_value, &pid) || !track_id(lookup, tid_value, &tid)) {
        return UINT32_MAX;
    }
    struct trace_track track = {
        .pid_text = pid.text,
        .tid_text = tid.text,
        .pid_is_text = pid.is_text,
        .tid_is_text = tid.is_text,
        .pid_is_int = pid.is_int,
        .tid_is_int = tid.is_int,
        .pid_int_valid = pid.int_valid,
        .tid_int_valid = tid.int_valid,
        .pid_int = pid.number,
        .tid_int = tid.number,
    };
    return trace_add_track(lookup->trace, &track);
}

static uint32_t new_plain_track(struct kineto_lookup *lookup,
                                const struct json_value *pid,
                                const struct json_value *tid,
                                unsigned flags)
{
    uint32_t track = new_track(lookup, pid, tid);
    if (track != UINT32_MAX) {
        *kineto_lookup_track_memo(lookup, pid, tid) = (struct kineto_track_memo){
            .numbers = {pid->number, tid->number}, .track = track, .flags = (uint16_t)flags};
    }
    return track;
}

uint32_t kineto_lookup_new_track(struct kineto_lookup *lookup,
                                 const struct json_value *pid,
                                 const struct json_value *tid)
{
    unsigned pid_flags = kineto_lookup_plain_flags(pid);
    unsigned tid_flags = kineto_lookup_plain_flags(tid);
    if (pid_flags != 0 && tid_flags != 0) {
        return new_plain_track(lookup, pid, tid, pid_flags | tid_flags << 8);
    }
    if (KS_UNLIKELY((uint64_t)pid->len + tid->len > KINETO_MEMO_BYTES)) {
        return new_track(lookup, pid, tid);
    }
    bool hit;
    struct kineto_memo_entry *entry = memo_find(&lookup->tracks, pid, tid, &hit);
    if (KS_LIKELY(hit)) {
        return entry->number;
    }
    uint32_t track = new_track(lookup, pid, tid);
    memo_set(entry, pid, tid, track);
    return track;
}
