/* Writes all of some bytes to a file, however often it takes some of them or a signal comes. */
#ifndef KS_BASE_WRITE_ALL_H
#define KS_BASE_WRITE_ALL_H

#include "ingest/base/attr.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

/* False: errno says why. */
static inline bool KS_MUST_USE write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t done = write(fd, bytes, len);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        bytes += done > 0 ? done : 0;
        len -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

#endif
