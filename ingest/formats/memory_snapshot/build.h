/* From the values of a pickle to a snapshot. */
#ifndef KS_FORMATS_MEMORY_SNAPSHOT_BUILD_H
#define KS_FORMATS_MEMORY_SNAPSHOT_BUILD_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/memory_snapshot/pickle.h"
#include "ingest/model/recorders/memory_snapshot.h"

/* O(pickle), however often its values refer to one another. ERR_BAD_INPUT: no snapshot;
 * ERR_NO_MEMORY. *out is the caller's. */
bool snapshot_build(const struct pickle *pickle,
                    struct memory_snapshot **out,
                    struct err *err) KS_MUST_USE;

#endif
