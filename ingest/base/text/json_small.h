/* Parses small JSON texts: request bodies, cells of tables, saved answers. Only this module calls
 * jansson's parser.
 *
 * jansson recurses once per level of nesting, in its parser and in json_decref, and stops only at
 * 2048 levels. A request thread has a stack of 100 KiB, which 877 levels fill. So a loop counts the
 * nesting before jansson sees the text. */
#ifndef KS_BASE_TEXT_JSON_SMALL_H
#define KS_BASE_TEXT_JSON_SMALL_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <jansson.h>
#include <stddef.h>

#define JSON_SMALL_LEVELS_MAX 64

/* Parses `len` bytes with jansson's `flags` (JSON_REJECT_DUPLICATES, ...). The caller releases the
 * value with json_decref. Returns NULL with ERR_BAD_REQUEST and the byte offset when the text nests
 * deeper than JSON_SMALL_LEVELS_MAX or is no JSON. `what` begins the message ("The body").
 * Thread-safe. */
json_t *json_small_parse(
    const char *text, size_t len, size_t flags, const char *what, struct err *err) KS_MUST_USE;

#endif
