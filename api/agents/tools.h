/* The tools of the Model Context Protocol: each asks this API once, for the same subject, and tells
 * of the answer what fits 4 kB of Markdown. */
#ifndef KS_API_AGENTS_TOOLS_H
#define KS_API_AGENTS_TOOLS_H

#include "api/call.h"

#include <jansson.h>

#define AGENTS_ANSWER_MAX_BYTES ((size_t)4 << 10)

/* The list of tools with the schema of their arguments. */
void agents_tools_describe(struct json_write *w);
/* `list_runs`, `overview`, … */
void agents_tools_names(struct buf *out);
bool agents_tools_have(const char *name);
/* Appends the answer, a buffer of AGENTS_ANSWER_MAX_BYTES. ERR_BAD_REQUEST names a wrong argument;
 * otherwise what the API refuses with. `arguments` may be NULL. */
bool agents_tools_call(struct api_call *call,
                       const char *name,
                       const json_t *arguments,
                       struct buf *out,
                       struct err *err) KS_MUST_USE;

#endif
