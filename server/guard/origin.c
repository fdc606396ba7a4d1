#include "server/guard/origin.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define HOST_MAX_BYTES 256

/* host[:port], where an IPv6 host stands in brackets. */
struct authority {
    char host[HOST_MAX_BYTES]; /* without brackets and without a final dot */
    char port[8];              /* "" when it is the scheme's own */
};

static bool copy_part(char *out, size_t out_bytes, const char *from, size_t len)
{
    if (len >= out_bytes) {
        return false;
    }
    memcpy(out, from, len);
    out[len] = '\0';
    return true;
}

static bool parse_authority(const char *text, struct authority *out)
{
    size_t len = strcspn(text, "/?#");
    const char *host = text;
    const char *host_end = memchr(text, ':', len);
    if (len > 0 && text[0] == '[') {
        host++;
        host_end = memchr(text, ']', len);
        if (host_end == NULL) {
            return false;
        }
    }
    size_t host_len = host_end == NULL ? len : (size_t)(host_end - host);
    if (host_len > 1 && host[host_len - 1] == '.') {
        host_len--;
    }
    const char *colon = host_end == NULL ? NULL : host_end + (*host_end == ']');
    const char *port = colon == NULL || colon >= text + len ? text + len : colon + 1;
    if (colon != NULL && colon < text + len && *colon != ':') {
        return false;
    }
    /* 80 and 443 are left out: behind a proxy Host and Origin may differ in whether they name them.
     */
    size_t port_len = (size_t)(text + len - port);
    bool usual = (port_len == 2 && strncmp(port, "80", 2) == 0) ||
                 (port_len == 3 && strncmp(port, "443", 3) == 0);
    return host_len > 0 && copy_part(out->host, sizeof out->host, host, host_len) &&
           copy_part(out->port, sizeof out->port, port, usual ? 0 : port_len);
}

static bool parse_url(const char *url, struct authority *out)
{
    const char *slashes = url == NULL ? NULL : strstr(url, "://");
    return slashes != NULL && parse_authority(slashes + 3, out);
}

bool origin_is_loopback(const char *host)
{
    struct in_addr v4;
    if (inet_pton(AF_INET, host, &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127;
    }
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0;
}

bool origin_host_allowed(const char *host, const char *public_url)
{
    struct authority asked;
    struct authority public;
    if (host == NULL || !parse_authority(host, &asked)) {
        return false;
    }
    return origin_is_loopback(asked.host) ||
           (parse_url(public_url, &public) && strcasecmp(asked.host, public.host) == 0);
}

bool origin_host_is_ours(const char *host, const char *public_url)
{
    struct authority asked;
    struct in_addr v4;
    if (host == NULL || !parse_authority(host, &asked)) {
        return false;
    }
    return strchr(asked.host, '.') == NULL || inet_pton(AF_INET, asked.host, &v4) == 1 ||
           origin_host_allowed(host, public_url);
}

static bool same_authority(const struct authority *a, const struct authority *b)
{
    return strcasecmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0;
}

bool origin_is_own(const char *origin, const char *host, const char *public_url)
{
    struct authority from;
    struct authority own;
    if (!parse_url(origin, &from)) {
        return false;
    }
    return (host != NULL && parse_authority(host, &own) && same_authority(&from, &own)) ||
           (parse_url(public_url, &own) && same_authority(&from, &own));
}
