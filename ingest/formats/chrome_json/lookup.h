/* Numbers the texts, categories and tracks of events for the model. Works out each distinct one
 * once; later finds it by its raw JSON slice. */
#ifndef KS_FORMATS_CHROME_JSON_LOOKUP_H
#define KS_FORMATS_CHROME_JSON_LOOKUP_H

#include "ingest/base/attr.h"
#include "ingest/base/bytes.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/chrome_json/texts.h"
#include "ingest/formats/json/scan.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KINETO_MEMO_ENTRIES 64
#define KINETO_MEMO_BYTES 51

/* Pairs of short values met lately and the number found for them: most events repeat the category
 * and the track of one shortly before. */
struct kineto_memo {
    struct kineto_memo_entry {
        uint32_t number;
        bool used;
        uint8_t kinds[2];
        uint8_t lens[2];
        char text[KINETO_MEMO_BYTES]; /* the first value, then the second */
    } entries[KINETO_MEMO_ENTRIES];
};

struct kineto_category_kinds {
    uint8_t complete; /* enum event_kind of X events */
    uint8_t flow;     /* of s, t and f events */
};

struct kineto_lookup {
    struct trace *trace;
    const struct text_stream *stream; /* in whose window the slices lie */
    struct buf scratch;
    /* Values whose Python text has been made before: id of the raw slice -> string id in the trace.
     */
    struct strtab *raw;
    uint32_t *raw_text;
    uint32_t raw_capacity;
    struct kineto_texts texts;                    /* of values that are JSON_KNOWN */
    struct kineto_category_kinds *category_kinds; /* by category number */
    uint32_t category_capacity;
    struct kineto_memo categories;
    struct kineto_memo tracks;
    struct kineto_track_memo {
        int64_t numbers[2]; /* of pid and tid: integers, or ids of texts */
        uint32_t track;
        uint16_t flags; /* JSON_PARSED, JSON_KNOWN of both; 0: unused */
    } plain_tracks[KINETO_MEMO_ENTRIES];
    struct kineto_number_memo {
        int64_t number;
        uint32_t text; /* string id in the trace; 0: unused */
    } plain_numbers[KINETO_MEMO_ENTRIES];
};

/* `log`: whose texts the values are to become, NULL: nobody's. */
bool kineto_lookup_init(struct kineto_lookup *lookup,
                        struct trace *trace,
                        const struct text_stream *stream,
                        struct event_texts *log) KS_MUST_USE;
void kineto_lookup_free(struct kineto_lookup *lookup);

/* All answer UINT32_MAX (STRTAB_NONE) without memory. */

/* kineto_lookup_text for a value that is met for the first time, or not known by its id. */
uint32_t kineto_lookup_new_text(struct kineto_lookup *lookup, const struct json_value *value);

/* The string id of Python's str() of a value. */
static inline uint32_t kineto_lookup_text(struct kineto_lookup *lookup,
                                          const struct json_value *value)
{
    if (KS_LIKELY((value->flags & JSON_KNOWN) != 0)) {
        uint32_t string = lookup->texts.texts[value->number].string;
        if (KS_LIKELY(string != STRTAB_NONE)) {
            return string;
        }
    }
    return kineto_lookup_new_text(lookup, value);
}

/* The string id of a value as JSON without spaces outside of strings. */
uint32_t kineto_lookup_json(struct kineto_lookup *lookup, const struct json_value *value);

/* The two below for values met for the first time, or not known by numbers alone. */
uint32_t kineto_lookup_new_category(struct kineto_lookup *lookup, const struct json_value *value);
uint32_t kineto_lookup_new_track(struct kineto_lookup *lookup,
                                 const struct json_value *pid,
                                 const struct json_value *tid);

/* The category number; its kinds are then in `category_kinds`. */
static inline uint32_t kineto_lookup_category(struct kineto_lookup *lookup,
                                              const struct json_value *value)
{
    if (KS_LIKELY((value->flags & JSON_KNOWN) != 0)) {
        uint32_t category = lookup->texts.texts[value->number].category;
        if (KS_LIKELY(category != UINT32_MAX)) {
            return category;
        }
    }
    return kineto_lookup_new_category(lookup, value);
}

/* Of values with these bytes alone there is one number each. */
static inline unsigned kineto_lookup_plain_flags(const struct json_value *value)
{
    bool is_decimal = (value->flags & JSON_DECIMAL) != 0;
    return is_decimal ? 0 : value->flags & (JSON_PARSED | JSON_KNOWN);
}

/* Where the track of two plain values is remembered. */
static inline struct kineto_track_memo *kineto_lookup_track_memo(struct kineto_lookup *lookup,
                                                                 const struct json_value *pid,
                                                                 const struct json_value *tid)
{
    uint64_t hash = ((uint64_t)pid->number * 31 + (uint64_t)tid->number) * BYTES_SPREAD;
    return &lookup->plain_tracks[(hash >> 32) % KINETO_MEMO_ENTRIES];
}

/* The track number; null values mean that the event has no pid or tid. */
static inline uint32_t kineto_lookup_track(struct kineto_lookup *lookup,
                                           const struct json_value *pid,
                                           const struct json_value *tid)
{
    unsigned pid_flags = kineto_lookup_plain_flags(pid);
    unsigned tid_flags = kineto_lookup_plain_flags(tid);
    if (KS_LIKELY(pid_flags != 0 && tid_flags != 0)) {
        const struct kineto_track_memo *memo = kineto_lookup_track_memo(lookup, pid, tid);
        if (KS_LIKELY(memo->numbers[0] == pid->number && memo->numbers[1] == tid->number &&
                      memo->flags == (pid_flags | tid_flags << 8))) {
            return memo->track;
        }
    }
    return kineto_lookup_new_track(lookup, pid, tid);
}

/* Bytes held besides the model. */
size_t kineto_lookup_memory(const struct kineto_lookup *lookup);

#endif
