#include "server/http/negotiate.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define QUALITY_ABSENT (-1)

struct span {
    const char *ptr;
    size_t len;
};

static struct span trimmed(const char *ptr, size_t len)
{
    while (len > 0 && (*ptr == ' ' || *ptr == '\t')) {
        ptr++;
        len--;
    }
    while (len > 0 && (ptr[len - 1] == ' ' || ptr[len - 1] == '\t')) {
        len--;
    }
    return (struct span){ptr, len};
}

/* Takes the next item up to `separator` off the list; false at its end. */
static bool next_item(const char **list, char separator, struct span *item)
{
    if (*list == NULL) {
        return false;
    }
    const char *end = strchr(*list, separator);
    size_t len = end == NULL ? strlen(*list) : (size_t)(end - *list);
    *item = trimmed(*list, len);
    *list = end == NULL ? NULL : end + 1;
    return true;
}

static bool span_is(struct span span, const char *text)
{
    return span.len == strlen(text) && strncasecmp(span.ptr, text, span.len) == 0;
}

/* "0.5" in thousandths; what is no quality counts as 1. */
static int quality_of(struct span value)
{
    if (value.len == 0 || (value.ptr[0] != '0' && value.ptr[0] != '1')) {
        return 1000;
    }
    int quality = (value.ptr[0] - '0') * 1000;
    int scale = 100;
    for (size_t i = 2; i < value.len && isdigit((unsigned char)value.ptr[i]) && scale > 0; i++) {
        quality += (value.ptr[i] - '0') * scale;
        scale /= 10;
    }
    return quality > 1000 ? 1000 : quality;
}

/* Splits "gzip;q=0.5" into the word and its quality. */
static struct span coding_of(struct span item, int *quality)
{
    *quality = 1000;
    const char *semicolon = memchr(item.ptr, ';', item.len);
    if (semicolon == NULL) {
        return item;
    }
    size_t word_len = (size_t)(semicolon - item.ptr);
    struct span parameter = trimmed(semicolon + 1, item.len - word_len - 1);
    if (parameter.len > 2 && strncasecmp(parameter.ptr, "q=", 2) == 0) {
        *quality = quality_of((struct span){parameter.ptr + 2, parameter.len - 2});
    }
    return trimmed(item.ptr, word_len);
}

bool negotiate_gzip(const char *accept_encoding)
{
    int gzip = QUALITY_ABSENT;
    int any = QUALITY_ABSENT;
    int identity = QUALITY_ABSENT;
    struct span item;
    while (next_item(&accept_encoding, ',', &item)) {
        int quality;
        struct span coding = coding_of(item, &quality);
        if (span_is(coding, "gzip") || span_is(coding, "x-gzip")) {
            gzip = quality;
        } else if (span_is(coding, "*")) {
            any = quality;
        } else if (span_is(coding, "identity")) {
            identity = quality;
        }
    }
    int wanted = gzip != QUALITY_ABSENT ? gzip : any;
    return wanted > 0 && wanted >= identity;
}

static struct span without_weakness(struct span tag)
{
    if (tag.len > 2 && tag.ptr[0] == 'W' && tag.ptr[1] == '/') {
        return (struct span){tag.ptr + 2, tag.len - 2};
    }
    return tag;
}

bool negotiate_etag_matches(const char *if_none_match, const char *etag)
{
    struct span ours = without_weakness((struct span){etag, strlen(etag)});
    struct span item;
    while (next_item(&if_none_match, ',', &item)) {
        struct span theirs = without_weakness(item);
        bool same = theirs.len == ours.len && memcmp(theirs.ptr, ours.ptr, ours.len) == 0;
        if (same || span_is(item, "*")) {
            return true;
        }
    }
    return false;
}

bool negotiate_html(const char *accept)
{
    struct span item;
    while (next_item(&accept, ',', &item)) {
        int quality;
        if (span_is(coding_of(item, &quality), "text/html") && quality > 0) {
            return true;
        }
    }
    return false;
}

bool negotiate_has_word(const char *list, const char *word)
{
    struct span item;
    while (next_item(&list, ',', &item)) {
        if (span_is(item, word)) {
            return true;
        }
    }
    return false;
}

/* Decimal digits only, no sign; false for none, for others, and above 64 bits. */
static bool parse_bytes(struct span text, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!isdigit((unsigned char)text.ptr[i])) {
            return false;
        }
        uint64_t digit = (uint64_t)(text.ptr[i] - '0');
        if (*value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    return text.len > 0;
}

static enum negotiate_range
range_of_last(uint64_t wanted, uint64_t size_bytes, uint64_t *first, uint64_t *len_bytes)
{
    if (wanted == 0 || size_bytes == 0) {
        return RANGE_OUTSIDE;
    }
    *len_bytes = wanted < size_bytes ? wanted : size_bytes;
    *first = size_bytes - *len_bytes;
    return RANGE_PART;
}

enum negotiate_range
negotiate_range(const char *range, uint64_t size_bytes, uint64_t *first, uint64_t *len_bytes)
{
    static const char unit[] = "bytes=";
    if (range == NULL || strncasecmp(range, unit, sizeof unit - 1) != 0) {
        return RANGE_WHOLE;
    }
    const char *spec = range + sizeof unit - 1;
    const char *dash = strchr(spec, '-');
    if (dash == NULL || strchr(spec, ',') != NULL) {
        return RANGE_WHOLE;
    }
    struct span from = trimmed(spec, (size_t)(dash - spec));
    struct span to = trimmed(dash + 1, strlen(dash + 1));
    uint64_t last = UINT64_MAX;
    if (to.len > 0 && !parse_bytes(to, &last)) {
        return RANGE_WHOLE;
    }
    if (from.len == 0) {
        return to.len == 0 ? RANGE_WHOLE : range_of_last(last, size_bytes, first, len_bytes);
    }
    uint64_t begin = 0;
    if (!parse_bytes(from, &begin) || last < begin) {
        return RANGE_WHOLE;
    }
    if (begin >= size_bytes) {
        return RANGE_OUTSIDE;
    }
    *first = begin;
    *len_bytes = (last < size_bytes - 1 ? last : size_bytes - 1) - *first + 1;
    return RANGE_PART;
}
