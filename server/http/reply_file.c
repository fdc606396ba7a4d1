/* Kept uploads, sent as they are, from any byte on. */
#include "server/http/head.h"
#include "server/http/negotiate.h"
#include "server/http/reply.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)256 << 10)
#define ETAG_BYTES 48

struct file_part {
    int fd;
    uint64_t size_bytes;
    uint64_t first;
    uint64_t len_bytes;
    enum negotiate_range range;
    const char *etag;
    char own_etag[ETAG_BYTES];
};

static bool open_file(struct file_part *part, const struct api_response *response, struct err *err)
{
    part->fd = open(response->file_path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool is_open = part->fd >= 0 && fstat(part->fd, &st) == 0;
    if (!is_open) {
        enum err_code code = errno == ENOENT ? ERR_GONE : ERR_IO;
        (void)err_set_errno(err, code, errno, "The file cannot be opened");
        return false;
    }
    part->size_bytes = (uint64_t)st.st_size;
    part->etag = reply_header(response, "ETag");
    if (part->etag == NULL) {
        (void)snprintf(part->own_etag, sizeof part->own_etag, "\"%" PRIx64 "-%llx\"",
                       part->size_bytes, (unsigned long long)st.st_mtime);
        part->etag = part->own_etag;
    }
    return true;
}

static void choose_range(struct file_part *part, const struct http_request *req)
{
    const char *range = http_request_header(req, "Range");
    const char *if_range = http_request_header(req, "If-Range");
    /* If-Range compares strongly, so a date or a weak tag gives the whole. */
    if (if_range != NULL && strcmp(if_range, part->etag) != 0) {
        range = NULL;
    }
    part->first = 0;
    part->len_bytes = part->size_bytes;
    part->range = negotiate_range(range, part->size_bytes, &part->first, &part->len_bytes);
}

static void send_bytes(struct http_request *req, const struct file_part *part)
{
    char *piece = malloc(PIECE_BYTES);
    uint64_t at = part->first;
    uint64_t left = part->len_bytes;
    while (left > 0) {
        size_t wanted = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        ssize_t got = piece == NULL ? -1 : pread(part->fd, piece, wanted, (off_t)at);
        if (got < 0 && errno == EINTR && piece != NULL) {
            continue;
        }
        if (got <= 0) {
            http_request_abort(req);
            break;
        }
        if (!http_request_write(req, piece, (size_t)got)) {
            break;
        }
        at += (uint64_t)got;
        left -= (uint64_t)got;
    }
    free(piece);
}

static void send_outside(struct http_request *req, const struct file_part *part)
{
    char range[48];
    (void)snprintf(range, sizeof range, "bytes */%" PRIu64, part->size_bytes);
    struct buf head;
    head_begin(&head, req, 416, HEAD_DATA);
    head_add(&head, "Content-Range", range);
    (void)head_send(&head, req, 0);
}

static void send_part(struct http_request *req,
                      const struct api_response *response,
                      const struct file_part *part)
{
    bool fresh = negotiate_etag_matches(http_request_header(req, "If-None-Match"), part->etag);
    bool partial = part->range == RANGE_PART;
    int status = fresh ? 304 : partial ? 206 : response->status;
    struct buf head;
    reply_begin(&head, req, response, status);
    if (part->etag == part->own_etag) {
        head_add(&head, "ETag", part->etag);
    }
    head_add(&head, "Accept-Ranges", "bytes");
    if (fresh) {
        (void)head_send(&head, req, HEAD_LENGTH_NONE);
        return;
    }
    const char *type = response->content_type;
    head_add(&head, "Content-Type", type == NULL ? "application/octet-stream" : type);
    if (partial) {
        char range[80];
        (void)snprintf(range, sizeof range, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, part->first,
                       part->first + part->len_bytes - 1, part->size_bytes);
        head_add(&head, "Content-Range", range);
    }
    if (head_send(&head, req, (int64_t)part->len_bytes) && !req->is_head) {
        send_bytes(req, part);
    }
}

void reply_file(struct http_request *req, struct api_response *response)
{
    struct file_part part = {.fd = -1};
    struct err err = ERR_INIT;
    if (!open_file(&part, response, &err)) {
        reply_problem(req, &err, NULL);
    } else {
        choose_range(&part, req);
        if (part.range == RANGE_OUTSIDE) {
            send_outside(req, &part);
        } else {
            send_part(req, response, &part);
        }
    }
    if (part.fd >= 0) {
        (void)close(part.fd);
    }
}
