/* Collapsed stacks, as stackcollapse scripts, py-spy (--format raw) and others write them: a line
 * a stack, callers first, and a weight [FMT-8.1]. */
#ifndef KS_FORMATS_SAMPLED_STACKS_COLLAPSED_H
#define KS_FORMATS_SAMPLED_STACKS_COLLAPSED_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/whole.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the first line is a stack, three of four lines are, and one of them has a caller. */
bool collapsed_recognises(const char *window, size_t len);
/* Lines that are none are counted. ERR_BAD_INPUT: no stack. */
bool collapsed_read(const struct whole *whole,
                    const struct format_options *options,
                    struct trace **out,
                    struct err *err) KS_MUST_USE;

#endif
