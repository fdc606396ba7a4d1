/* Values of events that are no plain numbers, each distinct one worked out once: what it is to the
 * model and to the log of events is found by its bytes, as they stand in the file.
 *
 *     "aten::add"  --memo, table--> id --> string, category of the model; text of the log
 *
 * Only values that a strict scan has accepted, without raw control characters and bytes that are no
 * UTF-8. Strings and lists end where they end, whatever follows: what begins with the bytes of a
 * known one is that one. */
#ifndef KS_FORMATS_CHROME_JSON_TEXTS_H
#define KS_FORMATS_CHROME_JSON_TEXTS_H

#include "ingest/base/attr.h"
#include "ingest/base/bytes.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/event_log/values.h"
#include "ingest/formats/json/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KINETO_TEXT_MEMOS 4096
/* Bytes at the begin of a text that tell where it is remembered. */
#define KINETO_TEXT_HEAD 128
/* No id: the table is full. */
#define KINETO_TEXT_NONE UINT32_MAX

/* What is known of a value, by its id. */
struct kineto_text {
    const char *raw;
    struct json_value value; /* JSON_KNOWN, but for its place in memory */
    uint32_t len;            /* of what is written */
    uint32_t quote_bytes;    /* before the value: 1 of a string */
    uint32_t string;   /* of the model; STRTAB_NONE: not asked for yet, or not always the same */
    uint32_t category; /* the same */
    uint32_t json;     /* string of the model: the value as JSON; STRTAB_NONE: not asked for yet */
    uint32_t logged;   /* id in the log's texts; 0 without a log */
};

struct kineto_texts {
    struct strtab *raw; /* strings with their quotes */
    struct kineto_text *texts;
    uint32_t capacity;
    struct event_texts *log;           /* NULL: no log is wanted */
    uint32_t memos[KINETO_TEXT_MEMOS]; /* ids met lately, by some of their bytes */
};

/* `log` may be NULL. False without memory; kineto_texts_free is needed either way. */
bool kineto_texts_init(struct kineto_texts *texts, struct event_texts *log) KS_MUST_USE;
void kineto_texts_free(struct kineto_texts *texts);
size_t kineto_texts_memory(const struct kineto_texts *texts);

/* The id of a value of these bytes, which is then remembered; KINETO_TEXT_NONE: it is new. */
uint32_t kineto_texts_find(struct kineto_texts *texts, const char *raw, size_t len);
/* Gives the value its id (JSON_KNOWN), if there is room for it, and the text of the log. False
 * without memory. */
bool kineto_texts_add(struct kineto_texts *texts,
                      struct json_value *value,
                      uint32_t *logged) KS_MUST_USE;

/* Where a value of these bytes is remembered: the first (call stacks differ in their innermost
 * calls), middle and last ones tell most apart. */
static inline uint32_t *kineto_texts_memo(struct kineto_texts *texts, const char *raw, size_t len)
{
    uint64_t hash = len;
    if (len >= sizeof hash) {
        size_t head = len - sizeof hash < KINETO_TEXT_HEAD ? len - sizeof hash : KINETO_TEXT_HEAD;
        uint64_t odd = BYTES_SPREAD;
        for (size_t at = 0; at < head; at += sizeof hash) {
            hash += bytes_load64(raw + at) * odd;
            odd += 2 * BYTES_SPREAD;
        }
        hash ^= bytes_load64(raw + (len - sizeof hash) / 2) * 31;
        hash += bytes_load64(raw + len - sizeof hash) * odd;
    } else {
        hash += bytes_load_short(raw, len) << 8;
    }
    hash = (hash ^ hash >> 32) * BYTES_SPREAD;
    return &texts->memos[hash >> 32 & (KINETO_TEXT_MEMOS - 1)];
}

/* As kineto_texts_find; fast for what was met lately. */
static inline uint32_t kineto_texts_recall(struct kineto_texts *texts, const char *raw, size_t len)
{
    uint32_t id = *kineto_texts_memo(texts, raw, len);
    const struct kineto_text *text = &texts->texts[id];
    return text->len == len && bytes_equal(text->raw, raw, len)
               ? id
               : kineto_texts_find(texts, raw, len);
}

#endif
