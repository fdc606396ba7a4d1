/* Inflates what is in memory, for formats that compress parts of a file. */
#ifndef KS_INPUT_INFLATE_H
#define KS_INPUT_INFLATE_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One zlib stream (RFC 1950) of `len` bytes, up to `cap` bytes of it: `*out_len` of them are in
 * `out`. `*is_whole`: it ends there, and its checksum is right. False: damaged, or no memory. Any
 * thread. */
bool inflate_zlib(const void *bytes,
                  size_t len,
                  char *out,
                  size_t cap,
                  size_t *out_len,
                  bool *is_whole) KS_MUST_USE;

#endif
