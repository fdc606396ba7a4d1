/* Answers of the TensorBoard plugin, one JSON document a line, as a team may have saved them:
 * overview, operator pies and table, kernel table and pie, for one accelerator or several in turn.
 */
#ifndef KS_FORMATS_TB_PLUGIN_JSON_H
#define KS_FORMATS_TB_PLUGIN_JSON_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>

/* Reads the lines from the stream's place on. Errors: ERR_UNSUPPORTED (no line is such an answer,
 * with the first bad line's number), ERR_NO_MEMORY, and those of input_next. On false the bundle is
 * empty. */
bool plugin_json_read(struct text_stream *stream,
                      struct format_bundle *bundle,
                      struct err *err) KS_MUST_USE;

#endif
