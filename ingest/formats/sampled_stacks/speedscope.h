/* speedscope's own JSON: profiles of samples or of begins and ends, over shared frames [FMT-8.2].
 */
#ifndef KS_FORMATS_SAMPLED_STACKS_SPEEDSCOPE_H
#define KS_FORMATS_SAMPLED_STACKS_SPEEDSCOPE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/whole.h"

#include <stdbool.h>
#include <stddef.h>

bool speedscope_recognises(const char *window, size_t len);
/* Each profile is a thread. Of text that breaks off the profiles before. ERR_BAD_INPUT: no stack.
 */
bool speedscope_read(const struct whole *whole,
                     const struct format_options *options,
                     struct trace **out,
                     struct err *err) KS_MUST_USE;

#endif
