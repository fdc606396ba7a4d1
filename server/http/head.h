/* The head of an answer: status line and headers that every answer has. */
#ifndef KS_SERVER_HTTP_HEAD_H
#define KS_SERVER_HTTP_HEAD_H

#include "ingest/base/text/buf.h"
#include "server/http/http_request.h"

#include <stdint.h>

#define HEAD_LENGTH_NONE (-1) /* no body, or one whose end is known otherwise */

/* What the answer is to a browser. */
enum head_kind {
    HEAD_PAGE, /* a file of the page: may load the other files */
    HEAD_DATA, /* everything else: runs nothing, loads nothing */
};

void head_begin(struct buf *head, struct http_request *req, int status, enum head_kind kind);
/* Control characters in the value become spaces, so that no value ends the line early. */
void head_add(struct buf *head, const char *name, const char *value);
void head_add_int(struct buf *head, const char *name, int64_t value);
/* Settles the connection, ends the head and sends it. False when the client is gone. */
bool head_send(struct buf *head, struct http_request *req, int64_t content_length);
/* The same with the content, in one piece where it is small; of HEAD's answer only the head. */
void head_send_with(struct buf *head, struct http_request *req, const void *content, size_t len);

#endif
