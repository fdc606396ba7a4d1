#include "api/upload/multipart_header.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY_BYTES 32

/* The parameters of a header value: `; key=token; key="quoted"`. */
struct param_reader {
    const char *at;
    char key[KEY_BYTES];
    char value[MULTIPART_NAME_BYTES];
};

static void put(char *out, size_t *len, char c)
{
    if (*len + 1 < MULTIPART_NAME_BYTES) {
        out[(*len)++] = c;
    }
}

/* Between quotes clients write a quote as \" (RFC) or as %22 (browsers, which also write line ends
 * as %0D and %0A and leave backslashes as they are). */
static const char *read_quoted(const char *text, char *value)
{
    size_t len = 0;
    while (*text != '\0' && *text != '"') {
        if (text[0] == '\\' && (text[1] == '"' || text[1] == '\\')) {
            put(value, &len, text[1]);
            text += 2;
        } else if (strncmp(text, "%22", 3) == 0) {
            put(value, &len, '"');
            text += 3;
        } else if (strncasecmp(text, "%0D", 3) == 0 || strncasecmp(text, "%0A", 3) == 0) {
            put(value, &len, (text[2] | 0x20) == 'd' ? '\r' : '\n');
            text += 3;
        } else {
            put(value, &len, *text++);
        }
    }
    value[len] = '\0';
    return *text == '"' ? text + 1 : text;
}

static const char *read_token(const char *text, char *value)
{
    size_t len = 0;
    while (*text != '\0' && strchr("; \t\r\n", *text) == NULL) {
        put(value, &len, *text++);
    }
    value[len] = '\0';
    return text;
}

static bool next_param(struct param_reader *reader)
{
    const char *at = reader->at;
    at += strcspn(at, ";");
    if (*at == '\0') {
        return false;
    }
    at += 1 + strspn(at + 1, " \t");
    size_t len = strcspn(at, "=; \t");
    size_t kept = len < KEY_BYTES ? len : KEY_BYTES - 1;
    memcpy(reader->key, at, kept);
    reader->key[kept] = '\0';
    reader->value[0] = '\0';
    at += len + strspn(at + len, " \t");
    if (*at == '=') {
        at += 1 + strspn(at + 1, " \t");
        at = *at == '"' ? read_quoted(at + 1, reader->value) : read_token(at, reader->value);
    }
    reader->at = at;
    return true;
}

static bool has_prefix_nocase(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

bool multipart_header_boundary(const char *content_type, char boundary[MULTIPART_BOUNDARY_BYTES])
{
    if (!has_prefix_nocase(content_type, "multipart/form-data")) {
        return false;
    }
    struct param_reader reader = {.at = content_type};
    while (next_param(&reader)) {
        size_t len = strlen(reader.value);
        if (strcasecmp(reader.key, "boundary") == 0 && len > 0 && len < MULTIPART_BOUNDARY_BYTES) {
            memcpy(boundary, reader.value, len + 1);
            return true;
        }
    }
    return false;
}

void multipart_names_clear(struct multipart_names *names)
{
    names->name[0] = '\0';
    names->file_name[0] = '\0';
    names->has_file_name = false;
    names->file_name_is_extended = false;
}

static int hex_byte(const char *text)
{
    if (strspn(text, "0123456789abcdefABCDEF") < 2) {
        return -1;
    }
    char digits[3] = {text[0], text[1], '\0'};
    return (int)strtol(digits, NULL, 16);
}

/* UTF-8'language'percent-encoded (RFC 5987); other character sets are not understood. */
static bool decode_extended(const char *value, char *out)
{
    const char *language = strchr(value, '\'');
    const char *text = language == NULL ? NULL : strchr(language + 1, '\'');
    if (text == NULL || !has_prefix_nocase(value, "UTF-8'")) {
        return false;
    }
    size_t len = 0;
    for (text++; *text != '\0'; text++) {
        int byte = *text == '%' ? hex_byte(text + 1) : (unsigned char)*text;
        if (byte <= 0) {
            return false;
        }
        put(out, &len, (char)byte);
        text += *text == '%' ? 2 : 0;
    }
    out[len] = '\0';
    return true;
}

/* Browsers send the path of a file in a dropped folder: only its last component names the file. */
static void set_file_name(struct multipart_names *names, const char *text)
{
    const char *slash = strrchr(text, '/');
    const char *base = slash == NULL ? text : slash + 1;
    memmove(names->file_name, base, strlen(base) + 1);
    names->has_file_name = true;
}

void multipart_header_names(const char *line, struct multipart_names *names)
{
    if (!has_prefix_nocase(line, "Content-Disposition:")) {
        return;
    }
    struct param_reader reader = {.at = line};
    while (next_param(&reader)) {
        char decoded[MULTIPART_NAME_BYTES];
        if (strcasecmp(reader.key, "name") == 0) {
            memcpy(names->name, reader.value, strlen(reader.value) + 1);
        } else if (strcasecmp(reader.key, "filename") == 0 && !names->file_name_is_extended) {
            set_file_name(names, reader.value);
        } else if (strcasecmp(reader.key, "filename*") == 0 &&
                   decode_extended(reader.value, decoded)) {
            set_file_name(names, decoded);
            names->file_name_is_extended = true;
        }
    }
}
