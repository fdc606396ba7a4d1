/* Writes a comparison as a table or report, for the API and the command line: CSV with the
 * reference's columns [CMP-5a] and Markdown with its sections [CMP-7e], ours after them, and plain
 * text for a terminal. */
#ifndef KS_API_COMPARISON_TEXT_H
#define KS_API_COMPARISON_TEXT_H

#include "ingest/base/text/buf.h"
#include "ingest/model/results/comparison.h"

#include <stdbool.h>
#include <stddef.h>

/* The 17 columns of the reference, then `q-value(β)`, `q-value(μ)`, `Presence`, and for a list of
 * several pairs `Kind`, `Base PID`, `Candidate PID`. Pairs in the order of the list; with several
 * the labels in the header are the plain ones. NaN empty, `%.6f`, LF. A name that a spreadsheet
 * would take for a formula gets the apostrophe of csv.h; numbers stay numbers. */
void comparison_csv(struct buf *out, const struct comparison *const *items, size_t count);

/* Rows of a table in Markdown; a note below it says what is left out. */
#define COMPARISON_MARKDOWN_ROWS_MAX ((size_t)5000)
/* First line `# Strict Performance Comparison: <title> (PID: P)` or the cross one [CMP-2f]; then
 * the sections in their order [CMP-7e]; ours (verdict, added and removed functions) in sections
 * between findings and table. In names a bar is escaped and a control character becomes a blank. */
void comparison_markdown(struct buf *out, const struct comparison *comparison);
/* For a terminal: the environment of both sides if it was not printed before, verdict, summary,
 * findings, the first `row_limit` rows. Control characters become blanks. */
void comparison_plain(struct buf *out,
                      const struct comparison *comparison,
                      size_t row_limit,
                      bool with_environment);

struct json_write;
/* Writes the members of GET /api/v1/comparisons/{id}, without braces: head, rows, total, facets.
 * The caller writes `id`, `url`, `created_at`, `trace_id`, `traces`, `counters` and `pairs`. */
void comparison_json_members(struct json_write *w, const struct comparison *comparison);
/* The same in pieces, for callers that select rows: title .. appeared; the distinct
 * devices and metrics of all rows. */
void comparison_json_head(struct json_write *w, const struct comparison *comparison);
void comparison_json_facets(struct json_write *w, const struct comparison *comparison);
/* Writes the members of one element of `pairs`, except its id. */
void comparison_json_pair(struct json_write *w,
                          const struct comparison *comparison,
                          double top_score);

#endif
