/* A body and what stands in the window of it:
 *
 *     --boundary CRLF headers CRLF CRLF bytes CRLF--boundary CRLF headers ... CRLF--boundary--
 *
 * A delimiter is CRLF--boundary. The window begins with a CRLF of our own, so that the first one,
 * which may stand at the very start, looks like all others, and what comes before it (the preamble)
 * is a part that nobody reads. Bytes that could be the beginning of a delimiter stay in the window
 * until more arrive. */
#include "api/upload/multipart.h"

#include "api/upload/multipart_header.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_BYTES ((size_t)256 << 10)
#define HEADERS_MAX_BYTES ((size_t)16 << 10)
#define DELIMITER_BYTES (MULTIPART_BOUNDARY_BYTES + 4)

struct multipart {
    struct multipart_source source;
    char delimiter[DELIMITER_BYTES];
    size_t delimiter_len;
    size_t start; /* window[start .. end) is not yet handed out */
    size_t end;
    bool source_ended;
    bool in_part; /* or in the preamble: a delimiter is still to come */
    bool closed;  /* the closing delimiter was read */
    char headers[HEADERS_MAX_BYTES + 1];
    struct multipart_names names;
    char window[WINDOW_BYTES];
};

bool multipart_create(struct multipart **out,
                      const char *content_type,
                      struct multipart_source source,
                      struct err *err)
{
    char boundary[MULTIPART_BOUNDARY_BYTES];
    if (!multipart_header_boundary(content_type, boundary)) {
        return err_set(err, ERR_BAD_REQUEST,
                       "The Content-Type must be multipart/form-data with a boundary (curl -F "
                       "file=@NAME); to send one file as it is, use PUT");
    }
    struct multipart *m = malloc(sizeof *m);
    if (m == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to read the form");
    }
    m->source = source;
    memcpy(m->delimiter, "\r\n--", 4);
    memcpy(m->delimiter + 4, boundary, strlen(boundary) + 1);
    m->delimiter_len = strlen(m->delimiter);
    m->start = 0;
    m->end = 2;
    memcpy(m->window, "\r\n", 2);
    m->source_ended = false;
    m->in_part = true;
    m->closed = false;
    *out = m;
    return true;
}

void multipart_destroy(struct multipart *m)
{
    free(m);
}

/* Reads more behind what is there; an error when nothing more comes. */
static bool fill(struct multipart *m, struct err *err)
{
    if (m->start > 0) {
        memmove(m->window, m->window + m->start, m->end - m->start);
        m->end -= m->start;
        m->start = 0;
    }
    int64_t got = 0;
    if (!m->source_ended) {
        got = m->source.read(m->source.state, m->window + m->end, WINDOW_BYTES - m->end);
    }
    if (got < 0) {
        return err_set(err, ERR_CLIENT_GONE, "The client went away before the form was complete");
    }
    if (got == 0) {
        m->source_ended = true;
        return err_set(err, ERR_BAD_REQUEST, "The form ends before its closing boundary");
    }
    m->end += (size_t)got;
    return true;
}

static bool need(struct multipart *m, size_t len, struct err *err)
{
    while (m->end - m->start < len) {
        if (!fill(m, err)) {
            return false;
        }
    }
    return true;
}

/* How many bytes at the window's start cannot belong to a delimiter; *whole: one begins right
 * behind. */
static size_t clear_run(const struct multipart *m, bool *whole)
{
    const char *text = m->window + m->start;
    size_t len = m->end - m->start;
    size_t at = 0;
    *whole = false;
    while (at < len) {
        const char *found = memchr(text + at, '\r', len - at);
        if (found == NULL) {
            return len;
        }
        at = (size_t)(found - text);
        size_t rest = len - at;
        size_t compared = rest < m->delimiter_len ? rest : m->delimiter_len;
        if (memcmp(found, m->delimiter, compared) == 0) {
            *whole = compared == m->delimiter_len;
            return at;
        }
        at++;
    }
    return len;
}

bool multipart_data(struct multipart *m, const char **bytes, size_t *len, struct err *err)
{
    *len = 0;
    while (m->in_part) {
        bool whole = false;
        size_t run = clear_run(m, &whole);
        if (run > 0) {
            *bytes = m->window + m->start;
            *len = run;
            m->start += run;
            return true;
        }
        if (whole) {
            m->start += m->delimiter_len;
            m->in_part = false;
        } else if (!fill(m, err)) {
            return false;
        }
    }
    return true;
}

/* Behind a delimiter: "--" closes the form; else blanks and a line's end. */
static bool read_delimiter_end(struct multipart *m, struct err *err)
{
    if (!need(m, 2, err)) {
        return false;
    }
    if (memcmp(m->window + m->start, "--", 2) == 0) {
        m->closed = true;
        return true;
    }
    while (m->window[m->start] == ' ' || m->window[m->start] == '\t') {
        m->start++;
        if (!need(m, 2, err)) {
            return false;
        }
    }
    if (memcmp(m->window + m->start, "\r\n", 2) != 0) {
        return err_set(err, ERR_BAD_REQUEST, "A boundary of the form does not end its line");
    }
    m->start += 2;
    return true;
}

/* Copies one line without its end. */
static bool read_line(struct multipart *m, char *line, size_t room, size_t *len, struct err *err)
{
    *len = 0;
    for (;;) {
        if (!need(m, 1, err)) {
            return false;
        }
        char c = m->window[m->start++];
        if (c == '\n') {
            *len -= *len > 0 && line[*len - 1] == '\r';
            line[*len] = '\0';
            return true;
        }
        if (*len + 1 >= room) {
            return err_set(err, ERR_BAD_REQUEST, "The headers of a part of the form are too long");
        }
        line[(*len)++] = c;
    }
}

static bool read_headers(struct multipart *m, struct err *err)
{
    size_t room = sizeof m->headers;
    multipart_names_clear(&m->names);
    for (;;) {
        char *line = m->headers + (sizeof m->headers - room);
        size_t len = 0;
        if (!read_line(m, line, room, &len, err)) {
            return false;
        }
        if (len == 0) {
            return true;
        }
        multipart_header_names(line, &m->names);
        room -= len; /* bounds the headers of a part together */
    }
}

bool multipart_next(struct multipart *m,
                    struct multipart_part *part,
                    bool *has_part,
                    struct err *err)
{
    *has_part = false;
    if (m->closed) {
        return true;
    }
    const char *bytes = NULL;
    size_t len = 1;
    while (len > 0) {
        if (!multipart_data(m, &bytes, &len, err)) {
            return false;
        }
    }
    if (!read_delimiter_end(m, err)) {
        return false;
    }
    if (m->closed) {
        return true;
    }
    if (!read_headers(m, err)) {
        return false;
    }
    m->in_part = true;
    *has_part = true;
    part->name = m->names.name;
    part->file_name = m->names.has_file_name ? m->names.file_name : NULL;
    return true;
}
