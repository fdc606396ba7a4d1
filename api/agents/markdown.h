/* Figures of a JSON answer as Markdown for agents: short, with units, within a bound. */
#ifndef KS_API_AGENTS_MARKDOWN_H
#define KS_API_AGENTS_MARKDOWN_H

#include "ingest/base/text/buf.h"

#include <jansson.h>
#include <stddef.h>

enum agents_unit {
    AGENTS_TEXT,
    AGENTS_INT,
    AGENTS_NS,    /* 1.23 ms */
    AGENTS_SHARE, /* 0..1 as 12.3% */
    AGENTS_BYTES,
    AGENTS_VALUE /* in the unit that the answer names: "ns", "bytes" or "ratio" */
};

struct agents_figure {
    const char *path; /* "figures.step_ns"; NULL ends a list */
    const char *title;
    enum agents_unit unit;
};

/* The member at a path of names and indexes; NULL: none. */
const json_t *agents_at(const json_t *value, const char *path);
/* "title: figure; title: figure", a line; what is null is left out. */
void agents_put_figures(struct buf *out, const json_t *value, const struct agents_figure *figures);
/* A table of the rows while they fit `max_bytes` of `out`, then how many there are. `unit`: of
 * AGENTS_VALUE, NULL: none. */
void agents_put_table(struct buf *out,
                      size_t max_bytes,
                      const json_t *rows,
                      const struct agents_figure *figures,
                      const char *unit);

#endif
