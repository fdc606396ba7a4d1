/* Ranges of NVTX: operators, and those that are steps [FMT-5b]. */
#ifndef KS_FORMATS_DATABASE_NSYS_RANGES_H
#define KS_FORMATS_DATABASE_NSYS_RANGES_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/formats/relay/relay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVTX_MARK 34
#define NVTX_PUSH_POP 59
#define NVTX_START_END 60

/* Which names of which threads are steps: those that a thread has twice. Zeroed at first. */
struct nsys_steps {
    struct key_map seen, steps;
    int64_t count; /* relayed so far */
};

void nsys_steps_free(struct nsys_steps *steps);
/* To be told every range before the first is relayed. False without memory. */
bool nsys_steps_note(struct nsys_steps *steps, int64_t thread, const char *name, size_t len)
    KS_MUST_USE;
/* Relays a range as an operator, in front of it the step that it is. `thread` is its global id.
 * What PyTorch's emit_nvtx writes behind a name (", seq = 12, sizes = [[2, 3]]") becomes the
 * sequence number and the shapes of the operator. */
void nsys_range_add(struct nsys_steps *steps,
                    struct relay *relay,
                    struct relay_event *range,
                    int64_t thread);

/* Whether sizes of tensors as emit_nvtx writes them are a list of lists of numbers: JSON as it
 * stands. */
bool emit_nvtx_is_sizes(const char *text, size_t len);

#endif
