/* Growable byte buffer with a maximum size, set at init. After a failed append, `failed` stays true
 * and later appends do nothing, so a writer checks once, at the end. Always NUL-terminated. */
#ifndef KS_BASE_TEXT_BUF_H
#define KS_BASE_TEXT_BUF_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t max_bytes;
    bool failed;
    bool (*drain)(void *context, struct buf *buf); /* NULL: everything stays in the buffer */
    void *drain_context;
    size_t drain_bytes;
};

void buf_init(struct buf *buf, size_t max_bytes);
void buf_free(struct buf *buf);
void buf_clear(struct buf *buf); /* keeps the memory, clears `failed` */
void buf_append(struct buf *buf, const void *bytes, size_t len);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *fmt, ...) KS_PRINTF(2, 3);
/* Drains instead of growing: from now on, when the buffer is full and holds `bytes` or more, calls
 * `drain`, which takes the content away and calls buf_clear, so that a long text needs little
 * memory. If it returns false, the buffer has failed. buf_init and buf_free end this. */
void buf_drain_to(struct buf *buf,
                  size_t bytes,
                  bool (*drain)(void *context, struct buf *buf),
                  void *context);
/* Returns `len` zeroed bytes at ptr + len, or NULL (and sets `failed`). The caller adds to `len`.
 */
char *buf_reserve(struct buf *buf, size_t len) KS_MUST_USE;
/* As buf_reserve, without zeroing, for hot paths. buf_add says how much was written. */
char *buf_room(struct buf *buf, size_t len) KS_MUST_USE;
void buf_add(struct buf *buf, size_t len);
/* Gives the bytes to the caller, who frees them with free(). The buffer is empty afterwards. */
char *buf_take(struct buf *buf, size_t *len);

#endif
