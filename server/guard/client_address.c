#include "server/guard/client_address.h"

#include "ingest/base/text/affix.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The last address of the first `*len` bytes of the list, which then end before it. */
static bool take_last(char out[CLIENT_ADDRESS_BYTES], const char *list, size_t *len)
{
    size_t end = *len;
    while (end > 0 && strchr(" \t,", list[end - 1]) != NULL) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && strchr(" \t,", list[begin - 1]) == NULL) {
        begin--;
    }
    size_t address_len = end - begin;
    *len = begin;
    if (address_len == 0 || address_len >= CLIENT_ADDRESS_BYTES) {
        return false;
    }
    memcpy(out, list + begin, address_len);
    out[address_len] = '\0';
    return strspn(out, "0123456789abcdefABCDEF.:") == address_len;
}

void client_address(char out[CLIENT_ADDRESS_BYTES],
                    const char *peer,
                    const char *const *forwarded_for,
                    size_t line_count,
                    const char *const *trusted,
                    size_t trusted_count)
{
    (void)snprintf(out, CLIENT_ADDRESS_BYTES, "%s", peer);
    char address[CLIENT_ADDRESS_BYTES];
    for (size_t line = line_count; line-- > 0;) {
        size_t len = strlen(forwarded_for[line]);
        while (text_is_one_of(out, trusted, trusted_count) && len > 0) {
            if (!take_last(address, forwarded_for[line], &len)) {
                return;
            }
            memcpy(out, address, sizeof address);
        }
    }
}
