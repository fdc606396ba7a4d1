#ifdef __linux__
#define _GNU_SOURCE /* sync_file_range */
#endif
#include "ingest/store/db/write_back.h"

#include <fcntl.h>

void write_back_begin(int fd, uint64_t begin_bytes)
{
#ifdef __linux__
    (void)sync_file_range(fd, (off_t)begin_bytes, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)fd;
    (void)begin_bytes;
#endif
}
