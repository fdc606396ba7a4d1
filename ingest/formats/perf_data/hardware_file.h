/* Reads a hardware file (topo_component.csv): CSV with the columns category, config and inventory,
 * the latter two JSON texts [CMP-10a.metrics.5]. */
#ifndef KS_FORMATS_PERF_DATA_HARDWARE_FILE_H
#define KS_FORMATS_PERF_DATA_HARDWARE_FILE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/results/hardware.h"

#include <stdbool.h>

/* Fills *out, which the caller frees with arena_free(&out->arena), also on false. Rows that cannot
 * be read are left out. Errors: ERR_IO, ERR_BAD_INPUT (not such a file), ERR_NO_MEMORY. */
bool hardware_file_read(const char *path, struct hardware *out, struct err *err) KS_MUST_USE;

#endif
