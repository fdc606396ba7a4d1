/* Text for people: makes texts from traces safe for terminals, and prints figures with units. */
#ifndef KS_SERVER_CLI_TEXT_H
#define KS_SERVER_CLI_TEXT_H

#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_FIGURE_BYTES 40

/* Appends the text; U+FFFD replaces control characters and bytes that are not UTF-8, so that no
 * text from a file can control a terminal or begin a line. */
void text_clean(struct buf *out, const char *text);
/* Prints the line "kinetoscope: <path>: <message> (at byte <offset>)", made safe; omits a path that
 * is NULL or begins the message, and the offset where the error has none. */
void text_print_error(FILE *stream, const char *path, const struct err *err);
/* The part of a path after its last slash: "" when it ends in one. Points into `path`. */
const char *text_file_name(const char *path);
/* Number of characters of a UTF-8 text. */
size_t text_width(const char *text);

/* 950 ns, 12.3 µs, 4.56 ms, 1.23 s */
void text_time(char out[TEXT_FIGURE_BYTES], double ns);
/* 512 B, 1.5 KiB, 24 GiB */
void text_bytes(char out[TEXT_FIGURE_BYTES], double bytes);
/* 1,234,567 */
void text_count(char out[TEXT_FIGURE_BYTES], int64_t count);
/* 36.6% of a share 0..1 */
void text_share(char out[TEXT_FIGURE_BYTES], double share);

/* How much of a kernel's or operator's name to print. */
enum text_name {
    TEXT_NAME_SHORT, /* as the page shortens it (base/text/short_name.h) */
    TEXT_NAME_FULL,  /* without a leading "void" and its argument list */
};
/* Appends the name made safe, cut to `max_width` characters. */
void text_short_name(struct buf *out, const char *name, enum text_name how, size_t max_width);

#endif
