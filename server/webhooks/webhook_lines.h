/* Reads the file of --webhooks [HIST-5a]: a line each `URL METRIC [filter...] [rule...]`. */
#ifndef KS_SERVER_WEBHOOKS_WEBHOOK_LINES_H
#define KS_SERVER_WEBHOOKS_WEBHOOK_LINES_H

#include "ingest/base/sha256.h"
#include "ingest/query/history/history.h"

#include <stdbool.h>
#include <stddef.h>

#define WEBHOOK_LINES_MAX 32
#define WEBHOOK_TAGS_MAX 8

struct webhook_line {
    const char *url;
    const char *place; /* scheme and host of it */
    const char *metric;
    struct store_series_filter filter;
    const char *tags[WEBHOOK_TAGS_MAX];
    struct history_rules rules;
    bool is_slack;
    const char *secret; /* signs each body; NULL: none */
    /* Of URL, metric, filters and rules: what the line asks for, whatever signs it. */
    char sha256_hex[SHA256_HEX_BYTES];
};

/* Words are separated by blanks; "..." holds blanks, \ in it stands before " and \. An empty line
 * and one that begins with # are skipped. Words after the metric: project=, tag= (repeatable),
 * run= (or run=/expression/), device=, p=, min_magnitude=, window=, format=json|slack, secret=.
 * Texts lie in the arena. ERR_BAD_INPUT names the line; ERR_IO. */
bool webhook_lines_read(const char *path,
                        struct arena *arena,
                        struct webhook_line lines[WEBHOOK_LINES_MAX],
                        size_t *count,
                        struct err *err) KS_MUST_USE;

#endif
