/* Names a file's type from its first bytes. */
#ifndef KS_FORMATS_SNIFF_H
#define KS_FORMATS_SNIFF_H

#include <stdbool.h>
#include <stddef.h>

/* Enough bytes for sniff_describe; fewer are allowed. */
#define SNIFF_BYTES 4096

/* What bytes that are not JSON look like, for a message ("a ZIP archive"); NULL when they may be
 * JSON. */
const char *sniff_describe(const char *bytes, size_t len);

/* Whether the bytes contain keys that only a trace has: then it is one, even if its first bracket
 * is damaged. */
bool sniff_names_trace(const char *bytes, size_t len);

/* Whether the JSON text begins like an answer of the annex's routes (seed 003): by its first key
 * and the first key of that key's value. */
bool sniff_is_uploaded_answer(const char *text, size_t len);

#endif
