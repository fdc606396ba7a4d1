/* Events that stood in the trace before but for their numbers: forms with blanks.
 *
 *     {"ph": "X", "name": "aten::add", "tid": 7, "ts": |17|, "args": {"External id": |3|}}
 *      piece                                            |  | piece                    |  | piece
 *
 * Traces repeat themselves, so that the events before one tell which form it has; where they have
 * not come together before, its first bytes do. A guess is compared byte by byte; what fits needs
 * no more than its numbers put into the row and the log's values of the event of which the form was
 * made. What does not is left to key_path, and what comes again becomes a form. Memory is bounded;
 * what exceeds it becomes none. */
#ifndef KS_FORMATS_CHROME_JSON_SCAN_TEMPLATE_H
#define KS_FORMATS_CHROME_JSON_SCAN_TEMPLATE_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/formats/chrome_json/build.h"
#include "ingest/formats/chrome_json/scan/key_path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCAN_TEMPLATES_MAX 4096
/* Powers of two. */
#define SCAN_TEMPLATE_GUESSES 32768
#define SCAN_TEMPLATE_CANDIDATES 8192
#define SCAN_TEMPLATE_BEGINNINGS 8192
/* Values are copied so many at a time. */
#define SCAN_TEMPLATE_VALUES 4

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

struct scan_template {
    struct kineto_piece *pieces;
    const char *last; /* the bytes behind the last number, readable for BYTES_BLOCK bytes */
    uint32_t last_len;
    uint32_t last_mask;
    uint32_t blank_count; /* as many as there are pieces */
    uint32_t identity;
    uint32_t template_number; /* of the log */
    uint32_t value_count;
    const int64_t *values; /* those of the log, readable for SCAN_TEMPLATE_VALUES behind them; the
                              blanks' are any. Pieces and texts stand behind them */
    struct kineto_row row;
};

/* The event at `begin`, if it has this form: answers behind it, NULL when it has another one.
 * `values` (room for EVENT_VALUES_MAX) are then those of the log, and `numbers` those of the row.
 */
const char *scan_template_scan(struct scan_template *form,
                               const char *begin,
                               const char *end,
                               int64_t *values,
                               int64_t numbers[KINETO_USES]);

/* Large; of the forms only the first `count` are set. */
struct scan_template_tables {
    uint16_t guesses[SCAN_TEMPLATE_GUESSES];       /* the form that came behind a history */
    uint16_t beginnings[SCAN_TEMPLATE_BEGINNINGS]; /* the form of an event that began so */
    struct scan_template_candidate {
        uint32_t identity;
        uint32_t form; /* 0: not yet */
    } candidates[SCAN_TEMPLATE_CANDIDATES];
    struct scan_template forms[SCAN_TEMPLATES_MAX]; /* the first fits nothing */
};

struct scan_templates {
    struct arena arena;
    struct scan_template_tables *tables;
    uint64_t history; /* identities of the last events */
    uint32_t count;
    uint32_t beginning; /* of the event whose history led to another form: its place */
};

/* False without memory; scan_templates_free is needed either way. */
bool scan_templates_init(struct scan_templates *forms) KS_MUST_USE;
void scan_templates_free(struct scan_templates *forms);
size_t scan_templates_memory(const struct scan_templates *forms);

static inline uint32_t scan_templates_place(uint64_t history)
{
    return (uint32_t)(history * BYTES_SPREAD >> 32) & (SCAN_TEMPLATE_GUESSES - 1);
}

static inline uint64_t scan_templates_history(uint64_t history, uint32_t identity)
{
    return history << 4 ^ identity;
}

/* The event behind the last ones had this form, 0: none. */
static inline void
scan_templates_pass(struct scan_templates *forms, uint32_t number, uint32_t identity)
{
    forms->tables->guesses[scan_templates_place(forms->history)] = (uint16_t)number;
    forms->history = scan_templates_history(forms->history, identity);
}

/* The number of the form of an event that began like the one at `begin`, 0: none is known. */
uint32_t
scan_templates_by_beginning(struct scan_templates *forms, const char *begin, const char *end);

/* The event at `begin`, if it has the form that it probably has: as scan_template_scan answers. */
static inline const char *scan_templates_read(struct scan_templates *forms,
                                              const char *begin,
                                              const char *end,
                                              int64_t *values,
                                              int64_t numbers[KINETO_USES],
                                              const struct scan_template **form)
{
    struct scan_template_tables *tables = forms->tables;
    uint32_t number = tables->guesses[scan_templates_place(forms->history)];
    struct scan_template *guessed = &tables->forms[number];

    const char *behind = scan_template_scan(guessed, begin, end, values, numbers);
    if (behind == NULL) {
        number = scan_templates_by_beginning(forms, begin, end);
        guessed = &tables->forms[number];
        behind = scan_template_scan(guessed, begin, end, values, numbers);
    }
    if (behind != NULL) {
        scan_templates_pass(forms, number, guessed->identity);
        *form = guessed;
        return behind;
    }
    return NULL;
}

/* Learns from an event that scan_templates_read did not know and key_paths_scan gave, with the
 * log's values, after it has become the trace's last row. `is_pure`: it did nothing to the trace
 * besides. False without memory. */
bool scan_templates_learn(struct scan_templates *forms,
                          const struct key_paths *paths,
                          const struct kineto_event *event,
                          const int64_t *values,
                          const struct kineto_build *build,
                          bool is_pure) KS_MUST_USE;

#endif
