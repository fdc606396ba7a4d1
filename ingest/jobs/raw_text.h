/* The text of a kept upload, decompressed, in pieces: for answers that hand it on. */
#ifndef KS_JOBS_RAW_TEXT_H
#define KS_JOBS_RAW_TEXT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct raw_text;

/* Errors: ERR_IO, ERR_NOT_FOUND, ERR_NO_MEMORY. */
bool raw_text_open(struct raw_text **out, const char *path, struct err *err) KS_MUST_USE;
/* The next piece, valid until the next call; *len 0 at the end. */
bool raw_text_next(struct raw_text *text, const char **bytes, size_t *len, struct err *err)
    KS_MUST_USE;
void raw_text_close(struct raw_text *text); /* NULL is allowed */

#endif
