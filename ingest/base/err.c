#include "ingest/base/err.h"

#include "ingest/base/text/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct err_info {
    const char *text;
    const char *title;
    int http_status;
};

static const struct err_info err_infos[] = {
#define ERR_INFO(code, text, status, title) [code] = {text, title, status},
    ERR_LIST(ERR_INFO)
#undef ERR_INFO
};

static const struct err_info *info_of(enum err_code code)
{
    size_t at = (size_t)code;
    return &err_infos[at < sizeof err_infos / sizeof err_infos[0] ? at : ERR_INTERNAL];
}

static void cut_message(char *msg)
{
    msg[utf8_cut(msg, strlen(msg))] = '\0';
}

static void format_message(char *msg, size_t msg_bytes, const char *fmt, va_list args)
    KS_PRINTF(3, 0);

static void format_message(char *msg, size_t msg_bytes, const char *fmt, va_list args)
{
    if (vsnprintf(msg, msg_bytes, fmt, args) < 0) {
        msg[0] = '\0';
    }
    cut_message(msg);
}

static bool store_message(struct err *err, enum err_code code, uint64_t byte_off, const char *msg)
{
    err->code = code;
    err->byte_off = byte_off;
    memcpy(err->msg, msg, strlen(msg) + 1);
    return false;
}

static void join_message(char *out, size_t out_bytes, const char *first, const char *second)
{
    if (snprintf(out, out_bytes, "%s: %s", first, second) >= (int)out_bytes) {
        cut_message(out);
    }
}

/* Every message is built beside the error and copied, because the arguments may point into
 * err->msg. */

bool err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    char msg[sizeof err->msg];
    va_list args;
    va_start(args, fmt);
    format_message(msg, sizeof msg, fmt, args);
    va_end(args);
    return store_message(err, code, ERR_NO_OFFSET, msg);
}

bool err_set_at(struct err *err, enum err_code code, uint64_t byte_off, const char *fmt, ...)
{
    char msg[sizeof err->msg];
    va_list args;
    va_start(args, fmt);
    format_message(msg, sizeof msg, fmt, args);
    va_end(args);
    return store_message(err, code, byte_off, msg);
}

bool err_set_errno(struct err *err, enum err_code code, int errnum, const char *fmt, ...)
{
    char context[sizeof err->msg];
    va_list args;
    va_start(args, fmt);
    format_message(context, sizeof context, fmt, args);
    va_end(args);

    char reason[128];
    if (strerror_r(errnum, reason, sizeof reason) != 0) {
        (void)snprintf(reason, sizeof reason, "error %d", errnum);
    }
    char msg[sizeof err->msg];
    join_message(msg, sizeof msg, context, reason);
    bool no_space = errnum == ENOSPC || errnum == EDQUOT;
    return store_message(err, no_space ? ERR_NO_SPACE : code, ERR_NO_OFFSET, msg);
}

bool err_context(struct err *err, const char *fmt, ...)
{
    char context[sizeof err->msg];
    va_list args;
    va_start(args, fmt);
    format_message(context, sizeof context, fmt, args);
    va_end(args);

    char msg[sizeof err->msg];
    join_message(msg, sizeof msg, context, err->msg);
    return store_message(err, err->code, err->byte_off, msg);
}

const char *err_code_text(enum err_code code)
{
    return info_of(code)->text;
}

int err_http_status(enum err_code code)
{
    return info_of(code)->http_status;
}

const char *err_title(enum err_code code)
{
    return info_of(code)->title;
}
