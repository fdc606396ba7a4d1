#include "ingest/base/text/utf8.h"

#include "ingest/base/bytes.h"

struct lead {
    size_t len;         /* bytes of the whole character; 0 for a byte that begins none */
    unsigned bits;      /* payload of the lead byte */
    unsigned char low;  /* the second byte's range: it alone tells overlong forms, */
    unsigned char high; /* surrogates and values beyond U+10FFFF */
};

static struct lead lead_of(unsigned char c)
{
    struct lead lead = {.len = 0, .bits = c, .low = 0x80, .high = 0xBF};
    if (c < 0x80) {
        lead.len = 1;
    } else if (c >= 0xC2 && c <= 0xDF) {
        lead.len = 2;
        lead.bits = c & 0x1FU;
    } else if (c >= 0xE0 && c <= 0xEF) {
        lead.len = 3;
        lead.bits = c & 0x0FU;
        lead.low = c == 0xE0 ? 0xA0 : 0x80;
        lead.high = c == 0xED ? 0x9F : 0xBF;
    } else if (c >= 0xF0 && c <= 0xF4) {
        lead.len = 4;
        lead.bits = c & 0x07U;
        lead.low = c == 0xF0 ? 0x90 : 0x80;
        lead.high = c == 0xF4 ? 0x8F : 0xBF;
    }
    return lead;
}

size_t utf8_decode(const char *text, size_t len, uint32_t *code_point)
{
    const unsigned char *bytes = (const unsigned char *)text;
    struct lead lead = lead_of(bytes[0]);
    uint32_t value = lead.bits;
    for (size_t i = 1; i < lead.len; i++) {
        unsigned char low = i == 1 ? lead.low : 0x80;
        unsigned char high = i == 1 ? lead.high : 0xBF;
        if (i == len || bytes[i] < low || bytes[i] > high) {
            *code_point = UTF8_INVALID;
            return i;
        }
        value = value << 6 | (bytes[i] & 0x3FU);
    }
    *code_point = lead.len == 0 ? UTF8_INVALID : value;
    return lead.len == 0 ? 1 : lead.len;
}

const char *utf8_skip_ascii(const char *at, const char *end)
{
    while (end - at >= BYTES_RUN && !bytes_run_has_high(at)) {
        at += BYTES_RUN;
    }
    while (at < end && (unsigned char)*at < 0x80) {
        at++;
    }
    return at;
}

bool utf8_is_valid(const char *text, size_t len)
{
    const char *end = text + len;
    uint32_t c = 0;
    while (c != UTF8_INVALID && (text = utf8_skip_ascii(text, end)) < end) {
        text += utf8_decode(text, (size_t)(end - text), &c);
    }
    return c != UTF8_INVALID;
}

size_t utf8_cut(const char *text, size_t len)
{
    size_t back = 0;
    while (back < 3 && back < len) {
        unsigned char c = (unsigned char)text[len - back - 1];
        back++;
        if (c >= 0xC0) {
            return lead_of(c).len > back ? len - back : len;
        }
        if (c < 0x80) {
            break;
        }
    }
    return len;
}
