/* Blocks of events out of the store (event_encode.h writes them). What is damaged is ERR_STORE,
 * never a wrong place in memory. All lies in the caller's arena. */
#ifndef KS_STORE_EVENTS_DECODE_H
#define KS_STORE_EVENTS_DECODE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/event_log.h"
#include "ingest/store/events/search/zone_map.h"
#include "ingest/store/events/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- templates ---- */

struct stored_template {
    struct event_template template; /* slots[i].key: index into keys, or EVENT_KEY_NONE */
    struct event_shape shape;
};

struct stored_templates {
    const char **keys; /* JSON strings */
    uint32_t key_count;
    struct stored_template *templates;
    uint32_t count;
};

bool event_templates_encode(const struct event_log *log, void **bytes, size_t *len, struct err *err)
    KS_MUST_USE;
bool event_templates_decode(struct stored_templates *out,
                            struct arena *arena,
                            const void *bytes,
                            size_t len,
                            struct err *err) KS_MUST_USE;

/* ---- blocks ---- */

/* What is known of a block without its columns. The flags are those of event_encode.h. */
struct block_texts {
    uint32_t *ids;  /* ascending */
    uint8_t *flags; /* BLOCK_TEXT_... */
    uint32_t count;
    struct zone_map numbers; /* that a search looks at */
};

bool block_texts_decode(struct block_texts *out,
                        struct arena *arena,
                        const void *bytes,
                        size_t len,
                        struct err *err) KS_MUST_USE;

struct block_template {
    const struct stored_template *stored;
    uint32_t event_count;
    struct event_column *columns; /* one a value; texts are indices into block_texts.ids */
};

struct event_block {
    uint32_t event_count;
    uint16_t *sequence; /* [event_count] index into templates */
    struct block_template *templates;
    uint32_t template_count;
};

/* `event_count` is what the row says. */
bool event_block_decode(struct event_block *out,
                        struct arena *arena,
                        const struct stored_templates *templates,
                        uint32_t event_count,
                        uint32_t text_count,
                        const void *bytes,
                        size_t len,
                        struct err *err) KS_MUST_USE;

/* Goes through the events of a block in order: `template` and `row` say where the values of the
 * event are. `rows` has room for a number for each template of the block, all 0 at first. */
struct block_cursor {
    const struct event_block *block;
    uint32_t *rows;
    uint32_t next; /* event */
    const struct block_template *template;
    uint32_t row;
};

bool block_cursor_next(struct block_cursor *cursor);

static inline int64_t
block_value(const struct block_template *template, uint32_t value, uint32_t row)
{
    const struct event_column *column = &template->columns[value];
    return column->values[(size_t)row * column->stride];
}

#endif
