/* Trees of Triton's Proton, hatchet JSON: nodes with a frame, metrics and children [FMT-8.3].
 *
 *     [{"children": [{"children": [], "frame": {"name": "gemm"}, "metrics": {"time (ns)": 8}}],
 *       "frame": {"name": "ROOT"}, "metrics": {}}, {"CUDA": {"0": {…}}}] */
#ifndef KS_FORMATS_SAMPLED_STACKS_PROTON_H
#define KS_FORMATS_SAMPLED_STACKS_PROTON_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/whole.h"

#include <stdbool.h>
#include <stddef.h>

bool proton_recognises(const char *window, size_t len);
/* Of text that breaks off the nodes before. ERR_BAD_INPUT: no node with a time. */
bool proton_read(const struct whole *whole,
                 const struct format_options *options,
                 struct trace **out,
                 struct err *err) KS_MUST_USE;

#endif
