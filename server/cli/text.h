/* Text for people: what comes out of traces made safe for terminals, and figures with a unit. */
#ifndef KS_SERVER_CLI_TEXT_H
#define KS_SERVER_CLI_TEXT_H

#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_FIGURE_BYTES 40

/* Appends the text with control characters and bytes that are no UTF-8 replaced by U+FFFD: no text
 * from a file can steer a terminal or begin a line. */
void text_clean(struct buf *out, const char *text);
/* A line "kinetoscope: <path>: <message> (at byte <offset>)", cleaned; without its path where that
 * is NULL, without an offset where the error has none. */
void text_print_error(FILE *stream, const char *path, const struct err *err);
/* What stands behind the last slash of a path: "" when the path ends in one. Part of `path`. */
const char *text_file_name(const char *path);
/* Characters of a UTF-8 text. */
size_t text_width(const char *text);

/* 950 ns, 12.3 µs, 4.56 ms, 1.23 s */
void text_time(char out[TEXT_FIGURE_BYTES], double ns);
/* 512 B, 1.5 KiB, 24 GiB */
void text_bytes(char out[TEXT_FIGURE_BYTES], double bytes);
/* 1,234,567 */
void text_count(char out[TEXT_FIGURE_BYTES], int64_t count);
/* 36.6 % of a share 0..1 */
void text_share(char out[TEXT_FIGURE_BYTES], double share);

/* How much of a kernel's or operator's name is kept. */
enum text_name {
    TEXT_NAME_SHORT, /* of a template's parameters only the first */
    TEXT_NAME_FULL,  /* all of them */
};
/* The name cleaned, without a leading "void" and its list of arguments, and cut to `max_width`
 * characters. */
void text_short_name(struct buf *out, const char *name, enum text_name how, size_t max_width);

#endif
