/* Values of an event in the form of the log (model/event_log.h): integers, decimals, and text ids.
 */
#ifndef KS_FORMATS_EVENT_LOG_VALUES_H
#define KS_FORMATS_EVENT_LOG_VALUES_H

#include "ingest/base/attr.h"
#include "ingest/base/bytes.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/json/scan.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/model/event_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_TEXT_MEMOS 1024

/* Texts of the log, found by their raw slices where that saves work. */
struct event_texts {
    struct strtab *texts; /* the log's */
    /* Lists and objects as they stand in the file -> their one-line texts. */
    struct strtab *raw;
    uint32_t *raw_text;
    uint32_t raw_capacity;
    struct buf scratch;
    /* Texts met lately, as they stand in the file, by some of their bytes: most values repeat one
     * of shortly before. */
    struct event_text_memo {
        const char *raw;
        uint32_t raw_len; /* 0: none */
        uint32_t id;
    } memos[EVENT_TEXT_MEMOS];
    /* Of the event at hand: */
    const struct text_stream *stream;
    bool is_repaired; /* its values may be no proper JSON */
    bool has_invalid; /* there may be bytes that are no UTF-8 */
};

/* False without memory; event_texts_free is needed either way. */
bool event_texts_init(struct event_texts *texts) KS_MUST_USE;
void event_texts_free(struct event_texts *texts);
size_t event_texts_memory(const struct event_texts *texts);

/* The id of a value's text; STRTAB_NONE without memory. */
uint32_t event_texts_value(struct event_texts *texts, const struct json_value *value);
/* The same for the object [begin, end). */
uint32_t event_texts_object(struct event_texts *texts, const char *begin, const char *end);
/* The id of a key's text. */
uint32_t event_texts_key(struct event_texts *texts, const char *key, uint32_t len);

/* Bytes at the begin of a text; equal texts have equal ones, and so have, of equal length, only
 * equal ones of up to 8 bytes. Reads nothing behind the text. */
static inline uint64_t event_text_head(const char *text, uint32_t len)
{
    return len >= sizeof(uint64_t) ? bytes_load64(text) : bytes_load_short(text, len);
}

/* Of values as json_scan and json_lenient give them. A JSON integer within int64 that prints as it
 * is written: */
bool event_value_int(const struct json_value *value, int64_t *number);
/* -?digits.digits, at most 18 digits, no surplus leading zeros, not -0.…: the number without its
 * point, and the digits behind the point. */
bool event_value_decimal(const struct json_value *value, int64_t number[2]);

/* How the value stands in a slot. */
static inline enum event_slot_kind event_value_kind(const struct json_value *value)
{
    int64_t number[2];
    if (event_value_int(value, number)) {
        return EVENT_SLOT_INT;
    }
    return event_value_decimal(value, number) ? EVENT_SLOT_DECIMAL : EVENT_SLOT_TEXT;
}

#endif
