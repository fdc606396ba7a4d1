/* Reading an input as the pipeline does, and what stands behind the readers. */
#ifndef KS_FUZZ_READING_H
#define KS_FUZZ_READING_H

#include "ingest/formats/format.h"
#include "tests/fuzz/fuzz.h"

/* Reads the bytes in blocks of this size. False: refused, with a reason in `err`; the bundle is
 * empty. A sink looks on that the lossless log of the events is sound. */
bool fuzz_read(const uint8_t *bytes,
               size_t len,
               size_t block_bytes,
               struct format_bundle *bundle,
               struct err *err);

/* Runs the analyses over all that was read. */
void fuzz_analyse(const struct format_bundle *bundle);

/* Of everything that was read of the trace: columns, texts, warnings. */
uint64_t fuzz_hash_trace(const struct trace *trace);

/* Reads the bytes in large and in small blocks, which must give the same, and analyses that. False:
 * refused; else the bundle is to be freed. */
bool fuzz_read_and_analyse(const uint8_t *bytes, size_t len, struct format_bundle *bundle);

#endif
