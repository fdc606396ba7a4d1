/* Texts, categories and tracks of events as numbers of the model. Each distinct one is worked out
 * once; after that it is found by its raw JSON slice. */
#ifndef KS_FORMATS_KINETO_LOOKUP_H
#define KS_FORMATS_KINETO_LOOKUP_H

#include "ingest/base/attr.h"
#include "ingest/base/buf.h"
#include "ingest/base/strtab.h"
#include "ingest/formats/json_scan.h"
#include "ingest/formats/kineto_texts.h"
#include "ingest/formats/text_stream.h"
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
        uint8_t flags[2]; /* JSON_PARSED, JSON_KNOWN; 0: unused */
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

/* The category number; its kinds are then in `category_kinds`. */
uint32_t kineto_lookup_category(struct kineto_lookup *lookup, const struct json_value *value);
/* The track number; null values mean that the event has no pid or tid. */
uint32_t kineto_lookup_track(struct kineto_lookup *lookup,
                             const struct json_value *pid,
                             const struct json_value *tid);

/* Bytes held besides the model. */
size_t kineto_lookup_memory(const struct kineto_lookup *lookup);

#endif
