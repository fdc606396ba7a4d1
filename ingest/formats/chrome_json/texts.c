#include "ingest/formats/chrome_json/texts.h"

#include <stdlib.h>
#include <string.h>

#define TEXTS_FIRST ((uint32_t)256)
/* What is not worth remembering: longer values, and more of them. */
#define RAW_SLICE_BYTES_MAX 65536U
#define RAW_BYTES_MAX ((size_t)8 << 20)

_Static_assert(STRTAB_READABLE_BYTES >= BYTES_BLOCK, "texts are compared in blocks");

static const char nothing[BYTES_BLOCK];

static bool make_room(struct kineto_texts *texts, uint32_t id)
{
    if (id < texts->capacity) {
        return true;
    }
    uint32_t capacity = id + id / 2 + TEXTS_FIRST;
    struct kineto_text *grown = realloc(texts->texts, capacity * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    texts->texts = grown;
    texts->capacity = capacity;
    return true;
}

bool kineto_texts_init(struct kineto_texts *texts, struct event_texts *log)
{
    memset(texts, 0, sizeof *texts);
    texts->raw = strtab_create();
    texts->log = log;
    if (texts->raw == NULL || !make_room(texts, 0)) {
        return false;
    }
    /* The empty text is no value: what nothing begins with. */
    texts->texts[0] = (struct kineto_text){.raw = nothing, .len = 1};
    return true;
}

void kineto_texts_free(struct kineto_texts *texts)
{
    strtab_destroy(texts->raw);
    free(texts->texts);
    memset(texts, 0, sizeof *texts);
}

size_t kineto_texts_memory(const struct kineto_texts *texts)
{
    return strtab_bytes(texts->raw) + texts->capacity * sizeof *texts->texts;
}

static bool log_value(struct kineto_texts *texts, const struct json_value *value, uint32_t *logged)
{
    *logged = texts->log == NULL ? 0 : event_texts_value(texts->log, value);
    return *logged != STRTAB_NONE;
}

/* The id of the bytes; *is_new: nothing is known of it yet. */
static bool
find_raw(struct kineto_texts *texts, const char *raw, size_t len, uint32_t *id, bool *is_new)
{
    uint32_t known = strtab_count(texts->raw);
    *is_new = false;
    if (len > RAW_SLICE_BYTES_MAX) {
        *id = KINETO_TEXT_NONE;
        return true;
    }
    if (strtab_bytes(texts->raw) > RAW_BYTES_MAX) {
        *id = strtab_find(texts->raw, raw, len);
        return true;
    }
    *id = strtab_intern(texts->raw, raw, len);
    *is_new = *id == known;
    return *id != STRTAB_NONE && make_room(texts, *id);
}

uint32_t kineto_texts_find(struct kineto_texts *texts, const char *raw, size_t len)
{
    uint32_t id = len > RAW_SLICE_BYTES_MAX ? KINETO_TEXT_NONE : strtab_find(texts->raw, raw, len);
    if (id != KINETO_TEXT_NONE) {
        *kineto_texts_memo(texts, raw, len) = id;
    }
    return id;
}

bool kineto_texts_add(struct kineto_texts *texts, struct json_value *value, uint32_t *logged)
{
    uint32_t id;
    bool is_new;
    bool is_string = value->kind == JSON_KIND_STRING;
    const char *raw = value->ptr - is_string;
    uint32_t len = value->len + 2U * is_string;
    if (!find_raw(texts, raw, len, &id, &is_new)) {
        return false;
    }
    if (id == KINETO_TEXT_NONE) {
        return log_value(texts, value, logged);
    }
    struct kineto_text *text = &texts->texts[id];
    if (is_new) {
        *text = (struct kineto_text){.raw = strtab_text(texts->raw, id),
                                     .value = *value,
                                     .len = len,
                                     .quote_bytes = is_string,
                                     .string = STRTAB_NONE,
                                     .category = UINT32_MAX,
                                     .json = STRTAB_NONE};
        text->value.flags |= JSON_KNOWN;
        text->value.digits = 0;
        text->value.number = id;
        if (!log_value(texts, value, &text->logged)) {
            return false;
        }
    }
    *kineto_texts_memo(texts, raw, len) = id;
    value->flags |= JSON_KNOWN;
    value->number = id;
    *logged = text->logged;
    return true;
}
