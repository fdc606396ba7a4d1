/* Which texts of a log hold what is searched for. ASCII case does not count. Strings are matched as
 * they read (decoded); numbers that are texts (1e5) by their whole; anything else, such as lists,
 * by its JSON. */
#ifndef KS_STORE_EVENTS_SEARCH_TEXT_MATCH_H
#define KS_STORE_EVENTS_SEARCH_TEXT_MATCH_H

#include "ingest/base/text/buf.h"
#include "ingest/store/events/search/stored_texts.h"

#include <stdbool.h>
#include <stdint.h>

struct text_match {
    struct buf needle;   /* lower case */
    struct buf haystack; /* what is looked at, in lower case */
    const char *q;
    bool is_plain; /* no character of it is ever escaped in JSON */
    /* The number that it is, as event_log.h has numbers; digits 0: an integer. */
    bool is_number;
    int64_t number;
    int64_t digits;
};

/* `q` must live as long. ERR_BAD_REQUEST: too long. */
bool text_match_init(struct text_match *match, const char *q, struct err *err) KS_MUST_USE;
void text_match_free(struct text_match *match);
/* One text, which is a JSON value. */
bool text_match_test(struct text_match *match, const char *json, size_t len);
/* Sets the bit of each text of the segment that matches: bits[id / 64] >> id % 64. */
void text_match_segment(struct text_match *match,
                        const struct text_segment *segment,
                        uint64_t *bits);
/* Memory was not there for something since the beginning. */
bool text_match_failed(const struct text_match *match);

#endif
