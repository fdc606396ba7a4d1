/* Ways through events as they were written before: programs write events of one kind with the same
 * text between the values, so that most of an event need not be looked into, only compared.
 *
 *     {"ph": |"X"|, "name": |"aten::add"|, "ts": |17|, "args": {"External id": |3|}}
 *      text    value text     value         text  value text                     value end
 *
 * A tree: from the kind of a value lead the texts that stood behind it, the one met last first.
 * Phases and categories are part of the text, for what is behind them hangs on them.
 * Only what a strict scan has accepted is learnt, so that what fits is proper JSON in UTF-8; what
 * does not fit is left to that scan. Memory is bounded; what exceeds it is not learnt. */
#ifndef KS_FORMATS_CHROME_JSON_SCAN_KEY_PATH_H
#define KS_FORMATS_CHROME_JSON_SCAN_KEY_PATH_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/formats/chrome_json/texts.h"
#include "ingest/formats/event_log/event.h"
#include "ingest/formats/event_log/shapes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_PATH_STEPS_MAX 8192U

/* A phase or category within the text of a step. */
struct kineto_constant {
    struct json_value value; /* but for its place in memory */
    uint32_t logged;
    uint32_t place;  /* in the event's `values` */
    uint32_t offset; /* in the text */
};

/* A text, and what is behind it: a value, or the end of the event. */
struct kineto_step {
    const char *text; /* readable for BYTES_BLOCK bytes */
    uint32_t len;
    uint32_t mask;       /* a bit for each byte that is within the first block */
    uint32_t place;      /* in the event's `values` */
    uint32_t end_plus_1; /* the event ends; 0: it does not */
    struct kineto_step *next[EVENT_SLOT_TEXT + 1]; /* by the value's enum event_slot_kind */
    struct kineto_step *sibling;                   /* another text at this place */
    const struct kineto_constant *constants;
    uint32_t constant_count;
    bool is_special;       /* has constants, or ends the event */
    bool may_vary;         /* its numbers make no other event (struct kineto_blank) */
    uint32_t changes_left; /* after so many more they do not */
    int64_t last;          /* that value: a number, or an id of a text */
};

/* What is the same of all events that ended here. */
struct key_path_end {
    uint64_t has_args;
    uint32_t has_fields;
    uint32_t template_number; /* of the log */
    uint32_t value_count;
    bool args_are_object;
    uint16_t *order; /* where the log has each value; NULL: in this order */
};

/* A number of the last event that is likely to be another one when the event comes again. */
struct kineto_blank {
    const char *begin;
    const char *end;
    uint16_t value; /* which one of those that the path gives the log */
    uint8_t place;  /* in the event's `values` */
    bool is_decimal;
};
#define KINETO_BLANKS_MAX 24U

struct key_paths {
    struct kineto_texts *texts;
    struct arena arena;
    struct kineto_step *first; /* the beginnings */
    uint32_t step_count;
    struct key_path_end *ends;
    uint32_t end_count;
    uint32_t end_capacity;
    bool no_memory;                 /* while a value was kept */
    const struct key_path_end *end; /* of the event that fitted */
    struct kineto_blank blanks[KINETO_BLANKS_MAX];
    uint32_t blank_count; /* KINETO_BLANKS_MAX: there may be more */
    int64_t unordered[EVENT_VALUES_MAX];
    int64_t values[EVENT_VALUES_MAX]; /* for those who want no log */
};

/* `texts` must outlive the paths. False without memory; key_paths_free is needed either way. */
bool key_paths_init(struct key_paths *paths, struct kineto_texts *texts) KS_MUST_USE;
void key_paths_free(struct key_paths *paths);
size_t key_paths_memory(const struct key_paths *paths);

/* The event at `begin`, if it is like one before: as kineto_event_scan gives it but without
 * members, its values JSON_PARSED or JSON_KNOWN where they can be. `values` (room for
 * EVENT_VALUES_MAX) are then those of the log, and paths->end its template. False: it is to be
 * scanned, or `no_memory` is set. What is given is UTF-8, whatever else the window holds. */
bool key_paths_scan(struct key_paths *paths,
                    struct kineto_event *event,
                    int64_t *values,
                    const char *begin,
                    const char *end);

/* Learns from an event that kineto_event_scan gave, with its members, without duplicate keys and
 * control characters. `record` is what it became in the log, NULL: there is none. False without
 * memory. */
bool key_paths_learn(struct key_paths *paths,
                     const struct kineto_event *event,
                     const struct event_record *record) KS_MUST_USE;

#endif
