/* FNV-1a: a hash for tables of short texts. Seed it with a random number where strangers choose the
 * texts. */
#ifndef KS_BASE_CONTAINERS_FNV_H
#define KS_BASE_CONTAINERS_FNV_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t fnv_add(uint64_t hash, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001B3U;
    }
    return hash;
}

#endif
