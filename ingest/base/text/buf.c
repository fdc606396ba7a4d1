#include "ingest/base/text/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAP_FIRST_BYTES ((size_t)64)

/* `cap` 0 means that ptr is this literal, which is never written to and never freed. */
static void set_empty(struct buf *buf)
{
    buf->ptr = "";
    buf->len = 0;
    buf->cap = 0;
}

void buf_init(struct buf *buf, size_t max_bytes)
{
    *buf = (struct buf){.max_bytes = max_bytes};
    set_empty(buf);
}

void buf_drain_to(struct buf *buf,
                  size_t bytes,
                  bool (*drain)(void *context, struct buf *buf),
                  void *context)
{
    buf->drain = drain;
    buf->drain_context = context;
    buf->drain_bytes = bytes;
}

void buf_free(struct buf *buf)
{
    if (buf->cap != 0) {
        free(buf->ptr);
    }
    buf_init(buf, buf->max_bytes);
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->cap != 0) {
        buf->ptr[0] = '\0';
    }
}

static bool grow(struct buf *buf, size_t need)
{
    size_t cap = buf->cap == 0 ? CAP_FIRST_BYTES : buf->cap;
    while (cap < need) {
        cap = cap > PTRDIFF_MAX / 2 ? need : cap * 2;
    }
    if (cap > buf->max_bytes) {
        cap = buf->max_bytes + 1; /* the callers' `need` is never more */
    }
    char *ptr = realloc(buf->cap == 0 ? NULL : buf->ptr, cap);
    if (ptr == NULL) {
        return false;
    }
    ptr[buf->len] = '\0';
    buf->ptr = ptr;
    buf->cap = cap;
    return true;
}

static bool fits_now(const struct buf *buf, size_t len)
{
    return len < buf->cap - buf->len && buf->max_bytes - buf->len >= len;
}

/* Room for `len` bytes and the NUL behind them. */
static bool has_room(struct buf *buf, size_t len)
{
    if (buf->failed) {
        return false;
    }
    if (KS_LIKELY(fits_now(buf, len))) {
        return true;
    }
    if (buf->drain != NULL && buf->len >= buf->drain_bytes) {
        buf->failed = !buf->drain(buf->drain_context, buf);
        if (buf->failed || fits_now(buf, len)) {
            return !buf->failed;
        }
    }
    bool fits = len <= buf->max_bytes - buf->len && len < PTRDIFF_MAX - buf->len;
    if (!fits || !grow(buf, buf->len + len + 1)) {
        buf->failed = true;
        return false;
    }
    return true;
}

char *buf_reserve(struct buf *buf, size_t len)
{
    if (!has_room(buf, len)) {
        return NULL;
    }
    /* The caller knows nothing of the NUL: behind whatever part of the room it uses there must be
     * one. */
    memset(buf->ptr + buf->len, 0, len + 1);
    return buf->ptr + buf->len;
}

char *buf_room(struct buf *buf, size_t len)
{
    return has_room(buf, len) ? buf->ptr + buf->len : NULL;
}

void buf_add(struct buf *buf, size_t len)
{
    buf->len += len;
    buf->ptr[buf->len] = '\0';
}

void buf_append(struct buf *buf, const void *bytes, size_t len)
{
    if (len == 0 || !has_room(buf, len)) {
        return;
    }
    memcpy(buf->ptr + buf->len, bytes, len);
    buf->len += len;
    buf->ptr[buf->len] = '\0';
}

void buf_puts(struct buf *buf, const char *text)
{
    buf_append(buf, text, strlen(text));
}

void buf_putc(struct buf *buf, char c)
{
    buf_append(buf, &c, 1);
}

static void append_formatted(struct buf *buf, const char *fmt, va_list args) KS_PRINTF(2, 0);

static void append_formatted(struct buf *buf, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t room = buf->cap - buf->len;
    int wanted = vsnprintf(room == 0 ? NULL : buf->ptr + buf->len, room, fmt, args);
    if (wanted < 0 || !has_room(buf, (size_t)wanted)) {
        buf->failed = true;
        if (room != 0) {
            buf->ptr[buf->len] = '\0';
        }
    } else {
        if ((size_t)wanted >= room) {
            (void)vsnprintf(buf->ptr + buf->len, (size_t)wanted + 1, fmt, again);
        }
        buf->len += (size_t)wanted;
    }
    va_end(again);
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
    if (buf->failed) {
        return;
    }
    va_list args;
    va_start(args, fmt);
    append_formatted(buf, fmt, args);
    va_end(args);
}

char *buf_take(struct buf *buf, size_t *len)
{
    bool usable = !buf->failed && (buf->cap != 0 || grow(buf, 1));
    char *out = usable ? buf->ptr : NULL;
    if (len != NULL) {
        *len = usable ? buf->len : 0;
    }
    if (usable) {
        set_empty(buf);
    } else {
        buf_free(buf);
    }
    return out;
}
