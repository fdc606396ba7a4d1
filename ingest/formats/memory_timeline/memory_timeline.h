/* Raw memory timelines of PyTorch (export_memory_timeline, .raw.json) [FMT-7].
 *
 *     [[-1, 1, 4096, 0], [1500, 2, 512, 4], ...]     t_ns, action, bytes, category */
#ifndef KS_FORMATS_MEMORY_TIMELINE_MEMORY_TIMELINE_H
#define KS_FORMATS_MEMORY_TIMELINE_MEMORY_TIMELINE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/whole.h"

#include <stdbool.h>
#include <stddef.h>

bool memory_timeline_recognises(const char *window, size_t len);
/* ERR_BAD_INPUT: no row can be read; else those of relay_read. */
bool memory_timeline_read(const struct whole *whole,
                          const struct format_options *options,
                          struct trace **out,
                          struct err *err) KS_MUST_USE;

#endif
