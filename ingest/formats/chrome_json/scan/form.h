/* Events that stood in the trace before but for their numbers: forms with blanks.
 *
 *     {"ph": "X", "name": "aten::add", "tid": 7, "ts": |17|, "args": {"External id": |3|}}
 *      piece                                            |  | piece                    |  | piece
 *
 * Traces repeat themselves, so that the events before one tell which form it has. That guess is
 * compared byte by byte; what fits needs no more than its numbers put into the row and the log's
 * values of the event of which the form was made. What does not is left to kineto_path, and what
 * comes again becomes a form. Memory is bounded; what exceeds it becomes none. */
#ifndef KS_FORMATS_CHROME_JSON_SCAN_FORM_H
#define KS_FORMATS_CHROME_JSON_SCAN_FORM_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/formats/chrome_json/build.h"
#include "ingest/formats/chrome_json/scan/path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KINETO_FORMS_MAX 4096
/* Both powers of two. */
#define KINETO_FORM_GUESSES 32768
#define KINETO_FORM_MEETINGS 8192
/* Where half of so many events have another form than the guessed one, so many are left alone. */
#define KINETO_FORM_TRIAL_EVENTS 2048
#define KINETO_FORM_PAUSE_EVENTS 2048
/* Values are copied so many at a time. */
#define KINETO_FORM_VALUES 4

/* Bytes, and the number behind them. */
struct kineto_piece {
    const char *text; /* readable for BYTES_BLOCK bytes */
    uint32_t len;
    uint32_t mask;        /* a bit for each byte that is within the first block */
    uint16_t value;       /* of the number in the log */
    uint8_t use;          /* enum kineto_use */
    bool is_decimal;      /* EVENT_SLOT_DECIMAL, else EVENT_SLOT_INT */
    uint8_t whole_digits; /* of the number that stood there last; 0: not to be expected again */
    uint8_t fraction_digits;
};

struct kineto_form {
    struct kineto_piece *pieces;
    const char *last; /* the bytes behind the last number, readable for BYTES_BLOCK bytes */
    uint32_t last_len;
    uint32_t last_mask;
    uint32_t blank_count; /* as many as there are pieces */
    uint32_t identity;
    uint32_t template_number; /* of the log */
    uint32_t value_count;
    const int64_t *values; /* those of the log, readable for KINETO_FORM_VALUES behind them; the
                              blanks' are any. Pieces and texts stand behind them */
    struct kineto_row row;
};

/* The event at `begin`, if it has this form: answers behind it, NULL when it has another one.
 * `values` (room for EVENT_VALUES_MAX) are then those of the log, and `numbers` those of the row.
 */
typedef const char *(*kineto_form_fn)(struct kineto_form *form,
                                      const char *begin,
                                      const char *end,
                                      int64_t *values,
                                      int64_t numbers[KINETO_USES]);

/* Large; of the forms only the first `count` are set. */
struct kineto_form_tables {
    uint16_t guesses[KINETO_FORM_GUESSES]; /* the form that came behind a history */
    struct kineto_meeting {
        uint32_t identity;
        uint32_t form; /* 0: not yet */
    } meetings[KINETO_FORM_MEETINGS];
    struct kineto_form forms[KINETO_FORMS_MAX]; /* the first fits nothing */
};

struct kineto_forms {
    struct arena arena;
    kineto_form_fn scan;
    struct kineto_form_tables *tables;
    uint64_t history; /* identities of the last events */
    uint32_t count;
    uint32_t event_count; /* of the trial at hand */
    uint32_t miss_count;
    uint32_t pause; /* so many events are left alone */
};

/* False without memory; kineto_forms_free is needed either way. */
bool kineto_forms_init(struct kineto_forms *forms) KS_MUST_USE;
void kineto_forms_free(struct kineto_forms *forms);
size_t kineto_forms_memory(const struct kineto_forms *forms);

static inline uint32_t kineto_forms_place(uint64_t history)
{
    return (uint32_t)(history * BYTES_SPREAD >> 32) & (KINETO_FORM_GUESSES - 1);
}

static inline uint64_t kineto_forms_history(uint64_t history, uint32_t identity)
{
    return history << 4 ^ identity;
}

/* The event behind the last ones had this form, 0: none. */
static inline void kineto_forms_pass(struct kineto_forms *forms, uint32_t number, uint32_t identity)
{
    forms->tables->guesses[kineto_forms_place(forms->history)] = (uint16_t)number;
    forms->history = kineto_forms_history(forms->history, identity);
}

/* Where hardly an event comes again, most are spared the guesses. */
static inline bool kineto_forms_rest(struct kineto_forms *forms)
{
    if (KS_UNLIKELY(forms->pause > 0)) {
        forms->pause--;
        return true;
    }
    if (KS_UNLIKELY(++forms->event_count == KINETO_FORM_TRIAL_EVENTS)) {
        bool is_worth_it = forms->miss_count < KINETO_FORM_TRIAL_EVENTS / 2;
        forms->pause = is_worth_it ? 0 : KINETO_FORM_PAUSE_EVENTS;
        forms->event_count = 0;
        forms->miss_count = 0;
    }
    return false;
}

/* The event at `begin`, if it has the form that it probably has: as kineto_form_fn answers. */
static inline const char *kineto_forms_scan(struct kineto_forms *forms,
                                            const char *begin,
                                            const char *end,
                                            int64_t *values,
                                            int64_t numbers[KINETO_USES],
                                            const struct kineto_form **form)
{
    if (kineto_forms_rest(forms)) {
        return NULL;
    }
    struct kineto_form_tables *tables = forms->tables;
    uint32_t number = tables->guesses[kineto_forms_place(forms->history)];
    struct kineto_form *guessed = &tables->forms[number];

    const char *behind = forms->scan(guessed, begin, end, values, numbers);
    if (behind != NULL) {
        kineto_forms_pass(forms, number, guessed->identity);
        *form = guessed;
        return behind;
    }
    forms->miss_count++;
    return NULL;
}

/* Learns from an event that kineto_paths_scan gave, with the log's values, after it has become the
 * trace's last row. `is_pure`: it did nothing to the trace besides. False without memory. */
bool kineto_forms_learn(struct kineto_forms *forms,
                        const struct kineto_paths *paths,
                        const struct kineto_event *event,
                        const int64_t *values,
                        const struct kineto_build *build,
                        bool is_pure) KS_MUST_USE;

/* The same scan compiled for more or less of a processor. */
const char *kineto_form_scan_base(struct kineto_form *form,
                                  const char *begin,
                                  const char *end,
                                  int64_t *values,
                                  int64_t numbers[KINETO_USES]);
#ifdef KS_HAS_AVX2
const char *kineto_form_scan_avx2(struct kineto_form *form,
                                  const char *begin,
                                  const char *end,
                                  int64_t *values,
                                  int64_t numbers[KINETO_USES]);
#endif

#endif
