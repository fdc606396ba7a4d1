/* What both sides of a comparison were recorded on, before anything that is said of their times. */
#ifndef KS_API_COMPARISON_ENVIRONMENT_H
#define KS_API_COMPARISON_ENVIRONMENT_H

#include "ingest/base/text/buf.h"
#include "ingest/base/text/json_write.h"
#include "ingest/model/results/comparison.h"

/* `comparable` (null where nothing is known of a side) and `environment`: a list of facts, each
 * with name, label, base, candidate (null: unknown), match, decisive. Facts that neither side knows
 * are left out. */
void environment_json_members(struct json_write *w, const struct environment sides[SIDE_COUNT]);

/* "The two are not comparable as they stand: device (NVIDIA A100 against NVIDIA V100), world size
 * (8 against 2)." or "Recorded in different environments: driver (...)."; nothing where no known
 * fact differs. */
void environment_sentence(struct buf *out, const struct environment sides[SIDE_COUNT]);

/* A line a fact, differing ones marked with *; nothing where nothing is known. */
void environment_plain(struct buf *out, const struct environment sides[SIDE_COUNT]);
/* The same as a section with a table. `labels` head its columns. */
void environment_markdown(struct buf *out,
                          const struct environment sides[SIDE_COUNT],
                          const char *const labels[SIDE_COUNT]);

#endif
