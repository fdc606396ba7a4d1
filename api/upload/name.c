#include "api/upload/name.h"

#include "ingest/base/text/utf8.h"

#include <string.h>

static bool is_control(uint32_t code_point)
{
    return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

static bool check_text(const char *what, const char *name, size_t max_bytes, struct err *err)
{
    size_t len = strlen(name);
    if (len == 0) {
        return err_set(err, ERR_BAD_REQUEST, "The %s name is empty", what);
    }
    if (len > max_bytes) {
        return err_set(err, ERR_BAD_REQUEST, "The %s name has %zu bytes: at most %zu are allowed",
                       what, len, max_bytes);
    }
    for (size_t at = 0; at < len;) {
        uint32_t code_point;
        size_t char_len = utf8_decode(name + at, len - at, &code_point);
        if (code_point == UTF8_INVALID || is_control(code_point)) {
            return err_set(
                err, ERR_BAD_REQUEST, "The %s name has %s at byte %zu", what,
                code_point == UTF8_INVALID ? "bytes that are no UTF-8" : "a control character", at);
        }
        at += char_len;
    }
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return err_set(err, ERR_BAD_REQUEST, "\"%s\" is no %s name", name, what);
    }
    return true;
}

bool upload_name_check_run(const char *name, struct err *err)
{
    return check_text("run", name, UPLOAD_NAME_MAX_BYTES, err);
}

bool upload_name_check_file(const char *name, struct err *err)
{
    if (*name == '\0') {
        return err_set(err, ERR_BAD_REQUEST,
                       "The file name is missing: put it behind the last \"/\" of the address, as "
                       "in .../traces/worker0.pt.trace.json (curl -T FILE does so for an address "
                       "that ends in \"/\")");
    }
    if (strchr(name, '/') != NULL) {
        return err_set(err, ERR_BAD_REQUEST, "The file name must not contain \"/\"");
    }
    return check_text("file", name, UPLOAD_NAME_MAX_BYTES, err);
}

bool upload_name_check_marker(const char *name, struct err *err)
{
    return check_text("marker's function", name, UPLOAD_MARKER_MAX_BYTES, err);
}
